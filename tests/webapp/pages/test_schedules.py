"""The schedule of a plan: its next runs, a warning where these come too fast, before and after it is set."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from django.test import Client
from django.utils import timezone, translation
from rest_framework.test import APIClient

from results import models, scheduled_runs, stored_plans
from tests import factories
from tests.page_text import page_text
from tests.webapp.api.conftest import owner, visitor
from webapp.templatetags.teiten import moment
from workers.registry import kinds

__all__ = ["owner", "visitor"]
NIGHT = datetime(2026, 11, 21, 2, tzinfo=UTC)  # a Saturday


def three_missed() -> tuple[models.Plan, models.Run]:
    """A plan whose schedule missed three Saturdays, and the run that makes up for them."""
    factories.agent()
    plan = factories.stored_plan()
    stored_plans.schedule_plan(plan, "0 2 * * 6", "tests", make_up=True)
    models.Plan.objects.update(schedule_checked_at=NIGHT - timedelta(hours=1))
    run = scheduled_runs.start_due(plan.pk, kinds(), NIGHT + timedelta(days=15))
    assert run is not None
    return plan, run


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


def test_days_of_the_week_are_in_the_readers_language() -> None:
    saturday = datetime(2026, 11, 28, 2, tzinfo=UTC)
    assert ">Sat 2026-11-28<" in moment(saturday, "%a %Y-%m-%d")
    with translation.override("ja"):
        assert ">2026-11-28（土）<" in moment(saturday, "%Y-%m-%d（%a）")


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


def test_what_was_missed_is_on_the_plans_page_and_who_makes_up_for_it_on_the_runs(
    stranger: Client, visitor: Callable[[str], APIClient], django_assert_max_num_queries: Any
) -> None:
    plan, run = three_missed()
    text = " ".join(page_text(stranger.get(f"/runs/{run.pk}/")).split())
    assert "<b>Makes up</b> for 3 runs that the plan's schedule missed while Teiten was down, the last at" in text
    with django_assert_max_num_queries(14):
        page = " ".join(page_text(stranger.get(f"/plans/{plan.pk}/")).split())
    assert "Missed by its schedule" in page and f'made up for by <a href="/runs/{run.pk}/">' in page
    assert "One run makes up for those that are missed while Teiten is down." in page
    client = visitor("read")
    shown = client.get(f"/api/v1/runs/{run.pk}/").json()["run"]
    assert (shown["makes_up_for"], shown["due_at"]) == (3, "2026-12-05T02:00:00Z")
    detail = client.get(f"/api/v1/plans/{plan.pk}/").json()
    assert detail["plan"]["make_up"] is True
    (missed,) = detail["missed"]
    assert (missed["count"], missed["cause"], missed["run_id"]) == (3, "down", run.pk)
    assert (missed["first_at"], missed["last_at"]) == ("2026-11-21T02:00:00Z", "2026-12-05T02:00:00Z")


def test_a_run_that_has_become_private_is_not_named_to_others(stranger: Client, db: None) -> None:
    plan, run = three_missed()
    models.Run.objects.filter(pk=run.pk).update(private=True)
    page = page_text(stranger.get(f"/plans/{plan.pk}/"))
    assert "Missed by its schedule" in page and f"/runs/{run.pk}/" not in page
    assert [one["run_id"] for one in stranger.get(f"/api/v1/plans/{plan.pk}/").json()["missed"]] == [None]


def test_missed_runs_are_made_up_for_only_by_choice_which_ends_with_the_schedule(member: Client) -> None:
    factories.agent()
    plan = factories.stored_plan()
    address = f"/plans/{plan.pk}/schedule/"
    for fields, chosen in (
        ({"cron": "0 2 * * 6"}, False),
        ({"cron": "0 2 * * 6", "make_up": "1"}, True),
        ({"cron": "", "make_up": "1"}, False),
    ):
        before = timezone.now()
        assert member.post(address, fields).status_code == 302
        plan.refresh_from_db()
        assert plan.make_up is chosen
        assert (plan.schedule_checked_at is not None and plan.schedule_checked_at >= before) is bool(fields["cron"])
