"""The warehouse is restarted, or away for a while, in the midst of a trial: done at its first attempt, stored once."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import wraps
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import ModuleType
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from django_celery_beat import schedulers
from django_celery_beat.models import PeriodicTask

from results import alerts, ingest, logs, models, runs, stored_plans, warehouse
from results.domain import plan as plans
from results.domain.errors import HostKeyError
from results.domain.states import AttemptState, RunState, TrialState
from results.models.agents import AgentState
from tests import factories, histories, restarting
from tests.live.trials.conftest import PLAN, run_next, start, wait_for
from tests.live.trials.killing import beside
from tests.restarting import Warehouse
from workers import attempt as attempts
from workers import contact, dispatch, lease, registry, tasks
from workers.app import app
from workers.beat import Scheduler

Measure = Callable[..., models.Attempt]
AWAY_S = 6


@pytest.fixture(scope="module")
def server(django_db_setup: None, django_db_blocker: Any) -> Iterator[Warehouse]:
    with django_db_blocker.unblock(), restarting.in_place() as warehouse:
        yield warehouse


@pytest.fixture
def transactional_db(server: Warehouse) -> Iterator[None]:
    with server.emptied():
        yield


def in_phase(name: str) -> bool:
    return models.Trial.objects.filter(phase=name).exists()


def stored_once() -> models.Attempt:
    """The run's one attempt, after checking that its numbers are there and count, and that its agent is free."""
    attempt = models.Attempt.objects.select_related("trial").get()
    assert (attempt.error, attempt.state, attempt.number) == (None, AttemptState.DONE, 1)
    assert (attempt.trial.state, attempt.trial.attempt_id) == (TrialState.DONE, attempt.pk)
    assert models.Run.objects.get().state == RunState.FINISHED
    assert attempt.measurements.filter(metric_id="tps", node="", label="").count() == 1
    assert models.Lease.objects.count() == 0
    return attempt


def before(monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str, act: Callable[[], object]) -> None:
    """Does something once, just before the verb is called for the first time."""
    verb, acts = getattr(module, name), [act]

    @wraps(verb)
    def preceded(*words: Any) -> Any:
        while acts:
            acts.pop()()
        return verb(*words)

    monkeypatch.setattr(module, name, preceded)


def unanswered(monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str, server: Warehouse) -> None:
    """The warehouse is restarted when it has done what the verb asks for and has not said so yet."""
    verb, reported = getattr(module, name), [True]

    @wraps(verb)
    def broken_off(*words: Any, **named: Any) -> Any:
        answer = verb(*words, **named)
        while reported:
            reported.pop()
            server.restart(0)
            warehouse.reachable_for_s()  # on a connection that the server has closed
        return answer

    monkeypatch.setattr(module, name, broken_off)


@pytest.mark.parametrize("away_s", [0, AWAY_S])
def test_while_it_is_measured(agent: models.Agent, server: Warehouse, away_s: float) -> None:
    start(duration_s=away_s + 2)

    def restart() -> None:
        wait_for(lambda: in_phase("measure"))
        server.restart(away_s)

    with beside(restart):
        run_next()
    stored_once()


