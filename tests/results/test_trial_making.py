"""Trials of a large run are made by a worker, some at a time."""

from __future__ import annotations

import time
from threading import Thread
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from results import agents, exporting, models, runs
from results.domain.errors import PlanError, StateError
from results.domain.matrix import order
from results.domain.states import RunState, TrialState
from results.queries.runs.runs import RunRow, run_row
from results.trial_making import AT_ONCE
from tests import factories
from tests.databases import somebody_waits
from workers import dispatch, registry, tasks
from workers.offline import orders_of_run

pytestmark = pytest.mark.django_db
CONFIGURATIONS = 12


def large_run(replicates: int = 100, **changes: Any) -> models.Run:
    if not models.Agent.objects.exists():
        factories.agent()
    factors = {"clients": list(range(1, CONFIGURATIONS + 1))}
    plan = factories.a_plan(factors=factors, installation="16", replicates=replicates, **changes)
    return runs.create_run(plan, registry.kinds(), actor="test")


def counts(row: RunRow) -> tuple[int, int, int, int]:
    return row.trials_total, row.trials_waiting, row.trials_cancelled, row.trials_to_make


def test_a_large_run_begins_with_its_first_trials_and_a_worker_makes_the_rest() -> None:
    run = large_run()
    assert run.trials.count() == AT_ONCE
    assert counts(run_row(run.pk)) == (1200, 1200, 0, 200)
    assert dispatch.next_attempt(timezone.now()) is not None
    tasks.make_trials(run.pk)
    assert counts(run_row(run.pk)) == (1200, 1199, 0, 0)
    made = run.trials.order_by("position").values_list("position", "block", "configuration__index")
    assert list(made) == [
        (slot.position, slot.block, slot.configuration) for slot in order(CONFIGURATIONS, range(1, 101), run.seed)
    ]
    assert runs.in_making() == []


def test_postgresql_expects_the_trials_of_a_large_run_once_they_are_made() -> None:
    tasks.make_trials(large_run().pk)
    with connection.cursor() as cursor:
        cursor.execute("SELECT reltuples FROM pg_class WHERE relname = 'results_trial'")
        assert cursor.fetchone() == (1200,)


def test_a_run_whose_trials_have_ended_goes_on_while_some_are_to_be_made() -> None:
    run = large_run()
    run.trials.update(state=TrialState.DONE)
    assert not runs.close_finished(run.pk)
    runs.make_trials(run.pk)
    run.trials.update(state=TrialState.DONE)
    assert runs.close_finished(run.pk)


def test_what_is_still_to_be_made_of_a_cancelled_run_is_cancelled_and_can_be_retried() -> None:
    run = large_run()
    runs.cancel_run(run.pk, "test")
    assert counts(run_row(run.pk)) == (1200, 0, 1200, 200)
    first = run.trials.first()
    assert first is not None
    for verb in (
        lambda: exporting.export(run.pk),
        lambda: orders_of_run(run.pk),
        lambda: runs.retry_cancelled(run.pk, "test"),
        lambda: runs.retry_trial(first.pk, "test"),
        lambda: runs.add_blocks(run.pk, 1, "test"),
    ):
        with pytest.raises(StateError, match="still being made"):
            verb()
    tasks.make_trials(run.pk)
    assert counts(run_row(run.pk)) == (1200, 0, 1200, 0)
    assert runs.retry_cancelled(run.pk, "test") == 1200


def test_replicates_added_to_a_cancelled_run_wait() -> None:
    run = large_run(1)
    runs.cancel_run(run.pk, "test")
    runs.add_blocks(run.pk, 2, "test")
    assert counts(run_row(run.pk)) == (36, 24, 12, 0)
    assert run_row(run.pk).state == RunState.RUNNING


def test_replicates_of_several_runs_are_made_at_once_only_as_far_as_those_of_one() -> None:
    several = [large_run(1) for _ in range(3)]
    runs.extend({run.pk: 1 for run in several}, 60, "test")
    made = [run.trials.count() - CONFIGURATIONS for run in several]
    assert made == [720, AT_ONCE - 720, 0]
    for run_id in runs.in_making():
        tasks.make_trials(run_id)
    assert [run_row(run.pk).trials_total for run in several] == [61 * CONFIGURATIONS] * 3


