"""Plans: the list, one with its runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, OuterRef, QuerySet, Subquery

from results import models
from results.queries import NotFound
from results.queries.runs import RunRow, list_runs


@dataclass(frozen=True)
class PlanRow:
    """One plan. schedule: 'minute hour day month weekday' (UTC), '' when it is not scheduled."""

    id: int
    name: str
    description: str
    workload: str
    runs: int
    last_run_id: int | None
    last_state: str
    created_by: str
    created_at: datetime
    changed_at: datetime
    schedule: str
    archived: bool


@dataclass(frozen=True)
class PlanDetail:
    """A plan with its TOML and its latest runs."""

    row: PlanRow
    toml: str
    hash: str
    runs: tuple[RunRow, ...]


def list_plans(*, archived: bool = False, workload: str = "", ids: Sequence[int] | None = None) -> list[PlanRow]:
    """By name. archived: those as well; ids: only these. One query."""
    found = _plans() if archived else _plans().filter(archived=False)
    found = found.filter(workload=workload) if workload else found
    return [_row(plan) for plan in (found if ids is None else found.filter(pk__in=ids))]


def plan_detail(plan_id: int, runs: int = 50) -> PlanDetail:
    """Raises NotFound. Two queries."""
    plan = _plans().filter(pk=plan_id).first()
    if plan is None:
        raise NotFound(f"There is no plan {plan_id}.")
    return PlanDetail(_row(plan), plan.toml, plan.hash, tuple(list_runs(plan_id=plan_id, limit=runs)))


def _plans() -> QuerySet[models.Plan, Any]:
    latest = models.Run.objects.filter(plan=OuterRef("pk")).order_by("-pk")
    return (
        models.Plan.objects.select_related("schedule__crontab", "created_by")
        .annotate(run_count=Count("runs"))
        .annotate(last_run_id=Subquery(latest.values("pk")[:1]), last_state=Subquery(latest.values("state")[:1]))
        .order_by("name")
    )


def _row(plan: Any) -> PlanRow:
    return PlanRow(
        id=plan.pk, name=plan.name, description=plan.description, workload=plan.workload, runs=plan.run_count,
        last_run_id=plan.last_run_id, last_state=plan.last_state or "",
        created_by=plan.created_by.username if plan.created_by else "", created_at=plan.created_at,
        changed_at=plan.changed_at, schedule=_schedule(plan.schedule), archived=plan.archived,
    )  # fmt: skip


def _schedule(task: Any) -> str:
    if task is None or task.crontab is None or not task.enabled:
        return ""
    line = task.crontab
    return f"{line.minute} {line.hour} {line.day_of_month} {line.month_of_year} {line.day_of_week}"
