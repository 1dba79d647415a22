"""Choose the trial that runs next, and update it when its attempt ends. The database is the queue."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F

from results import agents, bundle_files, models, runs, sql
from results.domain.errors import TeitenError
from results.domain.messages import gettext_lazy as _
from results.domain.states import AttemptState, TrialState
from results.models import Attempt, Lease, Trial
from workers import checkpoint, lease
from workers.bundle.writer import discard, unfinished

log = logging.getLogger(__name__)
MOST_ATTEMPTS = 3
RETRY_AFTER_S = 10.0
_ASKED_EVERY_S = 2  # `count_startable`, by beat
_MOST_SOON = 200  # trials that are looked at one by one
_SOON, _STARTABLE = sql.load(__file__, "startable_soon"), sql.load(__file__, "startable")
_BEGIN = sql.load(__file__, "begin")
_FIRST, _COUNT = (_STARTABLE + sql.load(__file__, f"startable_{name}") for name in ("first", "count"))


class _LostError(TeitenError):
    """An attempt whose worker is gone."""

    kind = "lost"
    retryable = True


@dataclass(frozen=True)
class _Startable:
    """left: attempts that wait to be picked up; agents: that are free, each the first of a trial that could start."""

    left: int
    agents: int


@dataclass(frozen=True)
class _Candidate:
    id: int
    run_id: int
    agents: tuple[int, ...]


@dataclass(frozen=True)
class _Begun:
    attempts: int


def count_startable(now: datetime) -> int:
    """Return how many attempts workers could take now, at most: those that wait to be picked up, and one for each agent
    that is the first of those of a trial that may run, unless the bundle folder has no room."""
    [row] = sql.rows(_Startable, _COUNT, {"now": now})
    if row.agents and (why := bundle_files.why_no_room()):
        if now.second < _ASKED_EVERY_S:  # once a minute
            log.warning("no trial starts: the bundle folder %s", why)
        return row.left
    return row.left + row.agents


def next_attempt(now: datetime, worker: str = "") -> int | None:
    """Give this worker an attempt whose worker is gone, or a new one at the first trial that may run; return its id,
    None where there is none.

    Trials run in the order of their runs, and of the run, on agents that are ready and free. None begins while the
    bundle folder has no room: it would fail, and a trial has few attempts.
    """
    has_room = not bundle_files.why_no_room()
    while True:
        try:
            with transaction.atomic():
                attempt_id = _left_attempt(now, worker)
                if attempt_id is None and has_room and (candidate := _candidate(now)):
                    attempt_id = _begin(candidate, now, worker)
                return attempt_id
        except _TakenError:
            continue


class _TakenError(Exception):
    """Another worker has just taken an agent of the trial; the next look sees it as busy."""


def _candidate(now: datetime) -> _Candidate | None:
    """Return the first trial that may run, locked."""
    soon = sql.rows(_Candidate, _SOON, {"now": now, "most": _MOST_SOON})
    candidates = soon or sql.rows(_Candidate, _FIRST, {"now": now})
    return candidates[0] if candidates else None


def _begin(candidate: _Candidate, now: datetime, worker: str) -> int:
    """Begin a trial's next attempt, and return it. Raises _TakenError."""
    [begun] = sql.rows(_Begun, _BEGIN, {"trial": candidate.id, "now": now})
    attempt = Attempt.objects.create(
        run_id=candidate.run_id, trial_id=candidate.id, number=begun.attempts + 1, worker=worker
    )
    if not lease.acquire(attempt.pk, candidate.agents, now):
        raise _TakenError
    return attempt.pk


def _left_attempt(now: datetime, worker: str) -> int | None:
    waiting = Attempt.objects.filter(state=AttemptState.RUNNING, left_at__isnull=False).order_by("left_at")
    locked = waiting.select_for_update(skip_locked=True, of=("self",))
    attempt_id: int | None = locked.values_list("pk", flat=True).first()
    if attempt_id is None:
        return None
    Attempt.objects.filter(pk=attempt_id).update(worker=worker, left_at=None, picked_up=True)
    Lease.objects.filter(attempt=attempt_id).update(heartbeat_at=now, expires_at=now + timedelta(seconds=lease.TTL_S))
    return attempt_id


@transaction.atomic
def withdraw(attempt_id: int, now: datetime) -> None:
    """Remove an attempt that no worker began; its trial waits again, and nothing is counted."""
    attempt = Attempt.objects.get(pk=attempt_id)
    lease.release(attempt_id)
    attempt.delete()
    Trial.objects.filter(pk=attempt.trial_id, state=TrialState.RUNNING).update(
        state=TrialState.WAITING, state_at=now, attempts_made=F("attempts_made") - 1
    )


@transaction.atomic
def finish(attempt_id: int, error: dict[str, Any] | None, now: datetime, worker: str = "") -> bool:
    """End an attempt and release its agents; return False when it had lost its leases, or another worker has it.

    Its measurements then stay with the attempt, but do not count.

    error: why it failed, `TeitenError.as_dict()`; None for one whose measurements count
    """
    run_id = Attempt.objects.values_list("run_id", flat=True).get(pk=attempt_id)
    runs.lock(run_id)
    attempt = Attempt.objects.select_for_update().get(pk=attempt_id)
    if worker not in ("", attempt.worker):
        return False
    trial = Trial.objects.select_for_update().get(pk=attempt.trial_id)
    lease.release(attempt_id)
    if attempt.state != AttemptState.RUNNING:
        return False
    cancelled = trial.state == TrialState.CANCELLED
    state = AttemptState.CANCELLED if cancelled else AttemptState.FAILED if error else AttemptState.DONE
    Attempt.objects.filter(pk=attempt_id).update(state=state, ended_at=now, error=error)
    if not cancelled:
        _update_trial(trial, attempt, error, now)
    runs.close_finished(run_id)
    return not cancelled


