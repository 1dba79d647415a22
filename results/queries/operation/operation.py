"""What waits, runs and has just ended. The cost depends on what is queued and on what ended in the last hour, not on
how much is stored; of trials and attempts, those of runs that are there for the viewer are counted."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count
from django_celery_beat.models import PeriodicTask

from results import sql
from results.models import Agent, MissedRuns

WINDOW = timedelta(hours=1)


@dataclass(frozen=True)
class QueuedTrials:
    """How many trials are in a state.

    state: running, waiting, or scheduled where their run waits for its time"""

    state: str
    count: int


@dataclass(frozen=True)
class RunningAttempts:
    """Attempts that have not ended.

    left: whose worker is gone while the measurement goes on, and that wait for another one
    unstored: whose bundle is archived and whose numbers are not stored yet
    unstored_since: when the first of these began its last phase
    """

    count: int
    left: int
    unstored: int
    unstored_since: datetime | None


@dataclass(frozen=True)
class HeldLease:
    """An agent in use.

    purpose: trial, or contact: discovery or removal of clusters"""

    agent: str
    purpose: str
    acquired_at: datetime
    heartbeat_at: datetime


@dataclass(frozen=True)
class EndedAttempts:
    """Attempts at trials that ended in the last hour, those before the last one of such a trial too.

    error: kind of the error; '' without one
    unstored: that have a bundle whose numbers are not stored
    median_s, max_s: how long they took
    """

    state: str
    error: str
    count: int
    unstored: int
    median_s: float
    max_s: float


@dataclass(frozen=True)
class PhaseDurations:
    """How long a phase took in attempts that are done, at trials that ended in the last hour."""

    phase: str
    median_s: float
    max_s: float


@dataclass(frozen=True)
class BeatTask:
    """A task that beat sends again and again.

    last_run_at: as beat has written it, which it does every 30 s"""

    name: str
    last_run_at: datetime | None


def queued_trials() -> list[QueuedTrials]:
    return sql.rows(QueuedTrials, sql.load(__file__, "queued_trials"))


def running_attempts() -> RunningAttempts:
    return sql.rows(RunningAttempts, sql.load(__file__, "running_attempts"))[0]


def held_leases() -> list[HeldLease]:
    return sql.rows(HeldLease, sql.load(__file__, "held_leases"))


def ended_attempts(now: datetime) -> list[EndedAttempts]:
    return sql.rows(EndedAttempts, sql.load(__file__, "ended_attempts"), {"since": now - WINDOW})


def phase_durations(now: datetime) -> list[PhaseDurations]:
    return sql.rows(PhaseDurations, sql.load(__file__, "phase_durations"), {"since": now - WINDOW})


def agents_by_state() -> dict[str, int]:
    """Return how many enabled agents are in each state."""
    counts = Agent.objects.filter(enabled=True).order_by("state").values_list("state").annotate(Count("pk"))
    return dict(counts)


def plans_with_missed_runs(now: datetime) -> dict[str, int]:
    """Return how many plans have times of their schedule that were noted as missed in the last hour, by cause."""
    noted = MissedRuns.objects.filter(noted_at__gte=now - WINDOW).order_by("cause").values_list("cause")
    return dict(noted.annotate(Count("plan", distinct=True)))


def beat_tasks() -> list[BeatTask]:
    tasks = PeriodicTask.objects.filter(enabled=True, interval__isnull=False).order_by("name")
    return [BeatTask(*row) for row in tasks.values_list("name", "last_run_at")]
