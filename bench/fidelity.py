"""tps under Teiten with all default collectors ÷ tps of bare pgbench, on the same server and data, alternated."""

from __future__ import annotations

import asyncio
import tempfile
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from bench import agent as bench_agent
from bench.figures import Figure
from workers import data, executor, registry
from workers.bundle import derive, reader
from workers.execution import Reporter
from workers.interfaces import Stage
from workers.orders import Order
from workers.remote.connection import connected

FLOOR = 0.97


def measure(rounds: int, seconds: float, console: Console) -> list[Figure]:
    agent = bench_agent.ready()
    figures = []
    for script in ("select-only", "tpcb-like"):
        spec = bench_agent.spec(duration_s=seconds, parameters={"script": script, "vacuum": script == "tpcb-like"})
        ratios = []
        asyncio.run(_teiten(bench_agent.order(agent, spec, 0)))
        for number in range(rounds):
            order = bench_agent.order(agent, spec, number)
            pair = [_teiten, _bare] if number % 2 else [_bare, _teiten]
            tps = {run: asyncio.run(run(order)) for run in pair}
            ratios.append(tps[_teiten] / tps[_bare])
            console.print(f"  {script}: Teiten {tps[_teiten]:.0f}, bare {tps[_bare]:.0f} tps")
        figures.append(Figure(f"fidelity, {script}", "", FLOOR, tuple(ratios), at_least=True))
    return figures


async def _teiten(order: Order) -> float:
    with tempfile.TemporaryDirectory() as folder:
        archived, error = await executor.run(order, Path(folder), Reporter())
        if error is not None:
            raise RuntimeError(error)
        parsed = reader.read(Path(folder) / archived.path)
    return _tps(parsed.measurements)


async def _bare(order: Order) -> float:
    """Return the tps of pgbench as typed into a shell: nothing is collected or logged.

    The server, its caches and the checkpoint before are prepared as under Teiten.
    """
    spec = replace(order.spec, collectors=())
    async with AsyncExitStack() as stack:
        remote = await stack.enter_async_context(connected(order.addresses[bench_agent.NAME]))
        stage = Stage(spec, {"client": remote, "primary": remote}, {}, NullRecorder(), "bare")
        await registry.topology(spec.topology).build(stage)
        await data.load(stage)
        await data.warm(stage)
        argv = [f"{spec.client_bin}/pgbench", "-n", "-M", "simple", "-b", str(spec.parameters["script"])]
        argv += ["-c", str(spec.parameters["clients"]), "-j", str(spec.threads), "-T", f"{spec.duration_s:.0f}"]
        result = await remote.run(
            *argv, stage.database, env=stage.primary.environment(), timeout_s=spec.duration_s + 60
        )
    return next(float(line.split()[2]) for line in result.stdout.splitlines() if line.startswith("tps = "))


def _tps(measurements: Any) -> float:
    value = derive.total(measurements, "tps")
    assert value is not None
    return value


class NullRecorder:
    """A recorder that stores nothing."""

    def add(self, path: str, content: bytes | str) -> None: ...
    def file(self, path: str) -> Path:
        return Path(tempfile.mkdtemp()) / "discarded"

    def note(self, name: str, value: Any) -> None: ...
    def check(self, check: Any) -> None: ...
    def gap(self, source: str, node: str, reason: str) -> None: ...
