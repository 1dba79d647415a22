"""One address is one question: page, JSON, CSV, cell, why and citation of it give the same cells."""

from __future__ import annotations

import csv
import io
import random
from collections import Counter
from copy import deepcopy
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from results import models
from results.queries.presets.versions import versions
from results.queries.runs.runs import run_detail
from results.runs import close_finished
from tests import factories
from tests.page_text import page_text
from webapp import citations, urlstate
from webapp.management import terminal

pytestmark = pytest.mark.django_db
Answer = dict[tuple[str, str], tuple[str, float]]  # (x, series) → (verdict, ratio)


@pytest.fixture(scope="module", autouse=True)
def made(kept: None) -> models.Run:
    """Two scripts, two numbers of clients, two versions, as in the demo."""
    factors = {"installation": ["16", "18"], "clients": [1, 4], "script": ["select-only", "tpcb-like"]}
    made = factories.run(factors=factors, replicates=3)
    chance = random.Random(5)
    for trial in made.trials.select_related("configuration").order_by("position"):
        dimensions = trial.configuration.dimensions
        level = dimensions["clients"] * (3000 if dimensions["script"] == "select-only" else 1000)
        faster = 1.08 if dimensions["major"] == "18" else 1.0
        factories.finish(trial, level * faster * (1 + chance.gauss(0, 0.01)))
    return made


@pytest.fixture
def run(made: models.Run) -> models.Run:
    return deepcopy(made)


def of_json(client: Client, query: str) -> tuple[Answer, dict[str, Any]]:
    """Return the verdicts, and all that the API said."""
    whole = client.get(f"/api/v1/comparison/?{query}").json()
    points = whole["points"]
    said = {}
    for x, series, kind, ratio in zip(points["x"], points["series"], points["verdict"], points["ratio"], strict=True):
        if name := whole["verdicts"][kind]:
            said[whole["xs"][x], whole["series"][series]] = (name, round(ratio, 4))
    return said, whole


def of_csv(client: Client, query: str) -> Answer:
    rows = csv.DictReader(io.StringIO(client.get(f"/api/v1/comparison.csv?{query}").text))
    return {
        (row["x"], row["series"]): (row["verdict"], round(float(row["ratio"]), 4)) for row in rows if row["verdict"]
    }


@pytest.mark.parametrize(
    "more", ["", "&metric=latency.p99", "&x=script", "&panel=clients&filter.clients=4&filter.script=tpcb-like"]
)
def test_page_json_csv_and_citation_of_one_address_give_the_same_cells(
    run: models.Run, client: Client, more: str
) -> None:
    query = f"run={run.pk}{more}"
    said, whole = of_json(client, query)
    assert said and whole["mixed"] == []
    assert of_csv(client, query) == said
    _, comparison = citations.compare_query(query)
    cited = {
        (p.x, p.series): (str(p.verdict.kind), round(p.verdict.ratio or 0, 4)) for p in comparison.points if p.verdict
    }
    assert cited == said
    page = client.get(f"/compare/?{query}", follow=True)
    text = page_text(page)
    for kind, ratio in said.values():
        assert f"×{ratio:.3f}" in text
        assert kind.replace("-", " ") in text
    again, _ = of_json(client, page.request["QUERY_STRING"])
    assert again == said


def test_why_says_of_the_cell_what_the_comparison_says(run: models.Run, client: Client) -> None:
    said, _ = of_json(client, f"run={run.pk}")
    for (x, series), (kind, ratio) in said.items():
        why = client.get(f"/api/v1/comparison/why/?run={run.pk}&at={x}&of={series}").json()
        assert (why["verdict"]["kind"], round(why["ratio"], 4)) == (kind, ratio)


def test_versions_count_the_verdicts_that_the_comparison_gives(run: models.Run, client: Client) -> None:
    whole = client.get(f"/api/v1/comparison/?run={run.pk}&x=clients,script&series=major").json()
    kinds = Counter(whole["verdicts"][kind] for kind in whole["points"]["verdict"] if whole["verdicts"][kind])
    [row] = client.get("/api/v1/versions/").json()["rows"]
    newer = next(cell for cell in row["cells"] if cell["version"] == "18")
    assert newer["kinds"] == kinds and kinds.total() == 4
    for row in versions(workload="pgbench").rows:
        cell = next(one for one in row.cells if one and one.version == "18")
        said, _ = of_json(client, urlstate.write(cell.selection))
        assert Counter(kind for kind, _ in said.values()) == cell.kinds


def test_a_mixture_is_shown_to_who_names_its_levels(run: models.Run, client: Client) -> None:
    _, whole = of_json(client, f"run={run.pk}")
    assert whole["selection"]["filters"] == {"script": ["select-only"]}
    said, mixture = of_json(client, f"run={run.pk}&filter.script=select-only,tpcb-like")
    assert mixture["mixed"] == ["script"]
    assert all(1.05 < ratio < 1.11 for _, ratio in said.values())


