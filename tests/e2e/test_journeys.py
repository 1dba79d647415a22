"""Three journeys of a stranger: is 18 faster than 16 and can that be trusted; a first run from an empty warehouse; the
numbers for a paper."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urljoin

import pytest
from playwright.sync_api import Locator, Page, expect

from results import models
from tests import factories
from tests.e2e.conftest import LOOKS, Watched
from tests.e2e.test_browser import DRAWN


def answered(page: Page, link: Locator) -> Any:
    """Return what the API answers at a link of the page."""
    return json.loads(page.request.get(urljoin(page.url, link.get_attribute("href"))).text())


@pytest.mark.smoke
@pytest.mark.parametrize("look", ["desktop", "phone"])
def test_whether_18_is_faster_and_whether_to_trust_it(look: str, watched: Watched, agent: models.Agent) -> None:
    run = factories.finished_run(replicates=3)
    watched.page.set_viewport_size(LOOKS[look]["viewport"])
    page = watched.open("/")
    expect(page.locator("h1")).to_contain_text("What is known")
    expect(page.locator(".lead")).to_contain_text("18 is faster than 16 in 2 of 2 cells: ×1.125")
    expect(page.locator("table.bars tbody tr")).to_have_count(2)
    page.locator("table.heat tbody td").last.locator("a").first.click()
    expect(page.locator(".lead")).to_contain_text("from 3 replicates of 5 s")
    basis = page.locator("ul.trust")
    expect(basis).to_contain_text("3 replicates weak")
    expect(basis).to_contain_text("A/A noise never measured")
    assert watched.overflow_px() == 0
    page.click("text=Verdicts by rule")
    expect(page.locator("h1")).to_contain_text("Method")
    page.go_back()
    page.locator("main").get_by_text("What changed").click()
    expect(page.locator("h1")).to_contain_text("changed")
    page.goto(f"{watched.base}/versions/")
    page.locator("table.heat a", has_text="why").first.click()
    expect(page.locator("h1")).to_contain_text("Why")
    expect(page.locator("ul.trust")).to_contain_text("3 replicates")
    assert watched.overflow_px() == 0
    assert models.Run.objects.get().pk == run.pk


def test_from_an_empty_warehouse_to_a_run_of_a_ready_plan(watched: Watched, transactional_db: None) -> None:
    factories.member()
    page = watched.open("/")
    expect(page.locator("h1")).to_contain_text("Nothing is measured yet")
    expect(page.locator("ol.steps li")).to_have_count(3)
    factories.agent()
    watched.sign_in()
    page = watched.open("/")
    expect(page.locator("ol.steps .better")).to_have_count(2)
    expect(page.locator("ol.steps a")).to_contain_text("Read scale-up for db1")
    page.click("ol.steps a")
    expect(page.locator("#preview")).to_contain_text("trials")
    page.click("text=Save and run")
    expect(page.locator("h1")).to_contain_text("0 of")
    assert models.Run.objects.get().state == "running"


@pytest.mark.smoke
def test_the_numbers_for_a_paper(watched: Watched, agent: models.Agent) -> None:
    run = factories.finished_run(replicates=3)
    watched.sign_in()
    page = watched.open(f"/compare/?run={run.pk}")
    page.wait_for_selector(DRAWN)
    page.click("#export summary")
    with page.expect_download() as download:
        page.locator("#export a", has_text="SVG").first.click()
    drawn = download.value.path().read_text(encoding="utf-8")
    assert "Transactions per second by clients" in drawn and f"run {run.pk}, {run.trials.count()} trials" in drawn
    with page.expect_download() as download:
        page.click("#export >> text=PDF")
    assert download.value.suggested_filename == f"teiten-tps-by-clients-run-{run.pk}.pdf"
    assert download.value.path().read_bytes().startswith(b"%PDF")
    comparison = answered(page, page.locator("main a", has_text="JSON").first)
    page.click("button:text-is('Cite')")
    page.wait_for_url("**/c/**")
    cited = answered(page, page.locator("a.button", has_text="JSON"))
    assert cited["comparison"]["points"]["ratio"] == comparison["points"]["ratio"]
    assert {fact["name"] for fact in comparison["trust"]} >= {"replicates", "duration", "spread", "noise"}
