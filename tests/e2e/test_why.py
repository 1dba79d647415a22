"""Two configurations laid over each other, in a real browser."""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.watched import watched_run


@pytest.mark.parametrize("watched", ["desktop", "phone"], indirect=True)
@pytest.mark.smoke
def test_every_figure_is_drawn_and_fits(watched: Any, agent: Any) -> None:
    run = watched_run()
    page = watched.open(f"/compare/why/?run={run.pk}&at=4")
    for name in ("time", "density", "tail", "cpu", "waits", "costs"):
        page.wait_for_selector(f'[data-figure="{name}"][data-drawn]')
    assert watched.overflow_px() == 0
    page.click('.said a:has-text("WAL")')
    page.wait_for_url("**#moved-wal-primary")


@pytest.mark.parametrize("watched", ["desktop", "phone"], indirect=True)
def test_axe_finds_nothing_on_the_page_in_light_and_dark(watched: Any, agent: Any) -> None:
    page = watched.open(f"/compare/why/?run={watched_run(3).pk}")
    page.wait_for_selector('[data-figure="costs"][data-drawn]')
    page.click("#rest summary")
    page.wait_for_selector("#rest table")
    for _ in ("light", "dark"):
        violations = Axe().run(page, context="main").response["violations"]
        assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in violations] == []
        page.click("[data-theme-toggle]")


def test_another_cell_is_laid_over_without_a_new_page_and_going_back_works(watched: Any, agent: Any) -> None:
    run = watched_run(2)
    page = watched.open(f"/compare/why/?run={run.pk}&at=4&of=postgresql-18.1")
    page.wait_for_selector('[data-figure="time"][data-drawn]')
    page.select_option("#baseline", "postgresql-18.1 at 1")
    page.wait_for_selector("h1:has-text('clients 4 against clients 1')")
    page.wait_for_selector('[data-figure="time"][data-drawn]')
    assert "baseline=postgresql-18.1+at+1" in page.url
    page.go_back()
    page.wait_for_selector("h1:has-text('postgresql-18.1 against postgresql-16.9')")


def test_functions_of_both_are_loaded_when_they_are_looked_at(watched: Any, agent: Any) -> None:
    run = watched_run(2)
    page = watched.open(f"/compare/why/?run={run.pk}")
    page.locator("#functions").scroll_into_view_if_needed()
    page.wait_for_selector("#functions table.differential")
    assert "heap_getnext" in page.locator("#functions").inner_text()


def test_every_metric_is_loaded_when_its_table_is_opened(watched: Any, agent: Any) -> None:
    run = watched_run(2)
    page = watched.open(f"/compare/why/?run={run.pk}")
    assert page.locator("#rest table").count() == 0
    page.click("#rest summary")
    page.wait_for_selector("#rest table")
    assert "wal.bytes" in page.locator("#rest").inner_text()
