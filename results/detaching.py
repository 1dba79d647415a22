"""Series and histograms of a thousand runs go into one archive beside the bundles, and come back. Every other number of
these runs stays in the warehouse, and nothing is removed before the archive has been read again."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import starmap
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

from django.conf import settings
from django.db import OperationalError, connection, transaction
from django.utils import timezone
from psycopg.errors import LockNotAvailable

from results import models, sql
from results.bundle_files import checksum, place_bundle, remove_bundle, removing_bundles, transaction_with_bundles
from results.bundle_storage import UNFINISHED, storage
from results.domain.errors import IngestError, StateError
from results.domain.messages import gettext_lazy as _
from results.domain.states import ENDED_RUNS, AttemptState
from results.ranges import RUNS, TABLES, bounds, detached_since
from results.runs import audit

DETACH, ATTACH = "detach series and histograms", "bring back series and histograms"  # verbs of the audit log
_COLUMNS = "columns.json"  # of the archive: table → its columns, in the order of its file
_LOCK_TIMEOUT = "5s"


@dataclass(frozen=True)
class RunRange:
    """A range of runs of which there is at least one.

    first: the least number that a run of it can have; last: the greatest
    runs: how many there are
    ended_at: when the last of those that have ended did
    going_on: how many have not ended
    bytes: what its partitions take, with their indexes
    detached: where its series and histograms are, unless they are in the warehouse
    """

    first: int
    last: int
    runs: int
    ended_at: datetime | None
    going_on: int
    bytes: int
    detached: models.DetachedRange | None = None


def run_ranges() -> list[RunRange]:
    """Return all ranges, the oldest first. Two queries."""
    detached = models.DetachedRange.objects.in_bulk()
    with connection.cursor() as cursor:
        cursor.execute(sql.load(__file__), {"size": RUNS, "ended": list(ENDED_RUNS), "tables": list(TABLES)})
        return [replace(one, detached=detached.get(one.first)) for one in starmap(RunRange, cursor.fetchall())]


def detach(first_run: int, actor: str) -> models.DetachedRange:
    """Write series and histograms of a range into an archive, and empty its partitions. Meanwhile whoever reads them
    can, and whoever stores some waits.

    Raises StateError for a range that has none, is not full yet, has a run that goes on, or is read at the end;
    IngestError where the archive cannot be read again."""
    tables = _partitions(first_run)
    with _folder() as folder, transaction_with_bundles() as placed, connection.cursor() as cursor:
        _require_old(first_run)
        cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")  # while the archive is sent and read again
        cursor.execute(f"LOCK TABLE {', '.join(tables)} IN SHARE ROW EXCLUSIVE MODE")
        path = folder / "archive.zip"
        rows = _write(path, tables)
        if not any(rows):
            raise StateError(_("Runs {first} to {last} have neither series nor histograms.", **_bounds(first_run)))
        sha256 = checksum(path)
        size_bytes = path.stat().st_size
        archive = "ranges/{first}-{last}-{sha256:.12}.zip".format(**_bounds(first_run), sha256=sha256)
        if place_bundle(path, archive, sha256):
            placed.append(archive)
        _require_readable(archive, sha256)
        _empty(tables)
        audit(actor, DETACH, f"runs {first_run} to {first_run + RUNS - 1}", archive=archive, sha256=sha256)
        return models.DetachedRange.objects.create(
            first_run=first_run,
            archive=archive,
            archive_sha256=sha256,
            archive_bytes=size_bytes,
            series_groups=rows[0],
            histograms=rows[1],
            detached_at=timezone.now(),
            detached_by=actor,
        )


def attach(first_run: int, actor: str) -> str:
    """Bring series and histograms of a range back, and remove its archive. Return why the archive is still there, ''
    where it is not.

    Raises StateError for a range that is not detached, and while a backup is being taken; IngestError where the archive
    is not there, or not as it was written."""
    with removing_bundles():
        archive = _bring_back(first_run, actor)
        return remove_bundle(archive)


@transaction.atomic
def _bring_back(first_run: int, actor: str) -> str:
    found = models.DetachedRange.objects.select_for_update().filter(pk=first_run).first()
    if found is None:
        what = _("Series and histograms of runs {first} to {last} are not in an archive.", **_bounds(first_run))
        raise StateError(what, todo=_("manage.py ranges shows which are."))
    with _opened(found.archive, found.archive_sha256) as archive:
        columns = json.loads(archive.read(_COLUMNS))
        for table, count in zip(TABLES, (found.series_groups, found.histograms), strict=True):
            with archive.open(table) as lines:
                _read(table, columns[table], lines, count, found.archive)
    found.delete()
    audit(actor, ATTACH, f"runs {first_run} to {first_run + RUNS - 1}", archive=found.archive)
    return found.archive


def _bounds(first_run: int) -> dict[str, int]:
    return {"first": first_run, "last": first_run + RUNS - 1}


def _partitions(first_run: int) -> list[str]:
    """Return the names of a range's partitions. Raises StateError where it has none."""
    tables = [f"{table}_from_{first_run}" for table in TABLES]
    with connection.cursor() as cursor:
        cursor.execute("SELECT bool_and(to_regclass(name) IS NOT NULL) FROM unnest(%s::text[]) AS name", [tables])
        if cursor.fetchone()[0]:
            return tables
    raise StateError(
        _("No range of runs begins with {first}.", first=first_run), todo=_("manage.py ranges shows which there are.")
    )


