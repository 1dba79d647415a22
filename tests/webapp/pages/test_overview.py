"""The first page."""

from __future__ import annotations

from typing import Any

from django.test import Client

from results import models
from tests import factories


def test_an_empty_warehouse_says_what_to_do(db: None, stranger: Client) -> None:
    text = stranger.get("/").content.decode()
    assert "Nothing runs now" in text
    assert "No runs" in text
    assert "No agents." in text


def test_it_shows_what_runs_now_with_phase_and_agents(
    going: models.Run, stranger: Client, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(8):
        text = stranger.get("/").content.decode()
    assert "1 run going on" in text
    assert "measure" in text
    assert "db1" in text
    assert "16 against 18" in text


def test_many_runs_take_as_few_queries(going: models.Run, stranger: Client, django_assert_max_num_queries: Any) -> None:
    for _ in range(6):
        factories.run()
    with django_assert_max_num_queries(16):
        stranger.get("/")


def test_the_head_counts_the_running(going: models.Run, stranger: Client, django_assert_max_num_queries: Any) -> None:
    with django_assert_max_num_queries(1):
        assert "1 running" in stranger.get("/now/").content.decode()
