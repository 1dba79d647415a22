"""The clusters on an agent, by the API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from results import models
from results.pruning import record_removal
from tests import factories
from tests.factories import clusters, lies
from tests.webapp.api.test_api_reading import get
from tests.webapp.api.test_api_writing import post

pytestmark = pytest.mark.django_db
SRV = "/srv/data/clusters"


@pytest.fixture
def admin(visitor: Callable[[str], APIClient]) -> APIClient:
    return visitor("admin")


def test_they_are_told_with_their_fate_and_what_was_removed(
    anonymous: APIClient, django_assert_max_num_queries: Any
) -> None:
    factories.agent()
    clusters(lies(f"{SRV}/16-a-0123abcd", 2, days=8), lies(f"{SRV}/16-b-0123abcd", 3, days=1))
    one, _ = models.Cluster.objects.select_related("agent")
    record_removal(one, "7 days after its last use.", "ada", finished=True)
    with django_assert_max_num_queries(8):
        content = get(anonymous, "agents/db1/clusters/")
    assert (content["agent"], content["keep_days"], content["budget_bytes"]) == ("db1", 7, 100 * 1024**3)
    assert content["size_bytes"] == 3 * 1024**3
    [left] = content["clusters"]
    assert left["directory"] == f"{SRV}/16-b-0123abcd"
    assert (left["installation"], left["kept"], left["needed_by"]) == ("postgresql-16.9", False, [])
    assert left["due_at"] is not None and left["why"] == "7 days after its last use."
    [removal] = content["removals"]
    assert (removal["actor"], removal["size_bytes"], removal["step"]) == ("ada", 2 * 1024**3, "removed")
    assert get(anonymous, "agents/gone/clusters/", 404)["error"]["kind"] == "not-found"


def test_limits_are_set_and_read(admin: APIClient) -> None:
    factories.agent()
    changed = admin.patch("/api/v1/agents/db1/", {"keep_days": None, "disk_budget_gb": 20}, format="json").json()
    assert (changed["keep_days"], changed["disk_budget_gb"]) == (None, 20)
    refused = admin.patch("/api/v1/agents/db1/", {"keep_days": 0}, format="json")
    assert refused.json()["error"]["problems"][0]["field"] == "keep_days"


def test_a_removal_names_directories(admin: APIClient) -> None:
    factories.agent()
    bodies: list[dict[str, object]] = [{}, {"directories": []}, {"directories": "all"}]
    for body in bodies:
        error = post(admin, "agents/db1/remove-clusters/", body, 400)["error"]
        assert [problem["field"].partition(".")[0] for problem in error["problems"]] == ["directories"]


def test_an_agent_that_is_busy_keeps_them(admin: APIClient) -> None:
    factories.begin(factories.run().trials.first())
    clusters(lies(f"{SRV}/16-a-0123abcd"))
    error = post(admin, "agents/db1/remove-clusters/", {"directories": [f"{SRV}/16-a-0123abcd"]}, 409)["error"]
    assert "busy with trial" in error["what"]
    assert models.Cluster.objects.count() == 1
