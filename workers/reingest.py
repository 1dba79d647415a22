"""Read archived bundles again: compare their measurements with the stored ones, or replace those."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.conf import settings

from results import ingest
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
    path = settings.TEITEN_BUNDLE_DIR / attempt.bundle
    try:
        if checksum(path) != attempt.bundle_sha256:
            raise IngestError(
                "The archive is not the one that was ingested.",
                where=str(path),
                todo="Restore it from a backup.",
            )
        parsed = reader.read(path)
    except TeitenError as error:
        return RereadAttempt(attempt.pk, attempt.trial_id, 0, (), error)
    differences = tuple(ingest.differences(parsed, attempt.pk))
    if differences and replace:
        ingest.replace(parsed, attempt.pk)
    return RereadAttempt(attempt.pk, attempt.trial_id, len(parsed.measurements), differences)
