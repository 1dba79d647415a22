"""Ready plans by API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from results import models
from results.domain.plan.recipes import read_all
from tests import factories
from workers.registry import kinds

pytestmark = pytest.mark.django_db
URL = "/api/v1/ready-plans/own-queries/"
Visitor = Callable[[str], APIClient]


def test_every_ready_plan_is_listed_without_a_query(anonymous: APIClient, settings: Any) -> None:
    settings.TEITEN_OPEN_READING = True
    with CaptureQueriesContext(connection) as queries:
        listed = anonymous.get("/api/v1/ready-plans/").json()
    assert len(queries) == 0
    slugs = [plan.slug for plan in read_all(settings.TEITEN_PLAN_DIR, kinds()).plans]
    assert [plan["slug"] for plan in listed["results"]] == slugs
    own = next(plan for plan in listed["results"] if plan["slug"] == "own-queries")
    assert (own["laptop"], own["report"], own["size"]["name"], own["compare"]) == (5, 1000, "scale", "installations")
    assert own["links"]["page"].endswith("/plans/ready/own-queries/")


def test_one_shows_its_plan_as_far_as_it_stands(anonymous: APIClient, settings: Any) -> None:
    settings.TEITEN_OPEN_READING = True
    plan = anonymous.get(URL).json()
    assert plan["mapping"]["parameters"]["form"] == "queries"
    assert "agents" not in plan["mapping"]
    assert anonymous.get("/api/v1/ready-plans/nothing/").status_code == 404


def test_a_choice_gives_the_plan_that_can_be_run(visitor: Visitor) -> None:
    factories.agent("db1", {"16.9": 160009, "18.1": 180001})
    models.Agent.objects.update(allows_code=True)  # the plan brings its own queries
    client = visitor("run")
    answer = client.post(f"{URL}plan/", {"size": 10, "agents": {"primary": "db1"}}, format="json").json()
    assert answer["plan"]["parameters"]["scale"] == 10
    assert answer["plan"]["factors"]["installation"] == ["postgresql-16.9", "postgresql-18.1"]
    run = client.post("/api/v1/runs/", answer["plan"], format="json")
    assert run.status_code == 201
    assert client.post("/api/v1/plans/", {"toml": answer["toml"]}, format="json").status_code == 201
    assert models.Plan.objects.get().hash == models.Run.objects.get().plan_hash


def test_only_what_was_chosen_is_compared(visitor: Visitor) -> None:
    factories.agent()
    body = {"agents": {"primary": "db1"}, "installations": ["18"], "name": "Mine"}
    plan = visitor("run").post(f"{URL}plan/", body, format="json").json()["plan"]
    assert (plan["factors"]["installation"], plan["name"], plan["parameters"]["scale"]) == (["18"], "Mine", 5)


@pytest.mark.parametrize(
    ("body", "status", "fields"),
    [
        ({}, 400, {"agents"}),
        ({"agents": {"primary": "db1"}, "size": "many"}, 400, {"size"}),
        ({"agents": {"primary": "db1"}, "size": 0.5}, 422, {"size"}),
        ({"agents": {"primary": "nobody"}}, 422, {"installations"}),
        ({"agents": {"primary": "db1", "pooler": "db1"}}, 422, {"agents.pooler"}),
        ({"agents": {"primary": "db1"}, "builds": ["16 heap"]}, 422, {"builds", "installations"}),
    ],
)
def test_a_choice_that_is_not_right_is_refused_by_field(
    visitor: Visitor, body: dict[str, Any], status: int, fields: set[str]
) -> None:
    factories.agent()
    answer = visitor("run").post(f"{URL}plan/", body, format="json")
    assert answer.status_code == status
    assert {problem["field"] for problem in answer.json()["error"]["problems"]} == fields
