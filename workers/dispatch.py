"""Which trial may run now, and what becomes of it when an attempt ends. The database is the queue."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F

from results import agents, models, runs, sql
from results.domain.states import AttemptState, TrialState
from results.models import Attempt, Trial
from workers import lease

MOST_ATTEMPTS = 3
RETRY_AFTER_S = 10.0


@dataclass(frozen=True)
class _Candidate:
    id: int
    agents: tuple[int, ...]


def next_attempt(now: datetime) -> int | None:
    """Starts an attempt at the first trial that may run: oldest run first, in the run's order, on agents that are
    ready and free. Its id, None when nothing may run."""
    with transaction.atomic():
        found = sql.rows(_Candidate, sql.load(__file__), {"now": now})
        if not found:
            return None
        trial = found[0]
        Trial.objects.filter(pk=trial.id).update(
            state=TrialState.RUNNING, state_at=now, attempts_made=F("attempts_made") + 1, phase="", error=None
        )
        row = Trial.objects.get(pk=trial.id)
        number = row.attempts.count() + 1
        attempt = Attempt.objects.create(run_id=row.run_id, trial=row, number=number)
        if not lease.acquire(attempt.pk, trial.agents, now):
            transaction.set_rollback(True)
            return None
        return attempt.pk


@transaction.atomic
def give_back(attempt_id: int, now: datetime) -> None:
    """The attempt never began (no worker could be told): its trial waits again, and nothing is counted."""
    attempt = Attempt.objects.get(pk=attempt_id)
    lease.release(attempt_id)
    attempt.delete()
    Trial.objects.filter(pk=attempt.trial_id, state=TrialState.RUNNING).update(
        state=TrialState.WAITING, state_at=now, attempts_made=F("attempts_made") - 1
    )


@transaction.atomic
def finish(attempt_id: int, error: dict[str, Any] | None, now: datetime) -> bool:
    """Ends an attempt and releases its agents. error None: its numbers count. False when it had lost its leases: then
    its numbers stay with the attempt and count for nothing."""
    run_id = Attempt.objects.values_list("run_id", flat=True).get(pk=attempt_id)
    runs.lock(run_id)
    attempt = Attempt.objects.select_for_update().get(pk=attempt_id)
    trial = Trial.objects.select_for_update().get(pk=attempt.trial_id)
    lease.release(attempt_id)
    if attempt.state != AttemptState.RUNNING:
        return False
    cancelled = trial.state == TrialState.CANCELLED
    state = AttemptState.CANCELLED if cancelled else AttemptState.FAILED if error else AttemptState.DONE
    Attempt.objects.filter(pk=attempt_id).update(state=state, ended_at=now, error=error)
    if not cancelled:
        _settle(trial, attempt, error, now)
    runs.close_finished(run_id)
    return not cancelled


def _settle(trial: Trial, attempt: Attempt, error: dict[str, Any] | None, now: datetime) -> None:
    running = Trial.objects.filter(pk=trial.pk, state=TrialState.RUNNING)
    if error is None:
        running.update(state=TrialState.DONE, state_at=now, attempt=attempt, phase="", error=None)
    elif error.get("unreachable"):
        # The agent's fault, not the trial's: it waits, uncounted, until the agent is ready again.
        agents.record_failure(models.Agent.objects.get(name=error["agent"]).pk, error)
        _wait_uncounted(trial, error, now)
    elif error.get("retryable") and trial.attempts_made < MOST_ATTEMPTS:
        later = now + timedelta(seconds=RETRY_AFTER_S * trial.attempts_made)
        running.update(state=TrialState.WAITING, state_at=now, not_before=later, phase="", error=error)
    else:
        running.update(state=TrialState.FAILED, state_at=now, phase="", error=error)


def _wait_uncounted(trial: Trial, error: dict[str, Any], now: datetime) -> None:
    Trial.objects.filter(pk=trial.pk, state=TrialState.RUNNING).update(
        state=TrialState.WAITING, state_at=now, attempts_made=F("attempts_made") - 1, phase="", error=error
    )


def reap(now: datetime) -> int:
    """Requeues the trials of attempts whose worker vanished; how many. Frees the agents of contacts that vanished."""
    lease.release_contacts(now)
    return sum(_reaped(attempt_id, now) for attempt_id in lease.expired(now))


@transaction.atomic
def _reaped(attempt_id: int, now: datetime) -> bool:
    attempt = _locked(attempt_id)
    if attempt.state != AttemptState.RUNNING or attempt.leases.filter(expires_at__gte=now).exists():
        return False  # it ended, or was heard of, in the meantime
    if not attempt.worker:
        give_back(attempt_id, now)  # no worker was free to begin it
        return True
    error = {
        "kind": "lost",
        "what": f"The worker of attempt {attempt.number} was not heard of for {lease.TTL_S:g} s.",
        "where": attempt.worker,
        "why": "It was stopped, or lost its database or network.",
        "todo": "Look at the worker's log.",
        "retryable": True,
    }
    _settle(_lost(attempt, error, now), attempt, error, now)
    runs.close_finished(attempt.run_id)
    return True


def requeue(now: datetime) -> list[int]:
    """For when nothing of Teiten that ran can be alive: ends all running attempts at once and frees all agents. Their
    trials wait again, and nothing is counted, since what stopped them was not their own. Returns these trials."""
    running = Attempt.objects.filter(state=AttemptState.RUNNING).order_by("pk").values_list("pk", flat=True)
    trials = [_requeued(attempt_id, now) for attempt_id in running]
    lease.release_all()
    return trials


@transaction.atomic
def _requeued(attempt_id: int, now: datetime) -> int:
    attempt = _locked(attempt_id)
    if not attempt.worker:
        give_back(attempt_id, now)
        return attempt.trial_id
    error = {
        "kind": "lost",
        "what": f"Teiten was stopped while attempt {attempt.number} ran.",
        "where": attempt.worker,
        "why": "Its worker ended with everything else.",
        "todo": "Nothing: the trial runs again.",
        "retryable": True,
    }
    _wait_uncounted(_lost(attempt, error, now), error, now)
    runs.close_finished(attempt.run_id)
    return attempt.trial_id


def _locked(attempt_id: int) -> Attempt:
    """The attempt, with its run and itself locked, in the order of all verbs."""
    runs.lock(Attempt.objects.values_list("run_id", flat=True).get(pk=attempt_id))
    return Attempt.objects.select_for_update().get(pk=attempt_id)


def _lost(attempt: Attempt, error: dict[str, Any], now: datetime) -> Trial:
    """Ends the attempt, whose worker is gone, and releases its agents. Returns its trial, locked."""
    lease.release(attempt.pk)
    Attempt.objects.filter(pk=attempt.pk).update(state=AttemptState.LOST, ended_at=now, error=error)
    return Trial.objects.select_for_update().get(pk=attempt.trial_id)
