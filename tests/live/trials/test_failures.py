"""Failure is data: it names phase and cause, keeps what was gathered, counts for nothing, leaves the agent clean."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from results import models, runs
from results.domain.errors import AgentError, PlanError, StateError
from results.domain.measurement.parsed_trial import Gap
from results.domain.states import AttemptState, RunState, TrialState
from results.models.agents import AgentState
from tests.live.trials.conftest import run_next, start, value, wait_for
from tests.live.trials.killing import AT_WORK, beside, on_agent, servers_killed_at
from workers import attempt as attempts
from workers import dispatch, lease, registry, tasks
from workers.bundle import reader
from workers.bundle.manifest import Manifest
from workers.interfaces import Stage
from workers.remote.address import Address

Measure = Callable[..., models.Attempt]


@pytest.fixture(autouse=True)
def agent_stays_clean(agent: models.Agent, address: Address) -> Iterator[None]:
    """No job is left below the work directory, whatever happened."""
    yield
    assert on_agent(address, 'ls "$1/jobs" 2>/dev/null || true', address.work_dir) == ""


def measured() -> bool:
    """Whether the trial is in its measured phase."""
    return models.Trial.objects.filter(phase="measure").exists()


def failed(attempt: models.Attempt, bundles: Path) -> dict[str, Any]:
    """The attempt's error, after checking that it was kept and counts for nothing."""
    trial = models.Trial.objects.get(pk=attempt.trial_id)
    assert (attempt.state, trial.state, trial.attempt_id) == (AttemptState.FAILED, TrialState.FAILED, None)
    assert trial.error == attempt.error
    assert attempt.bundle and "manifest.json" in reader.open_files(bundles / attempt.bundle)
    assert models.Lease.objects.count() == 0
    assert attempt.error is not None
    return dict(attempt.error)


@pytest.mark.smoke
def test_a_script_with_a_syntax_error(measure: Measure, bundles: Path) -> None:
    attempt = measure(parameters={"script": "custom", "custom_script": "SELEC 1;\n"})
    error = failed(attempt, bundles)
    assert error["where"] == "measure"
    assert 'syntax error at or near "SELEC"' in error["why"]
    assert "workload/stderr" in {file["path"] for file in attempt.files}


@pytest.mark.smoke
def test_a_pgbench_that_aborts_keeps_its_numbers(measure: Measure, bundles: Path) -> None:
    script = "\\set n random(1, 50)\nSELECT 1 / (:n - 1);\n"
    attempt = measure(parameters={"script": "custom", "custom_script": script, "clients": 2})
    error = failed(attempt, bundles)
    assert "division by zero" in error["why"]
    assert attempt.measurements.filter(metric_id="phase.seconds", label="measure").exists()


@pytest.mark.smoke
def test_a_setting_with_which_the_server_does_not_start(measure: Measure, bundles: Path) -> None:
    error = failed(measure(settings={"shared_preload_libraries": "no_such_library"}), bundles)
    assert error["phase"] == "prepare"
    assert 'could not access file "no_such_library"' in error["why"]


def test_a_setting_that_the_installation_does_not_have_is_refused_before_anything_starts(agent: models.Agent) -> None:
    with pytest.raises(PlanError, match="Did you mean shared_buffers") as refused:
        start(settings={"shared_bufers": "lots"})
    assert [problem.field for problem in refused.value.problems] == ["settings.shared_bufers"]
    with pytest.raises(PlanError, match="is a number with or without a unit of B, kB, MB, GB, TB, not 'many'"):
        start(settings={"shared_buffers": "many"})
    assert not models.Run.objects.exists()


def test_shell_words_in_values_are_only_values(measure: Measure, address: Address) -> None:
    nasty = "'; $(touch /tmp/teiten-pwned) `id` \\ \" x"
    attempt = measure(
        settings={"search_path": 'public, "$(touch /tmp/teiten-pwned)"', "cluster_name": nasty},
        parameters={
            "script": "custom",
            "custom_script": "SELECT ':name $(touch /tmp/teiten-pwned)';\n",
            "define": "name=$(touch /tmp/teiten-pwned)",
        },
    )
    assert attempt.error is None, attempt.error
    assert on_agent(address, "ls /tmp/teiten-pwned 2>/dev/null || true") == ""
    message = {check["name"]: check["actual"] for check in attempt.checks}
    assert nasty in message.values()


def test_a_plan_for_a_version_that_is_not_there_is_refused() -> None:
    with pytest.raises(PlanError, match="Agent live has no PostgreSQL '99'"):
        start(installation="99")


@pytest.mark.smoke
def test_an_unreachable_agent_waits_with_its_trials_until_it_is_reached_again(agent: models.Agent) -> None:
    models.Agent.objects.update(port=1)
    start(replicates=2)
    first = run_next()
    assert first.state == AttemptState.FAILED
    assert first.error is not None
    assert "127.0.0.1" in first.error["where"]
    stopped = models.Agent.objects.get()
    assert (stopped.state, stopped.error) == (AgentState.UNREACHABLE, first.error)
    assert set(models.Trial.objects.values_list("state", "attempts_made")) == {(TrialState.WAITING, 0)}
    assert dispatch.next_attempt(timezone.now() + timedelta(hours=1)) is None
    models.Agent.objects.update(port=agent.port, state=AgentState.READY)
    assert run_next().state == AttemptState.DONE


