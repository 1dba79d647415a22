"""What a schedule of a plan does: its next runs, and whether these come faster than a run takes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from results import models
from results.cron import cron_line, read_cron
from results.domain.errors import PlanError
from results.domain.plan import Kinds
from results.estimates import estimate
from results.plan_check import resolve_plan
from results.stored_plans import load_plan


@dataclass(frozen=True)
class Schedule:
    """A cron line of a plan, stored or not. Without a line, the other fields are empty.

    line: 'minute hour day month weekday' (UTC).
    next_runs: the next times that it names.
    shortest_s: seconds between the two of its times that are closest to each other; None where there is only one.
    seconds: estimated duration of a run; None where the plan cannot be run now.
    seconds_from: what that estimate rests on, or why there is none.
    guess: typical times stand for part of it.
    too_frequent: a run takes longer than shortest_s."""

    line: str
    next_runs: tuple[datetime, ...] = ()
    shortest_s: float | None = None
    seconds: float | None = None
    seconds_from: str = ""
    guess: bool = False
    too_frequent: bool = False


def plan_schedule(plan_id: int, kinds: Kinds, now: datetime, line: str | None = None) -> Schedule:
    """Return what a line does with a plan, or the schedule that the plan has. Raises PlanError for what is no line.

    line: '' for no schedule; None for the plan's own"""
    stored = models.Plan.objects.select_related("schedule__crontab").get(pk=plan_id)
    cron = cron_line(stored.schedule) if line is None else line.strip()
    if not cron:
        return Schedule("")
    times = read_cron(cron)
    shortest_s = times.shortest_interval_s()
    seconds, seconds_from, guess = _duration(stored, kinds)
    too_frequent = seconds is not None and shortest_s is not None and seconds > shortest_s
    return Schedule(cron, times.next_times(now), shortest_s, seconds, seconds_from, guess, too_frequent)


def _duration(stored: models.Plan, kinds: Kinds) -> tuple[float | None, str, bool]:
    """Return the fields of `Schedule` from `seconds` to `guess`."""
    try:
        plan = load_plan(stored, kinds)
        specs = resolve_plan(plan, kinds)[1]
    except PlanError as error:
        return None, error.words, False
    expected = estimate(plan, specs, kinds.workloads[plan.workload])
    return expected.seconds, expected.source, expected.guess
