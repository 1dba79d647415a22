"""Real Celery workers: a run goes through Redis, and a worker that is killed costs an attempt, never a trial."""

from __future__ import annotations

import json
import subprocess
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from results import models, runs
from results.domain.errors import StateError
from results.domain.states import AttemptState, RunState, TrialState
from tests import factories
from tests.live.trials.conftest import PATIENCE_S, Start, run_next, start, value, wait_for
from webapp.management import parts
from workers import checkpoint, dispatch, lease, tasks
from workers.app import AGENTS, CONTROL, TRIALS, app
from workers.remote import job
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


def test_every_line_is_json_and_those_of_an_attempt_name_it(
    worker: Start, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TEITEN_LOG_FORMAT", "json")
    monkeypatch.setenv("TEITEN_LOG_LEVEL", "DEBUG")
    worker()
    run = start(duration_s=1)
    tasks.dispatch.delay()
    wait_for(lambda: models.Run.objects.get(pk=run.pk).state == RunState.FINISHED)
    lines = [json.loads(line) for line in (tmp_path / "worker-0.log").read_text().splitlines()]
    assert {"celery.worker.strategy", "celery.apps.worker"} <= {line["logger"] for line in lines}
    (trial,) = models.Trial.objects.all()
    of_the_attempt = [line for line in lines if line["logger"] == "asyncio"]  # "Using selector", as an attempt begins
    assert of_the_attempt
    assert {(line["trial"], line["attempt"], *line["agents"]) for line in of_the_attempt} == {(trial.pk, 1, "live")}


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


def test_doctor_names_the_queue_that_nobody_serves(worker: Start) -> None:
    worker(1, "control,agents")
    assert [(ok, text.partition(":")[0]) for ok, text in parts.workers()] == [
        (True, "queue control"),
        (True, "queue agents"),
        (False, "queue trials"),
    ]
    (clock_of_warehouse, (well, text)) = parts.clocks()
    assert clock_of_warehouse == (True, "the warehouse has this machine's time")
    assert well and text.startswith("test0@")


def test_calls_for_workers_do_not_pile_up(worker: Start, agent: models.Agent) -> None:
    """Beat calls every two seconds, for as long as nobody comes."""
    start(duration_s=1)
    for _ in range(3):
        tasks.dispatch()
    assert tasks._messages_in("trials") == 1
    worker()
    wait_for(lambda: models.Run.objects.get().state == RunState.FINISHED)


def test_each_message_goes_to_one_queue(agent: models.Agent) -> None:
    tasks.reap.delay()
    tasks.contact.delay(agent.pk)
    tasks.work.delay()
    assert [tasks._messages_in(queue) for queue in (CONTROL, AGENTS, TRIALS)] == [1, 1, 1]
    app.control.purge()


def test_what_beat_sends_never_waits_for_a_trial_or_an_agent() -> None:
    """Dispatch, reaper and alerts among them: a worker of this queue runs no trials."""
    tasks_of_beat = {entry["task"] for entry in app.conf.beat_schedule.values()}
    assert {f"workers.tasks.{name}" for name in ("dispatch", "reap", "alert")} <= tasks_of_beat
    assert {app.amqp.router.route({}, task)["queue"].name for task in tasks_of_beat} == {CONTROL}


def lose(worker: subprocess.Popen[bytes]) -> None:
    """Kill a worker, and let the time of its leases pass."""
    worker.kill()
    worker.wait(PATIENCE_S)
    assert dispatch.reap(timezone.now() + timedelta(seconds=lease.TTL_S + 1)) == 1


@pytest.mark.smoke
def test_a_measurement_whose_worker_is_killed_is_picked_up_and_not_repeated(worker: Start, bundles: Path) -> None:
    first = worker()
    run = start(duration_s=8, collectors=["latency_log", "pg_stat", "sar"])
    tasks.dispatch.delay()
    wait_for(lambda: models.Trial.objects.filter(phase="measure").exists())
    wait_for(lambda: any((bundles / "unfinished").glob("*.checkpoint")))
    lose(first)
    left = models.Attempt.objects.get()
    assert (left.state, left.worker) == (AttemptState.RUNNING, "")
    assert left.left_at is not None
    worker()
    tasks.dispatch.delay()
    wait_for(lambda: models.Run.objects.get(pk=run.pk).state == RunState.FINISHED)
    attempt = models.Attempt.objects.get()
    assert (attempt.number, attempt.state, attempt.picked_up, attempt.gaps) == (1, AttemptState.DONE, True, [])
    assert attempt.measured_from is not None and attempt.measured_to is not None
    assert (attempt.measured_to - attempt.measured_from).total_seconds() == pytest.approx(8, abs=1.5)
    assert sum(attempt.histograms.get().counts) == value(attempt, "transactions")
    [note] = attempt.notes["picked_up"]
    assert (note["step"], note["by"]) == ("finish", attempt.worker)
    assert [phase["name"] for phase in attempt.phases].count("measure") == 1
    assert models.Lease.objects.count() == 0
    assert list((bundles / "unfinished").iterdir()) == []


@pytest.fixture
def left(worker: Start, bundles: Path) -> models.Attempt:
    """A measurement without a worker, whose agent cannot be reached."""
    first = worker()
    start(duration_s=6, collectors=["latency_log"])
    tasks.dispatch.delay()
    wait_for(lambda: any((bundles / "unfinished").glob("*.checkpoint")))
    lose(first)
    models.Agent.objects.update(port=9)
    return models.Attempt.objects.get()


def reaped() -> None:
    """The worker that could not reach the agent is not heard of, and the attempt waits for another one."""
    assert dispatch.reap(timezone.now() + timedelta(seconds=lease.TTL_S + 1)) == 1
    waiting = models.Attempt.objects.get()
    assert (waiting.state, waiting.left_at is not None) == (AttemptState.RUNNING, True)


def test_a_measurement_waits_for_an_agent_that_cannot_be_reached_to_pick_it_up(
    left: models.Attempt, address: Address
) -> None:
    for _ in range(checkpoint.MOST_PICK_UPS + 1):
        assert run_next().state == AttemptState.RUNNING
        reaped()
    models.Agent.objects.update(port=address.port)
    attempt = run_next()
    assert (attempt.pk, attempt.number, attempt.state, attempt.error) == (left.pk, 1, AttemptState.DONE, None)
    assert sum(attempt.histograms.get().counts) == value(attempt, "transactions")
    assert len(attempt.notes["picked_up"]) == 1


def test_an_agent_that_stays_away_ends_the_attempt_and_its_trial_waits(
    left: models.Attempt, address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_next()
    reaped()
    monkeypatch.setattr(job, "UNREACHABLE_S", 0)
    attempt = run_next()
    assert (attempt.state, attempt.error["agent"]) == (AttemptState.FAILED, address.name)
    assert models.Trial.objects.get().state == TrialState.WAITING
    models.Agent.objects.update(port=address.port)


def test_a_measurement_that_is_cancelled_while_it_has_no_worker_is_ended_by_the_next(
    worker: Start, bundles: Path
) -> None:
    first = worker()
    run = start(duration_s=60)
    tasks.dispatch.delay()
    wait_for(lambda: any((bundles / "unfinished").glob("*.checkpoint")))
    lose(first)
    runs.cancel_run(run.pk, "test")
    worker()
    tasks.dispatch.delay()
    wait_for(lambda: models.Attempt.objects.get().state == AttemptState.CANCELLED)
    assert models.Run.objects.get(pk=run.pk).state == RunState.CANCELLED
    assert models.Lease.objects.count() == 0
    wait_for(lambda: not any((bundles / "unfinished").iterdir()))


def test_a_trial_whose_worker_is_killed_before_it_measures_runs_again(worker: Start) -> None:
    first = worker()
    run = start(duration_s=1, warmup_s=8)
    tasks.dispatch.delay()
    wait_for(lambda: models.Trial.objects.filter(phase="warm").exists())
    lose(first)
    worker()
    models.Trial.objects.update(not_before=None)
    tasks.dispatch.delay()
    wait_for(lambda: models.Run.objects.get(pk=run.pk).state == RunState.FINISHED)
    attempts = models.Attempt.objects.order_by("number").values_list("number", "state", "picked_up")
    assert list(attempts) == [(1, AttemptState.LOST, False), (2, AttemptState.DONE, False)]


def test_nothing_is_requeued_while_a_worker_lives(worker: Start) -> None:
    worker()
    factories.begin(start(duration_s=1).trials.get())
    with pytest.raises(StateError, match="Workers are alive: test0@"):
        tasks.requeue()
    assert models.Trial.objects.get().state == TrialState.RUNNING
