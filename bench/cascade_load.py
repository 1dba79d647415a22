"""tps of a primary with one and with four standbys below the cascading one, alternated: what do more standbys cost it?

Primary and client run on processor 0, all standbys on processor 1, so that they do not take the primary's processor. No
commit waits for a standby, nor for the disk, which all servers here share."""

from __future__ import annotations

import asyncio

from rich.console import Console

from bench import agent as bench_agent
from bench.cascade import remove_clusters
from bench.fidelity import NullRecorder
from bench.figures import Figure
from results.domain.matrix import TrialSpec
from results.domain.measurement.metrics import Better
from results.domain.statistics.difference import Sample
from results.domain.statistics.verdict import Question, Verdict, judge
from workers import data, registry
from workers.host import cpus
from workers.interfaces import ArrangingTopology, Stage
from workers.orders import address_of
from workers.postgres.server import Server
from workers.remote.address import Address, Layout
from workers.remote.connection import connected

FEW, MANY = 1, 4
FLOOR = 0.97
PAIRS = 12
PRIMARY_CPU, STANDBY_CPU = "0", "1"
_SENDERS = "SELECT count(*) AS senders FROM pg_stat_replication"


def measure(rounds: int, seconds: float, console: Console) -> list[Figure]:
    agent = bench_agent.ready()
    address, pairs = address_of(agent), min(rounds, PAIRS)
    asyncio.run(remove_clusters(agent))
    tps: dict[int, list[float]] = {FEW: [], MANY: []}
    specs = {standbys: _spec(standbys, seconds) for standbys in (FEW, MANY)}
    for spec in specs.values():  # makes the clusters; the result is not used
        asyncio.run(_tps(address, spec))
    for number in range(pairs):
        for standbys in (FEW, MANY) if number % 2 else (MANY, FEW):
            tps[standbys].append(asyncio.run(_tps(address, specs[standbys])))
        console.print(f"  {tps[FEW][-1]:.0f} tps with {FEW} standby below the cascade, {tps[MANY][-1]:.0f} with {MANY}")
    asyncio.run(remove_clusters(agent))
    console.print(f"  {_verdict_text(_judge(tps))}")
    ratios = tuple(many / few for few, many in zip(tps[FEW], tps[MANY], strict=True))
    name = f"tps of a primary with {MANY} standbys below its cascade ÷ with {FEW}"
    return [Figure(name, "", FLOOR, ratios, at_least=True)]


def _judge(tps: dict[int, list[float]]) -> Verdict:
    keys = tuple((1, block) for block in range(len(tps[FEW])))
    few, many = (Sample(tuple(tps[standbys]), keys) for standbys in (FEW, MANY))
    [verdict] = judge([Question(few, many, Better.HIGHER, 1 - FLOOR)])
    return verdict


def _verdict_text(verdict: Verdict) -> str:
    if verdict.ratio is None or verdict.low is None or verdict.high is None:
        return str(verdict.kind)
    interval = f"95 % interval {verdict.low:.3f} to {verdict.high:.3f}, {verdict.pairs} pairs"
    return f"{MANY} against {FEW}: ×{verdict.ratio:.3f} ({interval}): {verdict.kind}"


def _spec(standbys: int, seconds: float) -> TrialSpec:
    return bench_agent.spec(
        topology="cascading",
        topology_parameters={"standbys": standbys},
        duration_s=seconds,
        parameters={"script": "tpcb-like"},
        settings=bench_agent.PLAN["settings"] | {"synchronous_commit": "off"},
    )


async def _tps(address: Address, spec: TrialSpec) -> float:
    """Arrange the servers and return the tps of pgbench's TPC-B-like script on their primary."""
    async with connected(address) as remote:
        agents = {"client": remote, "primary": remote.laid_out(Layout(cpus=PRIMARY_CPU))}
        agents |= dict.fromkeys(spec.nodes[1:], remote.laid_out(Layout(cpus=STANDBY_CPU)))
        stage = Stage(spec, agents, {}, NullRecorder(), "cascade-load")
        topology = registry.topology(spec.topology)
        assert isinstance(topology, ArrangingTopology)
        await topology.build(stage)
        await data.load(stage)
        await topology.arrange(stage)
        await data.warm(stage)
        await _require_apart(stage.servers)
        argv = ["taskset", "-c", PRIMARY_CPU, f"{spec.client_bin}/pgbench", "-n"]
        argv += ["-c", str(spec.parameters["clients"]), "-j", str(spec.threads)]
        argv += ["-T", f"{spec.duration_s:.0f}", stage.database]
        result = await remote.run(*argv, env=stage.primary.environment(), timeout_s=spec.duration_s + 60)
    return next(float(line.split()[2]) for line in result.stdout.splitlines() if line.startswith("tps = "))


async def _require_apart(servers: dict[str, Server]) -> None:
    """Raise RuntimeError unless each server is on its processor, and the primary sends its WAL once."""
    for node, server in servers.items():
        check = await cpus.check(server, PRIMARY_CPU if node == "primary" else STANDBY_CPU, node)
        if not check.passed:
            raise RuntimeError(f"not on its processor: {check}")
    [row] = await servers["primary"].query(_SENDERS)
    if row["senders"] != 1:
        raise RuntimeError(f"the primary sends its WAL {row['senders']} times")
