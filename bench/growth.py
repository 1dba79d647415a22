"""Milliseconds of what must not grow with the warehouse, in one with a million trials.

The query that beat runs every five seconds, an agent's page, a page of the API's measurements, and /metrics."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.test import Client
from django.utils import timezone
from rich.console import Console

from bench.comparison import own_database
from bench.figures import Figure
from results import models, sql
from results.queries.agents.agents import agent_detail
from workers.lease import expired

TRIALS = 1_000_000
LIMITS_MS = {
    "the reaper": 20,
    "an agent": 100,
    "an agent that has long been idle": 500,
    "a page of measurements": 100,
    "a scrape": 100,
}


def fill(trials: int) -> None:
    """Make a number of trials, in steps of 100, with the statements of growth.sql.

    Each is followed by ANALYZE: where a table was last analyzed while it had pages but no rows, as after a transaction
    that was rolled back, PostgreSQL expects one row of it however many it has, and the joins take quadratic time."""
    models.Agent.objects.bulk_create(models.Agent(pk=number, name=f"db{number}", host="h") for number in range(1, 12))
    for statement in Path(__file__).with_suffix(".sql").read_text().split(";\n"):
        if statement.strip():
            sql.execute(statement, {"trials": trials})
            sql.execute("ANALYZE")


def measure(rounds: int, seconds: float, console: Console) -> list[Figure]:
    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, "testserver"]
    with own_database():
        started_s = time.perf_counter()
        fill(TRIALS)
        sql.execute("VACUUM ANALYZE")
        console.print(f"  {models.Trial.objects.count():,} trials made in {time.perf_counter() - started_s:.0f} s")
        return [Figure(name, "ms", LIMITS_MS[name], _rounds(query, rounds)) for name, query in _queries().items()]


def _queries() -> dict[str, Callable[[], object]]:
    client = Client()
    return {
        "the reaper": lambda: expired(timezone.now()),
        "an agent": lambda: agent_detail("db1"),
        "an agent that has long been idle": lambda: agent_detail("db11"),
        "a page of measurements": lambda: client.get("/api/v1/measurements/").json(),
        "a scrape": lambda: client.get("/metrics").content,
    }


def _rounds(query: Callable[[], object], rounds: int) -> tuple[float, ...]:
    query()
    durations_ms = []
    for _ in range(rounds):
        connection.queries_log.clear()
        started_s = time.perf_counter()
        query()
        durations_ms.append(1000 * (time.perf_counter() - started_s))
    return tuple(durations_ms)
