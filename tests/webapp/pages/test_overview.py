"""The first page."""

from __future__ import annotations

from typing import Any

from django.test import Client

from results import models
from tests import factories
from tests.page_text import page_text


def test_an_empty_warehouse_says_what_to_do(db: None, stranger: Client) -> None:
    text = page_text(stranger.get("/"))
    assert "Nothing is running" in text
    assert "No runs" in text
    assert "No agents." in text


def test_it_shows_what_runs_now_with_phase_and_agents(
    going: models.Run, stranger: Client, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(12):
        text = page_text(stranger.get("/"))
    assert "1 run in progress" in text
    assert "measure" in text
    assert "db1" in text
    assert "16 against 18" in text


def test_many_runs_take_as_few_queries(going: models.Run, stranger: Client, django_assert_max_num_queries: Any) -> None:
    for _ in range(6):
        factories.run()
    with django_assert_max_num_queries(22):
        text = page_text(stranger.get("/"))
    assert "7 runs in progress" in text
    assert text.count("<progress") == 3
    assert "and 4 more" in text


def test_the_head_counts_the_running(going: models.Run, stranger: Client, django_assert_max_num_queries: Any) -> None:
    with django_assert_max_num_queries(1):
        assert "1 running" in page_text(stranger.get("/now/"))


def test_the_head_counts_more_than_a_page_of_runs(
    db: None, stranger: Client, django_assert_max_num_queries: Any
) -> None:
    models.Run.objects.bulk_create(
        models.Run(name=f"run {i}", workload="pgbench", toml="", plan_hash="", seed=1, blocks=1, state="running")
        for i in range(60)
    )
    assert "60 running" in page_text(stranger.get("/now/"))
    with django_assert_max_num_queries(20):
        text = page_text(stranger.get("/"))
    assert "60 runs in progress" in text
    assert "and 57 more" in text


def test_cancelled_trials_have_ended_too(going: models.Run, stranger: Client) -> None:
    last = going.trials.order_by("-position").values("pk")[:1]
    models.Trial.objects.filter(pk__in=last).update(state="cancelled")
    assert '<progress max="8" value="3"' in page_text(stranger.get("/"))