def test_what_only_one_side_of_a_mixture_has_is_named_and_counted(client: Client) -> None:
    """tpcb-like was not run with 4 clients on 18, and not with 8 on 16."""
    lacking = [{"script": "tpcb-like", "installation": "18", "clients": "4"}]
    lacking.append({"script": "tpcb-like", "installation": "16", "clients": "8"})
    factors = {"installation": ["16", "18"], "clients": [1, 2, 4, 8], "script": ["select-only", "tpcb-like"]}
    made = factories.finished_run(factors=factors, exclude=lacking, threads="1")
    query = f"run={made.pk}&x=script&series=major&filter.clients=1,2,4,8"
    whole = client.get(f"/api/v1/comparison/?{query}&columns=mixed,compared").json()
    of_cell = {"panel": "", "x": "tpcb-like", "series": "18"}
    assert whole["left_out"] == [
        of_cell | {"lacks": "cell", "levels": {"clients": "4"}},
        of_cell | {"lacks": "baseline", "levels": {"clients": "8"}},
    ]
    counts = zip(whole["points"]["compared"], whole["points"]["mixed"], strict=True)
    assert list(counts) == [(None, 4), (None, 3), (4, 4), (2, 3)]
    [environment] = whole["environment"]
    differences = [row for row in environment["told"] if row["key"] == "configurations"]
    assert [(row["left"], row["right"], row["matters"]) for row in differences] == [
        (["clients 4"], ["clients 8"], False)
    ]
    rows = list(csv.DictReader(io.StringIO(client.get(f"/api/v1/comparison.csv?{query}").text)))
    assert {(row["compared"], row["configurations"], row["left_out"]) for row in rows if row["series"] == "18"} == {
        ("4", "4", ""),
        ("2", "3", "baseline: clients=4; clients=8"),
    }
    page = page_text(client.get(client.get(f"/compare/?{query}").headers["Location"]))
    assert page.count("ratio of 2 of 3 configurations and 2 of the baseline&#x27;s 3") == 1
    assert "18 was not measured with clients 4 at script tpcb-like: its comparison with 16 leaves it out." in page
    assert "16 was not measured with clients 8 at script tpcb-like: its comparison with 18 leaves it out." in page
    cell = page_text(client.get(f"/compare/cell/?{query}&at=tpcb-like&of=18"))
    assert "Left out: clients 8, which the baseline lacks; clients 4, which only the baseline has." in cell
    _, comparison = citations.compare_query(query)
    assert any("18 was not measured with clients 4" in remark for remark in citations.remarks(comparison, ()))


@pytest.mark.parametrize(
    ("path", "right"),
    [
        ("/api/v1/comparison/?run={run}&script=tpcb-like", "filter.script"),
        ("/api/v1/comparison.csv?run={run}&script=tpcb-like", "filter.script"),
        ("/api/v1/comparison/?run={run}&serie=installation", "series"),
        ("/api/v1/comparison/why/?run={run}&script=tpcb-like", "filter.script"),
        ("/api/v1/trends/?workload=pgbench&clients=4", "filter.clients"),
        ("/compare/?run={run}&clients=4", "filter.clients"),
        ("/compare/why/?run={run}&metrics=tps", "metric"),
        ("/trends/?workload=pgbench&metrc=tps", "metric"),
    ],
)
def test_an_unknown_parameter_is_an_error_that_names_the_right_one(
    run: models.Run, client: Client, path: str, right: str
) -> None:
    answer = client.get(path.format(run=run.pk))
    assert answer.status_code == 400
    assert f"Did you mean {right}" in page_text(answer)


def test_the_terminal_gives_the_ratios_and_verdicts_of_the_comparison(run: models.Run, client: Client) -> None:
    close_finished(run.pk)
    said, whole = of_json(client, f"run={run.pk}&x=clients,script&series=installation")
    table = terminal.table(run_detail(run.pk, timezone.now()))
    columns = {str(column.header): list(column.cells) for column in table.columns}
    rows = zip(columns["installation"], columns["clients"], columns["script"], strict=True)
    answers = dict(zip(rows, zip(columns["ratio"], columns["verdict"], strict=True), strict=True))
    assert len(answers) == 8 and len(said) == 4
    for (x, _), (kind, ratio) in said.items():
        clients, script = x.split(" · ")
        word = "undecided" if kind == "too-few" else kind
        assert answers["18", clients, script] == (f"×{ratio:.3f}", word)
        assert answers["16", clients, script] == ("", "")
    assert f"rule {whole['rule']}, margin ±2 %, corrected for the 4 comparisons" in str(table.caption)


def test_the_terminal_shows_a_run_without_a_finished_trial_and_one_of_a_single_installation(db: None) -> None:
    failed = factories.run()
    for trial in failed.trials.all():
        factories.fail(trial)
    alone = factories.finished_run(factors={"clients": [1]}, installation="16")
    for one in (failed, alone):
        headings = [str(column.header) for column in terminal.table(run_detail(one.pk, timezone.now())).columns]
        assert "median" in headings and "ratio" not in headings
