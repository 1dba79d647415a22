"""Microseconds a transaction that folding pgbench's log takes on the agent."""

from __future__ import annotations

import asyncio
from importlib import resources

from rich.console import Console

from bench import agent as bench_agent
from bench.figures import Figure
from workers.orders import address_of
from workers.remote.address import Address
from workers.remote.connection import connected

CEILING_US = 1.0
TRANSACTIONS = 2_000_000
LOG = """
mkdir -p "$1" && awk -v n="$2" 'BEGIN {
    srand(1)
    for (i = 0; i < n; i++) {
        us = int(exp(4.5 + rand() + rand() + rand()))
        printf "%d %d %d 0 %d %06d\\n", i % 8, i / 8, us, 1700000000 + i / 40000, (i % 40000) * 25
    }
}' > "$1/pgbench_log.1"
"""


def measure(rounds: int, seconds: float, console: Console) -> list[Figure]:
    costs_us = asyncio.run(_fold(address_of(bench_agent.ready()), rounds))
    return [Figure("folding the latency log", "µs a transaction", CEILING_US, tuple(costs_us))]


async def _fold(address: Address, rounds: int) -> list[float]:
    folder = resources.files("workers.collectors.latency_log")
    shell, program = (folder.joinpath(name).read_text() for name in ("fold.sh", "fold.awk"))
    directory = f"{address.work_dir}/fold"
    costs_us = []
    async with connected(address) as remote:
        for _ in range(rounds):
            await remote.script(LOG, directory, str(TRANSACTIONS), timeout_s=300)
            result = await remote.script(shell, directory, "1700000000.0", program, timeout_s=300)
            counts = [int(line.split()[3]) for line in result.stdout.splitlines() if line.startswith("latency ")]
            assert sum(counts) == TRANSACTIONS
            costs_us.append(result.seconds / TRANSACTIONS * 1e6)
    return costs_us
