"""Seconds until a cascade of four standbys at scale 10 is ready to be measured: new, and kept from a trial before."""

from __future__ import annotations

import asyncio

from django.utils import timezone
from rich.console import Console

from bench import agent as bench_agent
from bench.figures import Figure
from results import models, runs
from results.domain import plan as plans
from workers import attempt, dispatch, registry
from workers.orders import address_of
from workers.postgres import cluster
from workers.remote.connection import connected

LIMIT_S = 20.0
ROUNDS = 5
_ARRANGING = ("prepare", "arrange", "verify")
_REMOVE = 'rm -rf -- "$1"/*cascading-*'
_COUNT_PROCESSES = "find /proc -maxdepth 2 -path '/proc/[0-9]*/cwd' -lname \"$1/*\" 2>/dev/null | wc -l"


def measure(rounds: int, seconds: float, console: Console) -> list[Figure]:
    agent = bench_agent.ready()
    new, kept = [], []
    for _ in range(min(rounds, ROUNDS)):
        asyncio.run(remove_clusters(agent))
        new.append(_ready_s(console, "made anew"))
        kept.append(_ready_s(console, "kept"))
    processes = asyncio.run(remove_clusters(agent))
    console.print(f"  {processes} processes of servers left")
    return [
        Figure("a cascade of 4 standbys, from nothing until it is verified", "s", LIMIT_S, tuple(new)),
        Figure("the same, kept from the trial before", "s", LIMIT_S, tuple(kept)),
        Figure("processes left after it", "1", 0.5, (float(processes),)),
    ]


def _ready_s(console: Console, what: str) -> float:
    """Run one trial; return the seconds of its phases before the measurement, without loading the primary's data."""
    kinds = registry.kinds()
    mapping = bench_agent.PLAN | {
        "duration_s": 1,
        "replicates": 1,
        "topology": "cascading",
        "topology_parameters": {"standbys": 4},
        "parameters": {"scale": 10, "clients": 4},
    }
    run = runs.create_run(plans.from_mapping(mapping, kinds), kinds, actor="bench")
    attempt_id = dispatch.next_attempt(timezone.now())
    assert attempt_id is not None
    attempt.run(attempt_id, "bench")
    row = models.Attempt.objects.get(run=run)
    if row.error is not None:
        raise RuntimeError(row.error)
    phases = {phase["name"]: phase["seconds"] for phase in row.phases}
    durations = ", ".join(f"{name} {seconds:.2f}" for name, seconds in phases.items())
    console.print(f"  {what}: {row.notes['standbys']}; {durations}", highlight=False)
    return sum(phases[name] for name in _ARRANGING)


async def remove_clusters(agent: models.Agent) -> int:
    """Stop the servers and remove the clusters of earlier rounds; return how many server processes were running."""
    address = address_of(agent)
    async with connected(address) as remote:
        processes = int((await remote.script(_COUNT_PROCESSES, address.data_dir)).stdout)
        await cluster.stop_others(remote)
        await remote.script(_REMOVE, f"{address.data_dir}/clusters")
    return processes
