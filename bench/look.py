"""tps of select-only with a sample of what the sessions wait for once a second ÷ without, alternated.

A trial that takes long is sampled once a minute: a sixtieth of what this costs."""

from __future__ import annotations

import asyncio
import time
from statistics import median

from rich.console import Console

from bench import agent as bench_agent
from bench.fidelity import NullRecorder
from bench.figures import Figure
from results.domain.matrix import TrialSpec
from workers import data, registry
from workers.interfaces import Stage
from workers.orders import address_of
from workers.postgres import activity
from workers.postgres.server import Server
from workers.remote.address import Address
from workers.remote.connection import connected

FLOOR = 0.97
INTERVAL_S = 1.0


def measure(rounds: int, seconds: float, console: Console) -> list[Figure]:
    address = address_of(bench_agent.ready())
    spec = bench_agent.spec(duration_s=seconds, parameters={"script": "select-only"})
    asyncio.run(_tps(address, spec, []))  # loads the data; the result is not used
    ratios, durations_s = [], list[float]()
    for number in range(rounds):
        tps = {}
        for sampled in (True, False) if number % 2 else (False, True):
            tps[sampled] = asyncio.run(_tps(address, spec, durations_s if sampled else None))
        ratios.append(tps[True] / tps[False])
        console.print(f"  {tps[True]:.0f} tps with a look each second, {tps[False]:.0f} without")
    console.print(
        f"  a look took {1000 * median(durations_s):.0f} ms from question to answer, median of {len(durations_s)}"
    )
    return [Figure("tps with a look each second ÷ without", "", FLOOR, tuple(ratios), at_least=True)]


async def _tps(address: Address, spec: TrialSpec, durations_s: list[float] | None) -> float:
    """Return the tps of select-only.

    durations_s: gets the seconds that each sample took; None for no samples
    """
    async with connected(address) as remote:
        stage = Stage(spec, {"client": remote, "primary": remote}, {}, NullRecorder(), "look")
        await registry.topology(spec.topology).build(stage)
        await data.load(stage)
        await data.warm(stage)
        argv = [f"{spec.client_bin}/pgbench", "-n", "-b", "select-only", "-c", str(spec.parameters["clients"])]
        argv += ["-j", str(spec.threads), "-T", f"{spec.duration_s:.0f}", stage.database]
        sampling = None if durations_s is None else asyncio.create_task(_sample(stage.primary, durations_s))
        result = await remote.run(*argv, env=stage.primary.environment(), timeout_s=spec.duration_s + 60)
        if sampling:
            sampling.cancel()
            await asyncio.wait([sampling])
    return next(float(line.split()[2]) for line in result.stdout.splitlines() if line.startswith("tps = "))


async def _sample(server: Server, durations_s: list[float]) -> None:
    while True:
        await asyncio.sleep(INTERVAL_S)
        started_s = time.monotonic()
        sample = await activity.sample(server)
        if sample.error:
            raise RuntimeError(sample.error)
        durations_s.append(time.monotonic() - started_s)