@pytest.mark.smoke
def test_a_changed_host_key_stops_everything_on_the_agent(agent: models.Agent) -> None:
    other = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGh3c2Rmc2Rmc2Rmc2Rmc2Rmc2Rmc2Rmc2Rmc2Rmc2Rm"
    models.Agent.objects.update(host_key=other, host_key_fingerprint="SHA256:before")
    start(replicates=2)
    attempt = run_next()
    assert attempt.error is not None
    assert attempt.error["kind"] == "host-key"
    stopped = models.Agent.objects.get()
    assert (stopped.state, stopped.offered_fingerprint) == (AgentState.CHANGED_KEY, attempt.error["fingerprint"])
    assert set(models.Trial.objects.values_list("state", flat=True)) == {TrialState.WAITING}
    assert dispatch.next_attempt(timezone.now() + timedelta(hours=1)) is None


@pytest.mark.smoke
def test_a_server_killed_while_it_is_measured(measure: Measure, bundles: Path, address: Address) -> None:
    with servers_killed_at(address, *AT_WORK):
        attempt = measure(duration_s=60, parameters={"script": "custom", "custom_script": "SELECT 1;\n"})
    error = failed(attempt, bundles)
    assert error["where"] == "measure"
    assert any(
        words in error["why"] for words in ("the backend died", "unexpected postmaster exit", "closed the connection")
    )
    assert measure(duration_s=1).error is None


NO_SAR = ("workers.collectors.sar.collect._TOOLS", "command -v sar-that-is-not-installed")


@pytest.mark.smoke
def test_a_missing_tool_costs_its_series_and_says_so(measure: Measure, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*NO_SAR)
    attempt = measure(collectors=["latency_log", "sar"], duration_s=1)
    assert (attempt.error, attempt.state) == (None, AttemptState.DONE)
    assert [(gap["source"], gap["node"]) for gap in attempt.gaps] == [("sar", "primary")]
    assert "Install the package sysstat" in attempt.gaps[0]["reason"]
    assert not attempt.series.filter(name__startswith="cpu").exists()
    assert attempt.histograms.exists()


def test_a_missing_tool_that_the_plan_requires_costs_the_trial(
    measure: Measure, bundles: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(*NO_SAR)
    attempt = measure(collectors=["sar"], required_collectors=["sar"], duration_s=1)
    error = failed(attempt, bundles)
    assert (error["phase"], error["what"]) == ("watch", "sar is not on the agent")


def test_a_required_collector_with_a_gap_costs_the_trial(measure: Measure, bundles: Path) -> None:
    attempt = measure(collectors=["latency_log"], duration_s=1)
    files = reader.open_files(bundles / attempt.bundle)
    manifest = replace(
        Manifest.from_json(files["manifest.json"].decode()), gaps=(Gap("latency_log", "client", "no space left"),)
    )
    assert reader.parse(manifest, files).succeeded
    required = replace(manifest, spec={**manifest.spec, "required_collectors": ["latency_log"]})
    parsed = reader.parse(required, files)
    assert not parsed.succeeded
    assert parsed.error is not None
    assert parsed.error["why"] == "no space left"


@pytest.mark.smoke
def test_cancelling_a_running_trial_stops_it(agent: models.Agent, bundles: Path) -> None:
    run = start(duration_s=600)

    def cancel() -> None:
        wait_for(measured)
        runs.cancel_run(run.pk, "test")

    with beside(cancel):
        attempt = run_next()
    run.refresh_from_db()
    assert (attempt.state, run.state) == (AttemptState.CANCELLED, RunState.CANCELLED)
    assert attempt.error is not None
    assert attempt.error["kind"] == "cancelled"
    assert attempt.ended_at is not None
    assert attempt.ended_at - attempt.started_at < timedelta(seconds=600)
    assert models.Lease.objects.count() == 0


@pytest.mark.smoke
def test_a_lost_worker_is_noticed_and_its_trial_runs_again(agent: models.Agent) -> None:
    start(duration_s=1)
    lost = dispatch.next_attempt(timezone.now())
    models.Attempt.objects.update(worker="one that vanishes")
    assert dispatch.next_attempt(timezone.now()) is None
    assert dispatch.reap(timezone.now() + timedelta(seconds=lease.TTL_S - 1)) == 0
    assert dispatch.reap(timezone.now() + timedelta(seconds=lease.TTL_S + 1)) == 1
    assert models.Attempt.objects.get(pk=lost).state == AttemptState.LOST
    models.Trial.objects.update(not_before=None)
    second = run_next()
    assert (second.number, second.state) == (2, AttemptState.DONE)
    assert lost is not None and attempts.run(lost, "late") is False


@pytest.mark.smoke
def test_a_message_delivered_twice_does_nothing(agent: models.Agent) -> None:
    start(duration_s=1)
    attempt_id = dispatch.next_attempt(timezone.now())
    assert attempt_id is not None
    assert attempts.run(attempt_id, "first") is True
    assert attempts.run(attempt_id, "second") is False
    assert models.Attempt.objects.get().worker == "first"


def test_a_failed_trial_can_be_retried_and_a_done_one_cannot(measure: Measure) -> None:
    attempt = measure(duration_s=1)
    with pytest.raises(StateError, match="only a failed or cancelled one"):
        runs.retry_trial(attempt.trial_id, "test")
    models.Trial.objects.update(state=TrialState.FAILED, attempt=None)
    runs.retry_trial(attempt.trial_id, "test")
    assert models.Run.objects.get().state == RunState.RUNNING
    assert run_next().number == 2


def test_blocks_added_to_a_finished_run_are_run(measure: Measure) -> None:
    attempt = measure(duration_s=1)
    runs.add_blocks(attempt.run_id, 1, "test")
    assert run_next().trial.block == 2
    assert models.Run.objects.get().state == RunState.FINISHED


def test_a_trial_is_not_disturbed_by_looking_for_facts(agent: models.Agent) -> None:
    start(duration_s=1)
    assert dispatch.next_attempt(timezone.now()) is not None
    with pytest.raises(StateError, match="busy with trial"):
        tasks.contact_now(agent.pk)


def test_no_trial_starts_while_facts_are_looked_for(agent: models.Agent) -> None:
    start(duration_s=1)
    with lease.contact_lease(agent.pk, timezone.now):
        assert dispatch.next_attempt(timezone.now()) is None
    assert run_next().state == AttemptState.DONE


def test_an_attempt_that_no_worker_began_is_not_counted(agent: models.Agent) -> None:
    start(duration_s=1)
    assert dispatch.next_attempt(timezone.now()) is not None
    assert dispatch.reap(timezone.now() + timedelta(seconds=lease.TTL_S + 1)) == 1
    assert models.Attempt.objects.count() == 0
    assert models.Trial.objects.get().attempts_made == 0
    assert run_next().number == 1


@pytest.mark.smoke
def test_a_warehouse_that_is_away_for_a_moment_costs_nothing(agent: models.Agent) -> None:
    """Every connection to the tests' database is cut while the trial is measured."""
    start(duration_s=7)

    def cut() -> None:
        wait_for(measured)
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid() AND pid <> %s",
                [main],
            )

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        main = cursor.fetchone()[0]
    with beside(cut):
        attempt = run_next()
    assert (attempt.error, attempt.state) == (None, AttemptState.DONE)


