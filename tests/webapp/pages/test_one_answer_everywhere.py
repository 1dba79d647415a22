"""The same cell has the same ratio, interval, p and verdict in every place that shows one.

The last test lists the sources of what shows one: a new one fails it until its place is walked here."""

from __future__ import annotations

import csv
import io
import json
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client
from django.utils import timezone
from drf_spectacular.generators import SchemaGenerator

from results import alerts, models
from results.domain.measurement.metrics import Better
from results.domain.statistics.verdict import Kind, Verdict
from results.queries.comparison.compare import Comparison, compare
from results.queries.runs.runs import run_detail
from results.queries.shared.selection import Selection
from results.queries.trends.progress import progress
from results.runs import close_finished
from tests import factories, histories
from tests.page_text import page_text
from webapp import urlstate
from webapp.management import terminal
from webapp.templatetags.teiten import decimals, interval, ratio
from workers import alerting

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).parents[3]
SCRIPTS = ["select-only", "tpcb-like"]
# clients → how many times as fast 18 is, and the noise of a value
MEASURED = {1: (1.10, 0.005), 2: (0.92, 0.005), 4: (1.0, 0.001), 8: (1.015, 0.012)}
BASE, OTHER = "postgresql-16.9", "postgresql-18.1"
Cell = tuple[str, str]  # clients, script


@dataclass(frozen=True)
class Shown:
    """What a page shows of a cell."""

    ratio: str
    kind: str
    interval: str
    words: str

    @classmethod
    def of(cls, verdict: Verdict) -> Shown:
        return cls(ratio(verdict.ratio), verdict.kind.value, interval(verdict), verdict.words)


@pytest.fixture(scope="module", autouse=True)
def made(kept: None) -> models.Run:
    """As the demo's: two versions, four numbers of clients, two scripts, five replicates; some cells differ, some are
    the same, some are undecided."""
    factors = {"installation": ["16", "18"], "clients": list(MEASURED), "script": SCRIPTS}
    made = factories.run(factors=factors, replicates=5)
    chance = random.Random(11)
    for trial in made.trials.select_related("configuration").order_by("position"):
        dimensions = trial.configuration.dimensions
        effect, noise = MEASURED[dimensions["clients"]]
        level = dimensions["clients"] * (3000 if dimensions["script"] == "select-only" else 1000)
        faster = effect if dimensions["major"] == "18" else 1.0
        factories.finish(trial, level * faster * (1 + chance.gauss(0, noise)))
    close_finished(made.pk)
    return made


@pytest.fixture
def run(made: models.Run) -> models.Run:
    return deepcopy(made)


def asked(run: models.Run, **choice: Any) -> Comparison:
    return compare(Selection((run.pk,), **{"x": "clients", "series": "installation", "panel": "script"} | choice))


@pytest.fixture
def verdicts(run: models.Run) -> Mapping[Cell, Verdict]:
    """The answers that every place is to have."""
    return {(point.x, point.panel): point.verdict for point in asked(run).points if point.verdict}


def test_the_run_has_cells_of_each_kind(verdicts: Mapping[Cell, Verdict]) -> None:
    assert len(verdicts) == 8
    assert {verdict.kind for verdict in verdicts.values()} == {Kind.BETTER, Kind.WORSE, Kind.SAME, Kind.TOO_FEW}


VIEWS: Sequence[tuple[str, Callable[[Cell], bool]]] = [
    ("x=clients&series=installation&panel=script", lambda cell: True),
    ("x=script&series=version&panel=clients", lambda cell: True),
    ("x=clients,script&series=major", lambda cell: True),
    ("x=clients&series=installation,script&baseline=postgresql-16.9", lambda cell: True),
    ("", lambda cell: cell[1] == "select-only"),
    ("filter.script=tpcb-like", lambda cell: cell[1] == "tpcb-like"),
    ("x=workload&filter.script=tpcb-like&filter.clients=8", lambda cell: cell == ("8", "tpcb-like")),
]


def opened(client: Client, address: str) -> str:
    """The page, at its short address; Django's own client would write commas in it otherwise."""
    answer = client.get(address)
    return page_text(client.get(answer["Location"]) if answer.status_code == 302 else answer)


