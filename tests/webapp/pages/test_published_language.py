"""Published tables as a reader of Japanese sees them; what is stored and answered as JSON stays English."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from results import models
from results.published.catalogue import TABLES
from results.published.load import load
from tests.page_text import page_text
from workers.registry import known_metrics

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def loaded(settings: Any) -> None:
    settings.TEITEN_OPEN_READING = True
    load(TABLES, known_metrics(), "tests")


def text_of(address: str, language: str) -> str:
    answer = Client().get(address, headers={"accept-language": language})
    assert answer.status_code == 200
    return page_text(answer)


def run_of(slug: str) -> models.Run:
    return models.Run.objects.get(publication__slug=slug)


def test_the_list_has_the_reports_own_titles() -> None:
    text = text_of("/published/", "ja")
    assert "2012年度WG1活動報告書" in text
    assert "表3.1" in text
    assert "カスケードレプリケーションのスケールアウト基本特性" in text
    assert "記載なし" in text
    assert [words for words in ("Table ", "WG1 activity", "Cascading", "not stated") if words in text] == []


def test_a_table_has_its_remarks_and_what_was_computed_in_words() -> None:
    text = text_of("/published/wg1-2012-table-3.13/", "ja")
    assert "Postgres-XC、4ノード：全ノードの合計÷ノード数" in text
    assert "4番目のノードが平均値から抜けています" in text
    assert "was left out of the mean" not in text
    below = text_of("/published/zfs-arc-2019/", "ja")
    assert "パターン1の中央値、recordsize 128K" in below
    assert "median of pattern" not in below


def test_its_run_and_trials_have_its_name() -> None:
    run = run_of("wg1-2012-table-2.2")
    trial = run.trials.earliest("pk")
    for address in ("/runs/", f"/runs/{run.pk}/", f"/trials/{trial.pk}/", f"/compare/?run={run.pk}"):
        text = text_of(address, "ja")
        assert "80コアでの参照系スケールアップ、ハイパースレッドon" in text, address
        assert "hyper-threading on" not in text, address
        assert "hyper-threading on" in text_of(address, "en"), address


def test_what_is_stored_and_answered_as_json_is_english() -> None:
    run = run_of("wg1-2012-table-2.2")
    assert run.name == "Table 2.2: Read scale-up on 80 cores, hyper-threading on"
    headers = {"accept-language": "ja"}
    answer = Client().get(f"/api/v1/runs/{run.pk}/", headers=headers).json()["run"]
    assert (answer["name"], answer["publication"]["place"]) == (run.name, "Table 2.2")
    (table,) = (
        one
        for one in Client().get("/api/v1/publications/", headers=headers).json()["results"]
        if one["slug"] == "wg1-2012-table-3.13"
    )
    assert table["remarks"][0]["text"].endswith("mean_tps_per_node is published as 430.2, recomputed 589.845.")


def test_an_import_that_is_called_like_a_table_keeps_its_name() -> None:
    publication = models.Publication.objects.get(slug="wg1-2012-table-2.2")
    publication.program = "sysbench"
    publication.save()
    assert "hyper-threading on" in text_of("/runs/", "ja")
