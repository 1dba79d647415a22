"""Taking runs off the lists and putting them back, and deleting them for good; of all that are named or of none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from django.db import transaction

from results import models
from results.bundle_files import remove_bundle, removing_bundles
from results.bundle_storage import storage
from results.domain.errors import StateError
from results.domain.imports.table import PROGRAM
from results.domain.messages import BLANK, Message, linked, ngettext_lazy
from results.domain.messages import gettext_lazy as _
from results.domain.units import format_quantity
from results.queries.runs.loss import RunLoss, run_losses
from results.queries.runs.runs import DELETE_RUN
from results.ranges import require_attached
from results.runs import RESTORE_RUN, audit
from results.standing import lock_runs


@dataclass(frozen=True)
class Deleted:
    """What was deleted.

    left: archives of raw files that could not be removed, each with the reason; nothing in the warehouse names them any
        more."""

    runs: tuple[RunLoss, ...]
    left: tuple[str, ...]


@transaction.atomic
def archive_runs(run_ids: Sequence[int], actor: str) -> int:
    """Take runs off the lists and out of the views; return how many were on them. Nothing measured changes. Raises
    NotFound, and StateError for runs that have not ended and for published figures."""
    lock_runs(run_ids)
    losses = run_losses(run_ids)
    _refuse("archived", [(one, one.keeps_on_lists) for one in losses])
    return _set_archived([one.id for one in losses if not one.archived], actor, archived=True)


@transaction.atomic
def restore_runs(run_ids: Sequence[int], actor: str) -> int:
    """Put archived runs back on the lists; return how many were off them. Raises NotFound."""
    return _set_archived([run.pk for run in lock_runs(run_ids) if run.archived], actor, archived=False)


def _set_archived(run_ids: Sequence[int], actor: str, *, archived: bool) -> int:
    for run_id in run_ids:
        audit(actor, "archive run" if archived else RESTORE_RUN, f"run {run_id}")
    return models.Run.objects.filter(pk__in=run_ids).update(archived=archived)


def delete_runs(run_ids: Sequence[int], actor: str) -> Deleted:
    """Delete runs with their trials, measurements and raw files. Raises NotFound, and StateError for runs that have not
    ended, that a citation holds, whose series were detached, for published figures, and while a backup is being taken.

    The files go after the rows are gone for sure: a transaction that fails loses nothing."""
    with removing_bundles():
        losses = _delete_rows(run_ids, actor)
        return Deleted(losses, tuple(left for one in losses for left in _remove_bundles(one, actor)))


@transaction.atomic
def _delete_rows(run_ids: Sequence[int], actor: str) -> tuple[RunLoss, ...]:
    lock_runs(run_ids, deleting=True)
    require_attached(run_ids)
    losses = run_losses(run_ids)
    _refuse("deleted", [(one, one.keeps_it) for one in losses])
    private = set(models.Run.objects.filter(pk__in=run_ids, private=True).values_list("pk", flat=True))
    for one in losses:
        audit(actor, DELETE_RUN, f"run {one.id}", **_lost(one), private=one.id in private)
    runs = models.Run.objects.filter(pk__in=[one.id for one in losses])
    imports = [run.publication_id for run in runs if run.publication_id is not None]
    of_tables = models.Measurement.objects.filter(run__in=runs, run__publication__program=PROGRAM)
    metrics = set(of_tables.values_list("metric", flat=True))
    runs.delete()
    models.Publication.objects.filter(pk__in=imports).delete()  # so that their files may be imported again
    _forget_metrics(metrics)
    return losses


def _forget_metrics(names: Iterable[str]) -> None:
    """Delete those metrics of deleted tables that nothing else has measured, so that a table that was imported with a
    wrong unit may be imported with the right one. A metric of which a value is being stored at this moment stays."""
    unlocked = models.Metric.objects.select_for_update(skip_locked=True).filter(name__in=names)
    candidates = set(unlocked.values_list("name", flat=True))
    for table in (models.Measurement, models.Noise):
        # also what is hidden from this visitor (results.viewer) measures a metric
        candidates -= set(table._base_manager.filter(metric__in=candidates).values_list("metric", flat=True).distinct())
    models.Measure.objects.filter(metric__in=candidates).delete()
    models.Metric.objects.filter(name__in=candidates).delete()


def _refuse(done: str, reasons: Sequence[tuple[RunLoss, str]]) -> None:
    """Raise StateError where there is a reason against one of them."""
    against = [(one, reason) for one, reason in reasons if reason]
    if not against:
        return
    each = [_("Run {run}: {reason}", run=one.id, reason=reason) for one, reason in against]
    raise StateError(
        _refusal(done, [one.id for one, _reason in against], of_several=len(reasons) > 1),
        why=linked(BLANK, each),
        todo=_("Choose the others alone.") if len(reasons) > len(against) else "",
    )


def _refusal(done: str, run_ids: Sequence[int], *, of_several: bool) -> Message:
    ids, count = ", ".join(map(str, run_ids)), len(run_ids)
    if done == "archived" and of_several:
        return ngettext_lazy(
            "Run {runs} cannot be archived, so none was.",
            "Runs {runs} cannot be archived, so none was.",
            count,
            runs=ids,
        )
    if done == "archived":
        return ngettext_lazy("Run {runs} cannot be archived.", "Runs {runs} cannot be archived.", count, runs=ids)
    if of_several:
        return ngettext_lazy(
            "Run {runs} cannot be deleted, so none was.", "Runs {runs} cannot be deleted, so none was.", count, runs=ids
        )
    return ngettext_lazy("Run {runs} cannot be deleted.", "Runs {runs} cannot be deleted.", count, runs=ids)


def _lost(one: RunLoss) -> dict[str, str | int]:
    return {
        "name": one.name,
        "trials": one.trials,
        "done": one.trials_done,
        "measurements": one.measurements,
        "raw files": format_quantity(one.bundle_bytes, "B"),
    }


def _remove_bundles(one: RunLoss, actor: str) -> list[str]:
    """Remove the archives of a run's attempts and their folders; return what is left, which the audit log names too."""
    left = [reason for bundle in one.bundles if (reason := remove_bundle(bundle))]
    for folder in {str(PurePosixPath(bundle).parent) for bundle in one.bundles} if not left else ():
        left += _remove_folder(folder)
    if left:
        audit(actor, "could not remove raw files", f"run {one.id}", files=left)
    return left


def _remove_folder(folder: str) -> list[str]:
    """Remove a run's folder; return what is still there: a worker given up earlier may store an archive yet."""
    try:
        rest = storage().remove_folder(folder)
    except OSError as error:
        return [f"{storage().shown(folder)}: {error.strerror}"]
    return [_("{file}: of no attempt that the warehouse knows", file=file) for file in rest]
