"""Real Celery workers: a run goes through Redis, and a worker that is killed costs an attempt, never a trial."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone

from results import models
from results.states import AttemptState, RunState, TrialState
from tests.live.trials.conftest import start
from workers import dispatch, lease, tasks

Start = Callable[[], subprocess.Popen[bytes]]
PATIENCE_S = 60


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = timezone.now() + timedelta(seconds=PATIENCE_S)
    while not condition():
        assert timezone.now() < deadline, "waited in vain"
        threading.Event().wait(0.1)


@pytest.fixture
def worker(agent: models.Agent, bundles: Path, tmp_path: Path) -> Iterator[Start]:
    """Starts Celery workers on the tests' database; all are ended by their own process."""
    database = connection.settings_dict
    url = f"postgresql://{database['USER']}:{database['PASSWORD']}@{database['HOST']}:{database['PORT']}/{database['NAME']}"
    environment = os.environ | {"TEITEN_DATABASE_URL": url, "TEITEN_BUNDLE_DIR": str(bundles)}
    command = [sys.executable, "-m", "celery", "-A", "workers.app", "worker", "--pool", "threads", "--concurrency", "4"]
    started: list[subprocess.Popen[bytes]] = []

    def launch() -> subprocess.Popen[bytes]:
        with (tmp_path / f"worker-{len(started)}.log").open("wb") as log:
            process = subprocess.Popen(
                [*command, "-n", f"test{len(started)}@%h"],
                env=environment,
                cwd=settings.BASE_DIR,
                stdout=log,
                stderr=log,
            )
        started.append(process)
        wait_for(lambda: any(f"test{len(started) - 1}@" in name for name in tasks.listening(0.5)))
        return process

    yield launch
    for process in started:
        process.terminate()
        process.wait(PATIENCE_S)


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
    run = start(duration_s=3)
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