def in_table(text: str) -> list[Shown]:
    """Every cell of a comparison's table with a verdict, in its order."""
    cells = [part for part in text.split('<td class="cell')[1:] if "verdict " in part]
    shown = []
    for part in cells:
        number = re.search(r'<span class="ratio">([^<]*)</span>', part)
        verdict = re.search(r'<span class="verdict ([^"]*)" title="([^"]*)">([^<]*)</span>', part)
        assert number and verdict
        shown.append(Shown(number[1], verdict[1], verdict[2], verdict[3]))
    return shown


@pytest.mark.parametrize(("view", "holds"), VIEWS)
def test_the_page_of_any_view_shows_them(
    run: models.Run, stranger: Client, verdicts: Mapping[Cell, Verdict], view: str, holds: Callable[[Cell], bool]
) -> None:
    text = opened(stranger, f"/compare/?run={run.pk}&{view}")
    expected = [Shown.of(verdict) for cell, verdict in verdicts.items() if holds(cell)]
    assert sorted(in_table(text), key=str) == sorted(expected, key=str)


@pytest.mark.parametrize(("view", "holds"), VIEWS)
def test_json_and_csv_of_any_view_give_them(
    run: models.Run, stranger: Client, verdicts: Mapping[Cell, Verdict], view: str, holds: Callable[[Cell], bool]
) -> None:
    expected = sorted(numbers(verdict) for cell, verdict in verdicts.items() if holds(cell))
    whole = stranger.get(f"/api/v1/comparison/?run={run.pk}&{view}&columns=all").json()
    assert of_columns(whole) == [pytest.approx(row, rel=1e-5) for row in expected]
    rows = csv.DictReader(io.StringIO(stranger.get(f"/api/v1/comparison.csv?run={run.pk}&{view}").text))
    assert of_csv(rows) == [pytest.approx(row, rel=1e-9) for row in expected]


@pytest.mark.parametrize("query", ["", "&filter.clients=2,8&ordering=-median"])
def test_medians_give_them(run: models.Run, stranger: Client, verdicts: Mapping[Cell, Verdict], query: str) -> None:
    address = f"/api/v1/runs/{run.pk}/medians/?metric=tps&baseline={BASE}{query}"
    judged = {
        (row["levels"]["clients"], row["levels"]["script"]): row["verdict"]
        for row in stranger.get(address).json()["results"]
        if row["verdict"]
    }
    shown = {cell: verdict for cell, verdict in verdicts.items() if not query or cell[0] in ("2", "8")}
    assert judged.keys() == shown.keys()
    for cell, verdict in shown.items():
        assert [judged[cell][name] for name in NUMBERS] == pytest.approx([getattr(verdict, name) for name in NUMBERS])
        assert judged[cell]["kind"] == verdict.kind
    table = csv.DictReader(io.StringIO(b"".join(stranger.get(f"{address}&format=csv")).decode()))
    rows = [(row["level.clients"], row["level.script"], row["verdict"]) for row in table if row["verdict"]]
    assert sorted(rows) == sorted((*cell, str(verdict.kind)) for cell, verdict in shown.items())


NUMBERS = ("ratio", "low", "high", "p", "adjusted")


def numbers(verdict: Verdict) -> tuple[float, ...]:
    """The kind by its number, so that all can be compared approximately."""
    return (*(getattr(verdict, name) for name in NUMBERS), float(list(Kind).index(verdict.kind)))


def of_columns(whole: Mapping[str, Any]) -> list[tuple[float, ...]]:
    points, kinds = whole["points"], whole["verdicts"]
    columns = zip(*(points[name] for name in (*NUMBERS, "verdict_ratio", "verdict")), strict=True)
    rows = [row for row in columns if row[-1]]
    assert all(row[0] == row[-2] for row in rows)
    return sorted((*row[:5], float(list(Kind).index(Kind(kinds[row[-1]])))) for row in rows)


def of_csv(rows: Iterator[Mapping[str, str]] | csv.DictReader[str]) -> list[tuple[float, ...]]:
    own = {(row["panel"], row["x"], row["series"]): row for row in rows if row["verdict"]}
    assert all(row["ratio"] == row["verdict_ratio"] for row in own.values())
    return sorted(
        (*(float(row[name]) for name in NUMBERS), float(list(Kind).index(Kind(row["verdict"])))) for row in own.values()
    )


def place(cell: Cell) -> str:
    return urlencode({"at": cell[0], "of": OTHER, "in": cell[1]})


