"""The explorer in a browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from results import models
from tests import factories
from tests.e2e.conftest import Watched
from tests.e2e.test_browser import DRAWN, settled
from tests.webapp.pages.test_comparison_choices import queries_of

ROWS = "table.compare tr[data-x]"


@pytest.fixture
def run(agent: models.Agent) -> models.Run:
    return factories.finished_run(factors={"installation": ["16", "18"], "clients": [1, 4, 16]}, replicates=3)


def chip(page: Page, name: str, value: str) -> None:
    page.locator("label.chip", has=page.locator(f'[name="filter.{name}"][value="{value}"]')).click()


@pytest.mark.smoke
def test_chips_filter_at_once_and_the_address_follows(watched: Watched, run: models.Run) -> None:
    page = watched.open(f"/compare/?run={run.pk}")
    expect(page.locator(ROWS)).to_have_count(3)
    chip(page, "clients", "4")
    expect(page.locator(ROWS)).to_have_count(1)
    page.wait_for_url(f"**/compare/?run={run.pk}&filter.clients=4")
    chip(page, "clients", "16")
    expect(page.locator(ROWS)).to_have_count(2)
    page.wait_for_url(f"**/compare/?run={run.pk}&filter.clients=4,16")
    page.go_back()
    expect(page.locator(ROWS)).to_have_count(1)
    page.wait_for_selector(DRAWN)


def test_an_address_written_by_hand_is_the_page(watched: Watched, run: models.Run) -> None:
    page = watched.open(f"/compare/?run={run.pk}&filter.clients=16,1&metric=tps&view=ratio&axes=log")
    assert page.url.endswith(f"/compare/?run={run.pk}&filter.clients=16,1&axes=log&view=ratio")
    expect(page.locator(ROWS)).to_have_count(2)
    expect(page.locator("#view-ratio")).to_have_attribute("aria-current", "true")
    page.click("#view-speed-up")
    page.wait_for_url("**axes=log&view=speedup")
    page.wait_for_function("document.querySelector('.js-plotly-plot')?.data.some((trace) => trace.name === 'ideal')")
    page.click("#view-log")
    page.wait_for_url(f"**/compare/?run={run.pk}&filter.clients=16,1&view=speedup")


def test_logarithmic_axes(watched: Watched, run: models.Run) -> None:
    page = watched.open(f"/compare/?run={run.pk}")
    page.wait_for_selector(DRAWN)
    kind = "document.querySelector('.js-plotly-plot')?.layout?.yaxis.type"
    assert page.evaluate(kind) != "log"
    page.click("#view-log")
    page.wait_for_function(f"{kind} === 'log'")


def test_an_unticked_row_leaves_the_summary(watched: Watched, run: models.Run) -> None:
    page = watched.open(f"/compare/?run={run.pk}")
    total = page.locator("tr.total td").last
    expect(total).to_contain_text("of 3")
    page.uncheck('[data-count="16"]')
    expect(total).to_contain_text("of 2")
    page.wait_for_url(f"**/compare/?run={run.pk}&without=16")
    assert page.evaluate("document.activeElement.dataset.count") == "16"
    page.check('[data-count="16"]')
    expect(total).to_contain_text("of 3")
    page.wait_for_url(f"**/compare/?run={run.pk}")


def test_further_rows_are_added_below_and_work_like_the_first(
    watched: Watched, run: models.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webapp.compare.rows.AT_ONCE", 2)
    page = watched.open(f"/compare/?run={run.pk}")
    for count in (1, 2):
        expect(page.locator(ROWS)).to_have_count(count)
        page.get_by_role("link", name="More rows").click()
    expect(page.locator(ROWS)).to_have_count(3)
    expect(page.get_by_role("link", name="More rows")).to_have_count(0)
    page.locator("[data-cell]").last.click()
    expect(page.locator("tr.details a[href^='/trials/']")).to_have_count(6)
    page.uncheck('[data-count="16"]')
    page.wait_for_url(f"**/compare/?run={run.pk}&without=16")


def test_a_value_opens_the_trials_behind_it_and_closes_them(watched: Watched, run: models.Run) -> None:
    page = watched.open(f"/compare/?run={run.pk}")
    value = page.locator("[data-cell]").last
    value.click()
    behind = page.locator("tr.details")
    expect(behind.locator("a[href^='/trials/']")).to_have_count(6)
    value.click()
    expect(behind).to_have_count(0)


def test_everything_works_by_the_keyboard(watched: Watched, run: models.Run) -> None:
    page = watched.open(f"/compare/?run={run.pk}")
    page.wait_for_selector(DRAWN)
    page.locator('[name="filter.clients"][value="4"]').focus()
    page.keyboard.press("Space")
    expect(page.locator(ROWS)).to_have_count(1)
    assert page.evaluate("document.activeElement.value") == "4"
    outline = "getComputedStyle(document.activeElement.closest('.chip')).outlineStyle"
    assert page.evaluate(outline) == "solid"
    page.keyboard.press("Space")
    expect(page.locator(ROWS)).to_have_count(3)
    page.locator("#metric").focus()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    expect(page.locator("#figure-title")).to_contain_text("CPU in user mode")
    page.locator("[data-cell]").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("tr.details a[href^='/trials/']")).to_have_count(3)


def test_what_is_pointed_at_lights_up(watched: Watched, run: models.Run) -> None:
    page = watched.open(f"/compare/?run={run.pk}")
    page.wait_for_selector(DRAWN)
    dimmed = "document.querySelector('[data-drawn]').data.filter(({ opacity }) => opacity < 1).length"
    page.locator(".key [data-light-series]").last.hover()
    page.wait_for_function(f"{dimmed} > 0")
    expect(page.locator("table.compare.lit td.on")).to_have_count(3)
    page.locator("h1").hover()
    page.wait_for_function(f"{dimmed} === 0")
    expect(page.locator(".shapelayer path")).to_have_count(0)
    page.locator(ROWS).first.hover()
    expect(page.locator(".shapelayer path")).to_have_count(1)
    mark, tick = page.locator(".shapelayer path").bounding_box(), page.locator(".xtick text").last.bounding_box()
    assert abs(mark["x"] + mark["width"] / 2 - tick["x"] - tick["width"] / 2) < 2
    page.locator("label.chip[data-light-series]").first.hover()
    expect(page.locator("table.compare.lit td.on")).to_have_count(3)


def test_two_dimensions_make_one_series_and_panels_small_figures(watched: Watched, agent: models.Agent) -> None:
    factors = {"installation": ["16", "18"], "clients": [1, 4], "script": ["select-only", "tpcb-like"]}
    run = factories.finished_run(factors=factors, replicates=1)
    page = watched.open(f"/compare/?run={run.pk}")
    page.select_option("#panel", "script")
    figures = page.locator("[data-figure][data-drawn]")
    expect(figures).to_have_count(2)
    chip(page, "script", "select-only")
    expect(figures).to_have_count(1)
    chip(page, "script", "select-only")
    expect(figures).to_have_count(2)
    page.select_option("#panel", "")
    expect(figures).to_have_count(1)
    page.select_option("#series-2", "script")
    expect(page.locator("table.compare thead th")).to_have_count(5)
    page.select_option("#x", "installation")
    expect(page.locator("table.compare thead th").first).to_have_text("installation")


def test_a_dimmed_value_cannot_be_ticked(watched: Watched, agent: models.Agent) -> None:
    one = factories.finished_run(parameters={"scale": 5}, replicates=1)
    two = factories.finished_run(parameters={"scale": 7}, replicates=1)
    page = watched.open(f"/compare/?run={one.pk},{two.pk}&series=scale&filter.run={one.pk}")
    box = page.locator('[name="filter.scale"][value="7"]')
    expect(box).to_have_attribute("aria-disabled", "true")
    page.locator("label.chip", has=box).click(force=True)
    expect(box).not_to_be_checked()
    assert "filter.scale" not in page.url


def test_runs_are_found_by_name_and_added_by_number(watched: Watched, agent: models.Agent) -> None:
    one = factories.finished_run(name="First of them", replicates=1)
    two = factories.finished_run(name="Second of them", replicates=1)
    page = watched.open("/compare/")
    page.fill("#run-find", "second")
    expect(page.locator("#run-choice tbody tr:visible")).to_have_count(1)
    page.fill("#run-number", str(one.pk))
    page.keyboard.press("Tab")
    page.wait_for_url(f"**/compare/?run={one.pk}**")
    page.fill("#run-find", "second")
    page.check(f"#run-{two.pk}")
    page.wait_for_url(f"**run={two.pk},{one.pk}**")


def test_a_figure_fits_the_width_that_a_window_gets(watched: Watched, agent: models.Agent) -> None:
    run = factories.finished_run(factors={"installation": ["16"], "clients": list(range(1, 41))}, replicates=1)
    page = watched.open(f"/compare/?run={run.pk}")
    page.wait_for_selector(DRAWN)
    named = "document.querySelector('.js-plotly-plot').layout.xaxis.ticktext.length"
    wide = page.evaluate(named)
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function(f"{named} < {wide}")
    assert watched.overflow_px() <= 0


def test_on_a_phone_the_tab_key_follows_what_is_seen(watched: Watched, run: models.Run) -> None:
    watched.page.set_viewport_size({"width": 390, "height": 844})
    page = watched.open(f"/compare/?run={run.pk}")
    seen: list[str] = []
    while "choice" not in seen and len(seen) < 300:
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.closest('#choice, #table, main, body').id"))
    assert "table" in seen and seen[-1] == "choice"


def test_the_explorer_chooses_among_labels_by_chips(watched: Watched, run: models.Run) -> None:
    queries_of(run)
    page = watched.open(f"/compare/?run={run.pk}&metric=query.time")
    page.select_option("#x", "label")
    expect(page.locator(ROWS).first).to_contain_text("q1.1")
    chip(page, "label", "q2.1")
    expect(page.locator(ROWS)).to_have_count(1)
    expect(page.locator(ROWS)).to_contain_text("q2.1")
    chip(page, "label", "q1.2")
    expect(page.locator(ROWS)).to_have_count(2)
    page.select_option("#x", "clients")
    expect(page.locator(ROWS)).to_have_count(3)
    assert "label" not in page.url


@pytest.mark.parametrize("watched", ["phone"], indirect=True)
@pytest.mark.smoke
def test_on_a_phone_nothing_is_wider_than_the_screen(watched: Watched, run: models.Run) -> None:
    for query in ("", "&view=ratio", "&view=speedup", "&panel=installation&series=none"):
        settled(watched.open(f"/compare/?run={run.pk}{query}"))
        assert watched.overflow_px() <= 0


def test_a_metric_is_found_by_typing_what_people_call_it(watched: Watched, run: models.Run) -> None:
    page = watched.open(f"/compare/?run={run.pk}")
    finder = page.locator("[data-finds=metric]")
    finder.press_sequentially("99th response")
    expect(page.locator("#metric option")).to_have_count(1)
    page.keyboard.press("Escape")
    assert page.locator("#metric option").count() > 1
    finder.press_sequentially("99th response")
    page.keyboard.press("Enter")
    page.wait_for_url("**metric=latency.p99")
    expect(page.locator("#metric")).to_have_value("latency.p99")
    assert page.locator("#metric option").count() > 1
