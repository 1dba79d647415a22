"""Real Celery workers: a run goes through Redis, and a worker that is killed costs an attempt, never a trial."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from results import models
from results.domain.errors import StateError
from results.domain.states import AttemptState, RunState, TrialState
from tests import factories
from tests.live.trials.conftest import PATIENCE_S, start, wait_for
from workers import dispatch, lease, tasks

Start = Callable[[], subprocess.Popen[bytes]]


@pytest.mark.smoke
def test_a_run_goes_through_the_queue_to_its_end(worker: Start) -> None:
    worker()
    run = start(duration_s=1, replicates=2)
    tasks.dispatch.delay()
    wait_for(lambda: models.Run.objects.get(pk=run.pk).state == RunState.FINISHED)
    states = set(models.Trial.objects.values_list("state", flat=True))
    assert states == {TrialState.DONE}
    assert models.Lease.objects.count() == 0


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