def assert_sentence(text: str, verdict: Verdict) -> None:
    """A verdict as parts/_verdict.html writes it."""
    shown = Shown.of(verdict)
    assert f'<span class="verdict {shown.kind}" title="{shown.interval}">{shown.words}</span>' in unescape(text)


def test_the_trials_behind_a_cell_stand_under_its_verdict(
    run: models.Run, stranger: Client, verdicts: Mapping[Cell, Verdict]
) -> None:
    for cell, verdict in verdicts.items():
        address = f"/compare/cell/?run={run.pk}&x=clients&series=installation&panel=script&{place(cell)}"
        text = page_text(stranger.get(address, headers={"HX-Request": "true"}))
        assert_sentence(text, verdict)
        assert verdict.p is not None and verdict.adjusted is not None
        assert f"p = {decimals(verdict.p)}, {decimals(verdict.adjusted)} after correction" in text


@pytest.mark.parametrize("view", ["ratio", "speedup"])
def test_figures_draw_them(run: models.Run, stranger: Client, verdicts: Mapping[Cell, Verdict], view: str) -> None:
    """The view speed-up draws the ratio to the first x, which a baseline of that one cell gives."""
    baseline = "" if view == "ratio" else f"&baseline={BASE}+at+1"
    series = "" if view == "ratio" else f"&filter.installation={BASE}"
    text = stranger.get(
        f"/compare/?run={run.pk}&x=clients&panel=script&view={view}{baseline}{series}", follow=True
    ).text
    drawn: dict[str, list[float]] = {}
    for panel, figure in zip(SCRIPTS, re.findall(r'<script id="figure-\d+"[^>]*>(.*?)</script>', text), strict=True):
        traces = [trace for trace in json.loads(figure)["data"] if "meta" in trace and "line" in trace]
        trace = next(trace for trace in traces if trace["name"] == (OTHER if view == "ratio" else BASE))
        drawn[panel] = trace["y"]
        if view == "ratio":
            ends = zip(trace["y"], trace["error_y"]["arrayminus"], trace["error_y"]["array"], strict=True)
            of_panel = [verdict for cell, verdict in verdicts.items() if cell[1] == panel]
            expected = [(verdict.low, verdict.high) for verdict in of_panel]
            assert [(y - below, y + above) for y, below, above in ends] == [
                pytest.approx(e, rel=1e-4) for e in expected
            ]
    if view == "ratio":
        expected_ratios = {(x, script): verdict.ratio for (x, script), verdict in verdicts.items()}
    else:
        points = asked(run, baseline=f"{BASE} at 1").points
        expected_ratios = {(point.x, point.panel): point.ratio for point in points if point.series == BASE}
    for panel, values in drawn.items():
        assert values == [pytest.approx(expected_ratios[x, panel], rel=1e-4) for x in ("1", "2", "4", "8")]


def test_why_has_them_on_top_and_in_its_tables(
    run: models.Run, stranger: Client, verdicts: Mapping[Cell, Verdict]
) -> None:
    for cell, verdict in verdicts.items():
        query = f"run={run.pk}&x=clients&series=installation&panel=script&{place(cell)}"
        text = page_text(stranger.get(f"/compare/why/?{query}", follow=True))
        assert_sentence(text, verdict)
        assert f"Ratio of geometric means {ratio(verdict.ratio)}, 95&nbsp;% interval {ratio(verdict.low)} to" in text
        assert_sentence(page_text(stranger.get(f"/compare/why/metrics/?{query}")), verdict)
        whole = stranger.get(f"/api/v1/comparison/why/?{query}").json()
        (own,) = [one for one in whole["rest"] if one["name"] == "tps"]
        for answer in (whole["verdict"], own["verdict"]):
            assert numbers_of(answer) == pytest.approx(numbers(verdict))
        assert whole["ratio"] == own["ratio"] == pytest.approx(verdict.ratio)


def numbers_of(answer: Mapping[str, Any]) -> tuple[float, ...]:
    return (*(answer[name] for name in NUMBERS), float(list(Kind).index(Kind(answer["kind"]))))