def test_an_attempt_that_lost_its_agents_leaves_its_successor_alone(agent: models.Agent, address: Address) -> None:
    start(duration_s=1, warmup_s=8)
    lost = dispatch.next_attempt(timezone.now())
    assert lost is not None

    with beside(lambda: attempts.run(lost, "stalled")):
        wait_for(lambda: models.Trial.objects.filter(phase="warm").exists())
        assert dispatch.reap(timezone.now() + timedelta(seconds=lease.TTL_S + 60)) == 1
        models.Trial.objects.update(not_before=None)
        second = run_next()
    assert (second.number, second.error, second.state) == (2, None, AttemptState.DONE)
    assert models.Attempt.objects.get(pk=lost).state == AttemptState.LOST


def test_a_worker_that_was_only_held_up_leaves_the_measurement_to_the_one_that_picked_it_up(
    agent: models.Agent, bundles: Path
) -> None:
    start(duration_s=8, collectors=["latency_log"])
    held_up = dispatch.next_attempt(timezone.now())
    assert held_up is not None

    with beside(lambda: attempts.run(held_up, "stalled")):
        wait_for(lambda: any((bundles / "unfinished").glob("*.checkpoint")))
        assert dispatch.reap(timezone.now() + timedelta(seconds=lease.TTL_S + 60)) == 1
        attempt = run_next()
    attempt.refresh_from_db()
    assert (attempt.pk, attempt.error, attempt.state) == (held_up, None, AttemptState.DONE)
    assert (attempt.worker, attempt.picked_up, attempt.gaps) == ("test", True, [])
    assert sum(attempt.histograms.get().counts) == value(attempt, "transactions")
    assert list((bundles / "unfinished").iterdir()) == []


def test_a_collector_that_cannot_end_does_not_keep_the_agent_from_being_cleaned(
    measure: Measure, monkeypatch: pytest.MonkeyPatch, address: Address
) -> None:
    async def breaks(self: object, stage: Stage, *node: str) -> None:
        raise AgentError("It broke off.", where="test")

    monkeypatch.setattr(type(registry.workload("pgbench")), "finish", breaks)
    monkeypatch.setattr(type(registry.collector("sar")), "stop", breaks)
    attempt = measure(collectors=["sar"], required_collectors=["sar"], duration_s=1)
    assert attempt.error["what"] == "It broke off."
    assert "clean" in {gap["source"] for gap in attempt.gaps}
    assert on_agent(address, 'ls "$1/jobs" 2>/dev/null || true', address.work_dir) == ""
