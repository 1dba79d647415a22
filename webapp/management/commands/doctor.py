"""manage.py doctor: checks every dependency and agent, and says how to repair each."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import Error as DatabaseError
from django.db import connection
from django.utils import timezone
from django_celery_beat.models import PeriodicTask
from rich.console import Console
from rich.markup import escape

from results import bundle_files, warehouse
from results.domain.errors import StateError, TeitenError
from results.domain.matrix.program_needs import looked_for
from results.domain.units import format_quantity
from results.models import Agent
from results.queries.agents.agents import agent_row
from webapp.health import check_bundle_folder, missing_migrations
from webapp.management import exposure, parts
from webapp.management.exposure import Finding
from workers import tasks
from workers.registry import kinds

LEAST_FREE_BYTES = 1024**3  # of an agent
OLDEST_POSTGRESQL = 140000
BEAT_SILENCE = timedelta(minutes=2)


class Command(BaseCommand):
    help = (
        "Checks warehouse, Redis, workers, beat, clocks, bundle folder, static files, translations, programs, proxies, "
        "mail and every agent. Exit code 1 if one is not well."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--part", action="append", choices=_checks(), help="look at this part only (repeatable)")

    def handle(self, *args: Any, part: list[str] | None, **options: Any) -> None:
        console = Console(file=self.stdout)  # type: ignore[arg-type]
        failures = 0
        checks = _checks()
        for name in part or checks:
            for ok, text in _findings(checks[name]):
                failures += not ok
                mark = "[green]ok[/]   " if ok else "[red]mend[/] "
                console.print(f"{mark} {name}: {escape(text)}", highlight=False, soft_wrap=True)
        if failures:
            raise CommandError(f"{failures} to mend.", returncode=1)


def _checks() -> dict[str, Callable[[], Iterator[Finding]]]:
    return {
        "warehouse": _warehouse,
        "Redis": _queue,
        "workers": parts.workers,
        "beat": _beat,
        "clocks": parts.clocks,
        "bundle folder": _bundles,
        "static files": parts.static_files,
        "translations": parts.translations,
        "programs": parts.programs,
        "proxies": parts.proxies,
        "mail": parts.mail,
        "agents": _agents,
    }


def _findings(check: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    """Run a check; one that needs the warehouse while that cannot be reached ends as a finding of its own."""
    try:
        yield from check()
    except DatabaseError as error:
        if not warehouse.is_away(error):
            raise
        warehouse.drop_connection()
        yield False, "not known while the warehouse cannot be reached"


def _warehouse() -> Iterator[Finding]:
    try:
        connection.ensure_connection()
    except DatabaseError as error:
        yield False, f"cannot be reached: {error}. Start it, or set TEITEN_DATABASE_URL."
        return
    version = connection.pg_version  # type: ignore[attr-defined]
    text = f"PostgreSQL {version // 10000}.{version % 10000} answers"
    yield version >= OLDEST_POSTGRESQL, text if version >= OLDEST_POSTGRESQL else f"{text}: it takes 14 or later"
    yield parts.encoding()
    missing = missing_migrations()
    yield (
        missing == 0,
        f"{missing} migrations are missing: manage.py migrate" if missing else "migrations are complete",
    )
    yield from exposure.warehouse()


def _queue() -> Iterator[Finding]:
    findings = list(exposure.queue())
    yield from findings
    if not any("cannot be reached" in text for _, text in findings):
        yield from parts.queue()


def _beat() -> Iterator[Finding]:
    last = PeriodicTask.objects.filter(name="dispatch").values_list("last_run_at", flat=True).first()
    if last is None or timezone.now() - last > BEAT_SILENCE:
        yield (
            False,
            "has not been heard of for 2 minutes: start `celery -A workers.app beat` (schedules need it)",
        )
    else:
        yield True, f"last wrote at {last:%H:%M:%S} UTC"


def _bundles() -> Iterator[Finding]:
    try:
        check_bundle_folder()
    except TeitenError as error:
        yield False, f"{error.why}. Make room, or set TEITEN_BUNDLE_DIR to a folder that this account may write."
        return
    folder = settings.TEITEN_BUNDLE_DIR
    if why := bundle_files.why_no_room():
        yield False, f"{folder} {why}. No trial starts until that is mended: make room, or move TEITEN_BUNDLE_DIR"
    else:
        yield True, f"{folder}: {format_quantity(bundle_files.free_bytes(), 'B')} free"


def _agents() -> Iterator[Finding]:
    agents = Agent.objects.filter(enabled=True)
    if not agents:
        yield False, "there is none: add one on the agents page, or by manage.py agents add"
    for agent in agents:
        yield from _agent(agent)
    yield from exposure.agents(agents)


def _agent(agent: Agent) -> Iterator[Finding]:
    try:
        tasks.contact_now(agent.pk)
    except StateError as error:
        yield True, f"{error.what} It is not contacted now."
        return
    except TeitenError as error:
        yield False, f"{agent.name}: {error}"
        return
    agent.refresh_from_db()
    installed = [installation.name for installation in agent.installations.filter(present=True)]
    yield (
        bool(installed),
        f"{agent.name}: PostgreSQL {', '.join(installed) or 'not found: set where to look for it'}",
    )
    programs = agent_row(agent.name).programs
    for program in looked_for(kinds()):
        if program.without and program.name not in programs:
            yield False, f"{agent.name}: no {program.name}: {program.how_to_get}; without it {program.without}"
    free = agent.disk.get("free_bytes", 0)
    yield free > LEAST_FREE_BYTES, f"{agent.name}: {format_quantity(free, 'B')} free for data"
