"""The trends' page in a browser."""

from __future__ import annotations

from datetime import timedelta

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.utils import timezone
from playwright.sync_api import expect

from results import models
from tests import factories, histories
from tests.e2e.conftest import Watched


def violations(watched: Watched) -> list[str]:
    violations = Axe().run(watched.page, context="#trends").response["violations"]
    return sorted({f"{one['id']}: {node['html'][:120]}" for one in violations for node in one["nodes"]})


def wide() -> models.Plan:
    """Five runs with 1 and 8 clients."""
    plan = histories.nightly(name="wide", parameters={"scale": 5}, factors={"clients": [1, 8]}, replicates=2)
    histories.months(plan, [8000, 8010, 7990, 8005, 8001])
    return plan


@pytest.mark.parametrize("watched", ["desktop", "phone"], indirect=True)
@pytest.mark.smoke
def test_a_year_is_drawn_with_its_change_and_a_dot_leads_to_its_trial(watched: Watched, transactional_db: None) -> None:
    plan = histories.nightly()
    histories.year(plan)
    models.Annotation.objects.create(at=timezone.now() - timedelta(days=120), text="moved to another rack", plan=plan)
    page = watched.open("/trends/?plan=nightly")
    expect(page.locator("#chart[data-drawn]")).to_be_visible()
    expect(page.locator(".lead")).to_contain_text("lower since")
    assert watched.overflow_px() == 0
    page.click("#points summary")
    assert watched.overflow_px() == 0
    assert "\n".join(violations(watched)[:8]) == ""
    page.emulate_media(color_scheme="dark")
    assert "\n".join(violations(watched)[:8]) == ""


def test_chips_and_axes_apply_at_once_and_stand_in_the_address(watched: Watched, transactional_db: None) -> None:
    wide()
    page = watched.open("/trends/")
    page.click("text=wide")
    expect(page.locator("#chart[data-drawn]")).to_be_visible()
    page.click("label.chip:has-text('8')")
    page.wait_for_url("**/trends/?plan=wide&filter.clients=8")
    expect(page.locator("h1")).not_to_contain_text("clients 1")
    page.select_option("#x", "version")
    page.wait_for_url("**/trends/?plan=wide&x=version&filter.clients=8")
    page.go_back()
    page.wait_for_url("**/trends/?plan=wide&filter.clients=8")
    expect(page.locator("#x")).to_have_value("")
    expect(page.locator("#chart[data-drawn]")).to_be_visible()  # the page before is there with its scripts
    page.select_option("#series", "clients")
    expect(page.locator(".key li")).to_have_count(2)


def test_the_keyboard_reaches_a_chip_and_chooses_it(watched: Watched, transactional_db: None) -> None:
    wide()
    page = watched.open("/trends/?plan=wide")
    page.locator("input[name='filter.clients']:checked").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**/trends/?plan=wide&filter.clients=8")


def test_a_member_notes_something(watched: Watched, transactional_db: None) -> None:
    factories.member()
    wide()
    watched.sign_in()
    page = watched.open("/trends/?plan=wide")
    page.fill("#note-text", "a new disk")
    page.click(".note-form button")
    expect(page.locator("#annotations")).to_contain_text("a new disk")
    expect(page.locator(".marks .of-note")).to_be_visible()
    assert "\n".join(violations(watched)[:8]) == ""
    page.click("#annotations button.danger")
    expect(page.locator("#annotations")).not_to_contain_text("a new disk")
