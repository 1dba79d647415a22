"""Processor time a transaction under Teiten with all default collectors ÷ under bare pgbench, alternated.

Of the measured window: of the server, of server and pgbench, and of all that runs on the agent. It is steadier than
tps, which depends on the rhythm into which clients and backends settle.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from bench import agent as bench_agent
from bench.figures import Figure
from bench.processor_time import ProcessorTime, Used, watched
from results.domain.measurement.parsed_trial import ParsedTrial
from workers import data, executor, registry
from workers.bundle import derive, reader
from workers.execution import Reporter
from workers.interfaces import Stage
from workers.orders import Order
from workers.remote.connection import connected

LOAD_CEILING, AGENT_CEILING, SHORT_AGENT_CEILING = 1.01, 1.02, 1.04
BESIDE_CEILING = 0.01
SCRIPTS = ("select-only", "tpcb-like")
SHORT_S = 20  # a window below it is short
_BARE = 'date +%s.%N; "$@"; status=$?; date +%s.%N; exit $status'


@dataclass(frozen=True)
class Cost:
    """Processor time of one run.

    transactions: in the window
    """

    used: Used
    seconds: float
    transactions: float

    @property
    def beside(self) -> float:
        """Processors that all but server and pgbench kept busy."""
        return (self.used.agent - self.used.load) / self.seconds

    def __str__(self) -> str:
        each = 1e6 / self.transactions
        return (
            f"server {self.used.server * each:.1f}, pgbench {self.used.client * each:.1f} us a transaction, "
            f"all else {1e3 * self.beside:.2f} ms a second, {self.transactions / self.seconds:.0f} tps"
        )


def measure(rounds: int, seconds: float, console: Console) -> list[Figure]:
    agent = bench_agent.ready()
    figures = []
    for script in SCRIPTS:
        spec = bench_agent.spec(duration_s=seconds, parameters={"script": script, "vacuum": script == "tpcb-like"})
        with watched(int(os.environ["TEITEN_AGENT_PORT"])) as watch:
            asyncio.run(_teiten(bench_agent.order(agent, spec, 0), watch))
            pairs = [_pair(bench_agent.order(agent, spec, number), number, watch, console) for number in range(rounds)]
        figures += _figures(f"fidelity, {script}", seconds, pairs)
    return figures


def _pair(order: Order, number: int, watch: ProcessorTime, console: Console) -> tuple[Cost, Cost]:
    """Return the costs under Teiten and of bare pgbench, which of them comes first by turns."""
    pair = [_teiten, _bare] if number % 2 else [_bare, _teiten]
    costs = {run: asyncio.run(run(order, watch)) for run in pair}
    console.print(f"  Teiten: {costs[_teiten]}\n  bare:   {costs[_bare]}")
    return costs[_teiten], costs[_bare]


def _figures(name: str, seconds: float, pairs: list[tuple[Cost, Cost]]) -> list[Figure]:
    def ratios(part: str) -> tuple[float, ...]:
        return tuple(
            getattr(teiten.used, part) / teiten.transactions * bare.transactions / getattr(bare.used, part)
            for teiten, bare in pairs
        )

    beside = tuple((teiten.beside - bare.beside) / (bare.used.load / bare.seconds) for teiten, bare in pairs)
    return [
        Figure(f"{name}: more beside server and pgbench, part of their time", "", BESIDE_CEILING, beside),
        Figure(f"{name}: server", "", LOAD_CEILING, ratios("server")),
        Figure(f"{name}: server and pgbench", "", LOAD_CEILING, ratios("load")),
        Figure(f"{name}: agent", "", SHORT_AGENT_CEILING if seconds < SHORT_S else AGENT_CEILING, ratios("agent")),
    ]


async def _teiten(order: Order, watch: ProcessorTime) -> Cost:
    with tempfile.TemporaryDirectory() as folder:
        archived, error = await executor.run(order, Path(folder), Reporter())
        if error is not None:
            raise RuntimeError(error)
        parsed = reader.read(Path(folder) / archived.path)
    return _cost(watch, *_window(parsed), _transactions(parsed))


async def _bare(order: Order, watch: ProcessorTime) -> Cost:
    """Run pgbench as typed into a shell: nothing is collected or logged.

    The server, its caches and the checkpoint before are prepared as under Teiten.
    """
    spec = replace(order.spec, collectors=())
    async with AsyncExitStack() as stack:
        remote = await stack.enter_async_context(connected(order.addresses[bench_agent.NAME]))
        stage = Stage(spec, {"client": remote, "primary": remote}, {}, NullRecorder(), "bare")
        await registry.topology(spec.topology).build(stage)
        postmaster = await remote.run("head", "-n", "1", f"{stage.primary.data_dir}/postmaster.pid")
        watch.enter_server(int(postmaster.stdout))
        await data.load(stage)
        await data.warm(stage)
        argv = [f"{spec.client_bin}/pgbench", "-n", "-M", "simple", "-b", str(spec.parameters["script"])]
        argv += ["-c", str(spec.parameters["clients"]), "-j", str(spec.threads), "-T", f"{spec.duration_s:.0f}"]
        result = await remote.script(
            _BARE, *argv, stage.database, env=stage.primary.environment(), timeout_s=spec.duration_s + 60
        )
    began, *lines, ended = result.stdout.splitlines()
    transactions = next(float(line.split()[-1]) for line in lines if line.startswith("number of transactions actually"))
    return _cost(watch, float(began), float(ended), transactions)


def _cost(watch: ProcessorTime, start_s: float, end_s: float, transactions: float) -> Cost:
    return Cost(watch.between(start_s, end_s), end_s - start_s, transactions)


def _window(parsed: ParsedTrial) -> tuple[float, float]:
    assert parsed.measured_from is not None and parsed.measured_to is not None
    return parsed.measured_from.timestamp(), parsed.measured_to.timestamp()


def _transactions(parsed: ParsedTrial) -> float:
    value = derive.total(parsed.measurements, "transactions")
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