def test_another_metric_has_on_why_the_verdict_of_its_own_page(run: models.Run, stranger: Client) -> None:
    of_metric = {(p.x, p.panel): p.verdict for p in asked(run, metric="latency.p99").points if p.verdict}
    for cell, verdict in of_metric.items():
        query = f"run={run.pk}&x=clients&series=installation&panel=script&{place(cell)}"
        whole = stranger.get(f"/api/v1/comparison/why/?{query}").json()
        (latency,) = [one for one in whole["movements"] if one["name"] == "latency.p99"]
        assert numbers_of(latency["verdict"]) == pytest.approx(numbers(verdict))
        assert_sentence(page_text(stranger.get(f"/compare/why/?{query}", follow=True)), verdict)


def test_versions_show_them(run: models.Run, stranger: Client, verdicts: Mapping[Cell, Verdict]) -> None:
    rows = stranger.get("/api/v1/versions/?workload=pgbench").json()["rows"]
    text = page_text(stranger.get("/versions/?workload=pgbench"))
    shown = [next(cell for cell in row["cells"] if cell and cell["version"] == "18") for row in rows]
    speeds = {row["name"]: (cell["speed"], cell["kinds"]) for row, cell in zip(rows, shown, strict=True)}
    assert len(speeds) == 8
    for (clients, script), verdict in verdicts.items():
        name = f"clients {clients} · script {script}"
        speed, kinds = speeds[name]
        reach = next((cell["low"], cell["high"]) for row, cell in zip(rows, shown, strict=True) if row["name"] == name)
        assert reach == (pytest.approx(verdict.low), pytest.approx(verdict.high))
        assert (speed, kinds) == (pytest.approx(verdict.ratio), {verdict.kind.value: 1})
        assert re.search(rf"{ratio(verdict.ratio)}</b>", text)
    for kind in (Kind.BETTER, Kind.WORSE, Kind.SAME):
        count = sum(verdict.kind is kind for verdict in verdicts.values())
        assert text.count(f"<small>1 {kind.words}</small>") == count
    assert text.count(f"<small>{Kind.TOO_FEW.words}</small>") == sum(v.kind is Kind.TOO_FEW for v in verdicts.values())


def test_a_citation_keeps_them(run: models.Run, stranger: Client, verdicts: Mapping[Cell, Verdict]) -> None:
    cited = factories.citation(run, f"run={run.pk}&x=clients&series=installation&panel=script")
    expected = sorted(map(numbers, verdicts.values()))
    whole = stranger.get(f"/api/v1/citations/{cited.hash}/").json()
    assert of_columns(whole["comparison"]) == [pytest.approx(row, rel=1e-5) for row in expected]
    rows = csv.DictReader(io.StringIO(stranger.get(f"/api/v1/citations/{cited.hash}.csv").text))
    assert of_csv(rows) == [pytest.approx(row, rel=1e-9) for row in expected]
    text = page_text(stranger.get(f"/c/{cited.hash}/"))
    for verdict in verdicts.values():
        assert_sentence(text, verdict)
        assert f"{ratio(verdict.low)} to {ratio(verdict.high)}" in text
        assert text.count(ratio(verdict.ratio)) >= 2
    assert "×" not in "".join(re.findall(r"@misc\{.*?\n\}", text, re.S))


def test_the_terminal_prints_them(run: models.Run, verdicts: Mapping[Cell, Verdict]) -> None:
    table = terminal.table(run_detail(run.pk, timezone.now()))
    columns = {str(column.header): list(column.cells) for column in table.columns}
    names = ("installation", "clients", "script", "ratio", "verdict")
    rows = set(zip(*(columns[name] for name in names), strict=True))
    for (clients, script), verdict in verdicts.items():
        assert ("18", clients, script, ratio(verdict.ratio), verdict.words) in rows


def test_the_pages_of_the_run_and_of_all_runs_show_none(run: models.Run, stranger: Client) -> None:
    for path in ("/", "/runs/", f"/runs/{run.pk}/", f"/trials/{run.trials.all()[0].pk}/"):
        assert 'class="verdict' not in page_text(stranger.get(path))


def differing(run: models.Run, levels: Mapping[str, Mapping[str, Any]]) -> None:
    """Give the configurations of each number of clients further dimensions instead."""
    for configuration in run.configurations.all():
        own = levels[str(configuration.dimensions["clients"])]
        configuration.levels = own
        configuration.dimensions = {k: v for k, v in configuration.dimensions.items() if k != "clients"} | own
        configuration.save()


