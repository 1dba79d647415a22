"""Verbs on plans, runs and agents, where no agent is needed."""

from __future__ import annotations

from datetime import timedelta
from importlib import import_module
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import connection
from django.utils import timezone
from django_celery_beat.models import CrontabSchedule, PeriodicTask

from results import agents, ingest, models, runs, stored_plans
from results.domain.errors import HostKeyError, PlanError, StateError
from results.domain.matrix import dimensions
from results.domain.states import RunState, TrialState
from results.models.agents import AgentState
from results.plan_check import resolve_plan
from results.preview import preview
from tests import factories
from workers import dispatch, registry

pytestmark = pytest.mark.django_db


def scheduled(**changes: Any) -> models.Run:
    factories.agent()
    later = timezone.now() + timedelta(hours=1)
    return runs.create_run(factories.a_plan(**changes), registry.kinds(), actor="test", start_at=later)


@pytest.mark.parametrize("cron", ["0 2 *", "0 2,,4 * * *", "0 -2 * * *", "61 * * * *", "a b c d e"])
def test_a_cron_line_that_cannot_be_is_a_problem_of_the_plan(cron: str) -> None:
    factories.agent()
    stored = factories.stored_plan()
    with pytest.raises(PlanError):
        stored_plans.schedule_plan(stored, cron, "test")
    assert not PeriodicTask.objects.filter(name=f"plan {stored.pk}").exists()


def test_a_schedule_is_made_changed_and_taken_away() -> None:
    factories.agent()
    stored = factories.stored_plan()
    for _ in range(2):
        stored_plans.schedule_plan(stored, "0 2 * * 6", "test")
    task = PeriodicTask.objects.get(name=f"plan {stored.pk}")
    assert (task.task, task.args) == (stored_plans.START_PLAN, f"[{stored.pk}]")
    assert CrontabSchedule.objects.filter(hour="2", day_of_week="6").count() == 1
    stored_plans.archive_plan(stored, "test")
    assert not PeriodicTask.objects.filter(name=f"plan {stored.pk}").exists()


@pytest.mark.parametrize("standing", ["exploratory", "kept"])
def test_a_run_begins_as_its_plan_says(standing: str) -> None:
    factories.agent()
    run = runs.create_run(factories.a_plan(standing=standing), registry.kinds(), actor="test")
    assert (run.standing, run.tags, run.archived) == (standing, [], False)


def test_a_start_in_the_past_is_refused() -> None:
    factories.agent()
    with pytest.raises(PlanError, match="has passed"):
        runs.create_run(
            factories.a_plan(), registry.kinds(), actor="test", start_at=timezone.now() - timedelta(hours=9)
        )


def test_a_scheduled_run_starts_at_its_time_and_not_before() -> None:
    run = scheduled()
    assert dispatch.next_attempt(timezone.now()) is None
    assert runs.start_due(timezone.now()) == 0
    assert runs.start_due(timezone.now() + timedelta(hours=2)) == 1
    run.refresh_from_db()
    assert run.state == RunState.RUNNING


def test_retrying_a_trial_of_a_scheduled_run_does_not_start_it() -> None:
    run = scheduled()
    trial = run.trials.first()
    assert trial is not None
    runs.cancel_trial(trial.pk, "test")
    runs.retry_trial(trial.pk, "test")
    run.refresh_from_db()
    assert run.state == RunState.SCHEDULED


def test_a_scheduled_run_without_trials_left_ends_at_its_time() -> None:
    run = scheduled()
    for trial in run.trials.all():
        runs.cancel_trial(trial.pk, "test")
    runs.start_due(timezone.now() + timedelta(hours=2))
    run.refresh_from_db()
    assert run.state == RunState.CANCELLED


def test_cancelling_the_last_open_trial_ends_the_run() -> None:
    run = factories.run()
    for trial in run.trials.all():
        runs.cancel_trial(trial.pk, "test")
    run.refresh_from_db()
    assert run.state == RunState.CANCELLED
    with pytest.raises(StateError):
        runs.cancel_trial(trial.pk, "test")


def test_a_cancelled_run_keeps_what_is_done_and_can_go_on() -> None:
    run = factories.run()
    first = run.trials.first()
    assert first is not None
    factories.finish(first)
    runs.cancel_run(run.pk, "test")
    states = list(run.trials.order_by("position").values_list("state", flat=True))
    assert states == [TrialState.DONE] + [TrialState.CANCELLED] * (len(states) - 1)
    runs.retry_trial(run.trials.last().pk, "test")
    run.refresh_from_db()
    assert run.state == RunState.RUNNING


def ended(run: models.Run, *, done: int = 0, failed: int = 0) -> str:
    """The run's state after so many of its waiting trials were done, and so many failed."""
    waiting = list(run.trials.filter(state="waiting").select_related("configuration").order_by("position"))
    for trial in waiting[:done]:
        factories.finish(trial)
    for trial in waiting[done : done + failed]:
        factories.fail(trial)
    runs.close_finished(run.pk)
    run.refresh_from_db()
    return str(run.state)


def test_a_run_without_any_trial_done_has_failed_until_a_retry_is_done() -> None:
    run = factories.run()
    assert ended(run, failed=8) == RunState.FAILED
    assert runs.retry_failed(run.pk, "test") == 8
    assert ended(run) == RunState.RUNNING
    assert ended(run, done=1, failed=7) == RunState.FINISHED


