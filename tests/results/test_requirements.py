"""What agents and installations lack for a plan is said before anything runs."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from results import models, runs
from results.domain.errors import PlanError, Problem
from results.preview import Preview, preview
from tests import factories
from workers.registry import kinds

pytestmark = pytest.mark.django_db
LEAVE_OUT = (
    "It has heap. Choose another installation or access method, or exclude this combination; if it was installed there "
    "since, contact the agent again."
)


@pytest.fixture(autouse=True)
def _agent(db: None) -> None:
    factories.agent()


def previewed(**changes: Any) -> Preview:
    return preview(factories.a_plan(**changes), kinds())


def refused(**changes: Any) -> tuple[Problem, ...]:
    with pytest.raises(PlanError) as raised:
        previewed(**changes)
    with pytest.raises(PlanError):
        runs.create_run(factories.a_plan(**changes), kinds(), actor="tests")
    assert not models.Run.objects.exists()
    return raised.value.problems


def has(version: str, *methods: str) -> None:
    models.Installation.objects.filter(version=version).update(access_methods=list(methods))


def test_an_access_method_that_no_installation_has_is_refused_by_each() -> None:
    problems = refused(access_method="zheap")
    assert [(problem.field, problem.what) for problem in problems] == [
        ("access_method", "PostgreSQL postgresql-16.9 on db1 has no table access method zheap."),
        ("access_method", "PostgreSQL postgresql-18.1 on db1 has no table access method zheap."),
    ]
    assert problems[0].todo == LEAVE_OUT


def test_only_the_combination_that_cannot_run_is_refused() -> None:
    has("18.1", "heap", "zheap")
    varied = {"factors": {"installation": ["16", "18"], "access_method": ["heap", "zheap"]}}
    [problem] = refused(**varied)
    assert problem.what == "PostgreSQL postgresql-16.9 on db1 has no table access method zheap."
    left = previewed(**varied, exclude=[{"installation": "16", "access_method": "zheap"}])
    assert len(left.configurations) == 3


def test_the_server_of_every_node_must_have_it() -> None:
    other = factories.agent("db2")
    models.Installation.objects.exclude(agent=other).update(access_methods=["heap", "zheap"])
    spread: dict[str, Any] = {"topology": "streaming", "agents": {"primary": "db1", "standby": "db2"}}
    [problem] = refused(**spread, installation="16", factors={"clients": [1]}, access_method="zheap")
    assert problem.what == "PostgreSQL postgresql-16.9 on db2 has no table access method zheap."


def test_a_parameter_and_a_setting_that_name_an_access_method_are_refused_by_their_own_fields() -> None:
    one: dict[str, Any] = {"factors": {"installation": ["16"]}}
    [fact] = refused(workload="ssb", parameters={"fact_access_method": "zheap"}, **one)
    assert fact.field == "parameters.fact_access_method"
    [default] = refused(settings={"default_table_access_method": "zheap"}, **one)
    assert default.field == "settings.default_table_access_method"


def test_what_nobody_knows_is_found_out_by_trying() -> None:
    has("16.9")
    assert previewed(factors={"installation": ["16"]}, access_method="zheap").trials
    elsewhere: dict[str, Any] = {"topology": "endpoints", "agents": {"client": "db1"}, "access_method": "zheap"}
    assert previewed(**elsewhere).trials, "the servers of others are no installation of an agent"


def test_one_that_an_extension_may_bring_is_a_warning() -> None:
    models.Installation.objects.filter(version="16.9").update(extensions=["plpgsql", "citus_columnar"])
    [warning] = [
        warning
        for warning in previewed(factors={"installation": ["16"]}, access_method="columnar").warnings
        if warning.field == "access_method"
    ]
    assert warning.text == (
        "postgresql-16.9 has no access method columnar by itself: its extension citus_columnar must have been made in "
        "the trials' cluster."
    )


def test_what_is_asked_costs_one_query_and_only_where_something_is_needed() -> None:
    with CaptureQueriesContext(connection) as plain:
        previewed()
    with CaptureQueriesContext(connection) as asking:
        previewed(access_method="heap")
    assert len(asking) == len(plain) + 1
