"""The JSON of trends: what is written by hand is what the description says, and long histories come in pages."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from rest_framework.serializers import ListSerializer

from results.queries.trends import trends
from tests import histories
from webapp.api.trends import TrendPointSerializer, TrendValueSerializer
from webapp.api.values import serializer_of

pytestmark = pytest.mark.django_db


def test_points_have_the_fields_that_are_described(client: Client) -> None:
    [run] = histories.months(histories.nightly(), [8000.0])
    [line] = client.get("/api/v1/trends/?plan=nightly").json()["lines"]
    [point] = line["points"]
    assert list(point) == list(TrendPointSerializer().fields)
    assert {tuple(value) for value in point["values"]} == {tuple(TrendValueSerializer().fields)}
    trial = run.trials.order_by("position")[0]
    attempt = trial.attempt
    assert attempt is not None
    assert point["values"][0] == {
        "trial_id": trial.pk,
        "attempt_id": attempt.pk,
        "run_id": run.pk,
        "block": trial.block,
        "at": attempt.started_at.isoformat().replace("+00:00", "Z"),
        "value": attempt.measurements.get(metric_id="tps", label="", node="").value,
        "links": {
            "trial": f"http://testserver/api/v1/trials/{trial.pk}/",
            "bundle": f"http://testserver/api/v1/trials/{trial.pk}/bundle/",
            "page": f"http://testserver/trials/{trial.pk}/",
        },
    }


def test_earlier_runs_are_asked_for_by_the_link_of_the_answer(client: Client, monkeypatch: Any) -> None:
    made = histories.months(histories.nightly(), [8000.0] * 3)
    monkeypatch.setattr(trends, "MOST_VALUES", 6)
    first = client.get("/api/v1/trends/?plan=nightly").json()
    assert (first["levels"], first["runs"], first["kept"]) == ([str(run.pk) for run in made[1:]], 2, 3)
    assert first["earlier"] == made[1].pk
    second = client.get(first["links"]["earlier"]).json()
    assert (second["levels"], second["runs"], second["earlier"]) == ([str(made[0].pk)], 1, None)
    assert "earlier" not in second["links"]


@pytest.mark.parametrize("text", ["0", "-1", "one", "9" * 19, "٣"])
def test_what_is_no_number_of_a_run_is_an_error(client: Client, text: str) -> None:
    histories.months(histories.nightly(), [8000.0])
    answer = client.get("/api/v1/trends/", {"plan": "nightly", "before": text})
    assert (answer.status_code, answer.json()["error"]["where"]) == (400, "before")


def test_a_value_is_an_object_with_names_wherever_a_point_is_shown() -> None:
    values = serializer_of(trends.TrendPoint)().fields["values"]
    assert isinstance(values, ListSerializer)
    assert tuple(values.child.fields) == trends.TrendValue._fields
