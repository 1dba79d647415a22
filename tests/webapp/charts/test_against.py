"""Throughput against latency: a point a trial, a line a series, from the two comparisons of the same trials."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from results import models
from results.queries.comparison.compare import compare
from results.queries.shared.selection import Selection
from tests import factories
from webapp.charts.against import against_figure, latency_beside
from webapp.charts.comparison import AGAINST, possible_views

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(db: Any) -> models.Run:
    return factories.finished_run(replicates=3)


def test_each_trial_stands_where_its_two_values_are(run: models.Run) -> None:
    throughput = compare(Selection((run.pk,)))
    name = latency_beside(throughput)
    latency = compare(Selection((run.pk,), metric=name))
    figure = against_figure(throughput, latency, "", "/trials/{}/")
    tps = dict(models.Measurement.objects.filter(run=run, metric="tps").values_list("attempt__trial_id", "value"))
    shown = {
        trial: (x, y)
        for trace in figure["data"]
        if trace["mode"] == "markers"
        for trial, x, y in zip(trace["customdata"], trace["x"], trace["y"], strict=True)
    }
    assert set(shown) == set(run.trials.values_list("pk", flat=True))
    assert {trial: x for trial, (x, _) in shown.items()} == pytest.approx(tps)
    by_trial = {r.trial_id: r.value for point in latency.points for r in point.values}
    ratios = {round(by_trial[trial] / y, 6) for trial, (_, y) in shown.items()}
    assert len(ratios) == 1  # one unit for all


def test_only_throughput_has_a_latency_beside_it(run: models.Run) -> None:
    assert AGAINST in possible_views(compare(Selection((run.pk,))))
    assert AGAINST not in possible_views(
        compare(Selection((run.pk,), metric=latency_beside(compare(Selection((run.pk,))))))
    )


def test_the_page_and_the_files_have_it(run: models.Run, settings: Any) -> None:
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    }
    page = Client().get(f"/compare/?run={run.pk}&view=latency").content.decode()
    assert "right and low is better" in page and "against latency" in page
    svg = APIClient().get(f"/api/v1/comparison.svg?run={run.pk}&view=latency")
    assert b"Transactions per second against latency, over clients" in svg.content
    assert f"latency-run-{run.pk}.svg" in svg["Content-Disposition"]
