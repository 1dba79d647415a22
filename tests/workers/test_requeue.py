"""What dead workers left running, at a start of everything."""

from __future__ import annotations

import io
import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from results import models, runs
from results.domain.errors import StateError
from results.domain.states import AttemptState, RunState, TrialState
from tests import factories
from workers import dispatch, lease
from workers.bundle.writer import BundleWriter

pytestmark = pytest.mark.django_db


@pytest.fixture
def trial() -> models.Trial:
    """The first trial of a run, which waits for its agent."""
    return factories.run().trials.order_by("position")[0]


def requeued() -> str:
    out = io.StringIO()
    call_command("requeue", stdout=out)
    return out.getvalue()


def test_a_trial_that_ran_waits_again_uncounted_and_its_agent_is_free(trial: models.Trial) -> None:
    attempt = factories.begin(trial, "measure")
    assert requeued() == f"Queued again: trial {trial.pk}\n"
    trial.refresh_from_db()
    attempt.refresh_from_db()
    assert (trial.state, trial.phase, trial.attempts_made) == (TrialState.WAITING, "", 0)
    assert attempt.state == AttemptState.LOST
    assert attempt.error["what"] == "Teiten was stopped while attempt 1 ran."
    again = models.Attempt.objects.get(pk=dispatch.next_attempt(timezone.now()))
    assert (again.trial_id, again.number) == (trial.pk, 2)


def test_it_is_never_given_up_however_often_everything_is_stopped(trial: models.Trial) -> None:
    for _ in range(dispatch.MOST_ATTEMPTS + 1):
        attempt_id = dispatch.next_attempt(timezone.now())
        assert models.Attempt.objects.filter(pk=attempt_id, trial=trial).update(worker="worker of the tests")
        dispatch.requeue(timezone.now())
    trial.refresh_from_db()
    assert trial.state == TrialState.WAITING


def test_an_attempt_that_no_worker_had_begun_leaves_no_trace(trial: models.Trial) -> None:
    assert dispatch.next_attempt(timezone.now()) is not None
    requeued()
    assert not trial.attempts.exists()
    assert dispatch.next_attempt(timezone.now()) is not None


def test_a_cancelled_trial_stays_cancelled(trial: models.Trial) -> None:
    attempt = factories.begin(trial)
    runs.cancel_run(trial.run_id, "test")
    requeued()
    trial.refresh_from_db()
    attempt.refresh_from_db()
    assert (trial.state, attempt.state) == (TrialState.CANCELLED, AttemptState.LOST)
    assert models.Run.objects.get().state == RunState.CANCELLED
    assert not models.Lease.objects.exists()


def test_an_agent_held_by_a_contact_that_died_is_free(trial: models.Trial) -> None:
    factories.held_by_contact(trial.agents[0], timezone.now() + timedelta(seconds=30))
    assert dispatch.next_attempt(timezone.now()) is None
    requeued()
    assert dispatch.next_attempt(timezone.now()) is not None


def test_what_a_dead_attempt_had_gathered_is_removed(trial: models.Trial, tmp_path: Path, settings: Any) -> None:
    settings.TEITEN_BUNDLE_DIR = tmp_path
    factories.begin(trial)
    BundleWriter(tmp_path, "1/1", 1).add("workload/stdout.txt", "tps = ")
    kept = tmp_path / "1" / "0-1.tar.gz"
    kept.parent.mkdir()
    kept.touch()
    requeued()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [kept]


def test_where_nothing_ran_nothing_changes(trial: models.Trial) -> None:
    assert requeued() == ""
    trial.refresh_from_db()
    assert (trial.state, trial.attempts_made) == (TrialState.WAITING, 0)


