"""Every number again from the archived bundles: compare it with what is stored, or replace that."""

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
class Reread:
    """One attempt read again: what differs, or why it could not be read."""

    attempt_id: int
    trial_id: int
    numbers: int
    differences: tuple[Difference, ...]
    error: TeitenError | None = None


def reread(run_id: int | None, *, replace: bool) -> Iterator[Reread]:
    """Each attempt that has a bundle (of one run, or all), oldest first. replace: stores what differs."""
    attempts = Attempt.objects.exclude(bundle="").exclude(state=AttemptState.RUNNING).order_by("pk")
    for attempt in attempts.filter(run_id=run_id) if run_id else attempts:
        yield _one(attempt, replace)


def _one(attempt: Attempt, replace: bool) -> Reread:
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
        return Reread(attempt.pk, attempt.trial_id, 0, (), error)
    found = tuple(ingest.differences(parsed, attempt.pk))
    if found and replace:
        ingest.replace(parsed, attempt.pk)
    return Reread(attempt.pk, attempt.trial_id, len(parsed.measurements), found)
