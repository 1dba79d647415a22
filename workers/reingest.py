"""Read archived bundles again: compare their measurements with the stored ones, or replace those."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.db import DataError, IntegrityError

from results import ingest
from results.bundle_files import bundle_path
from results.domain.errors import IngestError, TeitenError
from results.domain.states import AttemptState
from results.ingest import Difference
from results.models import Attempt
from workers.bundle import reader
from workers.bundle.writer import checksum


@dataclass(frozen=True)
class RereadAttempt:
    """One attempt read again: what differs from the warehouse, or why its bundle could not be read.

    measurements: how many the bundle has
    """

    attempt_id: int
    trial_id: int
    measurements: int
    differences: tuple[Difference, ...]
    error: TeitenError | None = None


def reread(run_id: int | None, *, replace: bool) -> Iterator[RereadAttempt]:
    """Read each attempt again that has a bundle, of one run or of all, oldest first.

    replace: store what differs
    """
    measured = Attempt.objects.filter(run__publication=None)  # files of other programs have no manifest
    attempts = measured.exclude(bundle="").exclude(state=AttemptState.RUNNING).order_by("pk")
    for attempt in attempts.filter(run_id=run_id) if run_id else attempts:
        yield _reread_attempt(attempt, replace)


def _reread_attempt(attempt: Attempt, replace: bool) -> RereadAttempt:
    try:
        return _compare(attempt, replace)
    except TeitenError as error:
        return RereadAttempt(attempt.pk, attempt.trial_id, 0, (), error)
    except (DataError, IntegrityError) as error:
        what = "The warehouse cannot hold what the bundle says."
        refused = IngestError(what, where=attempt.bundle, why=str(error).strip(), todo="Report it with the bundle.")
        return RereadAttempt(attempt.pk, attempt.trial_id, 0, (), refused)


def _compare(attempt: Attempt, replace: bool) -> RereadAttempt:
    """Raises TeitenError for a bundle that is not there, is another one, or cannot be stored."""
    path = bundle_path(attempt.bundle)
    if checksum(path) != attempt.bundle_sha256:
        raise IngestError(
            "The archive is not the one that was ingested.",
            where=str(path),
            todo="Restore it from a backup.",
        )
    parsed = reader.read(path)
    differences = tuple(ingest.differences(parsed, attempt.pk))
    if differences and replace:
        ingest.replace(parsed, attempt.pk)
    return RereadAttempt(attempt.pk, attempt.trial_id, len(parsed.measurements), differences)
