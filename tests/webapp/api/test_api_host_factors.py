"""Host factors over the API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from results import models
from tests import factories

pytestmark = pytest.mark.django_db
API = "/api/v1/agents/db1/host-factors/"


@pytest.fixture
def admin(visitor: Callable[[str], APIClient]) -> APIClient:
    factories.agent()
    return visitor("admin")


def test_factors_are_defined_as_toml_or_one_by_one_and_removed(admin: APIClient) -> None:
    made = admin.post(API, {"toml": factories.HOST_FACTOR}, format="json")
    assert [factor["name"] for factor in made.json()] == ["cpu_governor"]
    assert [level["label"] for level in made.json()[0]["levels"]] == ["performance", "powersave"]
    put = admin.put(f"{API}smt/", factories.host_factor().to_mapping(), format="json")
    assert (put.status_code, put.json()["name"], put.json()["needs_stopped_servers"]) == (200, "smt", True)
    listed = admin.get(API).json()["results"]
    assert [factor["name"] for factor in listed] == ["cpu_governor", "smt"]
    assert admin.get("/api/v1/agents/db1/").json()["agent"]["host_factors"] == listed
    assert admin.delete(f"{API}smt/").status_code == 204
    assert admin.delete(f"{API}smt/").status_code == 404
    assert admin.get(f"{API}smt/").status_code == 404


@pytest.mark.parametrize(
    ("body", "status", "fields"),
    [
        ({"toml": "[x"}, 422, {"toml"}),
        ({"toml": "[x]\nshow = 'y'"}, 422, {"x.levels"}),
        ({"toml": 1}, 422, {"toml"}),
        ({}, 400, {"toml"}),
    ],
)
def test_what_is_wrong_is_named_and_nothing_stored(
    admin: APIClient, body: dict[str, Any], status: int, fields: set[str]
) -> None:
    answer = admin.post(API, body, format="json")
    assert answer.status_code == status
    assert {problem["field"] for problem in answer.json()["error"]["problems"]} == fields
    assert not models.HostFactor.objects.exists()


def test_a_wrong_definition_names_each_field(admin: APIClient) -> None:
    error = admin.put(f"{API}smt/", {"levels": {"on": {"apply": "x", "wrong": 1}}}, format="json").json()["error"]
    assert error["kind"] == "definition"
    fields = {problem["field"] for problem in error["problems"]}
    assert fields == {"show", "levels.on.check", "levels.on.revert", "levels.on.wrong"}


def test_an_agent_tells_what_is_not_back_and_takes_places(admin: APIClient) -> None:
    factories.not_back("db1", error="It is 'performance'.")
    [left] = admin.get("/api/v1/agents/db1/").json()["agent"]["not_back"]
    assert (left["factor"], left["level"], left["own"], left["running"]) == (
        "cpu_governor",
        "performance",
        "powersave",
        False,
    )
    assert left["error"] == "It is 'performance'."
    changed = admin.patch("/api/v1/agents/db1/", {"places": {"ssd": "/mnt/ssd"}}, format="json")
    assert changed.json()["places"] == {"ssd": "/mnt/ssd"}
    refused = admin.patch("/api/v1/agents/db1/", {"places": {"ssd": "mnt"}}, format="json")
    assert [p["field"] for p in refused.json()["error"]["problems"]] == ["places"]


def test_a_plan_is_refused_with_the_factor_as_its_field(visitor: Callable[[str], APIClient], admin: APIClient) -> None:
    body = factories.mapping(host={"cpu_governor": "performance"})
    error = visitor("run").post("/api/v1/plans/preview/", body, format="json").json()["error"]
    assert [problem["field"] for problem in error["problems"]] == ["host.cpu_governor"]
    factories.define_host_factor()
    content = visitor("run").post("/api/v1/plans/preview/", body, format="json").json()
    assert content["trials"] == 8
