"""The table of versions by any of its metrics, and the table as it is copied."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client

from results import models
from results.domain.measurement.metrics import Better, Metric
from results.domain.measurement.parsed_trial import Measurement
from results.domain.statistics.verdict import Kind
from results.queries.presets.versions import METRICS, versions
from results.runs import close_finished
from tests import factories
from tests.page_text import page_text
from webapp.templatetags.teiten import decimals, ratio
from webapp.versions.words import shown_cell

pytestmark = pytest.mark.django_db
WAL = Metric("wal.per_transaction", "B", Better.LOWER, "WAL per transaction")
TPS = Metric("tps", "tps", Better.HIGHER, "Transactions per second")


@pytest.fixture
def run() -> models.Run:
    """18 is a tenth faster than 16 and writes a fifth less WAL."""
    made = factories.run(replicates=4)
    for trial in made.trials.select_related("configuration"):
        is_newer = trial.configuration.dimensions["major"] == "18"
        noise = 1 + 0.001 * trial.block
        wal = Measurement(WAL.name, (400 if is_newer else 500) * noise, node="primary")
        client = Measurement(WAL.name, 1.0, node="client")
        tps = (1100 if is_newer else 1000) * noise
        factories.finish(trial, tps, metrics=(TPS, WAL), measurements=(Measurement("tps", tps), wal, client))
    close_finished(made.pk)
    return made


def opened(client: Client, path: str) -> str:
    answer = client.get(path)
    answer = client.get(answer["Location"]) if answer.status_code == 302 else answer
    assert answer.status_code == 200
    return re.sub(r"\s*([<>])\s*", r"\1", re.sub(r"\s+", " ", page_text(answer)))


def test_a_chosen_metric_has_the_ratios_of_its_values_with_their_interval(run: models.Run, stranger: Client) -> None:
    [row] = versions(metric="wal.per_transaction").rows
    _, cell = row.cells
    assert cell and cell.ratio == pytest.approx(0.8) and cell.speed == pytest.approx(1.25)
    assert cell.low and cell.high and cell.low <= cell.ratio <= cell.high
    text = opened(stranger, "/versions/?metric=wal.per_transaction")
    assert f"▼</span>{ratio(cell.ratio)}</b><small>{decimals(cell.low)} … {decimals(cell.high)}</small>" in text
    assert "WAL per transaction of 18 is lower than of 16 in 2 of 2 cells: ×0.800" in text
    assert re.search(r'<td class="up[23]">', text)


def test_throughput_has_the_interval_of_the_comparison_s_mean(run: models.Run, stranger: Client) -> None:
    [row] = versions().rows
    _, cell = row.cells
    assert cell
    compared = stranger.get(f"/api/v1/comparison/?{_query(opened(stranger, '/versions/'))}").json()
    summary = next(one for one in compared["summaries"] if one["series"] == "18")
    shown = (cell.ratio, cell.low, cell.high)
    assert shown == tuple(pytest.approx(summary[name], rel=1e-5) for name in ("ratio", "low", "high"))


def _query(text: str) -> str:
    addresses = re.findall(r'href="/compare/\?([^"]+)"', text)
    return next(one for one in addresses if "16,18" in one).replace("&amp;", "&")


def test_a_cell_opens_why_at_the_configuration_that_differs_most(run: models.Run, stranger: Client) -> None:
    for path in ("/versions/?metric=wal.per_transaction", "/versions/?workload=pgbench&metric=wal.per_transaction"):
        address = re.findall(r'class="why" href="([^"]+)"', opened(stranger, path))[0].replace("&amp;", "&")
        text = opened(stranger, address)
        assert "WAL per transaction" in text and "×0.800" in text


def test_a_workload_without_the_metric_says_so(run: models.Run, stranger: Client) -> None:
    text = opened(stranger, "/versions/?metric=latency.p99")
    assert "pgbench</a><small>not measured in these runs" in text
    assert "pgbench, not measured" in stranger.get("/api/v1/versions.txt?metric=latency.p99").text
    [row] = stranger.get("/api/v1/versions/?metric=latency.p99").json()["rows"]
    assert row["measured"] is False


def test_each_metric_is_a_choice_and_another_one_is_refused(run: models.Run, stranger: Client) -> None:
    text = opened(stranger, "/versions/?metric=wal.per_transaction")
    for name, label in METRICS.items():
        assert f'name="metric" value="{name}"' in text and label in text
    for address in ("/versions/?metric=tps", "/api/v1/versions/?metric=tps"):
        answer = stranger.get(address)
        assert answer.status_code == 400
        assert "Versions are not compared by" in page_text(answer)


@pytest.mark.parametrize("form", ["txt", "md", "html"])
def test_the_copied_table_has_the_shown_numbers_and_says_where_they_are_from(
    run: models.Run, stranger: Client, form: str
) -> None:
    query = "?workload=pgbench&metric=wal.per_transaction"
    page = opened(stranger, f"/versions/{query}")
    copied = stranger.get(f"/api/v1/versions.{form}{query}").text
    cells = [row.cells[1] for row in versions("pgbench", metric="wal.per_transaction").rows]
    assert len(cells) == 2
    for cell in cells:
        assert cell and cell.low and cell.high
        text = f"{ratio(cell.ratio)} ({decimals(cell.low)} … {decimals(cell.high)}) 1 better"
        assert text in copied and text in page
    assert f"run {run.pk}, 20" in copied and "http://testserver/versions/?workload=pgbench" in copied


def test_columns_of_the_copied_text_are_aligned(run: models.Run, stranger: Client) -> None:
    lines = stranger.get("/api/v1/versions.txt?workload=pgbench").text.splitlines()
    heading = next(line for line in lines if line.startswith("configuration"))
    rows = [line for line in lines if line.startswith("clients ")]
    assert len(rows) == 2
    assert {line.index("×1.000") for line in rows} == {heading.index("16")}


def test_there_is_no_other_form_of_the_table(run: models.Run, stranger: Client) -> None:
    assert stranger.get("/api/v1/versions.xls").status_code == 404


def test_a_workload_opens_with_the_baseline_and_the_versions_that_were_chosen(
    run: models.Run, stranger: Client
) -> None:
    chosen = "metric=wal.per_transaction&baseline=18&version=16&version=18&agent=db1"
    text = opened(stranger, f"/versions/?{chosen}")
    [query] = re.findall(r'href="/versions/\?workload=pgbench&amp;([^"]*)"', text)
    assert sorted(query.replace("&amp;", "&").split("&")) == sorted(chosen.split("&"))


@pytest.mark.parametrize(
    ("kinds", "mark"),
    [
        ({Kind.BETTER: 2}, "▲"),
        ({Kind.BETTER: 2, Kind.SAME: 1}, "▲"),
        ({Kind.BETTER: 2, Kind.WORSE: 1}, ""),
        ({Kind.SAME: 3, Kind.TOO_FEW: 1}, "="),
        ({Kind.TOO_FEW: 2}, ""),
    ],
)
def test_an_arrow_says_no_more_than_the_verdicts(kinds: dict[Kind, int], mark: str, stranger: Client) -> None:
    factories.finished_run(replicates=3)
    [row] = versions().rows
    cell = row.cells[1]
    assert cell and cell.ratio and cell.ratio > 1
    assert shown_cell(replace(cell, kinds=kinds), row.base).mark == mark


def test_a_table_takes_as_many_queries_by_any_metric(
    run: models.Run, stranger: Client, django_assert_num_queries: Any
) -> None:
    for metric in ("", "wal.per_transaction"):
        with django_assert_num_queries(12):
            opened(stranger, f"/versions/?metric={metric}")


def test_a_row_with_another_baseline_leaves_the_mean_of_the_others(stranger: Client) -> None:
    factories.agent(versions={"16.9": 160009, "17.5": 170005, "18.1": 180001})
    factories.finished_run(replicates=3)
    factories.finished_run(replicates=3, workload="update_scaleup")
    factories.finished_run(replicates=3, workload="read_scaleup", factors={"installation": ["17", "18"]})
    table = versions()
    assert [row.base for row in table.rows] == ["16", "17", "16"]
    [_, of_17, of_18] = table.intervals
    assert table.base == "16" and of_17 is None
    assert of_18 and of_18.rows == 2 and of_18.ratio == pytest.approx(1.125, rel=1e-3)
    assert "of the rows against 16" in opened(stranger, "/versions/")
    assert "geometric mean of the rows against 16" in stranger.get("/api/v1/versions.txt").text


def test_a_cell_opens_a_comparison_by_no_more_than_tells_its_configurations_apart(stranger: Client) -> None:
    settings = {"work_mem": "64MB", "shared_buffers": "1GB"}
    for clients, own in ((1, {}), (4, settings), (8, settings)):
        factories.finished_run(factors={"installation": ["16", "18"], "clients": [clients]}, settings=own)
    text = opened(stranger, "/versions/")
    assert set(re.findall(r"[?;]x=([^&\"]*)", text)) == {"clients"}
    address = re.findall(r'href="(/compare/\?[^"]*)"', text)[0].replace("&amp;", "&")
    assert "Transactions per second by clients" in opened(stranger, address)
