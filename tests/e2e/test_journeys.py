"""Three journeys of a stranger, in each language: is 18 faster than 16 and can that be trusted; a first run from an
empty warehouse; the numbers for a paper."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urljoin

import pytest
from playwright.sync_api import Locator, Page, expect

from results import models
from results.domain.statistics.verdict import RULE
from tests import factories
from tests.e2e.conftest import LOOKS, Watched
from tests.e2e.test_browser import DRAWN
from tests.e2e.test_japanese import names
from tests.e2e.visits import Visit

LANGUAGES = ["en", "ja"]
SMOKE_IN_ENGLISH = [pytest.param("en", marks=pytest.mark.smoke), "ja"]
MADE_UP = frozenset({"CPU in user mode", "sar is not installed"})  # by the tests: a metric, and why another lacks
SQL = frozenset({"BETWEEN aid AND aid + row_count", "select-only"})
# Values and fields of plans, a unit, a role, and what names of metrics begin with.
KEYS = frozenset({"none", "checkpoint", "cold", "replicates", "settings", "s", "client", "latency"})
# What a stranger goes away with, written out: a catalogue that says something else would be seen.
SENTENCES = {
    "en": {
        "faster": "18 is faster than 16 in 2 of 2 cells: ×1.125",
        "verdict": "18 is faster at both client counts",
        "basis": "from 3 replicates of 5 s",
        "replicates": "3 replicates",
        "weak replicates": "3 replicates weak",
        "noise": "A/A noise never measured",
        "why": "why",
        "preset": "Read scale-up for db1",
        "begun": "0 of 24 trials",
        "figure": "Transactions per second by clients",
        "axis": "Transactions per second (tps)",
        "source": "run {run}, {trials} trials, verdict rule 2",
        "cited": "{trials} trials of run {run}, verdict rule 2. It never changes.",
        "unchanged": "The stored trials give the same numbers today.",
        "reference": "Teiten, run {run}, {trials} trials, verdict rule 2",
    },
    "ja": {
        "faster": "18は2個のセル中2個で16より速い：×1.125（下の行の幾何平均）。数値の裏付けが弱い結果です（3回の反復",
        "verdict": "18は両方のクライアント数で速い",
        "basis": "毎秒のトランザクション数は×1.125（95%信頼区間1.125〜1.125、幾何平均）。",
        "replicates": "3回の反復",
        "weak replicates": "3回の反復 弱い",
        "noise": "A/Aノイズは未測定",
        "why": "差の理由",
        "preset": "「参照系スケールアップ」をdb1向けに確認して実行",
        "begun": "24件中0件の試行が終了",
        "figure": "クライアント数別の毎秒のトランザクション数",
        "axis": "毎秒のトランザクション数（tps）",
        "source": "実行{run}、{trials}件の試行、判定規則2",
        "cited": "実行{run}の{trials}件の試行、判定規則2。この内容は変わりません。",
        "unchanged": "保存された試行の数値は、今も同じです。",
        "reference": "Teiten、実行{run}、{trials}件の試行、判定規則2",
    },
}


@pytest.fixture
def visit(watched: Watched, language: str) -> Visit:
    return Visit(watched, language)


@pytest.fixture
def sentences(language: str) -> dict[str, str]:
    return SENTENCES[language]


def answered(page: Page, link: Locator) -> Any:
    """Return what the API answers at a link of the page."""
    return json.loads(page.request.get(urljoin(page.url, link.get_attribute("href"))).text())


@pytest.mark.parametrize("language", SMOKE_IN_ENGLISH)
@pytest.mark.parametrize("look", ["desktop", "phone"])
def test_whether_18_is_faster_and_whether_to_trust_it(
    look: str, visit: Visit, sentences: dict[str, str], agent: models.Agent
) -> None:
    run = factories.finished_run(replicates=3)
    visit.watched.page.set_viewport_size(LOOKS[look]["viewport"])
    page = visit.watched.open("/")
    expect(page.locator("h1")).to_contain_text(visit.text("What is known"))
    expect(page.locator(".lead")).to_contain_text(sentences["faster"])
    expect(page.locator("table.bars tbody tr")).to_have_count(2)
    visit.look(names())
    page.locator("table.heat tbody td").last.locator("a").first.click()
    expect(page.locator(".lead")).to_contain_text(sentences["verdict"])
    expect(page.locator(".lead")).to_contain_text(sentences["basis"])
    basis = page.locator("ul.trust")
    expect(basis).to_contain_text(sentences["weak replicates"])
    expect(basis).to_contain_text(sentences["noise"])
    visit.look(names() | KEYS | MADE_UP)
    page.click(f"text={visit.text('Verdicts by rule {rule}', rule=RULE)}")
    expect(page.locator("h1")).to_contain_text(visit.text("Method"))
    page.go_back()
    page.locator("main").get_by_text(visit.text("What changed")).click()
    expect(page.locator("h1")).to_contain_text(visit.text("What changed"))
    visit.look(names() | KEYS | MADE_UP)
    page.goto(f"{visit.watched.base}/versions/")
    page.locator("table.heat a", has_text=sentences["why"]).first.click()
    expect(page.locator("h1")).to_contain_text(visit.text("Why"))
    expect(page.locator("ul.trust")).to_contain_text(sentences["replicates"])
    visit.look(names() | KEYS | MADE_UP)
    assert models.Run.objects.get().pk == run.pk


@pytest.mark.parametrize("language", LANGUAGES)
def test_from_an_empty_warehouse_to_a_run_of_a_ready_plan(
    visit: Visit, sentences: dict[str, str], transactional_db: None
) -> None:
    factories.member()
    page = visit.watched.open("/")
    expect(page.locator("h1")).to_contain_text(visit.text("Nothing is measured yet"))
    expect(page.locator("ol.steps li")).to_have_count(3)
    visit.look()
    factories.agent()
    visit.watched.sign_in()
    page = visit.watched.open("/")
    expect(page.locator("ol.steps .better")).to_have_count(2)
    expect(page.locator("ol.steps a")).to_contain_text(sentences["preset"])
    visit.look(names())
    page.click("ol.steps a")
    expect(page.locator("#preview")).to_contain_text(visit.text("trials"))
    visit.look(names() | KEYS | SQL)
    page.click(f"text={visit.text('Save and run')}")
    expect(page.locator("h1")).to_contain_text(sentences["begun"])
    visit.look(names() | KEYS | SQL)
    assert models.Run.objects.get().state == "running"


@pytest.mark.parametrize("language", SMOKE_IN_ENGLISH)
def test_the_numbers_for_a_paper(visit: Visit, sentences: dict[str, str], agent: models.Agent) -> None:
    run = factories.finished_run(replicates=3)
    facts = {"run": run.pk, "trials": run.trials.count()}
    visit.watched.sign_in()
    page = visit.watched.open(f"/compare/?run={run.pk}")
    page.wait_for_selector(DRAWN)
    visit.look(names() | KEYS | MADE_UP)
    page.click("#export summary")
    with page.expect_download() as download:
        page.locator("#export a", has_text="SVG").first.click()
    drawn = download.value.path().read_text(encoding="utf-8")
    for sentence in ("figure", "axis", "source"):
        assert sentences[sentence].format(**facts) in drawn
    with page.expect_download() as download:
        page.click("#export >> text=PDF")
    assert download.value.suggested_filename == f"teiten-tps-by-clients-run-{run.pk}.pdf"
    assert download.value.path().read_bytes().startswith(b"%PDF")
    comparison = answered(page, page.locator("main a", has_text="JSON").first)
    page.click(f"button:text-is('{visit.text('Cite')}')")
    page.wait_for_url("**/c/**")
    for sentence in ("cited", "unchanged", "reference"):
        expect(page.locator("main")).to_contain_text(sentences[sentence].format(**facts))
    visit.look(names() | KEYS | MADE_UP)
    cited = answered(page, page.locator("a.button", has_text="JSON"))
    assert cited["comparison"]["points"]["ratio"] == comparison["points"]["ratio"]
    assert {fact["name"] for fact in comparison["trust"]} >= {"replicates", "duration", "spread", "noise"}
