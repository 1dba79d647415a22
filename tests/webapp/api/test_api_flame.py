"""Two profiles by the API, in the numbers of the page."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from results.queries.why.stacks import compared
from tests import factories

pytestmark = pytest.mark.django_db


def test_the_api_gives_every_function_of_both(anonymous: APIClient, django_assert_num_queries: Any) -> None:
    trials = list(factories.finished_run().trials.select_related("configuration").order_by("pk"))
    a, b = trials[0], next(t for t in trials if t.configuration_id != trials[0].configuration_id)
    keys = str(a.pk), f"c{b.configuration_id}"
    with django_assert_num_queries(2):
        content = anonymous.get("/api/v1/flame/", {"a": keys[0], "b": keys[1]}).json()
    expected = compared(*keys)
    assert [row["function"] for row in content["changes"]] == [change.function for change in expected.changes]
    assert content["changes"][0]["own_points"] == expected.changes[0].own_points
    assert content["changes"][0]["own_margin"] == expected.changes[0].own_margin
    assert (content["a"]["trials"], content["a"]["samples"], content["a"]["how"]) == (
        [a.pk],
        800,
        ["cpu-clock:u dwarf"],
    )
    assert content["b"]["key"] == keys[1] and "stacks" not in content["b"]
    assert content["alike"] is True
    assert content["links"]["page"].endswith(f"/flame/?a={keys[0]}&b={keys[1]}")
    assert content["differs"]


@pytest.mark.parametrize(("query", "status"), [("", 400), ("a=1", 400), ("a=x&b=y", 404), ("a=999999&b=c1", 404)])
def test_what_is_missing_is_told(query: str, status: int, anonymous: APIClient) -> None:
    answer = anonymous.get(f"/api/v1/flame/?{query}")
    assert answer.status_code == status
    assert answer.json()["error"]["what"]
