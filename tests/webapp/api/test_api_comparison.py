"""The comparison in columns, as CSV, asked for again, and cited."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from rest_framework.renderers import JSONRenderer
from rest_framework.test import APIClient
from rest_framework.views import APIView

from results import models
from results.queries.comparison import units
from results.queries.comparison.compare import compare
from results.queries.shared.configurations import configurations
from results.queries.shared.selection import Selection
from tests import factories
from webapp.api.columns import MORE, USUAL, columns, short
from webapp.api.comparison import AroundSerializer, ComparisonSerializer, PointColumnsSerializer, around

pytestmark = pytest.mark.django_db
PATH = "/api/v1/comparison/"


def ask(client: APIClient, query: str, **headers: str) -> Any:
    return client.get(f"{PATH}?{query}", headers=headers)


def test_each_cell_stands_at_one_place_in_every_column(anonymous: APIClient) -> None:
    run = factories.finished_run(replicates=3)
    expected = compare(Selection((run.pk,)))
    content = ask(anonymous, f"run={run.pk}&columns=all").json()
    points = content["points"]
    assert {len(column) for column in points.values()} == {len(expected.points)}
    for i, point in enumerate(expected.points):
        shown = [
            content[name][points[axis][i]] for axis, name in (("panel", "panels"), ("x", "xs"), ("series", "series"))
        ]
        assert shown == [point.panel, point.x, point.series]
        assert points["values"][i] == [replicate.value for replicate in point.values]
        assert points["trials"][i] == [replicate.trial_id for replicate in point.values]
        assert points["value"][i] == pytest.approx(point.value, rel=1e-5)
        assert points["ratio"][i] == pytest.approx(point.ratio, rel=1e-5)
        verdict = content["verdicts"][points["verdict"][i]]
        assert verdict == (point.verdict.kind.value if point.verdict else None)


def test_a_value_leads_to_its_trial(anonymous: APIClient) -> None:
    runs = [factories.finished_run(replicates=3) for _ in "12"]
    content = ask(anonymous, f"run={runs[0].pk},{runs[1].pk}&columns=trials").json()
    points = content["points"]
    for i, values in enumerate(points["values"]):
        pattern = content["replicates"][points["replicates"][i]]
        assert len(pattern) == len(values) == 6
        for value, (place, block), trial in zip(values, pattern, points["trials"][i], strict=True):
            address = content["links"]["trial"].format(configuration=points["configurations"][i][place], block=block)
            (row,) = anonymous.get(address).json()["results"]
            assert (row["id"], row["value"], row["block"]) == (trial, value, block)


def test_the_answer_has_the_fields_that_openapi_names(anonymous: APIClient) -> None:
    run = factories.finished_run()
    content = ask(anonymous, f"run={run.pk}&columns=all&facts=yes").json()
    assert set(content) == set(ComparisonSerializer().fields)
    assert set(content["points"]) == set(PointColumnsSerializer().fields)
    required = {name for name in PointColumnsSerializer().fields if name not in MORE}
    assert set(ask(anonymous, f"run={run.pk}").json()["points"]) == required


def test_plain_values_are_shown_as_the_serializers_show_them(rf: Any) -> None:
    run = factories.finished_run(replicates=3)
    comparison = compare(Selection((run.pk,)))
    request = APIView().initialize_request(rf.get(PATH))
    serialized = AroundSerializer(comparison, context={"request": request}).data
    assert comparison.summaries and comparison.facets and comparison.metrics and comparison.environment
    assert JSONRenderer().render(around(request, comparison)) == JSONRenderer().render(serialized)


@pytest.mark.parametrize("query", ["", "&columns=all", "&x=nothing", "&series=none&without=%E2%80%A8"])
def test_the_answer_is_the_json_of_other_answers(anonymous: APIClient, query: str) -> None:
    run = factories.finished_run(replicates=3)
    answer = ask(anonymous, f"run={run.pk}{query}")
    other = JSONRenderer().render(answer.data)
    assert answer.json() == json.loads(other)
    assert (b"\\u2028" in answer.content) == (b"\\u2028" in other) == ("%A8" in query)
    indented = ask(anonymous, f"run={run.pk}{query}", accept="application/json; indent=2")
    assert indented.content.startswith(b"{\n  ") and indented.json() == answer.json()


def test_cells_that_were_read_again_have_the_same_columns() -> None:
    run = factories.finished_run(replicates=4)
    comparison = compare(Selection((run.pk,)))
    again = replace(comparison, points=tuple(comparison.points))
    assert again.points == comparison.points
    assert columns(again, USUAL + MORE) == columns(comparison, USUAL + MORE)
    nothing = replace(comparison, points=())
    assert {len(column) for column in columns(nothing, USUAL + MORE)["points"].values()} == {0}


@pytest.mark.parametrize("digits", [6, 8])
def test_a_number_has_so_many_digits_and_a_whole_one_all_of_them(digits: int) -> None:
    random = np.random.default_rng(1)
    sizes = 10.0 ** random.integers(-25, 25, 20000)
    halves = (random.integers(10 ** (digits - 1), 10**digits, 20000) + 0.5) / 10.0 ** random.integers(0, 12, 20000)
    edges = [0.0, 5e-324, 1e308, 9.9999999999, 0.99999999999, 999999.5, 99999999.5, 1e22, 1e23, 123456789.4]
    values = np.concatenate([random.random(20000) * sizes, halves, edges])
    for value in np.concatenate([values, -values]).tolist():
        assert short(value, digits) == (value if value.is_integer() else float(f"{value:.{digits}g}"))
    assert [short(value) for value in (None, math.nan, math.inf, 3.0)] == [None, None, None, 3]


def test_measured_values_have_eight_digits_and_all_where_asked(anonymous: APIClient) -> None:
    run = factories.finished_run(replicates=1, factors={}, installation="16")
    models.Measurement.objects.filter(metric="tps").update(value=12345.678901234)
    query = f"run={run.pk}&x=clients&series=none&metric=tps"
    assert ask(anonymous, query).json()["points"]["values"] == [[12345.679]]
    assert ask(anonymous, f"{query}&columns=all").json()["points"]["values"] == [[12345.678901234]]
    models.Measurement.objects.filter(metric="tps").update(value=10737418241)
    assert ask(anonymous, query).json()["points"]["values"] == [[10737418241]]


def test_an_unknown_column_is_named(anonymous: APIClient) -> None:
    error = ask(anonymous, "columns=colour").json()["error"]
    assert (error["where"], "adjusted" in error["todo"]) == ("columns", True)


def test_more_values_than_a_comparison_has_are_refused_with_what_to_narrow(
    anonymous: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = factories.finished_run(replicates=3)
    values = run.trials.count()
    monkeypatch.setattr(units, "MOST_VALUES", values)
    assert ask(anonymous, f"run={run.pk}").status_code == 200
    monkeypatch.setattr(units, "MOST_VALUES", values - 1)
    error = ask(anonymous, f"run={run.pk}").json()["error"]
    assert error["where"] == "run" and f"{values} values" in error["what"] and "fewer runs" in error["todo"]


def test_other_runs_say_as_much_as_a_comparison_can_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = sorted(factories.finished_run(replicates=3).pk for _ in range(3))
    rows = configurations(runs)
    trials = sum(row.done for row in rows if row.run_id == runs[0])
    monkeypatch.setattr(units, "MOST_VALUES", 3 * trials - 1)
    assert {row.run_id for row in units.newest_within_bounds(rows)} == set(runs[1:])


def test_what_is_known_is_not_sent_again(anonymous: APIClient, django_assert_num_queries: Any) -> None:
    run = factories.finished_run()
    with django_assert_num_queries(7):
        first = ask(anonymous, f"run={run.pk}")
    with django_assert_num_queries(1):
        again = ask(anonymous, f"run={run.pk}", if_none_match=first["ETag"])
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", first["ETag"])
    assert "no-cache" in first["Cache-Control"]
    assert ask(anonymous, f"run={run.pk}&statistic=mean", if_none_match=first["ETag"]).status_code == 200


@pytest.mark.parametrize("change", ["result", "read again", "retried", "metric", "reference", "deleted"])
def test_whatever_changes_the_answer_changes_its_etag(anonymous: APIClient, change: str) -> None:
    run = factories.run(replicates=3)
    trials = list(run.trials.all())
    for trial in trials[1:]:
        factories.finish(trial)
    snapshot = factories.citation(run)
    tag = ask(anonymous, f"run={run.pk}")["ETag"]
    if change == "result":
        factories.finish(trials[0])
    elif change == "read again":
        models.Attempt.objects.filter(trial=trials[1]).update(ingested_at="2099-01-01T00:00Z")
    elif change == "retried":
        factories.begin(trials[0])
    elif change == "metric":
        models.Metric.objects.filter(name="tps").update(minimum_effect=0.5)
    elif change == "reference":
        models.Reference.objects.create(name="a", snapshot=snapshot, series="postgresql-16.9")
    else:
        trials[2].delete()
    answer = ask(anonymous, f"run={run.pk}", if_none_match=tag)
    assert (answer.status_code, answer["ETag"] != tag) == (200, True)


def test_it_is_packed_where_that_is_understood(anonymous: APIClient) -> None:
    run = factories.finished_run()
    packed = ask(anonymous, f"run={run.pk}", accept_encoding="gzip")
    assert packed["Content-Encoding"] == "gzip"
    assert json.loads(gzip.decompress(packed.content)) == ask(anonymous, f"run={run.pk}").json()
    assert ask(anonymous, f"run={run.pk}", if_none_match=packed["ETag"]).status_code == 304


def test_a_cell_of_six_replicates_is_short(anonymous: APIClient) -> None:
    run = factories.finished_run(replicates=6)
    models.Measurement.objects.filter(metric="tps").update(value=23456.789012)
    content = ask(anonymous, f"run={run.pk}").json()
    assert len(json.dumps(content["points"], separators=(",", ":"))) / len(content["points"]["value"]) < 160


def test_as_csv_every_replicate_has_its_row(anonymous: APIClient, django_assert_num_queries: Any) -> None:
    run = factories.finished_run()
    with django_assert_num_queries(5):
        answer = anonymous.get(f"/api/v1/comparison.csv?run={run.pk}")
    assert answer["Content-Type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    expected = compare(Selection((run.pk,)))
    assert [float(row["value"]) for row in rows] == [r.value for point in expected.points for r in point.values]
    assert {int(row["trial"]) for row in rows} == set(run.trials.values_list("pk", flat=True))
    assert rows[-1]["baseline"] == "postgresql-16.9 at 4"
    assert rows[-1]["verdict"] == expected.points[-1].verdict.kind.value


def test_a_program_cites_and_saves_a_reference(visitor: Any) -> None:
    run = factories.finished_run()
    client = visitor("publish")
    made = client.post("/api/v1/citations/", {"query": f"run={run.pk}"}, format="json")
    assert made.status_code == 201
    citation = made.json()
    assert [row["hash"] for row in client.get("/api/v1/citations/").json()["results"]] == [citation["hash"]]
    content = client.get(citation["links"]["self"]).json()
    now = ask(client, f"run={run.pk}&columns=all").json()
    assert (content["comparison"]["points"], content["comparison"]["summaries"]) == (now["points"], now["summaries"])
    assert (content["standing"]["gone"], content["standing"]["turned"]) == ([], [])
    body = {"name": "first", "citation": citation["hash"], "series": "postgresql-16.9"}
    assert client.post("/api/v1/references/", body, format="json").status_code == 201
    assert client.post("/api/v1/references/", body | {"series": "none"}, format="json").status_code == 400
    assert client.post("/api/v1/references/", body | {"citation": "0"}, format="json").status_code == 404
    assert ask(client, f"run={run.pk}").json()["references"] == ["first"]
    assert ask(client, f"run={run.pk}&baseline=@first").json()["series"][0] == "@first"
    rows = client.get(citation["links"]["csv"]).content.decode().splitlines()
    assert len(rows) == 9
