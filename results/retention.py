"""Remove the raw files of runs that ended long ago. What was read from them stays in the warehouse, and says since when
nobody can read it again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Count, F
from django.utils import timezone

from results import models
from results.bundle_files import remove_bundle, removing_bundles
from results.domain.messages import gettext_lazy as _
from results.domain.states import ENDED_RUNS, Standing
from results.queries.runs.loss import RunLoss, run_losses
from results.queries.shared.ids import require_found
from results.runs import audit
from results.standing import lock_runs

PRUNE = "remove raw files"  # the audit log's verb
_AT_ONCE = 50


@dataclass(frozen=True)
class Retention:
    """Whose raw files are removed.

    older_than: since when a run has ended at least
    keep: runs whose raw files stay
    kept_too: also of runs with the standing kept, of which views, trends and alerts are made
    """

    older_than: timedelta
    keep: frozenset[int] = frozenset()
    kept_too: bool = False


@dataclass(frozen=True)
class Candidate:
    """A run that ended long enough ago, and has raw files.

    stays: why these are not removed; '' where they are
    """

    loss: RunLoss
    ended_at: datetime
    stays: str


def candidates(retention: Retention, now: datetime) -> Iterator[Candidate]:
    """Yield each run that ended long enough ago and has raw files, the newest first. Raises NotFound for a run to keep
    that there is not."""
    known = models.Run.objects.filter(pk__in=retention.keep).values_list("pk", flat=True)
    require_found(sorted(retention.keep), list(known), "run")
    ended = models.Run.objects.filter(state__in=ENDED_RUNS, ended_at__lt=now - retention.older_than, publication=None)
    times = {pk: ended_at for pk, ended_at in ended.order_by("-pk").values_list("pk", "ended_at") if ended_at}
    ids = list(times)
    for start in range(0, len(ids), _AT_ONCE):
        for loss in run_losses(ids[start : start + _AT_ONCE]):
            if loss.bundles:
                yield Candidate(loss, times[loss.id], _stays(loss, retention))


def _stays(loss: RunLoss, retention: Retention) -> str:
    if loss.id in retention.keep:
        return _("it was named to be spared")
    if loss.keeps_it:
        return loss.keeps_it
    return _("it is kept") if loss.standing == Standing.KEPT and not retention.kept_too else ""


@dataclass(frozen=True)
class Pruned:
    """What was removed of one run.

    loss: as it was just before; None where its raw files were to stay after all
    left: files that could not be removed, each with the reason; the warehouse still names them
    """

    loss: RunLoss | None
    left: tuple[str, ...] = ()


@dataclass(frozen=True)
class Removal:
    """Attempts of a run whose raw files were removed at one time."""

    run_id: int
    at: datetime
    by: str
    attempts: int


def removals(run_id: int | None = None) -> list[Removal]:
    """Return what was removed, of one run or of all, the oldest run first."""
    removed = models.Attempt.objects.exclude(bundle_removed_at=None)
    rows = (removed.filter(run_id=run_id) if run_id else removed).values(
        "run_id", at=F("bundle_removed_at"), by=F("bundle_removed_by")
    )
    return [Removal(**row) for row in rows.annotate(attempts=Count("pk")).order_by("run_id", "at")]


def prune(run_id: int, retention: Retention, actor: str) -> Pruned:
    """Remove the raw files of a run, unless something keeps them by now. Raises NotFound, and StateError while a backup
    is being taken.

    The rows come first: a process that is killed leaves files that no row names, and never a row that names none."""
    with removing_bundles():
        loss, bundles = _mark(run_id, retention, actor)
        if loss is None:
            return Pruned(None)
        left = {attempt: reason for attempt, bundle in bundles.items() if (reason := remove_bundle(bundle))}
        if left:
            _mark_left(run_id, {attempt: bundles[attempt] for attempt in left}, list(left.values()), actor)
        return Pruned(loss, tuple(left.values()))


@transaction.atomic
def _mark(run_id: int, retention: Retention, actor: str) -> tuple[RunLoss | None, dict[int, str]]:
    """Say of a run's attempts that their raw files are gone; return what they were, and attempt → archive."""
    lock_runs([run_id])
    [loss] = run_losses([run_id])
    if not loss.bundles or _stays(loss, retention):
        return None, {}
    audit(actor, PRUNE, f"run {run_id}", files=len(loss.bundles), size_bytes=loss.bundle_bytes)
    named = models.Attempt.objects.filter(run_id=run_id).exclude(bundle="")
    bundles = dict(named.order_by("pk").values_list("pk", "bundle"))
    named.update(bundle="", bundle_removed_at=timezone.now(), bundle_removed_by=actor)
    return loss, bundles


@transaction.atomic
def _mark_left(run_id: int, bundles: Mapping[int, str], reasons: Sequence[str], actor: str) -> None:
    """Name the archives again that are still there."""
    for attempt, bundle in bundles.items():
        models.Attempt.objects.filter(pk=attempt).update(bundle=bundle, bundle_removed_at=None, bundle_removed_by="")
    audit(actor, "could not remove raw files", f"run {run_id}", files=list(reasons))