def two_sided_run(levels: Mapping[str, Mapping[str, Any]]) -> models.Run:
    made = factories.run(factors={"clients": [1, 4]}, installation="16", replicates=5)
    chance = random.Random(3)
    for trial in made.trials.select_related("configuration").order_by("position"):
        factories.finish(
            trial, (1000 if trial.configuration.dimensions["clients"] == 1 else 1700) * chance.gauss(1, 0.02)
        )
    close_finished(made.pk)
    differing(made, levels)
    return made


def test_topologies_show_the_ratio_of_their_comparison(stranger: Client, db: None) -> None:
    made = two_sided_run({"1": {"topology": "single"}, "4": {"topology": "streaming", "nodes": 2}})
    (_, other) = compare(Selection((made.pk,), x="topology", series="", baseline="at single")).points
    (table,) = stranger.get("/api/v1/topologies/").json()["tables"]
    line = next(line for line in table["lines"] if line["kind"] == "streaming")
    assert (line["against_one"], line["efficiency"]) == (pytest.approx(other.ratio), pytest.approx(other.ratio / 2))
    assert other.ratio != pytest.approx(other.median / 1000, rel=1e-4)
    assert ratio(other.ratio) in page_text(stranger.get("/topologies/"))


def test_access_methods_show_the_verdict_of_their_comparison(stranger: Client, db: None) -> None:
    made = two_sided_run({"1": {"access_method": "heap"}, "4": {"access_method": "heap2"}})
    models.Run.objects.filter(pk=made.pk).update(workload="access_method", headline="tpcb.tps")
    models.Metric.objects.create(name="tpcb.tps", unit="tps", better=Better.HIGHER, label="TPC-B", minimum_effect=0.02)
    models.Measurement.objects.filter(run=made, metric="tps").update(metric="tpcb.tps")
    points = compare(Selection((made.pk,), x="workload", series="access_method", metric="tpcb.tps")).points
    verdict = next(point.verdict for point in points if point.verdict)
    (table,) = stranger.get("/api/v1/access-methods/").json()["tables"]
    cells = [cell for line in table["lines"] for cell in line["cells"] if cell and cell["kind"]]
    assert [(cell["kind"], cell["ratio"]) for cell in cells] == [(verdict.kind, pytest.approx(verdict.ratio))]
    text = page_text(stranger.get("/access-methods/"))
    assert_sentence(text, verdict)
    assert ratio(verdict.ratio) in text


@pytest.fixture
def plan(db: None) -> models.Plan:
    return histories.nightly(parameters={"scale": 5}, factors={"clients": [1, 8]}, replicates=5)


@pytest.mark.parametrize(
    ("values", "in_words"), [([8000, 7200], "worse in these runs"), ([8000] * 5 + [7000], "worse")]
)
def test_an_alert_says_what_the_page_of_its_plan_says(
    plan: models.Plan, stranger: Client, values: Sequence[float], in_words: str
) -> None:
    """The newest run against up to ten before it: one judgement, which alert, webhook and page give alike."""
    alerts.watch(plan, "email", "ada@example.org", user=None, actor="tests")
    newest = histories.months(plan, values)[-1]
    alerts.judge_runs(timezone.now())
    alert = models.Alert.objects.select_related("watch").get(run=newest)
    _, text = alerting.message(alert)
    page = page_text(stranger.get(f"/plans/{plan.pk}/"))
    cells = progress(newest.pk).worse
    assert [cell.name for cell in cells] == ["clients 1", "clients 8"]
    for cell, sent in zip(cells, alerting.payload(alert)["worse"], strict=True):
        assert (sent["ratio"], sent["low"], sent["high"]) == (cell.ratio, cell.low, cell.high)
        assert (sent["kind"], sent["words"]) == (cell.kind, in_words)
        reach = f"95 % interval {ratio(cell.low)} to {ratio(cell.high)}"
        assert f"{cell.name}: {in_words} {ratio(cell.ratio)} ({reach})" in page
        assert f"{cell.name}: {in_words}: median" in text
        assert f"ratio of geometric means {ratio(cell.ratio)} ({reach})" in text
    assert f">{in_words}</span>" in page


