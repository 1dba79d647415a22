"""Figures of many replicates in a browser: every one of them is drawn, and known by itself."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from results import models
from tests import factories
from tests.e2e.conftest import Watched
from tests.e2e.test_browser import DRAWN

LEVELS, REPLICATES = 18, 3
POINTS = LEVELS * REPLICATES
CLIENTS = range(1, LEVELS + 1)


@pytest.fixture
def page(watched: Watched, agent: models.Agent) -> Page:
    run = factories.finished_run(factors={"installation": ["16"], "clients": list(CLIENTS)}, replicates=REPLICATES)
    page = watched.open(f"/compare/?run={run.pk}")
    page.wait_for_selector(DRAWN)
    return page


def test_every_replicate_and_every_median_is_drawn(page: Page) -> None:
    expect(page.locator(".points > .point")).to_have_count(POINTS + LEVELS)


def test_each_replicate_says_what_it_is_and_leads_to_its_trial(page: Page) -> None:
    replicates = page.locator(".scatterlayer .trace").filter(has=page.locator(f".point:nth-child({POINTS})"))
    box = replicates.locator(".point").nth(4).bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page.locator(".hoverlayer .hovertext")).to_contain_text("replicate")
    page.mouse.down()
    page.mouse.up()
    page.wait_for_url("**/trials/**")


def test_the_replicates_follow_the_theme(page: Page) -> None:
    painted = "getComputedStyle([...document.querySelectorAll('.points > .point')].at(-1)).fill"
    before = page.evaluate(painted)
    page.click("[data-theme-toggle]")
    page.wait_for_function(f"(before) => {painted} !== before", arg=before)


def test_names_are_given_the_room_that_they_need(page: Page, watched: Watched) -> None:
    """Else Plotly widens a margin and draws every mark again."""
    levels = [{"label": f"{clients} · postgresql-16.9", "values": {"clients": clients}} for clients in CLIENTS]
    run = factories.finished_run(factors={"installation": ["16"], "load": levels}, replicates=1)
    page.set_viewport_size({"width": 700, "height": 900})
    watched.open(f"/compare/?run={run.pk}&x=load")
    page.wait_for_selector(DRAWN)
    page.wait_for_selector(".xtick text[transform*='rotate(-60']")
    widened = page.evaluate("""() => {
        const box = document.querySelector(".js-plotly-plot");
        const [whole, area] = [box, box.querySelector(".nsewdrag")].map((part) => part.getBoundingClientRect());
        const { l, b } = box.layout.margin;
        return [area.left - whole.left - l, whole.bottom - area.bottom - b];
    }""")
    assert widened == pytest.approx([0, 0], abs=1)


def test_a_figure_that_the_small_bundle_cannot_draw_is_an_error(page: Page, watched: Watched) -> None:
    with page.expect_event("pageerror"):
        page.evaluate("""() => {
            const source = document.querySelector("script[type='application/json'][id^=figure]");
            const figure = JSON.parse(source.textContent);
            figure.data = [{ type: "heatmap", z: [[1, 2], [3, 4]] }];
            source.textContent = JSON.stringify(figure);
            document.dispatchEvent(new Event("themechange"));
        }""")
    assert watched.troubles == ["script: The Plotly of this page draws no heatmap."]
    watched.troubles.clear()
