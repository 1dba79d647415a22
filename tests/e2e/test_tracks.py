"""A trial's time in a real browser: one second in all tracks, one range, and an address that names it."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests import arrangements


@pytest.fixture
def page(watched: Any, agent: Any) -> Page:
    trial = arrangements.arranged_run("streaming").trials.select_related("configuration").order_by("pk").first()
    arrangements.finish(trial)
    page: Page = watched.open(f"/trials/{trial.pk}/")
    page.wait_for_selector('[data-figure="timeline"][data-drawn]')
    return page


def drag(page: Page, selector: str, start: float, end: float) -> None:
    """Press at one share of the element's width and release at another."""
    page.locator(selector).first.scroll_into_view_if_needed()
    box = page.locator(selector).first.bounding_box()
    assert box is not None
    y = box["y"] + min(20, box["height"] / 2)
    page.mouse.move(box["x"] + start * box["width"], y)
    page.mouse.down()
    page.mouse.move(box["x"] + end * box["width"], y, steps=4)
    page.mouse.up()


def shown(page: Page) -> list[float]:
    ends: list[float] = page.evaluate("document.querySelector('[data-figure=timeline]').layout.xaxis.range.map(Number)")
    return ends


def test_a_second_pointed_at_in_one_track_is_read_out_in_all(page: Page) -> None:
    track = page.locator("svg.track").first
    track.scroll_into_view_if_needed()
    track.hover()
    marked = page.locator(".at-second", has_text="at ")
    expect(marked).to_have_count(page.locator("svg.track").count())
    assert len({text.partition(":")[0] for text in marked.all_text_contents()}) == 1
    expect(page.locator("[data-second-values]")).to_contain_text("At ")
    page.mouse.move(5, 5)
    expect(marked).to_have_count(0)


def test_the_figure_marks_its_second_in_the_tracks(page: Page) -> None:
    page.locator('[data-figure="timeline"] .nsewdrag').first.hover()
    expect(page.locator(".at-second", has_text="at ")).to_have_count(page.locator("svg.track").count())


def test_the_slider_reads_a_second_by_the_keyboard(page: Page) -> None:
    page.focus("#second")
    page.keyboard.press("ArrowRight")
    expect(page.locator("[data-second-values]")).to_contain_text("tps")
    expect(page.locator("svg.track .at").first).to_be_attached()


@pytest.mark.parametrize("selector", ["svg.track", '[data-figure="timeline"] .nsewdrag'])
def test_a_drag_in_any_track_zooms_all_and_the_address_names_the_range(page: Page, selector: str) -> None:
    track = page.locator("svg.track").first
    whole = track.get_attribute("viewBox")
    page.locator(selector).first.scroll_into_view_if_needed()
    drag(page, selector, 0.25, 0.75)
    page.wait_for_url("**from=*&to=*")
    expect(track).not_to_have_attribute("viewBox", whole or "")
    ends = shown(page)
    page.reload()
    page.wait_for_selector('[data-figure="timeline"][data-drawn]')
    assert shown(page) == pytest.approx(ends, abs=0.01)
    page.click("button[data-whole]")
    page.wait_for_url(lambda address: "from=" not in address)
    expect(track).to_have_attribute("viewBox", whole or "")


def test_chosen_tracks_are_in_the_address(page: Page, watched: Any) -> None:
    page.click(".time-choice summary")
    page.check('[name="together"][value="cpu.busy@primary"]')
    page.check('[name="together"][value="tps@client"]')
    page.locator(".time-choice details button").click()
    page.wait_for_url("**together=*")
    page.wait_for_selector('[data-figure="timeline"][data-drawn]')
    assert page.evaluate("document.querySelector('[data-figure=timeline]').data.at(-1).yaxis") != "y"
    assert watched.overflow_px() == 0
