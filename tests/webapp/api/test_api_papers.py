"""What an author needs of medians and measurements: facts beside the numbers, filters, order, fields, streams."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import orjson
import pytest
from pyarrow import parquet
from rest_framework.test import APIClient

from results import models
from tests import factories
from tests.imported import imported

pytestmark = pytest.mark.django_db
API = "/api/v1"
TYPES = {"ndjson": "application/x-ndjson", "csv": "text/csv", "parquet": "application/vnd.apache.parquet"}


@pytest.fixture
def run(bundles: Any) -> models.Run:
    """16 and 18 with 1 and 4 clients, six replicates each, with their raw files."""
    made = factories.run(replicates=6)
    for trial in made.trials.select_related("configuration"):
        factories.finish(trial, bundles=bundles)
    return made


def get(client: APIClient, path: str, status: int = 200, **query: Any) -> Any:
    answer = client.get(path if path.startswith("http") else f"{API}/{path}", query)
    assert answer.status_code == status, answer.content
    return answer.json()


def rows_of(client: APIClient, path: str, form: str, **query: Any) -> list[dict[str, Any]]:
    """The rows of a stream, by whichever way its form is read."""
    answer = client.get(f"{API}/{path}", query, headers={"Accept": TYPES[form]})
    assert answer.status_code == 200, answer.content
    assert answer.headers["Content-Type"].startswith(TYPES[form])
    data = b"".join(answer)
    if form == "ndjson":
        return [orjson.loads(line) for line in data.splitlines()]
    if form == "csv":
        return list(csv.DictReader(io.StringIO(data.decode())))
    return list(parquet.read_table(io.BytesIO(data)).to_pylist())


def test_a_median_comes_with_all_that_it_rests_on(run: models.Run, anonymous: APIClient) -> None:
    content = get(anonymous, f"runs/{run.pk}/medians/", metric="tps")
    row = content["results"][0]
    assert (row["levels"], row["unit"], row["n"]) == ({"installation": "16", "clients": "1"}, "tps", 6)
    assert row["values"] == [1000.0 + block for block in range(1, 7)]
    assert (row["median"], row["verdict"]) == (1003.5, None)
    facts = content["facts"]
    trials = [facts["trials"][str(id_)] for id_ in row["trial_ids"]]
    assert [trial["block"] for trial in trials] == [1, 2, 3, 4, 5, 6]
    assert {trial["version"] for trial in trials} == {"16.9"}
    assert trials[0]["agents"] == {"primary": "db1", "client": "db1"}
    assert facts["environments"][trials[0]["environment"]]["primary"]["settings"] == {"shared_buffers": "128MB"}
    assert facts["runs"][str(run.pk)]["plan_hash"] == run.plan_hash
    assert trials[0]["measured_from"].startswith("2026-01-01T")
    attempt = models.Attempt.objects.get(trial_id=trials[0]["id"])
    assert trials[0]["bundle_sha256"] == attempt.bundle_sha256 != ""
    assert anonymous.get(trials[0]["links"]["bundle"]).status_code == 200


def test_facts_are_those_of_the_trials_shown(run: models.Run, anonymous: APIClient) -> None:
    page = get(anonymous, "measurements/", run=run.pk, metric="tps", page_size=5)
    assert set(page["facts"]["trials"]) == {str(row["trial_id"]) for row in page["results"]}


@pytest.mark.parametrize(
    ("path", "most"),
    [
        ("runs/{}/medians/", 4),
        ("runs/{}/medians/?filter.clients=4", 5),
        ("runs/{}/medians/?baseline=postgresql-16.9", 20),
        ("measurements/?run={}", 4),
        ("measurements/?run={}&filter.clients=4", 5),
        ("measurements/?run={}&format=ndjson", 1),
    ],
)
def test_queries_do_not_grow_with_trials(
    path: str, most: int, run: models.Run, anonymous: APIClient, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(
        most + 3 * path.endswith("ndjson")
    ):  # its patience, and the savepoint around the cursor
        answer = anonymous.get(f"{API}/{path.format(run.pk)}")
        assert answer.status_code == 200
        assert b"".join(answer) != b""


@pytest.mark.parametrize("metric", ["tps", "latency.p99", "cpu.user"])
def test_a_verdict_is_that_of_the_metrics_own_comparison(metric: str, run: models.Run, anonymous: APIClient) -> None:
    content = get(anonymous, f"runs/{run.pk}/medians/", metric=metric, baseline="postgresql-16.9")
    rows = {(row["levels"]["installation"], row["levels"]["clients"], row["node"]): row for row in content["results"]}
    node = "primary" if metric == "cpu.user" else rows[next(iter(rows))]["node"]
    compared = get(
        anonymous,
        f"comparison/?run={run.pk}&x=clients&series=installation&metric={metric}&node={node}"
        "&baseline=postgresql-16.9&columns=all",
    )
    points = compared["points"]
    assert len(points["x"]) == 4
    for index, x in enumerate(points["x"]):
        level = "16" if "16" in compared["series"][points["series"][index]] else "18"
        row = rows[level, compared["xs"][x], node]
        kind = compared["verdicts"][points["verdict"][index]]
        assert (row["verdict"] or {}).get("kind") == kind
        if kind:
            assert row["verdict"]["low"] == pytest.approx(points["low"][index], rel=1e-5)
            assert row["base"] == rows["16", compared["xs"][x], node]["configuration"]
    assert (content["comparison"]["rule"], content["comparison"]["baseline"]) == (compared["rule"], "postgresql-16.9")
    assert anonymous.get(content["comparison"]["page"].removeprefix("http://testserver")).status_code in (200, 302)


def test_a_comparison_says_what_it_rests_on_where_that_is_asked_for(run: models.Run, anonymous: APIClient) -> None:
    assert "facts" not in get(anonymous, f"comparison/?run={run.pk}")
    content = get(anonymous, f"comparison/?run={run.pk}&columns=trials&facts=yes")
    assert set(content["facts"]["trials"]) == {str(id_) for cell in content["points"]["trials"] for id_ in cell}
    assert content["facts"]["runs"][str(run.pk)]["plan_hash"] == run.plan_hash
    assert get(anonymous, f"comparison/?run={run.pk}&facts=all", 400)["error"]["where"] == "facts"


@pytest.mark.parametrize("path", ["runs/{}/medians/", "measurements/"])
def test_any_factor_filters(path: str, run: models.Run, anonymous: APIClient) -> None:
    query: dict[str, Any] = {"run": run.pk} if path == "measurements/" else {}
    where = path.format(run.pk)
    everything = get(anonymous, where, **query)["results"]
    four = get(anonymous, where, **query, **{"filter.clients": "4", "filter.major": "16,18"})["results"]
    of_four = set(models.Configuration.objects.filter(run=run, levels__clients="4").values_list("index", flat=True))
    assert four == [row for row in everything if row["configuration"] in of_four]
    assert 0 < len(four) < len(everything)
    client = get(anonymous, where, **query, **{"filter.node": "client"})["results"]
    assert client == [row for row in everything if row["node"] == "client"] != []
    both = get(anonymous, where, **query, **{"filter.node": "client,primary"})["results"]
    assert both == [row for row in everything if row["node"] in ("client", "primary")]
    error = get(anonymous, where, 400, **query, **{"filter.node": "clinet"})["error"]
    assert (error["where"], error["todo"][:20]) == ("filter.node", "Did you mean client?")
    error = get(anonymous, where, 400, **query, **{"filter.clinets": "4"})["error"]
    assert (error["where"], error["todo"].startswith("Did you mean clients?")) == ("filter.clinets", True)
    error = get(anonymous, where, 400, **query, **{"filter.clients": "4,5"})["error"]
    assert (error["where"], error["todo"]) == ("filter.clients", "There are 1, 4.")
    assert get(anonymous, where, 400, **query, metric="tsp")["error"]["todo"].startswith("Did you mean tps?")


def test_a_filter_by_a_factor_needs_a_run(run: models.Run, anonymous: APIClient) -> None:
    for name in ("filter.clients", "filter.label"):
        error = get(anonymous, "measurements/", 400, **{name: "4"})["error"]
        assert (error["what"], error["where"]) == (f"{name} needs a run.", "run")


def test_measurements_of_several_runs_and_metrics(run: models.Run, anonymous: APIClient) -> None:
    other = factories.finished_run()
    rows = get(anonymous, "measurements/", run=f"{run.pk},{other.pk}", metric="tps,latency.p99", page_size=1000)
    assert {(row["run_id"], row["metric"]) for row in rows["results"]} == {
        (number, metric) for number in (run.pk, other.pk) for metric in ("tps", "latency.p99")
    }


def test_only_the_fields_that_are_asked_for(run: models.Run, anonymous: APIClient) -> None:
    rows = get(anonymous, f"runs/{run.pk}/medians/", fields="median,levels")["results"]
    assert {tuple(row) for row in rows} == {("median", "levels")}
    assert set(get(anonymous, "runs/", fields="id")["results"][0]) == {"id"}
    error = get(anonymous, "runs/", 400, fields="id,nmae")["error"]
    assert (error["where"], error["todo"][:18]) == ("fields", "Did you mean name?")
    assert get(anonymous, "trials/", 400, run=0, fields="x")["error"]["where"] == "fields"


def test_medians_are_sorted_by_several_fields(run: models.Run, anonymous: APIClient) -> None:
    rows = get(anonymous, f"runs/{run.pk}/medians/", ordering="metric,-median")["results"]
    assert rows == sorted(rows, key=lambda row: (row["metric"], -row["median"]))
    assert get(anonymous, f"runs/{run.pk}/medians/", 400, ordering="colour")["error"]["where"] == "ordering"


@pytest.mark.parametrize("ordering", ["value", "-value", "-id"])
def test_pages_in_any_order_lose_no_row_where_many_values_are_the_same(
    ordering: str, run: models.Run, anonymous: APIClient
) -> None:
    seen: list[dict[str, Any]] = []
    address = f"measurements/?run={run.pk}&metric=cpu.user,tps&page_size=7&ordering={ordering}"
    while address:
        page = get(anonymous, address)
        seen += page["results"]
        address = page["next"]
    name, sign = ordering.removeprefix("-"), -1 if ordering.startswith("-") else 1
    assert seen == sorted(seen, key=lambda row: (sign * row[name], sign * row["id"]))
    assert len({row["id"] for row in seen}) == len(seen) == 24 * 3
    assert get(anonymous, "measurements/", 400, ordering="-metric")["error"]["where"] == "ordering"


@pytest.mark.parametrize("form", TYPES)
def test_a_stream_has_the_rows_of_all_pages(form: str, run: models.Run, anonymous: APIClient) -> None:
    pages = get(anonymous, "measurements/", run=run.pk, page_size=1000)
    rows = rows_of(anonymous, "measurements/", form, run=run.pk)
    assert len(rows) == len(pages["results"]) == 96
    for row, shown in zip(rows, pages["results"], strict=True):
        assert_same(row, shown)
        trial = pages["facts"]["trials"][str(shown["trial_id"])]
        assert [row[name] for name in ("version", "environment", "bundle_sha256")] == [
            trial[name] for name in ("version", "environment", "bundle_sha256")
        ]
        assert (row["plan_hash"], moment(row["measured_from"])) == (run.plan_hash, moment(trial["measured_from"]))


def assert_same(row: Mapping[str, Any], shown: Mapping[str, Any]) -> None:
    for name in ("id", "trial_id", "configuration", "metric", "unit", "node", "label"):
        assert str(row[name]) == str(shown[name])
    assert float(row["value"]) == shown["value"]


def moment(value: str | datetime) -> datetime:
    return datetime.fromisoformat(value.replace("Z", "+00:00")) if isinstance(value, str) else value


@pytest.mark.parametrize("form", TYPES)
def test_medians_as_a_table_stand_alone(form: str, run: models.Run, anonymous: APIClient) -> None:
    shown = get(anonymous, f"runs/{run.pk}/medians/", metric="tps", baseline="postgresql-16.9")["results"]
    rows = rows_of(anonymous, f"runs/{run.pk}/medians/", form, metric="tps", baseline="postgresql-16.9")
    assert [float(row["median"]) for row in rows] == [row["median"] for row in shown]
    assert [row["level.clients"] for row in rows] == [row["levels"]["clients"] for row in shown]
    assert [row["verdict"] or None for row in rows] == [row["verdict"] and row["verdict"]["kind"] for row in shown]
    assert {row["version"] for row in rows} == {"16.9", "18.1"}
    assert {row["agents"] for row in rows} == {"client=db1;primary=db1"}
    values = rows[0]["values"]
    assert [float(one) for one in (values.split() if form == "csv" else values)] == shown[0]["values"]
    settings = rows[0]["settings"]
    assert (settings if form == "ndjson" else orjson.loads(settings)) == {"shared_buffers": "128MB"}


@pytest.mark.parametrize("form", TYPES)
def test_a_row_says_who_measured_it(form: str, run: models.Run, anonymous: APIClient) -> None:
    theirs, published = factories.finished_run(), factories.finished_run()
    models.RunImport.objects.create(
        run=theirs, archive_sha256="0" * 64, archive_bytes=1, teiten="1.0.0", source_run=7, actor="tests"
    )
    table = models.Publication.objects.create(slug="a", title="A", publisher="B", year=2020, place="table 1")
    models.Run.objects.filter(pk=published.pk).update(publication=table, standing="excluded")
    files = imported().runs.get()
    expected = {
        run.pk: ("measured", "", "kept"),
        theirs.pk: ("another-teiten", "", "kept"),
        published.pk: ("published", "", "excluded"),
        files.pk: ("imported", "pgbench", "exploratory"),
    }
    rows = rows_of(anonymous, "measurements/", form, metric="tps")
    assert {(int(row["run_id"]), row["source"], row["program"], row["standing"]) for row in rows} == {
        (pk, *marks) for pk, marks in expected.items()
    }
    for pk, marks in expected.items():
        medians = rows_of(anonymous, f"runs/{pk}/medians/", form, metric="tps")
        assert {(row["source"], row["program"], row["standing"]) for row in medians} == {marks}
        facts = get(anonymous, f"runs/{pk}/medians/", metric="tps")["facts"]["runs"][str(pk)]
        assert (facts["source"], facts["program"], facts["standing"]) == marks


@pytest.mark.parametrize("form", TYPES)
def test_no_rows_are_an_empty_table_with_its_columns(form: str, run: models.Run, anonymous: APIClient) -> None:
    assert rows_of(anonymous, "measurements/", form, run=run.pk, node="nowhere", fields="id,value") == []
    answer = anonymous.get(f"{API}/measurements/", {"run": run.pk, "node": "no", "format": "csv", "fields": "id"})
    assert b"".join(answer) == b"id\n"


def test_a_stream_takes_fields_filters_and_order(run: models.Run, anonymous: APIClient) -> None:
    rows = rows_of(
        anonymous,
        "measurements/",
        "ndjson",
        **{"run": run.pk, "metric": "tps", "fields": "value,block", "ordering": "-value", "filter.clients": "4"},
    )
    assert {tuple(row) for row in rows} == {("value", "block")}
    assert [row["value"] for row in rows] == sorted((row["value"] for row in rows), reverse=True)
    assert len(rows) == 12


@pytest.mark.parametrize(
    ("query", "where"),
    [("format=xml", "format"), ("format=csv&fields=nothing", "fields"), ("format=csv&ordering=x", "ordering")],
)
def test_what_is_wrong_with_a_stream_is_said_in_json(query: str, where: str, anonymous: APIClient) -> None:
    answer = anonymous.get(f"{API}/measurements/?{query}", headers={"Accept": "text/csv"})
    assert (answer.status_code, answer.json()["error"]["where"]) == (400, where)


def test_a_form_that_there_is_not_is_not_acceptable(anonymous: APIClient) -> None:
    assert anonymous.get(f"{API}/measurements/", headers={"Accept": "image/png"}).status_code == 406


def test_the_head_of_a_stream_reads_nothing(
    run: models.Run, anonymous: APIClient, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(0):
        answer = anonymous.head(f"{API}/measurements/?format=parquet")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="measurements.parquet"'


@pytest.mark.parametrize("query", [{}, {"ordering": "metric,-median"}, {"baseline": "postgresql-16.9"}])
def test_pages_of_medians_have_every_row_once(query: dict[str, str], run: models.Run, anonymous: APIClient) -> None:
    whole = get(anonymous, f"runs/{run.pk}/medians/", page_size=1000, **query)
    assert whole["next"] is None and len(whole["results"]) > 7
    page, rows = get(anonymous, f"runs/{run.pk}/medians/", page_size=3, **query), []
    while True:
        assert 0 < len(page["results"]) <= 3
        assert set(page["facts"]["trials"]) == {str(id_) for row in page["results"] for id_ in row["trial_ids"]}
        rows += page["results"]
        if page["next"] is None:
            break
        page = anonymous.get(page["next"]).json()
    assert rows == whole["results"]


def test_a_page_of_medians_has_fewer_rows_where_they_rest_on_many_trials(
    run: models.Run, anonymous: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webapp.api.median_pages.MOST_TRIALS", 6)
    page = get(anonymous, f"runs/{run.pk}/medians/", metric="tps")
    assert len(page["results"]) == 1 and len(page["facts"]["trials"]) == 6 and page["next"]


@pytest.mark.parametrize("cursor", ["x", "!", "WzEsMl0=", "WyJ4IiwiYSIsImIiLCJjIl0=", "WzEsImEiLCIiLCIiXQ=="])
def test_a_cursor_of_medians_that_is_none_is_refused(cursor: str, run: models.Run, anonymous: APIClient) -> None:
    answer = anonymous.get(f"{API}/runs/{run.pk}/medians/", {"cursor": cursor, "ordering": "median"})
    assert answer.status_code == 404
