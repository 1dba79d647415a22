"""Read archived bundles again: compare their measurements with the stored ones, or replace those."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from django.db import DataError, IntegrityError

from results import ingest
from results.bundle_storage import storage
from results.domain.errors import IngestError, TeitenError
from results.domain.measurement.parsed_trial import Gap, ParsedTrial
from results.domain.measurement.record_texts import without_messages
from results.domain.messages import gettext_lazy as _
from results.domain.states import AttemptState
from results.ingest import Difference
from results.models import Attempt
from results.ranges import require_attached
from workers import registry
from workers.bundle import reader
from workers.bundle.writer import checksum


@dataclass(frozen=True)
class RereadAttempt:
    """One attempt read again: what differs from the warehouse, or why its bundle could not be read.

    measurements: how many the bundle has
    kept_for: gaps in the place of a collector's stored numbers, for which nothing of the attempt was replaced
    """

    attempt_id: int
    trial_id: int
    measurements: int
    differences: tuple[Difference, ...]
    error: TeitenError | None = None
    kept_for: tuple[Gap, ...] = ()


def reread(run_id: int | None, *, replace: bool, with_gaps: bool = False) -> Iterator[RereadAttempt]:
    """Read each attempt again that has a bundle, of one run or of all, oldest first.

    replace: store what differs, but for attempts that would lose a collector's numbers
    with_gaps: store what differs there too
    """
    measured = Attempt.objects.filter(run__publication=None)  # files of other programs have no manifest
    attempts = measured.exclude(bundle="").exclude(state=AttemptState.RUNNING).order_by("pk")
    for attempt in attempts.filter(run_id=run_id) if run_id else attempts:
        yield _reread_attempt(attempt, replace, with_gaps)


def _reread_attempt(attempt: Attempt, replace: bool, with_gaps: bool) -> RereadAttempt:
    try:
        return _compare(attempt, replace, with_gaps)
    except TeitenError as error:
        return RereadAttempt(attempt.pk, attempt.trial_id, 0, (), error)
    except (DataError, IntegrityError) as error:
        what = _("The warehouse cannot hold what the bundle says.")
        refused = IngestError(what, where=attempt.bundle, why=str(error).strip(), todo=_("Report it with the bundle."))
        return RereadAttempt(attempt.pk, attempt.trial_id, 0, (), refused)


def _compare(attempt: Attempt, replace: bool, with_gaps: bool) -> RereadAttempt:
    """Raises TeitenError for a bundle that is not there, is another one, or cannot be stored, and for an attempt whose
    series were detached."""
    require_attached([attempt.run_id])
    parsed = _read(attempt)
    differences = tuple(ingest.differences(parsed, attempt.pk))
    kept_for = tuple(_lost(parsed, attempt, differences)) if replace and not with_gaps else ()
    if differences and replace and not kept_for:
        ingest.replace(parsed, attempt.pk)
    return RereadAttempt(attempt.pk, attempt.trial_id, len(parsed.measurements), differences, kept_for=kept_for)


def _read(attempt: Attempt) -> ParsedTrial:
    where, todo = storage().shown(attempt.bundle), _("Restore it from a backup.")
    try:
        with storage().file(attempt.bundle) as path:
            if checksum(path) != attempt.bundle_sha256:
                raise IngestError(_("The archive is not the one that was ingested."), where=where, todo=todo)
            return reader.read(path)
    except OSError as error:
        raise IngestError(_("The archive cannot be read."), where=where, why=str(error), todo=todo) from error


def _lost(parsed: ParsedTrial, attempt: Attempt, differences: Sequence[Difference]) -> Iterator[Gap]:
    """Yield each gap of a collector that the warehouse does not have, where it has numbers that the bundle has not."""
    missing = {one.key[:2] for one in differences if one.table in ("measurement", "series") and one.bundle is None}
    specs, stored = registry.kinds().collectors, without_messages(attempt.gaps)
    for gap in parsed.gaps:
        metrics = specs[gap.source].metrics if gap.source in specs else ()
        if asdict(gap) not in stored and any((metric.name, gap.node) in missing for metric in metrics):
            yield gap