@pytest.mark.parametrize("values", [[8000, 7200]])
def test_an_alert_against_one_run_has_the_ratios_of_the_comparison_that_it_links_to(
    plan: models.Plan, stranger: Client, values: Sequence[float]
) -> None:
    """Against more runs the two are different questions: see docs/trends.md."""
    newest = histories.months(plan, values)[-1]
    judged = progress(newest.pk)
    points = compare(urlstate.read(judged.comparison)).points
    linked = {f"clients {point.x}": point.verdict for point in points if point.verdict}
    assert len(judged.cells) == 2
    for cell in judged.cells:
        verdict = linked[cell.name]
        assert (cell.ratio, cell.kind, cell.words) == (pytest.approx(verdict.ratio), verdict.kind, verdict.words)


# of the templates: those walked above, and those in which the word says something else
TEMPLATES = {
    "changes/_changes.html",  # walked in test_changes.py, as its rows are
    "changes/_rows.html",
    "citations/detail.html",
    "comparison/_cell.html",
    "parts/_verdict.html",
    "overview/_known.html",  # walked in test_overview.py
    "overview/_lately.html",  # walked in test_overview.py
    "plans/_watches.html",
    "topologies/_topologies.html",
    "why/_movements.html",
    "why/_sentence.html",
} | {
    "access_methods/_summary.html",  # notes
    "comparison/_environment.html",  # what withholds verdicts
    "comparison/_figure.html",  # a link to the method
    "comparison/_published.html",  # that there is none
    "reports/edition.html",  # a link to the method
    "comparison/_rows.html",  # means over many cells
    "comparison/_table.html",  # how the table is read
    "diff/_diff.html",  # what withholds verdicts
    "trends/_changes.html",  # changes of level, which no comparison judges
    "trends/_trends.html",
    "why/_parts.html",  # notes
    "why/_plans.html",  # notes
}
# of the API: schema → its fields
FIELDS = {
    "DecidedChange": {"verdict"},  # walked in test_changes.py
    "Changes": {"kinds"},
    "Comparison": {"verdicts"},
    "Median": {"verdict"},
    "MedianVerdict": {"adjusted", "high", "low", "p", "ratio"},
    "Movement": {"ratio", "verdict"},
    "PointColumns": {"adjusted", "high", "low", "p", "ratio", "verdict", "verdict_ratio"},
    "TopologyLine": {"against_one", "efficiency"},
    "Verdict": {"adjusted", "high", "low", "p", "ratio"},
    "VersionCell": {"high", "kinds", "low", "ratio", "speed"},
    "Why": {"ratio", "verdict"},
} | {
    "Expected": {"kinds"},  # of replicates that a plan would need
    "Shift": {"p", "ratio"},  # a change of level
    "Standing": {"turned"},  # verdicts that a citation would have today
    "Summary": {"estimate", "high", "low", "ratio"},  # over many cells
    "VersionMean": {"high", "low", "ratio"},  # over many rows
    "Warned": {"p"},  # of a drift
}
TEXTS = {
    "webapp/management/terminal.py",
    "workers/alerting.py",
    "workers/research_archive.py",  # of sizes
    "webapp/compare/rows.py",  # of the comparison's table
    "webapp/templatetags/access_methods.py",
    "webapp/templatetags/teiten.py",
    "webapp/templatetags/versions.py",
}


def test_every_template_field_and_text_that_shows_a_ratio_or_verdict_is_listed() -> None:
    templates = {
        str(path.relative_to(ROOT / "templates"))
        for path in (ROOT / "templates").rglob("*.html")
        if re.search(r"\bverdict\b|\|ratio\b|worse_words|shown\.number", path.read_text())
    }
    assert templates == TEMPLATES
    names = set[str]().union(*FIELDS.values())
    schemas = SchemaGenerator().get_schema(request=None, public=True)["components"]["schemas"]
    fields = {name: names & schema.get("properties", {}).keys() for name, schema in schemas.items()}
    assert {name: own for name, own in fields.items() if own} == FIELDS
    sources = [*(ROOT / "webapp/management").rglob("*.py"), *(ROOT / "workers").glob("*.py")]
    sources += [*(ROOT / "webapp/templatetags").glob("*.py"), ROOT / "webapp/compare/rows.py"]
    texts = {str(path.relative_to(ROOT)) for path in sources if re.search(r"\bratio\b|verdict\.", path.read_text())}
    assert texts == TEXTS
