"""Figures of many replicates in a browser: drawn as one, each still known by itself."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from results import models
from tests import factories
from tests.e2e.conftest import Watched
from tests.e2e.test_browser import DRAWN

LEVELS, REPLICATES = 18, 3
POINTS = LEVELS * REPLICATES
AT = """[...document.querySelectorAll(".crowd > path")].at(-1).getAttribute("d").slice(1).split("L")
    .map((at) => at.split(" ").map(Number))"""
STYLE = "[...document.querySelectorAll('.crowd marker path')].at(-1).getAttribute('style')"
STANDS = """(place) => {
    const box = document.querySelector(".js-plotly-plot");
    const trace = box.calcdata.find((points) => points[0].trace.customdata);
    const { xaxis, yaxis } = box._fullLayout;
    const frame = box.getBoundingClientRect();
    const { x, y } = trace[place];
    return [frame.x + xaxis._offset + xaxis.c2p(x), frame.y + yaxis._offset + yaxis.c2p(y)];
}"""


@pytest.fixture
def page(watched: Watched, agent: models.Agent) -> Page:
    clients = list(range(1, LEVELS + 1))
    run = factories.finished_run(factors={"installation": ["16"], "clients": clients}, replicates=REPLICATES)
    page = watched.open(f"/compare/?run={run.pk}")
    page.wait_for_selector(DRAWN)
    return page


def test_every_replicate_of_a_crowd_stands_on_one_path(page: Page) -> None:
    assert len(page.evaluate(AT)) == POINTS
    drawn = page.locator(".points > .point")
    assert drawn.count() == 2  # of the medians one, of the replicates one
    for one in drawn.all():
        expect(one).to_be_hidden()


def test_each_of_a_crowd_says_what_it_is_and_leads_to_its_trial(page: Page) -> None:
    page.mouse.move(*page.evaluate(STANDS, 4))
    expect(page.locator(".hoverlayer .hovertext")).to_contain_text("block")
    page.mouse.down()
    page.mouse.up()
    page.wait_for_url("**/trials/**")


def test_a_crowd_follows_the_axes_and_the_theme(page: Page) -> None:
    before = page.evaluate(AT)
    painted = page.evaluate(STYLE)
    page.evaluate("Plotly.relayout(document.querySelector('.js-plotly-plot'), {'yaxis.range': [0, 50000]})")
    page.wait_for_function(f"({AT})[0][1] > {before[0][1]}")
    page.click("[data-theme-toggle]")
    page.wait_for_function(f"(before) => {STYLE} !== before", arg=painted)
    assert len(page.evaluate(AT)) == POINTS


def test_a_saved_figure_has_every_mark(page: Page) -> None:
    with page.expect_download() as download:
        page.click("[data-save-figure]")
    assert len(re.findall(r'class="point\b', download.value.path().read_text(encoding="utf-8"))) >= POINTS


def test_panels_after_the_first_have_its_margins_from_the_start(watched: Watched, agent: models.Agent) -> None:
    factors = {"installation": ["16", "18"], "clients": [100, 400], "script": ["select-only", "tpcb-like"]}
    run = factories.finished_run(factors=factors, replicates=1)
    page = watched.open(f"/compare/?run={run.pk}&panel=script")
    expect(page.locator("[data-figure][data-drawn]")).to_have_count(2)
    margins = "(box) => [box.layout.margin.l, box._fullLayout._size.l]"
    given, needed = zip(*(box.evaluate(margins) for box in page.locator("[data-figure]").all()), strict=True)
    assert given[0] < needed[0] == needed[1] == given[1]


def test_figures_of_one_page_do_not_share_their_marks(watched: Watched, agent: models.Agent) -> None:
    factors = {"installation": ["16", "18"], "clients": list(range(1, 9)), "script": ["select-only", "tpcb-like"]}
    run = factories.finished_run(factors=factors, replicates=2)
    page = watched.open(f"/runs/{run.pk}/")
    for box in page.locator("[data-figure]").all():
        box.scroll_into_view_if_needed()
        expect(box).to_have_attribute("data-drawn", re.compile("."))
    names = page.evaluate("[...document.querySelectorAll('.crowd marker')].map((one) => one.id)")
    figures = page.evaluate("[...document.querySelectorAll('[data-figure]:has(.crowd)')].length")
    assert figures == 2
    assert len(names) == len(set(names))


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
