"""The Star Schema Benchmark's generator ÷ COPY of the same rows from a file, in rows per second on one core each.

COPY reads the file on the server, without a client."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from rich.console import Console

from bench import agent as bench_agent
from bench.figures import Figure
from results.domain.matrix import InstallationRef
from workers.orders import address_of
from workers.postgres import cluster
from workers.postgres.server import Server
from workers.remote.address import Address
from workers.remote.connection import Remote, connected
from workers.workloads import ssb
from workers.workloads.ssb.sizes import sizes

FLOOR = 1.0
ORDERS = 500_000
SETTINGS = {"shared_buffers": "512MB", "max_wal_size": "8GB"}
_SEED = 1
_HERE = Path(ssb.__file__).parent
_GENERATE = 'cd -- "$1" && shift && exec awk "$@" -f common.awk -f lineorder.awk >"$OUT"'
_COPY = (_HERE / "copy_lineorder.sql").read_text().replace("FROM STDIN", "FROM :'file'")
_TABLE = "DROP TABLE IF EXISTS lineorder;" + (_HERE / "lineorder.sql").read_text()
_EMPTY = "TRUNCATE lineorder; CHECKPOINT;"


def measure(rounds: int, seconds: float, console: Console) -> list[Figure]:
    address = address_of(bench_agent.ready())
    ratios = asyncio.run(_ratios(address, bench_agent.spec().installation, rounds, console))
    return [Figure("SSB generator ÷ COPY from a file, rows/s", "", FLOOR, tuple(ratios), at_least=True)]


async def _ratios(address: Address, installation: InstallationRef, rounds: int, console: Console) -> list[float]:
    directory = f"{address.work_dir}/ssb"
    ratios = []
    async with connected(address) as remote:
        server = await cluster.ensure(remote, installation, settings=SETTINGS)
        for name in ("common.awk", "lineorder.awk"):
            await remote.put(f"{directory}/{name}", (_HERE / name).read_text())
        await server.execute(_TABLE)
        await _generate_s(remote, directory, f"{directory}/rows")
        rows = int(await remote.get(f"{directory}/made"))
        for _ in range(rounds):
            made_s = await _generate_s(remote, directory, "/dev/null")
            copied_s = await _copy_s(server, f"{directory}/rows")
            ratios.append(copied_s / made_s)
            console.print(f"  {rows / made_s:,.0f} rows/s made, {rows / copied_s:,.0f} rows/s copied")
        await server.execute("DROP TABLE lineorder;")
        await remote.remove(directory)
    return ratios


async def _generate_s(remote: Remote, directory: str, out: str) -> float:
    """Generate the rows into a file; return the seconds that mawk took, its start included."""
    size = sizes(1)
    values = {
        "seed": _SEED,
        "first": 1,
        "last": ORDERS,
        "customers": size.customers,
        "suppliers": size.suppliers,
        "parts": size.parts,
        "counted": f"{directory}/made",
    }
    arguments: list[str] = []
    for name, value in values.items():
        arguments += ["-v", f"{name}={value}"]
    started_s = time.monotonic()
    await remote.script(_GENERATE, directory, *arguments, env={"OUT": out}, timeout_s=600)
    return time.monotonic() - started_s


async def _copy_s(server: Server, file: str) -> float:
    """COPY the file into an empty table; return the seconds."""
    await server.execute(_EMPTY)
    started_s = time.monotonic()
    await server.execute(_COPY + ";", variables={"file": file})
    return time.monotonic() - started_s
