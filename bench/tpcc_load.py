"""Loading the TPC-C-like data ÷ plain COPY of the same rows from files, alternated; and what one core then does.

Only the time of the COPY commands is compared: tables, keys, indexes and VACUUM are the same for both."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from django.utils import timezone
from rich.console import Console

from bench import agent as bench_agent
from bench.figures import Figure
from results import models, runs
from results.domain import plan as plans
from results.domain.kinds.parameters import Scalar
from results.domain.matrix import InstallationRef
from workers import attempt, dispatch, registry
from workers.orders import address_of
from workers.postgres import cluster
from workers.postgres.server import Server
from workers.remote.address import Address
from workers.remote.connection import Remote, connected
from workers.workloads.tpcc import loading
from workers.workloads.tpcc.spec import SPEC

CEILING = 1.2
WAREHOUSES = 4
SETTINGS = {"shared_buffers": "512MB", "max_wal_size": "8GB"}
DATABASE = "tpcc_load"
_PLAIN = (Path(__file__).parent / "plain_copy.sh").read_text()
_EMPTY = 'DROP DATABASE IF EXISTS :"name";\nCREATE DATABASE :"name" TEMPLATE template0;\nCHECKPOINT;\n'
_ROWS = """
cd -- "$1" || exit
for table in item warehouse district customer history stock orders order_line new_order; do
    awk -v table="$table" -v worker=0 -v workers=1 -v seed="$SEED" -v warehouses="$WAREHOUSES" \\
        -v customers="$CUSTOMERS" -v items="$ITEMS" -v c_last="$C_LAST" -v moment="$MOMENT" \\
        -f generate.awk >"$table.rows"
done
"""
_LOAD = 'cd -- "$1" && sh load.sh'


def measure(rounds: int, seconds: float, console: Console) -> list[Figure]:
    address = address_of(bench_agent.ready())
    ratios = asyncio.run(_ratios(address, bench_agent.spec().installation, rounds, console))
    _one_core(seconds, console)
    return [Figure("TPC-C-like load ÷ plain COPY", "", CEILING, tuple(ratios))]


async def _ratios(address: Address, installation: InstallationRef, rounds: int, console: Console) -> list[float]:
    parameters: dict[str, Scalar] = {p.name: p.default for p in SPEC.parameters}
    parameters |= {"warehouses": WAREHOUSES, "load_jobs": 1}
    directory = f"{address.work_dir}/tpcc_load"
    ratios = []
    async with connected(address) as remote:
        server = await cluster.ensure(remote, installation, settings=SETTINGS)
        variables = loading.environment(parameters, psql=f"{installation.client_bin}/psql", database=DATABASE)
        env = {**server.environment(local=True), **variables}
        await loading.put_files(remote, directory)
        await remote.script(_ROWS, directory, env=env, timeout_s=600)
        for number in range(rounds):
            pair = [_LOAD, _PLAIN] if number % 2 else [_PLAIN, _LOAD]
            seconds = {script: await _copy_s(remote, server, script, directory, env) for script in pair}
            ratios.append(seconds[_LOAD] / seconds[_PLAIN])
            console.print(
                f"  COPY of {WAREHOUSES} warehouses: generated {seconds[_LOAD]:.2f} s, files {seconds[_PLAIN]:.2f} s"
            )
        await server.execute('DROP DATABASE :"name";', variables={"name": DATABASE})
        await remote.remove(directory)
    return ratios


async def _copy_s(remote: Remote, server: Server, script: str, directory: str, env: dict[str, str]) -> float:
    """Load an empty database; return the seconds of all COPY commands."""
    await server.execute(_EMPTY, variables={"name": DATABASE})
    result = await remote.script(script, directory, env=env, timeout_s=1200)
    tables = [phase for phase in loading.phases(result.stdout) if script == _PLAIN or "rows" in phase]
    assert len(tables) == 9
    return sum(phase["seconds"] for phase in tables)


def _one_core(seconds: float, console: Console) -> None:
    """Print the transactions a second of processor time that client and server spend together."""
    mapping: dict[str, Any] = {
        "name": "bench",
        "workload": "tpcc",
        "installation": "16",
        "replicates": 1,
        "duration_s": max(10.0, seconds),
        "warmup_s": 5,
        "data": "template",
        "agents": {"primary": bench_agent.NAME},
        "parameters": {"warehouses": 2, "clients": 4, "home": "random", "protocol": "prepared"},
        "settings": SETTINGS,
    }
    kinds = registry.kinds()
    run = runs.create_run(plans.from_mapping(mapping, kinds), kinds, actor="bench")
    while (attempt_id := dispatch.next_attempt(timezone.now())) is not None:
        attempt.run(attempt_id, "bench")
    attempt_row = models.Attempt.objects.get(run=run)
    if attempt_row.error is not None:
        raise RuntimeError(attempt_row.error)
    values = {row.metric_id: row.value for row in attempt_row.measurements.filter(label="")}
    per_core = 1e6 / values["cpu.per_transaction"]
    console.print(
        f"  {values['tps']:.0f} tps ({values['nopm']:.0f} NOPM) with four clients; "
        f"{values['cpu.per_transaction']:.0f} µs of processor a transaction: {per_core:.0f} transactions/s a core"
    )
