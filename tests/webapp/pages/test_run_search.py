"""The filters of the list of runs, on the page and in the API."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

import pytest
from django.http import QueryDict
from django.test import Client
from rest_framework.test import APIClient

from results import models
from tests import factories
from tests.page_text import page_text
from webapp import run_search

pytestmark = pytest.mark.django_db
QUERIES: dict[str, tuple[str, ...]] = {
    "": ("toys", "nightly WAL"),
    "state=finished": ("nightly WAL",),
    "state=cancelled": (),
    "standing=exploratory": ("toys",),
    "workload=pgbench": ("toys", "nightly WAL"),
    "workload=ssb": (),
    "workload=ssb&workload=pgbench": ("toys", "nightly WAL"),
    "plan=toys": ("toys",),
    "plan=toys&plan=nightly+WAL": ("toys", "nightly WAL"),
    "agent=db1": ("toys", "nightly WAL"),
    "agent=db2": (),
    "tag=paper&tag=talk": ("nightly WAL",),
    "since=2026-03-02": ("toys",),
    "until=2026-03-01": ("nightly WAL",),
    "name=wal": ("nightly WAL",),
    "name=%25": (),
    "name=wal&state=running": (),
    "archived=yes": (),
    "archived=any": ("toys", "nightly WAL"),
}


@pytest.fixture(scope="module", autouse=True)
def two(kept: None) -> list[int]:
    """A finished kept run that is tagged, and an exploratory one that goes on."""
    first, second = factories.finished_run(name="nightly WAL"), factories.run(name="toys", standing="exploratory")
    models.Run.objects.filter(pk=first.pk).update(tags=["paper"], started_at=datetime(2026, 3, 1, 23, tzinfo=UTC))
    models.Run.objects.filter(pk=second.pk).update(started_at=datetime(2026, 3, 2, tzinfo=UTC))
    return [first.pk, second.pk]


def listed(client: Client, query: str) -> tuple[str, ...]:
    text = page_text(client.get(f"/runs/?{query}", headers={"HX-Request": "true"}))
    return tuple(re.findall(r'<th scope="row" class="wide">\s*<a href="/runs/\d+/">([^<]*)</a>', text))


@pytest.mark.parametrize("query", QUERIES)
def test_page_and_api_list_the_same_runs(query: str, two: list[int], stranger: Client) -> None:
    assert listed(stranger, query) == QUERIES[query]
    answer = APIClient().get(f"/api/v1/runs/?{query}").json()
    assert tuple(run["name"] for run in answer["results"]) == QUERIES[query]


@pytest.mark.parametrize("query", QUERIES)
def test_the_address_holds_what_is_filtered_by_and_no_more(query: str, two: list[int], stranger: Client) -> None:
    empty = urlencode({name: "" for name in ("name", "since", "until", "state") if f"{name}=" not in query})
    answer = stranger.get(f"/runs/?{query}&{empty}", headers={"HX-Request": "true"})
    assert run_search.read(QueryDict(query)) == run_search.read(QueryDict(answer["HX-Push-Url"].partition("?")[2]))
    assert len(answer["HX-Push-Url"]) <= len(f"/runs/?{query}")


def test_the_form_offers_what_there_is_and_has_what_is_chosen(
    two: list[int], stranger: Client, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(2):
        text = page_text(stranger.get("/runs/?state=finished&plan=nightly+WAL&tag=paper&since=2020-01-31"))
    assert re.search(r'name="state" value="finished" id="state-\d" checked', text)
    assert re.search(r'name="plan" value="nightly WAL" id="plan-\d" checked', text)
    assert not re.search(r'name="plan" value="toys" id="plan-\d" checked', text)
    assert 'value="2020-01-31"' in text


def test_an_empty_list_says_which_condition_leaves_nothing(
    two: list[int], stranger: Client, django_assert_max_num_queries: Any
) -> None:
    assert "No run is scheduled." in page_text(stranger.get("/runs/?state=scheduled"))
    with django_assert_max_num_queries(6):
        text = page_text(stranger.get("/runs/?state=cancelled&plan=toys&name=oy"))
    assert "No run is cancelled, named like oy, of plan toys." in text
    assert '<a href="/runs/?name=oy&amp;plan=toys">Without “cancelled”</a>: 1 run.' in text
    assert "Without “of plan toys”" not in text
    assert '<a href="/runs/">Show all runs</a>' in text


def test_pages_keep_the_filter(two: list[int], stranger: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webapp.pages.runs.PAGE", 1)
    text = page_text(stranger.get("/runs/?name=&agent=db1"))
    assert f"/runs/?agent=db1&amp;before={two[1]}" in text
    assert listed(stranger, f"agent=db1&before={two[1]}") == ("nightly WAL",)
    assert "No run is older than that." in page_text(stranger.get(f"/runs/?agent=db1&before={two[0]}"))


def test_a_full_last_page_leads_nowhere_and_past_it_is_said(
    two: list[int], stranger: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webapp.pages.runs.PAGE", 2)
    assert "Older runs" not in page_text(stranger.get("/runs/"))
    text = page_text(stranger.get(f"/runs/?before={two[0]}"))
    assert "No run is older than that." in text and "No runs yet." not in text
    assert '<a href="/runs/">Show the newest</a>' in text


def test_the_api_filters_by_the_id_of_a_stored_plan() -> None:
    stored = factories.stored_plan()
    run, _ = factories.run(stored=stored), factories.run()
    answer = APIClient().get(f"/api/v1/runs/?plan_id={stored.pk}").json()
    assert [row["id"] for row in answer["results"]] == [run.pk]


@pytest.mark.parametrize("path", ["/runs/", "/api/v1/runs/"])
def test_what_is_no_date_is_refused_in_words(path: str, stranger: Client) -> None:
    answer = stranger.get(f"{path}?since=yesterday")
    assert answer.status_code == 400
    assert "is not a date" in answer.content.decode()


def test_a_stranger_of_a_closed_site_lists_nothing(two: list[int], stranger: Client, settings: Any) -> None:
    settings.TEITEN_OPEN_READING = False
    assert "/account/sign-in/" in stranger.get("/runs/?name=wal")["Location"]
