"""The schedule of a plan: its next runs, a warning where these come too fast, before and after it is set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.test import Client
from rest_framework.test import APIClient

from results import stored_plans
from tests import factories
from tests.page_text import page_text
from tests.webapp.api.conftest import owner, visitor

__all__ = ["owner", "visitor"]


def test_the_plans_page_shows_the_next_five_runs_to_everybody(
    stranger: Client, db: None, django_assert_max_num_queries: Any
) -> None:
    factories.agent()
    plan = factories.stored_plan()
    stored_plans.schedule_plan(plan, "0 2 29 2 *", "tests")
    with django_assert_max_num_queries(13):
        text = page_text(stranger.get(f"/plans/{plan.pk}/"))
    for year, day in ((2028, "Tue"), (2032, "Sun"), (2036, "Fri"), (2040, "Wed"), (2044, "Mon")):
        assert f"{day} {year}-02-29 02:00" in text
    assert "2048-02-29" not in text and "(UTC)" in text
    assert "Too frequent" not in text


def test_a_schedule_that_is_faster_than_a_run_is_warned_about(member: Client, stranger: Client) -> None:
    factories.agent()
    plan = factories.stored_plan(duration_s=30)
    stored_plans.schedule_plan(plan, "* * * * *", "tests")
    for client in (member, stranger):
        text = " ".join(page_text(client.get(f"/plans/{plan.pk}/")).split())
        assert "Too frequent:" in text
        assert "one every <b>1 min</b>" in text


def test_a_line_is_previewed_before_it_is_set(member: Client, django_assert_max_num_queries: Any) -> None:
    factories.agent()
    plan = factories.stored_plan(duration_s=30)
    address = f"/plans/{plan.pk}/schedule/preview/"
    with django_assert_max_num_queries(12):
        text = page_text(member.get(address, {"cron": "* * * * *"}))
    assert "Too frequent:" in text and text.count("<time") == 5
    assert "Too frequent:" not in page_text(member.get(address, {"cron": "0 2 * * 6"}))
    wrong = member.get(address, {"cron": "61 * * * *"})
    assert (wrong.status_code, "Invalid end range: 61" in page_text(wrong)) == (200, True)
    assert page_text(member.get(address, {"cron": ""})).strip() == ""
    plan.refresh_from_db()
    assert plan.schedule is None


def test_a_plan_that_cannot_run_has_next_runs_and_no_estimate(member: Client) -> None:
    plan = factories.stored_plan()
    text = page_text(member.get(f"/plans/{plan.pk}/schedule/preview/", {"cron": "* * * * *"}))
    assert "How long a run takes cannot be said: " in text and "There is no agent &#x27;db1&#x27;" in text
    assert text.count("<time") == 5


def test_the_api_says_the_same_of_the_stored_line_and_of_another(visitor: Callable[[str], APIClient]) -> None:
    factories.agent()
    plan = factories.stored_plan(duration_s=30)
    address = f"/api/v1/plans/{plan.pk}/schedule/"
    client = visitor("read")
    assert client.get(address).json()["line"] == ""
    stored_plans.schedule_plan(plan, "0 2 29 2 *", "tests")
    weekly = client.get(address).json()
    assert (weekly["line"], weekly["next_runs"][0]) == ("0 2 29 2 *", "2028-02-29T02:00:00Z")
    assert (weekly["too_frequent"], weekly["guess"], len(weekly["next_runs"])) == (False, True, 5)
    often = client.get(address, {"line": "* * * * *"}).json()
    assert (often["too_frequent"], often["shortest_s"]) == (True, 60)
    assert often["seconds"] == weekly["seconds"] > 8 * 30
    assert client.get(address, {"line": "whenever"}).status_code == 422
