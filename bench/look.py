"""tps of select-only while somebody looks once a second what the sessions wait for ÷ without, alternated. A trial that
takes long is looked at once a minute: a sixtieth of what this costs."""

from __future__ import annotations

import asyncio
import time
from statistics import median

from rich.console import Console

from bench import agent as bench_agent
from bench.fidelity import Unrecorded
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
EVERY_S = 1.0


def measure(rounds: int, seconds: float, console: Console) -> list[Figure]:
    address = address_of(bench_agent.ready())
    spec = bench_agent.spec(duration_s=seconds, parameters={"script": "select-only"})
    asyncio.run(_tps(address, spec, []))  # loads the data, and is thrown away
    ratios, took_s = [], list[float]()
    for number in range(rounds):
        tps = {
            looked: asyncio.run(_tps(address, spec, took_s if looked else None))
            for looked in ((True, False) if number % 2 else (False, True))
        }
        ratios.append(tps[True] / tps[False])
        console.print(f"  {tps[True]:.0f} tps with a look each second, {tps[False]:.0f} without")
    console.print(f"  a look took {1000 * median(took_s):.0f} ms from question to answer, median of {len(took_s)}")
    return [Figure("tps with a look each second ÷ without", "", FLOOR, tuple(ratios), at_least=True)]


async def _tps(address: Address, spec: TrialSpec, took_s: list[float] | None) -> float:
    """took_s: filled with how long each look took; None: nobody looks."""
    async with connected(address) as remote:
        stage = Stage(spec, {"client": remote, "primary": remote}, {}, Unrecorded(), "look")
        await registry.topology(spec.topology).build(stage)
        await data.load(stage)
        await data.warm(stage)
        argv = [f"{spec.client_bin}/pgbench", "-n", "-b", "select-only", "-c", str(spec.parameters["clients"])]
        argv += ["-j", str(spec.threads), "-T", f"{spec.duration_s:.0f}", stage.database]
        looking = None if took_s is None else asyncio.create_task(_looks(stage.primary, took_s))
        said = await remote.run(*argv, env=stage.primary.environment(), timeout_s=spec.duration_s + 60)
        if looking:
            looking.cancel()
            await asyncio.wait([looking])
    return next(float(line.split()[2]) for line in said.stdout.splitlines() if line.startswith("tps = "))


async def _looks(server: Server, took_s: list[float]) -> None:
    while True:
        await asyncio.sleep(EVERY_S)
        begun_s = time.monotonic()
        found = await activity.look(server)
        if found.trouble:
            raise RuntimeError(found.trouble)
        took_s.append(time.monotonic() - begun_s)
