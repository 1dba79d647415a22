"""The answers to the capability checks by API."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from results import models
from tests import factories

pytestmark = pytest.mark.django_db
URL = "/api/v1/capabilities/"


def get(client: APIClient, url: str = URL, **query: Any) -> Any:
    answer = client.get(url, query)
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_an_answer_says_of_what_it_is_and_leads_to_its_trial(anonymous: APIClient) -> None:
    trial = factories.capability_run({"toast": "no"}, access_method="zheap", message="ERROR:  no")
    (row,) = get(anonymous)["results"]
    assert {name: row[name] for name in ("capability", "title", "group", "outcome", "message", "compared")} == {
        "capability": "toast",
        "title": "TOAST",
        "group": "Storage",
        "outcome": "no",
        "message": "ERROR:  no",
        "compared": "items: 2000 rows",
    }
    assert (row["installation"], row["version"]) == ("postgresql-16.9", "16.9")
    assert (row["access_method"], row["agent"], row["trial_id"]) == ("zheap", "db1", trial.pk)
    assert row["links"]["page"] == f"http://testserver/trials/{trial.pk}/"


def test_an_answer_has_the_statement_that_decided_and_an_older_one_none(anonymous: APIClient) -> None:
    decided = {"statement": "INSERT …", "sqlstate": "XX000"}
    factories.capability_run({"toast": "fails-differently"}, access_method="zheap", **decided)
    factories.capability_run({"toast": "no"})
    rows = get(anonymous)["results"]
    reported = {row["access_method"]: (row["outcome"], row["statement"], row["sqlstate"]) for row in rows}
    assert reported == {"zheap": ("fails-differently", "INSERT …", "XX000"), "heap": ("no", "", "")}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, {("heap", "toast"), ("heap", "vacuum"), ("zheap", "toast")}),
        ({"access_method": "zheap"}, {("zheap", "toast")}),
        ({"capability": ["vacuum", "toast"], "access_method": "heap"}, {("heap", "toast"), ("heap", "vacuum")}),
        ({"installation": "postgresql-16.9", "capability": "vacuum"}, {("heap", "vacuum")}),
        ({"agent": "other"}, set()),
    ],
)
def test_answers_are_filtered(query: dict[str, Any], expected: set[tuple[str, str]], anonymous: APIClient) -> None:
    factories.capability_run({"toast": "yes", "vacuum": "yes"})
    factories.capability_run({"toast": "no"}, access_method="zheap")
    assert {(row["access_method"], row["capability"]) for row in get(anonymous, **query)["results"]} == expected


def test_answers_come_in_pages(anonymous: APIClient) -> None:
    factories.capability_run({"analyze": "yes", "vacuum": "yes", "toast": "no"})
    first = get(anonymous, page_size=2)
    assert len(first["results"]) == 2
    second = get(anonymous, first["next"])
    names = [row["capability"] for row in (*first["results"], *second["results"])]
    assert (sorted(names), second["next"]) == (["analyze", "toast", "vacuum"], None)
    assert get(anonymous, second["previous"])["results"] == first["results"]


def test_only_the_newest_answer_of_a_build_is_there(anonymous: APIClient) -> None:
    factories.capability_run({"toast": "no"})
    newer = factories.capability_run({"toast": "yes"})
    assert [(row["trial_id"], row["outcome"]) for row in get(anonymous)["results"]] == [(newer.pk, "yes")]


def test_an_error_has_the_shape_of_the_others(anonymous: APIClient) -> None:
    answer = anonymous.get(URL, {"agent": "\x00"})
    assert answer.status_code == 400
    assert answer.json()["error"]["problems"][0]["field"] == "agent"


def test_the_agents_of_another_teiten_answer_for_none_of_that_name_here(anonymous: APIClient) -> None:
    factories.capability_run({"toast": "yes"})
    theirs = factories.capability_run({"toast": "no"})
    models.Run.objects.filter(pk=theirs.run_id).update(standing="kept")
    models.RunImport.objects.create(
        run_id=theirs.run_id, archive_sha256="0" * 64, archive_bytes=1, teiten="1.0.0", source_run=7, actor="tests"
    )
    assert [row["outcome"] for row in get(anonymous)["results"]] == ["yes"]
