"""Real Celery workers: a run goes through Redis, and a worker that is killed costs an attempt, never a trial."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from results import models
from results.domain.errors import StateError
from results.domain.states import AttemptState, RunState, TrialState
from tests import factories
from tests.live.trials.conftest import PATIENCE_S, Start, start, wait_for
from workers import dispatch, lease, tasks
from workers.remote.address import Address


@pytest.mark.smoke
def test_a_run_goes_through_the_queue_to_its_end(worker: Start) -> None:
    worker()
    run = start(duration_s=1, replicates=2)
    tasks.dispatch.delay()
    wait_for(lambda: models.Run.objects.get(pk=run.pk).state == RunState.FINISHED)
    states = set(models.Trial.objects.values_list("state", flat=True))
    assert states == {TrialState.DONE}
    assert models.Lease.objects.count() == 0


@pytest.mark.smoke
def test_a_trial_that_waits_for_a_thread_holds_nothing_and_control_does_not_wait(worker: Start, far: Address) -> None:
    worker(1, "trials")
    worker(1, "control,agents")
    long, other = start(duration_s=5), start(duration_s=1, agents={"primary": far.name})
    tasks.dispatch.delay()
    wait_for(lambda: models.Trial.objects.filter(phase="measure").exists())
    third = factories.agent(name="third")
    factories.held_by_contact(third.pk, timezone.now() - timedelta(seconds=1))
    tasks.reap.delay()
    wait_for(lambda: not models.Lease.objects.filter(agent=third).exists())
    assert models.Trial.objects.get(run=long).state == TrialState.RUNNING
    assert models.Trial.objects.get(run=other).state == TrialState.WAITING
    assert models.Lease.objects.count() == models.Attempt.objects.count() == 1
    wait_for(lambda: not models.Run.objects.exclude(state=RunState.FINISHED).exists())
    assert models.Attempt.objects.count() == 2


def test_calls_for_workers_do_not_pile_up(worker: Start, agent: models.Agent) -> None:
    """Beat calls every two seconds, for as long as nobody comes."""
    start(duration_s=1)
    for _ in range(3):
        tasks.dispatch()
    assert tasks._messages_in("trials") == 1
    worker()
    wait_for(lambda: models.Run.objects.get().state == RunState.FINISHED)


def test_a_killed_worker_costs_an_attempt_and_never_the_trial(worker: Start) -> None:
    first = worker()
    run = start(duration_s=8)
    tasks.dispatch.delay()
    wait_for(lambda: models.Trial.objects.filter(phase="measure").exists())
    first.kill()
    first.wait(PATIENCE_S)
    worker()
    assert dispatch.reap(timezone.now() + timedelta(seconds=lease.TTL_S + 5)) == 1
    models.Trial.objects.update(not_before=None)
    tasks.dispatch.delay()
    wait_for(lambda: models.Run.objects.get(pk=run.pk).state == RunState.FINISHED)
    attempts = models.Attempt.objects.order_by("number").values_list("number", "state")
    assert list(attempts) == [(1, AttemptState.LOST), (2, AttemptState.DONE)]


def test_nothing_is_requeued_while_a_worker_lives(worker: Start) -> None:
    worker()
    factories.begin(start(duration_s=1).trials.get())
    with pytest.raises(StateError, match="Workers are alive: test0@"):
        tasks.requeue()
    assert models.Trial.objects.get().state == TrialState.RUNNING
