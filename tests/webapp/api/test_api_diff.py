"""What two ran in, over the API."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from results import models
from tests import environments, factories
from tests.results.queries.environment.test_environments import KERNEL


@pytest.fixture
def pair(db: Any) -> list[str]:
    run = factories.finished_run()
    environments.run_in_versions(run, v18=environments.layers(18, facts=KERNEL))
    return [f"trial:{pk}" for pk in environments.of_each_version(run)]


def test_the_answer_is_that_of_the_page(
    pair: list[str], anonymous: APIClient, settings: Any, django_assert_num_queries: Any
) -> None:
    settings.TEITEN_OPEN_READING = True
    with django_assert_num_queries(4):
        content = anonymous.get("/api/v1/diff/", {"left": pair[0], "right": pair[1]}).json()
    assert (content["comparable"], content["recorded"]) == (False, [True, True])
    assert content["planned"] == ["installation", "major", "version"]
    first = content["keys"][0]
    assert (first["node"], first["kind"], first["key"], first["cause"]) == (
        "primary",
        "kernel",
        "release",
        "confounder",
    )
    assert first["left"][0].startswith("6.1") and first["right"][0].startswith("6.8")
    by_key = {row["key"]: row for row in content["keys"]}
    assert (by_key["io_method"]["left"], by_key["io_method"]["right"]) == ([None], ["worker"])
    assert all(row["cause"] != "same" for row in content["keys"])
    assert content["left"]["links"]["page"].endswith(f"/trials/{pair[0].removeprefix('trial:')}/")
    assert content["links"]["page"].endswith(f"/diff/?left={pair[0]}&right={pair[1]}")
    everything = anonymous.get("/api/v1/diff/", {"left": pair[0], "right": pair[1], "show": "all"}).json()
    assert len([row for row in everything["keys"] if row["cause"] == "same"]) == everything["same"] == content["same"]


def test_a_comparison_says_what_else_differs(pair: list[str], anonymous: APIClient, settings: Any) -> None:
    settings.TEITEN_OPEN_READING = True
    run = models.Run.objects.get()
    (one,) = anonymous.get(f"/api/v1/comparison/?run={run.pk}").json()["environment"]
    assert (one["cells"], one["comparable"]) == (2, 0)
    assert one["intended"] == [["installation", "postgresql-16.9", "postgresql-18.1"]]
    assert [(row["key"], row["nodes"], row["matters"]) for row in one["told"]] == [
        ("release", ["primary"], True),
        ("data_checksums", ["primary"], False),
    ]
    assert one["keys"]["confounder"] == 1 and one["same"] > 400
    assert anonymous.get(one["links"]["diff"]).json()["comparable"] is False


@pytest.mark.parametrize(
    ("query", "status"), [("left=trial:1", 400), ("left=x&right=y", 400), ("left=trial:0&right=run:0", 404)]
)
def test_what_is_missing_is_said(query: str, status: int, db: Any, anonymous: APIClient, settings: Any) -> None:
    settings.TEITEN_OPEN_READING = True
    answer = anonymous.get(f"/api/v1/diff/?{query}")
    assert (answer.status_code, bool(answer.json()["error"]["what"])) == (status, True)
