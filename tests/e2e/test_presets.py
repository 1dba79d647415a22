"""The ready views in a browser: drawn, within the phone's width, in the dark, by keyboard, open to everybody."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from results import models
from results.published.catalogue import TABLES
from results.published.load import load
from tests import factories
from tests.e2e.conftest import Watched
from workers.registry import known_metrics

PAGES = {
    "home": "/",
    "versions": "/versions/",
    "versions-ssb": "/versions/?workload=ssb",
    "access-methods": "/access-methods/",
    "topologies": "/topologies/",
    "published": "/published/",
    "published-table": "/published/wg1-2012-table-3.13/",
}


@pytest.fixture
def loaded(agent: models.Agent) -> models.Run:
    load(TABLES, known_metrics(), "tests")
    return factories.finished_run(replicates=3)


def picture(watched: Watched, name: str) -> None:
    """Kept where somebody wants to look: TEITEN_PICTURES=folder."""
    if folder := os.environ.get("TEITEN_PICTURES"):
        watched.page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


def violations_of(page: Page) -> list[str]:
    """Rule and element of everything that axe objects to."""
    violations = Axe().run(page).response["violations"]
    return [f"{one['id']} {node['target']} {node['html'][:120]}" for one in violations for node in one["nodes"]]


@pytest.mark.parametrize("watched", ["desktop", "phone"], indirect=True)
def test_every_page_is_drawn_fits_and_is_accessible_in_light_and_dark(
    watched: Watched, loaded: models.Run, request: pytest.FixtureRequest
) -> None:
    violations: list[str] = []
    for dark in ("light", "dark"):
        watched.page.emulate_media(color_scheme=dark)
        for name, path in PAGES.items():
            page = watched.open(path)
            for chart in page.locator("[data-figure]").all():
                expect(chart).to_have_attribute("data-drawn", re.compile(r"\d+"))
            assert watched.overflow_px() == 0, path
            picture(watched, f"{name}-{request.node.callspec.id}-{dark}")
            violations += [f"{path} {dark}: {one}" for one in violations_of(page)]
    assert not violations, "\n".join(violations)


def test_a_workload_is_chosen_by_keyboard_and_the_address_follows(watched: Watched, loaded: models.Run) -> None:
    page = watched.open("/versions/")
    page.focus("#workload")
    page.keyboard.press("s")
    expect(page.locator(".heat")).to_contain_text("q2.1")
    assert page.url.endswith("/versions/?workload=ssb")
    page.go_back()
    expect(page.locator(".heat")).to_contain_text("read_scaleup")


def test_the_table_of_versions_is_copied_by_keyboard(watched: Watched, loaded: models.Run) -> None:
    page = watched.open("/versions/?workload=ssb")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.focus("[data-copy=copy-md]")
    page.keyboard.press("Enter")
    expect(page.locator("[data-copied]")).to_have_text("Markdown copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "| q2.1, " in copied and "×0.887" in copied and "/versions/?workload=ssb" in copied


@pytest.mark.smoke
def test_from_the_home_page_to_a_number_and_to_the_line_of_its_file(watched: Watched, loaded: models.Run) -> None:
    page = watched.open("/")
    page.click(".cards >> text=Topologies")
    page.click("text=2,359 tps")
    expect(page.locator("main")).to_contain_text("Published figure, no raw files")
    page.click("text=line 6 >> nth=0")
    expect(page.locator("#line-6")).to_contain_text("recomputed 589.845")
