"""Plans: the list, one with its runs."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import BigIntegerField, Count, OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import Cast

from results import models
from results.domain.errors import restored
from results.domain.messages import Message
from results.domain.messages import gettext_lazy as _
from results.domain.plan.recipes import plan_description
from results.domain.secrets import masked_toml
from results.models.plans import MissedCause
from results.queries.runs.runs import RunRow, list_runs
from results.queries.shared.ids import NotFound
from results.queries.shared.words import name_of

_LONGEST_NAME = 120
_MISSED = 20  # times, or rows of them, that are shown
COULD_NOT_RUN = "could not run plan"  # the verb of `workers.tasks.start_plan`


@dataclass(frozen=True)
class PlanRow:
    """One plan.

    description: a message.
    schedule: 'minute hour day month weekday' (UTC), '' when it is not scheduled.
    make_up: whether one run makes up for those that its schedule missed while nothing of Teiten ran.
    failure: the error that kept its schedule from running it at failed_at, where no run has been made of it since."""

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
    make_up: bool
    archived: bool
    failed_at: datetime | None
    failure: Mapping[str, Any] | None


@dataclass(frozen=True)
class Missed:
    """Times of a schedule that passed without a run, one after the other for the same cause.

    first_at, last_at, count: of the times.
    cause: 'down', 'going' or 'refused'; why: in a sentence.
    run_id: going: the run that had not ended; down: the one that makes up for them; None of a private one as well."""

    first_at: datetime
    last_at: datetime
    count: int
    cause: str
    why: str
    run_id: int | None


@dataclass(frozen=True)
class PlanDetail:
    """A plan with its TOML, its latest runs, and what its schedule missed lately, the latest first."""

    row: PlanRow
    toml: str
    hash: str
    runs: tuple[RunRow, ...]
    missed: tuple[Missed, ...]


def list_plans(
    *,
    archived: bool = False,
    workload: str = "",
    after: str = "",
    ids: Sequence[int] | None = None,
    limit: int | None = None,
) -> list[PlanRow]:
    """By name. Two queries.

    archived: those as well.
    after: name of the last one of the page before.
    ids: only these.
    limit: None for all."""
    plans = _plans() if archived else _plans().filter(archived=False)
    plans = plans.filter(workload=workload) if workload else plans
    plans = plans.filter(name__gt=after) if after else plans
    return _rows((plans if ids is None else plans.filter(pk__in=ids))[:limit])


def plan_detail(plan_id: int, runs: int = 50) -> PlanDetail:
    """Return one plan with its runs. Four queries. Raises NotFound."""
    plan = _plans().filter(pk=plan_id).first()
    if plan is None:
        raise NotFound(_("There is no {kind} {number}.", kind=name_of("plan"), number=plan_id))
    return PlanDetail(
        _rows([plan])[0],
        masked_toml(plan.toml),
        plan.hash,
        tuple(list_runs(plan_id=plan_id, archived=False, limit=runs)),
        tuple(_missed(row) for row in _latest_missed(plan_id)),
    )


def _latest_missed(plan_id: int) -> QuerySet[models.MissedRuns, Any]:
    visible = models.Run.objects.filter(pk=OuterRef("run_id")).values("pk")[:1]
    return models.MissedRuns.objects.filter(plan=plan_id).annotate(visible_run=Subquery(visible))[:_MISSED]


def _missed(row: Any) -> Missed:
    return Missed(row.first_at, row.last_at, row.count, row.cause, _why(row), row.visible_run)


def _why(row: models.MissedRuns) -> str:
    if row.cause == MissedCause.GOING:
        return _("The run before had not ended.")
    refused = _refused(row.error or {})
    if row.cause == MissedCause.REFUSED:
        return refused
    until = f"{row.noted_at:%Y-%m-%d %H:%M} UTC"
    down = _(
        "Nothing looked at the schedule to {until}: beat, all workers, Redis or the warehouse did not run.", until=until
    )
    if row.since:
        down = _(
            "Nothing looked at the schedule from {since} to {until}: beat, all workers, Redis or the warehouse did not "
            "run.",
            since=f"{row.since:%Y-%m-%d %H:%M}",
            until=until,
        )
    return _("{down} No run makes up for it: {why}", down=down, why=refused) if refused else down


def _refused(error: Mapping[str, Any]) -> str:
    """Return what is wrong with a plan that could not be run, and what to do about it; '' for nothing."""
    sentences = restored(error)
    what, todo = sentences.get("what", ""), sentences.get("todo", "")
    return Message("{what} {todo}", values={"what": what, "todo": todo}) if what and todo else what or todo


def free_name(wanted: str) -> str:
    """The name, or where a plan has it already 'name (2)', 'name (3)', … One query."""
    taken = set(models.Plan.objects.filter(name__startswith=wanted[:100]).values_list("name", flat=True))
    numbered = (f"{wanted[: _LONGEST_NAME - 8]} ({number})" for number in itertools.count(2))
    return next(name for name in itertools.chain([wanted[:_LONGEST_NAME]], numbered) if name not in taken)


def _plans() -> QuerySet[models.Plan, Any]:
    """Plans by name, with what PlanRow says of their runs. Of these only private ones are counted one by one."""
    counted = models.RunCount.objects.filter(plan_id=OuterRef("pk"), archived=False).order_by().values("plan_id")
    private = models.Run.objects.filter(plan=OuterRef("pk"), private=True, archived=False).order_by().values("plan")
    # A range, and not "equal": else PostgreSQL may look for the last run of a plan among all runs, from the newest on.
    of_plan = models.Run.objects.filter(plan__gte=OuterRef("pk"), plan__lte=OuterRef("pk"))
    latest = of_plan.order_by("-plan_id", "-pk")
    listed = latest.filter(archived=False)
    return (
        models.Plan.objects.select_related("schedule__crontab", "created_by")
        .annotate(public_runs=Subquery(counted.annotate(sum=Cast(Sum("runs"), BigIntegerField())).values("sum")))
        .annotate(private_runs=Subquery(private.annotate(count=Count("pk")).values("count")))
        .annotate(last_run_id=Subquery(listed.values("pk")[:1]), last_state=Subquery(listed.values("state")[:1]))
        .annotate(last_run_at=Subquery(latest.values("created_at")[:1]))
        .order_by("name")
    )


def _rows(stored: Iterable[Any]) -> list[PlanRow]:
    plans = list(stored)
    entries = models.AuditEntry.objects.filter(verb=COULD_NOT_RUN, object__in=[f"plan {plan.pk}" for plan in plans])
    latest = {entry.object: entry for entry in entries.order_by("object", "-id").distinct("object")}
    return [_row(plan, latest.get(f"plan {plan.pk}")) for plan in plans]


def _row(plan: Any, failed: models.AuditEntry | None) -> PlanRow:
    if failed is not None and plan.last_run_at is not None and plan.last_run_at > failed.at:
        failed = None
    return PlanRow(
        id=plan.pk,
        name=plan.name,
        description=plan_description(plan.description),
        workload=plan.workload,
        runs=(plan.public_runs or 0) + (plan.private_runs or 0),
        last_run_id=plan.last_run_id,
        last_state=plan.last_state or "",
        created_by=plan.created_by.username if plan.created_by else "",
        created_at=plan.created_at,
        changed_at=plan.changed_at,
        schedule=_schedule(plan.schedule),
        make_up=plan.make_up,
        archived=plan.archived,
        failed_at=failed.at if failed else None,
        failure=_failure(failed) if failed else None,
    )


def _failure(entry: models.AuditEntry) -> Mapping[str, Any] | None:
    error = entry.detail.get("error")
    return restored(error) if isinstance(error, dict) else error


def _schedule(task: Any) -> str:
    if task is None or task.crontab is None or not task.enabled:
        return ""
    line = task.crontab
    return f"{line.minute} {line.hour} {line.day_of_month} {line.month_of_year} {line.day_of_week}"
