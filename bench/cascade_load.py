"""tps of the primary with one and with four standbys below the cascading one, alternated: do more standbys cost it
anything? Primary and client run on processor 0, all standbys on processor 1, so that they do not take the primary's
processor. No commit waits for a standby, nor for the disk, which all servers here share."""

from __future__ import annotations

import asyncio

from rich.console import Console

from bench import agent as bench_agent
from bench.cascade import cleared
from bench.fidelity import Unrecorded
from bench.figures import Figure
from results.domain.matrix import TrialSpec
from results.domain.measurement.metrics import Better
from results.domain.statistics.difference import Sample
from results.domain.statistics.verdict import Question, Verdict, judge
from workers import data, registry
from workers.host import cpus
from workers.interfaces import Arranged, Stage
from workers.orders import address_of
from workers.postgres.server import Server
from workers.remote.address import Address, Layout
from workers.remote.connection import connected

FEW, MANY = 1, 4
FLOOR = 0.97
PAIRS = 12
OWN, OTHERS = "0", "1"  # processors
_SENDERS = "SELECT count(*) AS senders FROM pg_stat_replication"


def measure(rounds: int, seconds: float, console: Console) -> list[Figure]:
    agent = bench_agent.ready()
    address, pairs = address_of(agent), min(rounds, PAIRS)
    asyncio.run(cleared(agent))
    tps: dict[int, list[float]] = {FEW: [], MANY: []}
    specs = {standbys: _spec(standbys, seconds) for standbys in (FEW, MANY)}
    for spec in specs.values():  # made, and thrown away
        asyncio.run(_tps(address, spec))
    for number in range(pairs):
        for standbys in (FEW, MANY) if number % 2 else (MANY, FEW):
            tps[standbys].append(asyncio.run(_tps(address, specs[standbys])))
        console.print(f"  {tps[FEW][-1]:.0f} tps with {FEW} standby below the cascade, {tps[MANY][-1]:.0f} with {MANY}")
    asyncio.run(cleared(agent))
    console.print(f"  {_said(_judged(tps))}")
    ratios = tuple(many / few for few, many in zip(tps[FEW], tps[MANY], strict=True))
    name = f"tps of a primary with {MANY} standbys below its cascade ÷ with {FEW}"
    return [Figure(name, "", FLOOR, ratios, at_least=True)]


def _judged(tps: dict[int, list[float]]) -> Verdict:
    keys = tuple((1, block) for block in range(len(tps[FEW])))
    few, many = (Sample(tuple(tps[standbys]), keys) for standbys in (FEW, MANY))
    [verdict] = judge([Question(few, many, Better.HIGHER, 1 - FLOOR)])
    return verdict


def _said(found: Verdict) -> str:
    if found.ratio is None or found.low is None or found.high is None:
        return str(found.kind)
    interval = f"95 % interval {found.low:.3f} to {found.high:.3f}, {found.pairs} pairs"
    return f"{MANY} against {FEW}: ×{found.ratio:.3f} ({interval}): {found.kind}"


def _spec(standbys: int, seconds: float) -> TrialSpec:
    return bench_agent.spec(
        topology="cascading",
        topology_parameters={"standbys": standbys},
        duration_s=seconds,
        parameters={"script": "tpcb-like"},
        settings=bench_agent.PLAN["settings"] | {"synchronous_commit": "off"},
    )


async def _tps(address: Address, spec: TrialSpec) -> float:
    """Of pgbench's TPC-B-like script on the primary of this arrangement."""
    async with connected(address) as remote:
        agents = {"client": remote, "primary": remote.laid_out(Layout(cpus=OWN))}
        agents |= dict.fromkeys(spec.nodes[1:], remote.laid_out(Layout(cpus=OTHERS)))
        stage = Stage(spec, agents, {}, Unrecorded(), "cascade-load")
        topology = registry.topology(spec.topology)
        assert isinstance(topology, Arranged)
        await topology.build(stage)
        await data.load(stage)
        await topology.arrange(stage)
        await data.warm(stage)
        await _require_apart(stage.servers)
        argv = ["taskset", "-c", OWN, f"{spec.client_bin}/pgbench", "-n"]
        argv += ["-c", str(spec.parameters["clients"]), "-j", str(spec.threads)]
        argv += ["-T", f"{spec.duration_s:.0f}", stage.database]
        said = await remote.run(*argv, env=stage.primary.environment(), timeout_s=spec.duration_s + 60)
    return next(float(line.split()[2]) for line in said.stdout.splitlines() if line.startswith("tps = "))


async def _require_apart(servers: dict[str, Server]) -> None:
    """The primary on its processor and with one stream, all others on theirs. Raises RuntimeError."""
    found = [await cpus.check(server, OWN if node == "primary" else OTHERS, node) for node, server in servers.items()]
    if wrong := [check for check in found if not check.passed]:
        raise RuntimeError(f"not on their processors: {wrong}")
    [row] = await servers["primary"].query(_SENDERS)
    if row["senders"] != 1:
        raise RuntimeError(f"the primary sends its WAL {row['senders']} times")
