"""Runs of schedules: each time of a schedule gets a run, or is noted as missed with its cause, and is dealt with once.

Beat only says that there may be something to do. What is due follows from the plan's cron line and from the moment up
to which its times are dealt with (`Plan.schedule_checked_at`): a message that comes twice, late or never does no harm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F

from results import models, runs
from results.cron import cron_line, read_cron
from results.domain.errors import PlanError, restored
from results.domain.plan import Kinds
from results.domain.states import ENDED_RUNS
from results.models.plans import MissedCause
from results.queries.runs.plans import COULD_NOT_RUN
from results.stored_plans import load_plan, may_schedule_code, require_scheduler

ON_TIME = timedelta(minutes=15)  # a run that starts so late after its time is that of its time


@dataclass(frozen=True)
class _Due:
    """Times of a plan's schedule that are not dealt with, and the plan's row, locked.

    missed: no run can be that of its time any more.
    on_time: the latest, where a run can."""

    plan: models.Plan
    missed: Sequence[datetime]
    on_time: datetime | None


def plans_due(now: datetime) -> list[int]:
    """Return the plans that have times to deal with; note of the others that they were looked at."""
    scheduled = models.Plan.objects.select_related("schedule__crontab").filter(schedule__enabled=True, archived=False)
    due = [plan.pk for plan in scheduled if _times(plan, now)]
    quiet = scheduled.exclude(pk__in=due).values("pk")
    models.Plan.objects.filter(pk__in=quiet, schedule_checked_at__lt=now).update(schedule_checked_at=now)
    return due


@transaction.atomic
def start_due(plan_id: int, kinds: Kinds, now: datetime) -> models.Run | None:
    """Deal with the times of a plan's schedule up to now: create at most one run, and note what was missed.

    No run is made while one that the schedule made before has not ended. Raises PlanError where the plan cannot be run
    now; then `note_refused` deals with them."""
    due = _due(plan_id, now)
    if due is None:
        return None
    going = _going(due.plan)
    made = None if going else _make(due, kinds)
    if due.missed:
        _note(due.plan, MissedCause.DOWN, due.missed, now, run=None if due.on_time else made)
    if due.on_time and going:
        _note(due.plan, MissedCause.GOING, [due.on_time], now, run=going)
    _set_checked(due.plan, now)
    return made


@transaction.atomic
def note_refused(plan_id: int, now: datetime, error: PlanError) -> None:
    """Deal with the times of a plan's schedule up to now, where the plan cannot be run."""
    due = _due(plan_id, now)
    if due is None:
        return
    runs.audit("schedule", COULD_NOT_RUN, f"plan {plan_id}", error=restored(error.as_dict()))
    if due.missed:
        why = None if due.on_time else error.as_dict()
        _note(due.plan, MissedCause.DOWN, due.missed, now, error=why)
    if due.on_time:
        _note(due.plan, MissedCause.REFUSED, [due.on_time], now, error=error.as_dict())
    _set_checked(due.plan, now)


def _times(plan: models.Plan, now: datetime) -> list[datetime]:
    line = cron_line(plan.schedule)
    return list(read_cron(line).times((plan.schedule_checked_at or now).astimezone(UTC), now.astimezone(UTC)))


def _due(plan_id: int, now: datetime) -> _Due | None:
    """Return what is due of a plan, and lock its row; None where nothing is."""
    scheduled = models.Plan.objects.select_related("schedule__crontab", "scheduled_by", "created_by")
    locked = scheduled.select_for_update(of=("self",)).filter(schedule__enabled=True, archived=False)
    plan = locked.filter(pk=plan_id).first()
    times = _times(plan, now) if plan else []
    if plan is None or not times:
        return None
    on_time = times[-1] if now - times[-1] <= ON_TIME else None
    return _Due(plan, times[:-1] if on_time else times, on_time)


def _going(plan: models.Plan) -> models.Run | None:
    """Return a run that the schedule made and that has not ended."""
    made = models.Run._base_manager.filter(plan=plan, due_at__isnull=False)
    return made.exclude(state__in=ENDED_RUNS).order_by("pk").first()


def _make(due: _Due, kinds: Kinds) -> models.Run | None:
    """Create the run of the latest time, or the one that makes up for those that were missed. Raises PlanError."""
    if not due.on_time and not due.plan.make_up:
        return None
    require_scheduler(due.plan)
    plan, as_admin = load_plan(due.plan, kinds), may_schedule_code(due.plan)
    run = runs.create_run(plan, kinds, stored=due.plan, user=due.plan.created_by, actor="schedule", as_admin=as_admin)
    run.due_at, run.makes_up_for = due.on_time or due.missed[-1], 0 if due.on_time else len(due.missed)
    run.save(update_fields=["due_at", "makes_up_for"])
    return run


def _note(
    plan: models.Plan,
    cause: MissedCause,
    times: Sequence[datetime],
    now: datetime,
    *,
    run: models.Run | None = None,
    error: Mapping[str, Any] | None = None,
) -> None:
    """Note missed times; what goes on for the same cause adds to the row that there is."""
    latest = models.MissedRuns.objects.filter(plan=plan).first()
    same = latest is not None and (latest.cause, latest.run_id, latest.error) == (cause, run and run.pk, error)
    if latest is not None and same and cause != MissedCause.DOWN:
        latest.last_at, latest.noted_at, latest.count = times[-1], now, F("count") + len(times)
        latest.save(update_fields=["last_at", "noted_at", "count"])
        return
    models.MissedRuns.objects.create(
        plan=plan,
        first_at=times[0],
        last_at=times[-1],
        count=len(times),
        cause=cause,
        since=plan.schedule_checked_at if cause == MissedCause.DOWN else None,
        noted_at=now,
        run=run,
        error=dict(error) if error else None,
    )


def _set_checked(plan: models.Plan, now: datetime) -> None:
    models.Plan.objects.filter(pk=plan.pk).update(schedule_checked_at=now)