def test_a_run_whose_last_good_trial_is_read_again_as_failed_has_failed() -> None:
    run = factories.run(factors={"installation": ["16"]}, replicates=1)
    assert ended(run, done=1) == RunState.FINISHED
    trial = run.trials.select_related("configuration").get()
    error = {"kind": "trial", "what": "pgbench was aborted.", "retryable": False}
    for message, state in ((error, RunState.FAILED), (None, RunState.FINISHED)):
        ingest.replace(factories.parsed(trial, 1, 1000.0, message), trial.attempts.get().pk)
        assert models.Run.objects.get(pk=run.pk).state == state


def test_a_cancelled_run_is_cancelled_after_a_retry_while_trials_of_it_are() -> None:
    run = factories.run()
    assert ended(run, done=1) == RunState.RUNNING
    runs.cancel_run(run.pk, "test")
    for trial in list(run.trials.filter(state="cancelled"))[:2]:
        runs.retry_trial(trial.pk, "test")
    assert ended(run) == RunState.RUNNING
    assert ended(run, done=2) == RunState.CANCELLED
    for trial in run.trials.filter(state="cancelled"):
        runs.retry_trial(trial.pk, "test")
    assert ended(run, done=5) == RunState.FINISHED


def test_a_run_whose_trials_were_cancelled_one_by_one_is_cancelled_after_a_retry_of_some() -> None:
    run = factories.run()
    for trial in run.trials.all():
        runs.cancel_trial(trial.pk, "test")
    run.refresh_from_db()
    assert (run.state, run.cancelled_at is None) == (RunState.CANCELLED, False)
    for trial in list(run.trials.all())[:2]:
        runs.retry_trial(trial.pk, "test")
    assert ended(run, done=2) == RunState.CANCELLED


def test_a_trial_cancelled_by_itself_leaves_the_run_finished() -> None:
    run = factories.run()
    first = run.trials.first()
    assert first is not None
    runs.cancel_trial(first.pk, "test")
    assert ended(run, done=7) == RunState.FINISHED


def test_runs_that_ended_before_get_their_state_from_the_migration() -> None:
    failed, cancelled, finished, one_by_one = (factories.run() for _ in range(4))
    states = [ended(failed, failed=8), ended(cancelled, done=2), ended(finished, done=8)]
    runs.cancel_run(cancelled.pk, "test")
    for trial in one_by_one.trials.all():
        runs.cancel_trial(trial.pk, "test")
    models.Run.objects.update(cancelled_at=None)
    models.Run.objects.exclude(pk=one_by_one.pk).update(state="finished")  # as after a retry, before
    with connection.cursor() as cursor:
        for statement in import_module("results.migrations.0006_run_ends").ENDS:
            cursor.execute(statement)
    stored_runs = [models.Run.objects.get(pk=run.pk) for run in (failed, cancelled, finished, one_by_one)]
    assert [run.state for run in stored_runs] == ["failed", "cancelled", "finished", "cancelled"]
    assert (states[0], states[2]) == ("failed", "finished")
    assert [run.cancelled_at is None for run in stored_runs] == [True, False, True, False]


def test_a_run_that_never_started_starts_with_the_retry_of_a_trial() -> None:
    run = scheduled()
    runs.cancel_run(run.pk, "test")
    trial = run.trials.first()
    assert trial is not None
    runs.retry_trial(trial.pk, "test")
    run.refresh_from_db()
    assert (run.state, run.started_at is None) == (RunState.RUNNING, False)


def test_initdb_options_tell_configurations_apart() -> None:
    factories.agent()
    kinds = registry.kinds()
    with_checksums = resolve_plan(factories.a_plan(initdb=["--data-checksums"]), kinds)[1][0]
    without = resolve_plan(factories.a_plan(), kinds)[1][0]
    assert dimensions(with_checksums)["initdb"] == "--data-checksums"
    assert dimensions(without)["initdb"] == ""


def test_the_way_to_an_agent_may_not_lead_in_a_circle() -> None:
    first, second = factories.agent("a"), factories.agent("b")
    agents.update_agent(second, {"jump": first}, "test")
    with pytest.raises(ValidationError) as refused:
        agents.update_agent(first, {"jump": second}, "test")
    assert set(refused.value.message_dict) == {"jump"}


def test_a_moved_agent_needs_its_host_key_accepted_anew() -> None:
    agent = factories.agent()
    models.Agent.objects.update(host_key_fingerprint="SHA256:a", offered_fingerprint="SHA256:a")
    agent.refresh_from_db()
    agents.update_agent(agent, {"host": "elsewhere.example"}, "test")
    agent.refresh_from_db()
    assert (agent.host_key, agent.host_key_fingerprint, agent.offered_fingerprint) == ("", "", "")
    assert agent.state == AgentState.UNKNOWN_KEY


def test_the_key_of_a_jump_host_is_never_offered_as_the_agents_own() -> None:
    agent = factories.agent()
    models.Agent.objects.update(offered_fingerprint="SHA256:own")
    error = HostKeyError("The host key has changed.", fingerprint="SHA256:jump", where="agent bastion (b:22)")
    agents.record_failure(agent.pk, error.as_dict())
    agent.refresh_from_db()
    assert (agent.state, agent.offered_fingerprint) == (AgentState.UNREACHABLE, "SHA256:own")


def test_the_preview_warns_of_what_will_go_wrong() -> None:
    factories.agent()
    models.Agent.objects.update(memory_bytes=1024**3, disk={"free_bytes": 2 * 1024**3})
    plan = factories.a_plan(replicates=3, installation="16", factors={"clients": [1, 200], "scale": [10, 1000]})
    seen = preview(plan, registry.kinds())
    assert seen.trials == 12
    assert {warning.field for warning in seen.warnings} == {
        "replicates",
        "parameters.clients",
        "parameters.scale",
        "agents.client",
    }
    assert seen.disk_bytes > 10 * 1024**3
    assert seen.seconds > 12 * 5