def test_replicates_that_exceed_the_trials_of_a_run_are_refused_and_nothing_is_made() -> None:
    run = large_run(1)
    models.Run.objects.filter(pk=run.pk).update(blocks=8000)  # 96,000 trials
    with pytest.raises(PlanError, match=r"334 more would make 100,008 trials") as refused:
        runs.add_blocks(run.pk, 334, "test")
    [problem] = refused.value.problems
    assert (problem.field, problem.todo) == ("blocks", "Add at most 333.")
    assert (models.Run.objects.get(pk=run.pk).blocks, run.trials.count()) == (8000, CONFIGURATIONS)
    runs.add_blocks(run.pk, 333, "test")


def test_an_agent_is_not_renamed_while_trials_are_made_by_its_name_and_may_be_later() -> None:
    run = large_run()
    agent = models.Agent.objects.get()
    with pytest.raises(StateError, match="are being made"):
        agents.update_agent(agent, {"name": "db7"}, "test")
    tasks.make_trials(run.pk)
    agents.update_agent(models.Agent.objects.get(), {"name": "db7"}, "test")
    runs.add_blocks(run.pk, 1, "test")
    assert run.trials.filter(block=101, agents=[agent.pk]).count() == CONFIGURATIONS
    entry = models.AuditEntry.objects.get(verb="change agent")
    assert entry.detail == {"name": {"before": "db1", "after": "db7"}}


@pytest.mark.django_db(transaction=True)
def test_an_agent_is_not_renamed_while_a_large_run_is_being_created() -> None:
    factories.agent()
    refused: list[StateError] = []

    def rename() -> None:
        try:
            agents.update_agent(models.Agent.objects.get(), {"name": "db7"}, "test")
        except StateError as error:
            refused.append(error)
        finally:
            connection.close()

    renaming = Thread(target=rename)
    with transaction.atomic():
        large_run()
        renaming.start()
        while renaming.is_alive() and not somebody_waits():
            time.sleep(0.01)
    renaming.join()
    assert ["are being made" in error.what for error in refused] == [True]
    assert models.Agent.objects.get().name == "db1"


def test_a_plan_with_more_configurations_than_a_request_can_check_is_refused() -> None:
    factories.agent()
    factors = {"clients": list(range(1, 102)), "scale": list(range(1, 31))}
    plan = factories.a_plan(factors=factors, installation="16", replicates=1)
    with pytest.raises(PlanError, match="3,030 configurations; at most 2,500"):
        runs.create_run(plan, registry.kinds(), actor="test")


def test_what_is_left_out_of_a_plan_counts_neither_as_configuration_nor_as_work() -> None:
    factories.agent()
    factors = {"clients": list(range(1, 101)), "scale": list(range(1, 41))}
    left_out = [{"clients": clients, "scale": scale} for clients in range(1, 51) for scale in range(1, 41)]
    plan = factories.a_plan(factors=factors, installation="16", replicates=1, exclude=left_out)
    assert run_row(runs.create_run(plan, registry.kinds(), actor="test").pk).configurations == 2000
    with pytest.raises(PlanError, match="4,000 combinations are left out; at most 2,500"):
        factories.a_plan(factors=factors, installation="16", replicates=1, exclude=2 * left_out)


@pytest.mark.django_db(transaction=True)
def test_a_run_that_another_transaction_works_on_is_left_to_it() -> None:
    run = large_run()
    other = connection.copy()
    try:
        other.set_autocommit(False)
        with other.cursor() as cursor:
            cursor.execute("SELECT FROM results_run WHERE id = %s FOR NO KEY UPDATE", [run.pk])
            assert not runs.make_trials(run.pk)
            assert run.trials.count() == AT_ONCE
        other.rollback()
    finally:
        other.close()
    with transaction.atomic():
        assert not runs.make_trials(run.pk)  # all are made
    assert run.trials.count() == 1200
