"""What changed lately: the newest kept run of each of a few plans against those before it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime

from django.db.models import OuterRef, Subquery

from results import models
from results.domain.states import RunState, Standing
from results.domain.statistics.verdict import Kind
from results.queries.trends.progress import CellProgress, Progress, progress

_DECIDED = (Kind.WORSE, Kind.BETTER, Kind.LOWER, Kind.HIGHER)  # the order in which they are listed


@dataclass(frozen=True)
class LatelyChanged:
    """A plan's newest kept run in which something is decided.

    changed: its configurations of which that holds, worse ones first, the largest change first.
    """

    plan_id: int
    progress: Progress
    started_at: datetime | None
    changed: tuple[CellProgress, ...]


def lately_changed(most: int) -> list[LatelyChanged]:
    """Return what is decided in the newest kept runs of the plans that ran last and that nobody watches: alerts tell of
    the others. One query, and at most eight for each of `most` plans."""
    newest = models.Run.objects.filter(
        plan=OuterRef("plan"), state=RunState.FINISHED, standing=Standing.KEPT, archived=False, publication=None
    ).order_by("-started_at", "-pk")
    runs = models.Run.objects.filter(pk=Subquery(newest.values("pk")[:1]), plan__archived=False, plan__watches=None)
    lately = []
    for pk, plan_id, started_at in runs.order_by("-started_at").values_list("pk", "plan_id", "started_at")[:most]:
        result = progress(pk)
        if changed := [cell for cell in result.cells if cell.kind in _DECIDED or cell.worse]:
            lately.append(LatelyChanged(plan_id, result, started_at, tuple(sorted(changed, key=_rank))))
    return lately


def _rank(cell: CellProgress) -> tuple[bool, int, float]:
    """Worse before better, then the larger change first."""
    order = _DECIDED.index(cell.kind) if cell.kind in _DECIDED else len(_DECIDED)
    return not cell.worse, order, -_size(cell.ratio)


def _size(ratio: float | None) -> float:
    """How far from 1, alike for half and double."""
    if ratio is None:
        return 1.0
    return max(ratio, 1 / ratio) if ratio > 0 else math.inf