def test_a_contact_waits_for_an_agent_in_use_for_as_long_as_it_may(trial: models.Trial) -> None:
    attempt = factories.begin(trial)
    first = timezone.now()
    looks = 0

    def clock() -> Any:
        """Return a moment one second later at each call; at the fourth the trial has ended."""
        nonlocal looks
        looks += 1
        if looks == 4:
            lease.release(attempt.pk)
        return first + timedelta(seconds=looks)

    with pytest.raises(StateError, match=f"busy with trial {trial.pk}"), lease.contact_lease(trial.agents[0], clock, 1):
        raise AssertionError("the agent was in use")
    with lease.contact_lease(trial.agents[0], clock, 60):
        assert models.Lease.objects.get().attempt is None


def test_an_agent_held_by_a_contact_that_died_is_free_when_its_lease_has_expired(trial: models.Trial) -> None:
    held = factories.held_by_contact(trial.agents[0], timezone.now() + timedelta(seconds=30))
    assert dispatch.reap(timezone.now()) == 0
    assert dispatch.next_attempt(timezone.now()) is None
    dispatch.reap(held.expires_at + timedelta(seconds=1))
    assert dispatch.next_attempt(timezone.now()) is not None


@pytest.mark.django_db(transaction=True)
def test_a_contact_is_heard_of_for_as_long_as_it_lasts(monkeypatch: pytest.MonkeyPatch) -> None:
    agent = factories.agent()
    monkeypatch.setattr(lease, "HEARTBEAT_S", 0.01)
    with lease.contact_lease(agent.pk, timezone.now):
        first = models.Lease.objects.get()
        assert (first.expires_at - first.acquired_at).total_seconds() == lease.TTL_S
        deadline = time.monotonic() + 60
        while models.Lease.objects.get().expires_at == first.expires_at:
            assert time.monotonic() < deadline, "the contact was not heard of"
            time.sleep(0.01)
    assert not models.Lease.objects.exists()
    assert "contact" not in [thread.name for thread in threading.enumerate()]


@pytest.mark.django_db(transaction=True)
def test_several_agents_of_a_contact_are_heard_of_by_one_thread_and_one_lost_leaves_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    agents = [factories.agent(f"db{number}").pk for number in range(3)]
    monkeypatch.setattr(lease, "HEARTBEAT_S", 0.01)
    with lease.contact_leases(agents, timezone.now, 0, "Removing") as lost:
        assert [thread.name for thread in threading.enumerate()].count("contact") == 1
        models.Lease.objects.filter(agent=agents[0]).delete()
        other = factories.held_by_contact(agents[0], timezone.now() + timedelta(seconds=30))
        deadline = time.monotonic() + 60
        while not lost():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        last = models.Lease.objects.get(agent=agents[2]).heartbeat_at
        while models.Lease.objects.get(agent=agents[2]).heartbeat_at == last:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert lost()
    assert models.Lease.objects.get().acquired_at == other.acquired_at


@pytest.mark.django_db(transaction=True)
def test_agents_of_which_one_is_in_use_are_all_free_again() -> None:
    agents = [factories.agent(f"db{number}").pk for number in range(3)]
    used = factories.held_by_contact(agents[2], timezone.now() + timedelta(seconds=30))
    with pytest.raises(StateError), lease.contact_leases(agents, timezone.now, 0, "Removing"):
        raise AssertionError("one was in use")
    assert models.Lease.objects.get().pk == used.pk


@pytest.mark.django_db(transaction=True)
def test_a_contact_that_lost_its_agent_leaves_the_lease_of_the_next_alone(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    agent = factories.agent()
    monkeypatch.setattr(lease, "HEARTBEAT_S", 0.01)
    with lease.contact_lease(agent.pk, timezone.now) as lost:
        assert not lost()
        models.Lease.objects.all().delete()
        other = factories.held_by_contact(agent.pk, timezone.now() + timedelta(seconds=30))
        deadline = time.monotonic() + 60
        while "lost its agent" not in caplog.text:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert lost()
    assert list(models.Lease.objects.values_list("expires_at", flat=True)) == [other.expires_at]