def _require_old(first_run: int) -> None:
    """Raise StateError for a range that is detached already, whose runs have not all ended, or that will get more."""
    if found := models.DetachedRange.objects.filter(pk=first_run).first():
        what = _("Series and histograms of runs {first} to {last} are in an archive already.", **bounds(found))
        raise StateError(what, where=found.archive, why=detached_since(found))
    runs = models.Run.objects.filter(pk__gte=first_run, pk__lt=first_run + RUNS)
    attempts = models.Attempt.objects.filter(run__in=runs, state=AttemptState.RUNNING)
    going_on = runs.exclude(state__in=ENDED_RUNS).values_list("pk", flat=True).first()
    going_on = going_on or attempts.values_list("run", flat=True).first()
    todo = _("Detach older ones.")
    if going_on:
        what = _("Runs {first} to {last} have not all ended.", **_bounds(first_run))
        raise StateError(what, where=_("run {run}", run=going_on), todo=todo)
    if not models.Run.objects.filter(pk__gte=first_run + RUNS).exists():
        raise StateError(_("Runs {first} to {last} are the newest.", **_bounds(first_run)), todo=todo)


@contextmanager
def _folder() -> Iterator[Path]:
    """A folder below the bundle folder, from which a file is moved to its place."""
    root = Path(settings.TEITEN_BUNDLE_DIR) / UNFINISHED
    root.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="range-", dir=root) as folder:
        yield Path(folder)


def _write(path: Path, tables: list[str]) -> list[int]:
    """Write an archive of partitions onto the disk; return how many rows each has."""
    columns = {table: _columns(table) for table in TABLES}
    rows = []
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        archive.writestr(_COLUMNS, json.dumps(columns))
        for table, partition in zip(TABLES, tables, strict=True):
            with archive.open(table, "w", force_zip64=True) as target:
                rows.append(_copy_out(partition, columns[table], target))
    with path.open("rb") as written:
        os.fsync(written.fileno())
    return rows


def _columns(table: str) -> list[str]:
    with connection.cursor() as cursor:
        return [column.name for column in connection.introspection.get_table_description(cursor, table)]


def _copy_out(partition: str, columns: list[str], target: IO[bytes]) -> int:
    rows = 0
    query = f"COPY (SELECT {', '.join(columns)} FROM {partition} ORDER BY run_id, attempt_id) TO STDOUT"  # noqa: S608
    with connection.cursor() as cursor, cursor.copy(query) as lines:
        for data in lines:
            rows += bytes(data).count(b"\n")
            target.write(data)
    return rows


def _empty(tables: list[str]) -> None:
    """Empty partitions, unless somebody reads them for seconds on end."""
    try:
        with connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL lock_timeout = '{_LOCK_TIMEOUT}'")
            cursor.execute(f"TRUNCATE {', '.join(tables)}")
    except OperationalError as error:
        if not isinstance(error.__cause__, LockNotAvailable):
            raise
        raise StateError(
            _("Series and histograms of these runs are being read, so they stay where they are."),
            where=", ".join(tables),
            why=_(
                "A transaction that reads them, such as that of a backup, has not ended for {time}.", time=_LOCK_TIMEOUT
            ),
            todo=_("Try again when it has ended."),
        ) from error


def _require_readable(archive: str, sha256: str) -> None:
    """Raise IngestError where an archive does not have every byte that was written into it."""
    with _opened(archive, sha256) as written:
        if (damaged := written.testzip()) is not None:
            raise _damaged(archive, damaged)


@contextmanager
def _opened(archive: str, sha256: str) -> Iterator[ZipFile]:
    """An archive for reading. Raises IngestError where it is not there, or another one."""
    try:
        with storage().file(archive) as path:
            if checksum(path) != sha256:
                raise _damaged(archive, _("Its checksum is another one."))
            with ZipFile(path) as opened:
                yield opened
    except (OSError, BadZipFile) as error:
        raise _damaged(archive, str(error)) from error


def _damaged(archive: str, why: str) -> IngestError:
    return IngestError(
        _("The archive of series and histograms is not as it was written."),
        where=storage().shown(archive),
        why=why,
        todo=_("Restore it from a backup."),
    )


def _read(table: str, columns: list[str], lines: IO[bytes], count: int, archive: str) -> None:
    """Store the rows of an archive. Raises IngestError where they are not as many as were written."""
    with connection.cursor() as cursor:
        with cursor.copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN") as target:
            while piece := lines.read(1 << 20):
                target.write(piece)
        if cursor.rowcount != count:
            why = _("It has {rows} rows of {table}, and not {count}.", rows=cursor.rowcount, table=table, count=count)
            raise _damaged(archive, why)
