"""Ranges of a thousand runs: series and histograms of each are in partitions of their own. The warehouse itself makes
them when a run is inserted whose range has none (migration 0044). They are made ahead, so that this is rare: to make
one takes locks that a transaction which stores something waits for, and waits for such."""

from __future__ import annotations

import logging

from django.db import OperationalError, connection, transaction
from psycopg.errors import LockNotAvailable

from results import models

RUNS = 1_000
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
