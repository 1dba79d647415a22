"""Agents, plans, estimates."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from results import agents as verbs
from results import models, runs, stored_plans
from results.queries.agents.agents import agent_detail, list_agents, list_installations
from results.queries.agents.lines import agent_lines
from results.queries.runs.estimates import past_seconds
from results.queries.runs.plans import list_plans, plan_detail
from results.queries.shared.ids import NotFound
from results.queries.shared.metrics import list_metrics
from tests import factories

pytestmark = pytest.mark.django_db


def test_agents_say_what_they_are_busy_with(django_assert_num_queries: Any) -> None:
    trial = factories.run().trials.first()
    assert trial is not None
    factories.agent("db2")
    factories.begin(trial, "measure", 5.0)
    with django_assert_num_queries(4):
        busy, idle = list_agents()
    assert busy.busy is not None
    assert (busy.busy.trial_id, busy.busy.run_id, busy.busy.phase) == (trial.pk, trial.run_id, "measure")
    assert (idle.name, idle.busy, idle.state) == ("db2", None, "ready")
    assert [installation.version for installation in idle.installations] == ["18.1", "16.9"]
    assert idle.disk["free_bytes"] == 50 * 1024**3


@pytest.mark.parametrize("private", [False, True])
def test_the_lines_of_agents_say_what_their_list_says(private: bool, django_assert_num_queries: Any) -> None:
    trial, other = factories.run().trials.order_by("position")[:2]
    other_agent = factories.agent("db2")
    factories.agent("db0")
    models.Agent.objects.filter(pk=factories.agent("old").pk).update(archived=True)
    factories.begin(trial, "measure", 5.0)
    models.Run.objects.filter(pk=trial.run_id).update(private=private, standing="exploratory")
    models.Installation.objects.filter(version="16.9").update(present=False)
    now = timezone.now()
    for agent_id, factor, set_by, error in (
        (trial.agents[0], "governor", trial, ""),
        (trial.agents[0], "failed", trial, "No such file."),
        (trial.agents[0], "of another", other, ""),
        (trial.agents[0], "of none", None, ""),
        (other_agent.pk, "nobody runs", trial, ""),
    ):
        models.HostChange.objects.create(
            agent_id=agent_id, factor=factor, level="on", own="off", trial=set_by, since=now, error=error
        )
    with django_assert_num_queries(1):
        lines = agent_lines()
    rows = list_agents()
    assert [line.name for line in lines] == ["db0", "db1", "db2"]
    for line, row in zip(lines, rows, strict=True):
        plain = ("name", "host", "port", "enabled", "state", "facts_at", "cores", "memory_bytes", "disk")
        assert [getattr(line, name) for name in plain] == [getattr(row, name) for name in plain]
        assert line.busy == (
            {"run_id": row.busy.run_id, "trial_id": row.busy.trial_id, "phase": row.busy.phase} if row.busy else None
        )
        assert line.installations == tuple({"name": one.name, "present": one.present} for one in row.installations)
        assert line.not_back == tuple({"factor": one.factor, "running": one.running} for one in row.not_back)
    assert [change["running"] for change in lines[1].not_back] == [False, True, False, False]


def test_an_agent_names_the_one_it_is_reached_through() -> None:
    jump = factories.agent("bastion")
    models.Agent.objects.filter(pk=factories.agent("db1").pk).update(jump=jump)
    assert [(row.name, row.jump) for row in list_agents()] == [("bastion", ""), ("db1", "bastion")]


def test_an_agents_facts_are_compared_with_those_before(django_assert_num_queries: Any) -> None:
    agent = factories.agent()
    later = timezone.now() + timedelta(hours=1)
    verbs.record_contact(agent.pk, factories.contact({"16.9": 160009}, kernel="6.2.0"), later)
    trial = factories.run(factors={}, installation="16").trials.first()
    assert trial is not None
    factories.finish(trial)
    with django_assert_num_queries(7):
        detail = agent_detail("db1")
    assert [layer.kind for layer in detail.layers] == ["hardware", "kernel"]
    assert [(c.kind, c.key, c.left, c.right) for c in detail.changes] == [("kernel", "release", "6.1.0", "6.2.0")]
    assert (detail.history[0], len(detail.history)) == (later, 2)
    assert [recent.trial_id for recent in detail.recent] == [trial.pk]
    assert [(i.version, i.present) for i in detail.row.installations] == [("18.1", False), ("16.9", True)]


def test_an_agent_that_was_never_reached_has_no_facts() -> None:
    fields = {"name": "new", "host": "new.example", "data_dir": "/srv/data", "work_dir": "/srv/work"}
    models.Agent.objects.create(**fields)
    detail = agent_detail("new")
    assert (detail.layers, detail.changes, detail.history, detail.row.seen_at) == ((), (), (), None)
    with pytest.raises(NotFound, match="'gone'"):
        agent_detail("gone")


def test_installations_are_listed_of_one_agent_or_all(django_assert_num_queries: Any) -> None:
    factories.agent("db1"), factories.agent("db2", {"17.1": 170001})
    with django_assert_num_queries(1):
        installations = list_installations()
    assert [(row.agent, row.version) for row in installations] == [("db1", "18.1"), ("db1", "16.9"), ("db2", "17.1")]
    assert [row.version for row in list_installations("db2")] == ["17.1"]


def test_plans_are_listed_with_their_last_run_and_schedule(django_assert_num_queries: Any) -> None:
    stored = factories.stored_plan(factories.member("ada"))
    factories.run(stored=stored)
    last = factories.run(stored=stored)
    runs.cancel_run(last.pk, "tests")
    stored_plans.schedule_plan(stored, "0 2 * * 6", "tests")
    with django_assert_num_queries(2):
        (row,) = list_plans()
    assert (row.name, row.workload, row.runs, row.created_by) == ("16 against 18", "pgbench", 2, "ada")
    assert (row.last_run_id, row.last_state, row.schedule) == (last.pk, "cancelled", "0 2 * * 6")


def test_an_archived_plan_is_listed_only_on_request() -> None:
    stored = factories.stored_plan()
    stored_plans.archive_plan(stored, "tests")
    assert list_plans() == []
    assert [row.archived for row in list_plans(archived=True)] == [True]


def test_a_plan_shows_its_text_and_runs(django_assert_num_queries: Any) -> None:
    stored = factories.stored_plan()
    made = factories.run(stored=stored)
    with django_assert_num_queries(4):
        detail = plan_detail(stored.pk)
    assert 'name = "16 against 18"' in detail.toml
    assert [run.id for run in detail.runs] == [made.pk]
    with pytest.raises(NotFound, match=f"no plan {factories.NO_ID}"):
        plan_detail(factories.NO_ID)


def test_estimates_rest_on_past_trials(django_assert_num_queries: Any) -> None:
    assert past_seconds("pgbench").trials == 0
    factories.finished_run()
    with django_assert_num_queries(1):
        past = past_seconds("pgbench")
    assert (past.trials, past.seconds) == (8, 4.0)
    assert past.phases == {"load": 2.0, "measure": 0.5, "prepare": 1.0}


def test_metrics_explain_themselves() -> None:
    factories.finished_run(replicates=1)
    assert [(metric.name, metric.unit) for metric in list_metrics()][-1] == ("tps", "tps")
