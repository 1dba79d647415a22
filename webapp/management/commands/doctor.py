"""manage.py doctor: checks every dependency and agent, and says how to repair each."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.db import Error as DatabaseError
from django.db import connection
from django.utils import timezone
from django.utils.translation import gettext
from django_celery_beat.models import PeriodicTask
from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.markup import escape

from results import bundle_files, replica, run_counts, warehouse
from results.bundle_storage import storage
from results.domain.errors import StateError, TeitenError
from results.domain.matrix.program_needs import looked_for
from results.domain.messages import BLANK, COMMA, linked, localized
from results.domain.messages import gettext_lazy as _
from results.domain.units import format_quantity
from results.models import Agent
from results.queries.agents.agents import agent_row
from webapp.health import check_bundle_folder, missing_migrations
from webapp.management import exposure, parts
from webapp.management.command import TerminalCommand
from webapp.management.exposure import Finding
from webapp.queue_servers import is_amqp
from workers import tasks
from workers.registry import kinds

LEAST_FREE_BYTES = 1024**3  # of an agent
OLDEST_POSTGRESQL = 140000
BEAT_SILENCE = timedelta(minutes=2)


class Command(TerminalCommand):
    help = _(
        "Checks warehouse, Redis, workers, beat, clocks, bundle folder, static files, translations, programs, proxies, "
        "mail and every agent. Exit code 1 if one is not well."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--part", action="append", choices=_checks(), help=gettext("look at this part only (repeatable)")
        )

    def handle(self, *args: Any, part: list[str] | None, **options: Any) -> None:
        console = Console(file=self.stdout)  # type: ignore[arg-type]
        failures = 0
        checks = _checks()
        marks = {True: gettext("ok"), False: gettext("mend")}
        width = max(map(cell_len, marks.values())) + 1
        for name in part or checks:
            for ok, text in _findings(checks[name]):
                failures += not ok
                mark = f"[{'green' if ok else 'red'}]{set_cell_size(marks[ok], width)}[/]"
                line = escape(localized(_("{where}: {what}", where=name, what=text)))
                console.print(f"{mark} {line}", highlight=False, soft_wrap=True)
        if failures:
            raise CommandError(gettext("{n} to mend.").format(n=failures))


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
        yield False, _("not known while the warehouse cannot be reached")


def _warehouse() -> Iterator[Finding]:
    try:
        connection.ensure_connection()
    except DatabaseError as error:
        yield False, _("cannot be reached: {error}. Start it, or set TEITEN_DATABASE_URL.", error=str(error))
        return
    number = connection.pg_version  # type: ignore[attr-defined]
    version = f"{number // 10000}.{number % 10000}"
    if number >= OLDEST_POSTGRESQL:
        yield True, _("PostgreSQL {version} answers", version=version)
    else:
        yield False, _("PostgreSQL {version} answers: it takes 14 or later", version=version)
    yield parts.encoding()
    if missing := missing_migrations():
        yield False, _("{number} migrations are missing: manage.py migrate", number=missing)
    else:
        yield True, _("migrations are complete")
        yield _run_counts()
    yield from exposure.warehouse()
    if replica.is_configured():
        yield _replica()


def _run_counts() -> Finding:
    if wrong := run_counts.miscounted():
        return False, _(
            "counts of runs are wrong ({number}), and so is what lists say: manage.py count_runs", number=wrong
        )
    return True, _("the counts of runs are right")


def _replica() -> Finding:
    """Whether the standby that pages are read from is one of this warehouse, and how far behind it is."""
    try:
        state = replica.state()
        primary, standby = replica.clusters()
    except DatabaseError as error:
        return False, _("the standby cannot be reached: {error}. Pages read the warehouse meanwhile", error=str(error))
    if not state.is_standby or primary != standby:
        return False, _("TEITEN_REPLICA_URL is no standby of this warehouse: pages may show something else")
    if not state.is_read:
        return False, _(
            "the standby is {lag:.1f} s behind, or receives nothing: pages read the warehouse until it has caught up",
            lag=state.lag_s,
        )
    return True, _("the standby is {lag:.1f} s behind", lag=state.lag_s)


def _queue() -> Iterator[Finding]:
    findings = list(exposure.queue())
    yield from findings
    if not is_amqp(settings.CELERY_BROKER_URL) and not any("cannot be reached" in text for _, text in findings):
        yield from parts.queue()


def _beat() -> Iterator[Finding]:
    last = PeriodicTask.objects.filter(name="dispatch").values_list("last_run_at", flat=True).first()
    if last is None or timezone.now() - last > BEAT_SILENCE:
        yield (
            False,
            _("has not been heard of for 2 minutes: start `celery -A workers.app beat` (schedules need it)"),
        )
    else:
        yield True, _("last wrote at {time} UTC", time=f"{last:%H:%M:%S}")


def _bundles() -> Iterator[Finding]:
    try:
        check_bundle_folder()
    except TeitenError as error:
        text = _("{why}. Make room, or set TEITEN_BUNDLE_DIR to a folder that this account may write.", why=error.why)
        yield False, text
        return
    folder = str(settings.TEITEN_BUNDLE_DIR)
    if why := bundle_files.why_no_room():
        text = _(
            "{folder} {why}. No trial starts until that is mended: make room, or move TEITEN_BUNDLE_DIR",
            folder=folder,
            why=why,
        )
        yield False, text
    else:
        free = format_quantity(bundle_files.free_bytes(), "B")
        yield True, _("{folder}: {size} free", folder=folder, size=free)
    if not storage().in_folder:
        yield _bucket()


def _bucket() -> Finding:
    address = storage().shown()
    try:
        storage().try_out()
    except OSError as error:
        return False, _("{address} cannot be written and read: {error}", address=address, error=str(error))
    return True, _("{address}: written, read and removed", address=address)


def _agents() -> Iterator[Finding]:
    agents = Agent.objects.filter(enabled=True)
    if not agents:
        yield False, _("there is none: add one on the agents page, or by manage.py agents add")
    for agent in agents:
        yield from _agent(agent)
    yield from exposure.agents(agents)


def _agent(agent: Agent) -> Iterator[Finding]:
    try:
        tasks.contact_now(agent.pk)
    except StateError as error:
        yield True, linked(BLANK, (error.what, _("It is not contacted now.")))
        return
    except TeitenError as error:
        yield False, _("{where}: {what}", where=agent.name, what=error.words)
        return
    agent.refresh_from_db()
    if installed := [installation.name for installation in agent.installations.filter(present=True)]:
        yield True, _("{agent}: PostgreSQL {names}", agent=agent.name, names=linked(COMMA, installed))
    else:
        yield False, _("{agent}: PostgreSQL not found: set where to look for it", agent=agent.name)
    programs = agent_row(agent.name).programs
    for program in looked_for(kinds()):
        if program.without and program.name not in programs:
            text = _(
                "{agent}: no {program}: {how}; without it {without}",
                agent=agent.name,
                program=program.name,
                how=program.how_to_get,
                without=program.without,
            )
            yield False, text
    free = agent.disk.get("free_bytes", 0)
    text = _("{agent}: {size} free for data", agent=agent.name, size=format_quantity(free, "B"))
    yield free > LEAST_FREE_BYTES, text
