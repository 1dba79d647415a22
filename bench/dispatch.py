"""Seconds that a worker takes to take a trial, and beat to look for one, with 1,000 agents and 100,000 trials that wait
for them, in a warehouse of 10,000 trials that ended."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from statistics import quantiles

from django.db import connection
from django.utils import timezone
from rich.console import Console

from bench.comparison import own_database
from bench.figures import Figure
from bench.growth import fill
from results import models, sql
from workers import dispatch, lease, orders

AGENTS = 1_000
QUEUES = (1_000, 100_000)
TOGETHER = 200  # workers that take a trial at the same moment
LIMIT_S, LIMIT_GROWTH = 1.0, 10.0


def measure(rounds: int, seconds: float, console: Console) -> list[Figure]:
    p95: dict[int, dict[str, float]] = {}
    for trials in QUEUES:
        with own_database():
            fill(10_000)
            _queue(trials)
            p95[trials] = {name: _p95(operation, rounds) for name, operation in _operations().items()}
            p95[trials][f"{TOGETHER} take one each, until each has one"] = _p95_together()
        for name, took_s in p95[trials].items():
            console.print(f"  {trials:,} queued, {name}: p95 {1e3 * took_s:.1f} ms")
    figures = [Figure(f"{name}, p95", "s", LIMIT_S, (value,)) for name, value in p95[QUEUES[-1]].items()]
    growth = [
        Figure(f"{name}, 100 × the queue", "×", LIMIT_GROWTH, (value / p95[QUEUES[0]][name],))
        for name, value in p95[QUEUES[-1]].items()
    ]
    return figures + growth


def _queue(trials: int) -> None:
    models.Agent.objects.all().delete()
    models.Attempt.objects.filter(state="running").delete()
    models.Agent.objects.bulk_create(
        models.Agent(pk=number, name=f"agent{number}", host="h", state="ready") for number in range(1, AGENTS + 1)
    )
    for statement in Path(__file__).with_suffix(".sql").read_text().split(";\n"):
        sql.execute(statement, {"trials": trials, "agents": AGENTS})
    sql.execute("VACUUM ANALYZE")


def _operations() -> dict[str, Callable[[], object]]:
    return {
        "beat looks, all agents free": lambda: dispatch.count_startable(timezone.now()),
        "a trial is taken, all agents free": _take,
        "a trial is taken, one agent free": lambda: _with_busy(AGENTS - 1, _take),
        "nothing is taken, all agents busy": lambda: _with_busy(AGENTS, _take),
        "beat looks, all agents busy": lambda: _with_busy(AGENTS, lambda: dispatch.count_startable(timezone.now())),
        "which agents are idle": _idle,
        "the reaper": lambda: lease.expired(timezone.now()),
    }


def _take() -> float:
    """Return the seconds, and put the trial back."""
    began_s = time.perf_counter()
    attempt_id = dispatch.next_attempt(timezone.now(), "bench")
    took_s = time.perf_counter() - began_s
    if attempt_id is not None:
        dispatch.withdraw(attempt_id, timezone.now())
    return took_s


def _with_busy(busy: int, operation: Callable[[], object]) -> float:
    now = timezone.now()
    later = now + timedelta(hours=1)
    models.Lease.objects.bulk_create(
        models.Lease(agent_id=number, acquired_at=now, heartbeat_at=now, expires_at=later)
        for number in range(AGENTS - busy + 1, AGENTS + 1)
    )
    began_s = time.perf_counter()
    result = operation()
    took_s = result if isinstance(result, float) else time.perf_counter() - began_s
    models.Lease.objects.all().delete()
    return took_s


def _idle() -> float:
    attempt_id = dispatch.next_attempt(timezone.now(), "bench")
    assert attempt_id is not None
    began_s = time.perf_counter()
    orders.agents_idle(attempt_id)
    took_s = time.perf_counter() - began_s
    dispatch.withdraw(attempt_id, timezone.now())
    return took_s


def _p95(operation: Callable[[], object], rounds: int) -> float:
    operation()
    durations_s = []
    for _ in range(rounds):
        began_s = time.perf_counter()
        result = operation()
        durations_s.append(result if isinstance(result, float) else time.perf_counter() - began_s)
    return quantiles(durations_s, n=20, method="inclusive")[-1]


def _p95_together() -> float:
    """Seconds after which 95 % of workers that begin at once have a trial, on eight connections."""
    began_s = time.perf_counter()

    def take_some(count: int) -> list[float]:
        with closing(connection):
            durations_s = []
            while len(durations_s) < count:
                if dispatch.next_attempt(timezone.now(), "bench") is not None:
                    durations_s.append(time.perf_counter() - began_s)
            return durations_s

    with ThreadPoolExecutor(8) as pool:
        durations_s = [each for some in pool.map(take_some, [TOGETHER // 8] * 8) for each in some]
    return quantiles(durations_s, n=20, method="inclusive")[-1]