def test_what_the_heartbeat_says_of_it_names_the_trial(
    agent: models.Agent, server: Warehouse, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.handler.addFilter(logs.AboutFilter())
    start(duration_s=6)

    def restart() -> None:
        wait_for(lambda: in_phase("measure"))
        server.restart(lease.HEARTBEAT_S + 1)

    with beside(restart):
        run_next()
    (attempt,) = models.Attempt.objects.all()
    records = [record for record in caplog.records if record.getMessage().startswith(f"attempt {attempt.pk}:")]
    assert records
    assert {record.__dict__.get("trial") for record in records} == {attempt.trial_id}


STEPS = [(attempts, "order_of"), (ingest, "file_archive"), (ingest, "store"), (dispatch, "finish")]


@pytest.mark.parametrize(("module", "step"), STEPS, ids=[name for _, name in STEPS])
def test_when_a_step_begins(
    measure: Measure, server: Warehouse, monkeypatch: pytest.MonkeyPatch, module: ModuleType, step: str
) -> None:
    def go_away() -> None:
        server.stop()
        threading.Timer(AWAY_S / 2, server.start).start()

    before(monkeypatch, module, step, go_away)
    measure(duration_s=1)
    stored_once()


STORED = [(attempts, "_begin"), *STEPS[1:]]


@pytest.mark.parametrize(("module", "step"), STORED, ids=[name for _, name in STORED])
def test_when_a_step_was_done_and_nobody_was_told(
    measure: Measure, server: Warehouse, monkeypatch: pytest.MonkeyPatch, module: ModuleType, step: str
) -> None:
    unanswered(monkeypatch, module, step, server)
    measure(duration_s=1)
    stored_once()


@contextmanager
def ticking() -> Iterator[None]:
    """What beat asks for, more often: dispatch and reap."""
    ended = threading.Event()

    def tick() -> None:
        while not ended.wait(0.05):
            tasks.reap()
            tasks.dispatch()

    with beside(tick):
        try:
            yield
        finally:
            ended.set()


def test_for_longer_than_a_lease_lasts(agent: models.Agent, server: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "TTL_S", 2.0)
    monkeypatch.setattr(lease, "HEARTBEAT_S", 0.9)
    start(duration_s=10)
    attempt_id = dispatch.next_attempt(timezone.now())
    assert attempt_id is not None

    def away() -> None:
        wait_for(lambda: in_phase("measure"))
        server.restart(2 * lease.TTL_S)

    with ticking(), beside(away):
        attempts.run(attempt_id, "test")
    stored_once()


def test_what_was_reaped_when_it_was_stored_already_is_picked_up_and_not_stored_twice(
    agent: models.Agent, server: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reaped() -> None:
        server.restart(0)
        connection.close()
        assert dispatch.reap(timezone.now() + timedelta(seconds=lease.TTL_S + 1)) == 1
        server.restart(0)

    before(monkeypatch, dispatch, "finish", reaped)
    start(duration_s=1)
    left = run_next()
    assert (left.state, left.worker, left.trial.state) == (AttemptState.RUNNING, "", TrialState.RUNNING)
    picked_up = run_next()
    assert (picked_up.pk, picked_up.picked_up) == (left.pk, True)
    stored_once()


def test_a_contact_ends_and_leaves_its_agent_free(
    agent: models.Agent, server: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    models.Agent.objects.update(host_key_fingerprint="", state=AgentState.UNREACHABLE)
    with pytest.raises(HostKeyError):
        tasks.contact_now(agent.pk)
    models.Agent.objects.update(host_key_fingerprint=models.Agent.objects.get().offered_fingerprint)
    before(monkeypatch, contact, "discover_agent", lambda: server.restart(0))
    tasks.contact_now(agent.pk)
    assert models.Agent.objects.get().state == AgentState.READY
    assert models.Lease.objects.count() == 0


def test_a_scheduled_run_is_made_once(agent: models.Agent, server: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = registry.kinds()
    plan = stored_plans.save_plan(plans.from_mapping(PLAN, kinds), kinds, user=None, actor="test")
    unanswered(monkeypatch, runs, "create_run", server)
    factories.fall_due(plan)
    tasks.start_plan(plan.pk)
    assert models.Run.objects.filter(plan=plan).count() == 1


def test_nobody_is_alerted_twice(transactional_db: None, server: Warehouse, settings: Any) -> None:
    settings.TEITEN_WEBHOOK_HOSTS = ("127.0.0.1",)
    reported: list[str] = []

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            server.restart(0)
            reported.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Tests are quiet."""

    plan = histories.nightly(replicates=5)
    with HTTPServer(("127.0.0.1", 0), Hook) as http:
        http.timeout = 60  # s, after which nothing was asked of it
        alerts.watch(plan, "webhook", f"http://127.0.0.1:{http.server_port}/hook", user=None, actor="tests")
        histories.months(plan, [8000, 7200])
        with beside(http.handle_request):
            tasks.alert()
    tasks.alert()
    assert reported == ["/hook"]
    assert list(models.Alert.objects.exclude(state="quiet").values_list("state", "tries")) == [("sent", 0)]


def test_beat_goes_on_with_the_schedules_that_it_knows(
    transactional_db: None, server: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedulers, "SCHEDULE_SYNC_MAX_INTERVAL", 0)  # asks for them each time
    scheduler = Scheduler(app, lazy=True)
    scheduler.setup_schedule()
    known = scheduler.schedule.keys()
    assert {"dispatch", "reap"} <= known
    server.stop()
    assert scheduler.schedule.keys() == known
    scheduler.tick()
    server.start()
    PeriodicTask.objects.filter(name="reap").delete()
    assert scheduler.schedule.keys() == known - {"reap"}


def test_a_worker_and_what_beat_asks_of_it(worker: Callable[[], subprocess.Popen[bytes]], server: Warehouse) -> None:
    process = worker()
    start(duration_s=AWAY_S + 4)
    tasks.dispatch.delay()
    wait_for(lambda: in_phase("measure"))
    server.stop()
    for _ in range(AWAY_S):
        tasks.dispatch.delay()
        tasks.reap.delay()
        threading.Event().wait(1)
    server.start()
    wait_for(lambda: warehouse.retry(models.Run.objects.get).state == RunState.FINISHED)
    stored_once()
    assert process.poll() is None