def _update_trial(trial: Trial, attempt: Attempt, error: dict[str, Any] | None, now: datetime) -> None:
    running = Trial.objects.filter(pk=trial.pk, state=TrialState.RUNNING)
    if error is None:
        running.update(state=TrialState.DONE, state_at=now, attempt=attempt, phase="", error=None)
    elif error.get("unreachable"):
        # The agent's fault, not the trial's: it waits, uncounted, until the agent is ready again.
        agents.record_failure(models.Agent.objects.get(name=error["agent"]).pk, error)
        _wait_uncounted(trial, error, now)
    elif error.get("retryable") and trial.attempts_made < MOST_ATTEMPTS:
        not_before = now + timedelta(seconds=RETRY_AFTER_S * trial.attempts_made)
        running.update(state=TrialState.WAITING, state_at=now, not_before=not_before, phase="", error=error)
    else:
        running.update(state=TrialState.FAILED, state_at=now, phase="", error=error)


def _wait_uncounted(trial: Trial, error: dict[str, Any], now: datetime) -> None:
    Trial.objects.filter(pk=trial.pk, state=TrialState.RUNNING).update(
        state=TrialState.WAITING, state_at=now, attempts_made=F("attempts_made") - 1, phase="", error=error
    )


def reap(now: datetime) -> int:
    """Requeue the trials of attempts whose worker vanished, and free the agents of vanished contacts.

    Returns how many trials.
    """
    lease.release_contacts(now)
    return sum(_reap_attempt(attempt_id, now) for attempt_id in lease.expired(now))


def discard_ended(now: datetime) -> int:
    """Remove from the bundle folder what attempts have left that ended without their worker; return how many files and
    folders.

    A worker that was only held up has the time of three leases to archive what it had."""
    there = list(unfinished(settings.TEITEN_BUNDLE_DIR))
    if not there:
        return 0
    ended_before = now - timedelta(seconds=3 * lease.TTL_S)
    numbers = {int(key.partition("/")[2]) for key, *_rest in there}
    ended = Attempt.objects.filter(trial__in=numbers, ended_at__lt=ended_before).values_list("run", "trial", "number")
    over = {(f"{run}/{trial}", number) for run, trial, number in ended}
    left = [path for key, number, path in there if (key, number) in over]
    for path in left:
        discard(path)
    return len(left)


@transaction.atomic
def _reap_attempt(attempt_id: int, now: datetime) -> bool:
    attempt = _lock_attempt(attempt_id)
    if attempt.state != AttemptState.RUNNING or attempt.left_at or attempt.leases.filter(expires_at__gte=now).exists():
        return False  # it ended, was left by another reaper, or sent a heartbeat, in the meantime
    if not attempt.worker:
        withdraw(attempt_id, now)  # no worker was free to begin it
        return True
    if _can_be_picked_up(attempt):
        Attempt.objects.filter(pk=attempt_id).update(worker="", left_at=now)
        return True
    what = _(
        "The worker of attempt {attempt} was not heard of for {seconds:g} s.",
        attempt=attempt.number,
        seconds=lease.TTL_S,
    )
    why = _("It was stopped, or lost its database or network.")
    error = _LostError(what, where=attempt.worker, why=why, todo=_("Look at the worker's log.")).as_dict()
    _update_trial(_end_lost_attempt(attempt, error, now), attempt, error, now)
    runs.close_finished(attempt.run_id)
    return True


def _can_be_picked_up(attempt: Attempt) -> bool:
    """Return whether its measurement goes on without its worker, or is archived already and only to be stored."""
    key = f"{attempt.run_id}/{attempt.trial_id}"
    return checkpoint.is_of(checkpoint.path_of(settings.TEITEN_BUNDLE_DIR, key, attempt.number), attempt.worker)


def requeue(now: datetime) -> list[int]:
    """End all running attempts and free all agents, where no process of Teiten can be alive. Returns their trials.

    The trials wait again, and nothing is counted, since their attempts did not fail by themselves.
    """
    running = Attempt.objects.filter(state=AttemptState.RUNNING).order_by("pk").values_list("pk", flat=True)
    trials = [_requeue_attempt(attempt_id, now) for attempt_id in running]
    lease.release_all()
    return trials


@transaction.atomic
def _requeue_attempt(attempt_id: int, now: datetime) -> int:
    attempt = _lock_attempt(attempt_id)
    if not attempt.worker and attempt.left_at is None:
        withdraw(attempt_id, now)
        return attempt.trial_id
    what = _("Teiten was stopped while attempt {attempt} ran.", attempt=attempt.number)
    why = _("Its worker ended with everything else.")
    error = _LostError(what, where=attempt.worker, why=why, todo=_("Nothing: the trial runs again.")).as_dict()
    _wait_uncounted(_end_lost_attempt(attempt, error, now), error, now)
    runs.close_finished(attempt.run_id)
    return attempt.trial_id


def _lock_attempt(attempt_id: int) -> Attempt:
    """Lock an attempt's run, then the attempt, and return it; every operation locks in this order."""
    runs.lock(Attempt.objects.values_list("run_id", flat=True).get(pk=attempt_id))
    return Attempt.objects.select_for_update().get(pk=attempt_id)


def _end_lost_attempt(attempt: Attempt, error: dict[str, Any], now: datetime) -> Trial:
    """End an attempt whose worker is gone and release its agents; return its trial, locked."""
    lease.release(attempt.pk)
    Attempt.objects.filter(pk=attempt.pk).update(state=AttemptState.LOST, ended_at=now, error=error)
    return Trial.objects.select_for_update().get(pk=attempt.trial_id)
