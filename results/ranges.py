"""Ranges of a thousand runs: series and histograms of each are in partitions of their own. The warehouse itself makes
them when a run is inserted whose range has none (migration 0044). They are made ahead, so that this is rare: to make
one takes locks that a transaction which stores something waits for, and waits for such."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from django.db import OperationalError, connection, transaction
from psycopg.errors import LockNotAvailable

from results import models
from results.domain.errors import StateError
from results.domain.messages import Message
from results.domain.messages import gettext_lazy as _

RUNS = 1_000
TABLES = ("results_seriesgroup", "results_packedhistogram")
log = logging.getLogger(__name__)


def make(first_run: int, last_run: int) -> bool:
    """Make the partitions that have the rows of these runs, unless they are there. Return whether any was made."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(bool_or(results_make_range(run)), false) FROM generate_series(%s::bigint, %s, %s) AS run",
            [first_run // RUNS * RUNS, last_run, RUNS],
        )
        return bool(cursor.fetchone()[0])


def make_ahead() -> bool:
    """Make the partitions of the newest run's range and of the next one. Return whether any was made.

    It gives up where it would have to wait, before PostgreSQL takes that for a deadlock, and is called again soon."""
    newest = models.Run.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL lock_timeout = '500ms'")
            made = make(newest, newest + RUNS)
            if made:  # autovacuum analyzes partitions, but never the tables that they are of
                cursor.execute("ANALYZE results_packedhistogram, results_seriesgroup")
    except OperationalError as error:
        if not isinstance(error.__cause__, LockNotAvailable):
            raise
        log.info("no partitions were made ahead: %s", error)
        return False
    return made


def detached(run_ids: Iterable[int]) -> models.DetachedRange | None:
    """Return the first range of these runs whose series and histograms are in an archive; None where there is none. One
    query."""
    firsts = {run_id // RUNS * RUNS for run_id in run_ids}
    return models.DetachedRange.objects.filter(first_run__in=firsts).order_by("first_run").first()


def archives() -> list[tuple[str, str]]:
    """Return path and checksum of each archive of a detached range; none of a warehouse that is older than these. Two
    queries."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('results_detachedrange') IS NULL")
        if cursor.fetchone()[0]:
            return []
    return list(models.DetachedRange.objects.values_list("archive", "archive_sha256"))


def require_attached(run_ids: Iterable[int]) -> None:
    """Raise StateError where series and histograms of one of these runs are in an archive. One query."""
    if found := detached(run_ids):
        raise StateError(
            _("Series and histograms of runs {first} to {last} are in an archive.", **bounds(found)),
            where=found.archive,
            why=detached_since(found),
            todo=_("An administrator brings them back: manage.py ranges --attach {first}", first=found.first_run),
        )


def bounds(found: models.DetachedRange) -> dict[str, int]:
    """The first and last number that a run of the range can have."""
    return {"first": found.first_run, "last": found.first_run + RUNS - 1}


def why_missing(run_ids: Iterable[int]) -> str:
    """Return where series and histograms of these runs are, in words that follow a colon; '' where they would be in the
    warehouse. One query."""
    if (found := detached(run_ids)) is None:
        return ""
    return _(
        "in an archive since {date}, with those of all runs from {first} to {last}; an administrator brings them back "
        "by manage.py ranges --attach {first}",
        date=f"{found.detached_at:%Y-%m-%d}",
        **bounds(found),
    )


def detached_since(found: models.DetachedRange) -> Message:
    return _("They were detached on {date} by {user}.", date=f"{found.detached_at:%Y-%m-%d}", user=found.detached_by)
