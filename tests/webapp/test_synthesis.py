"""Made-up warehouses: as measured ones are stored, and never beside these."""

from __future__ import annotations

from dataclasses import dataclass, replace
from io import StringIO
from statistics import median
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.test import Client
from django.utils import timezone

from results import ingest, models, sql
from results.domain.environment.layers import Layer, LayerKind, environment_hash
from results.domain.errors import StateError
from results.domain.measurement.histogram import HeatMap, Histogram
from results.domain.measurement.parsed_trial import Document, Latencies, LayerUse, Measurement
from results.domain.measurement.series import Series
from results.synthesis import writing
from results.synthesis.shapes import SHAPES
from results.synthesis.writing import Made, Size, synthesize
from tests import factories
from workers.registry import kinds

pytestmark = pytest.mark.django_db
SIZE = Size(900, detailed=0.5)  # a run of each plan
_DEVIATIONS = """
SELECT configuration.run_id, stddev(ln(measurement.value))::float8 AS sd
FROM results_trial AS trial
JOIN results_configuration AS configuration ON configuration.id = trial.configuration_id
JOIN results_measurement AS measurement
    ON measurement.attempt_id = trial.attempt_id AND measurement.metric_id = 'tps' AND measurement.label = ''
GROUP BY configuration.run_id, configuration.id
HAVING count(*) > 4
"""


@dataclass(frozen=True)
class Deviation:
    """Of the replicates of one configuration: standard deviation of the logarithm."""

    run_id: int
    sd: float


@pytest.fixture
def made(settings: Any) -> Made:
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = settings.STORAGES | {"staticfiles": plain}
    return synthesize(SIZE, kinds(), timezone.now())


def test_trials_are_stored_as_measured_ones_are(made: Made) -> None:
    assert made.trials == models.Trial.objects.count() == models.Attempt.objects.count()
    assert made.runs == models.Run.objects.count() == len(SHAPES)
    assert made.measurements == models.Measurement.objects.count()
    assert {run.workload for run in models.Run.objects.all()} == {shape.workload for shape in SHAPES}
    failed = models.Trial.objects.filter(state="failed")
    assert 0 < failed.count() < made.trials / 20
    assert not failed.exclude(attempt=None).exists()
    assert not failed.filter(error=None).exists()
    for trial in models.Trial.objects.filter(state="done").select_related("attempt")[:50]:
        assert trial.attempt is not None
        assert (trial.attempt.trial_id, trial.attempt.run_id) == (trial.pk, trial.run_id)
        uses = models.LayerUse.objects.filter(attempt=trial.attempt).values_list("node", "layer_id")
        assert trial.attempt.environment == environment_hash(uses)
    assert 0.3 * made.trials < models.Histogram.objects.count() < 0.7 * made.trials
    assert models.Series.objects.count() == 3 * models.Histogram.objects.count()
    for row in models.Series.objects.all()[:20]:
        assert (len(row.values), row.step_s) == (60, 1)
    for histogram in models.Histogram.objects.all()[:20]:
        assert list(histogram.latencies_us) == sorted(set(histogram.latencies_us))
    deviations = sql.rows(Deviation, _DEVIATIONS)
    assert deviations
    assert 0.005 < median(one.sd for one in deviations) < 0.02


def test_rows_are_those_that_ingest_would_store(made: Made) -> None:
    histogram = models.Histogram.objects.filter(run__workload="capabilities").latest("attempt_id")
    attempt = histogram.attempt
    latencies = Latencies(
        histogram.node,
        histogram.label,
        Histogram(tuple(histogram.latencies_us), tuple(histogram.counts)),
        HeatMap(tuple(histogram.heat_seconds), tuple(histogram.heat_buckets), tuple(histogram.heat_counts)),
    )
    series = models.Series.objects.filter(attempt=attempt).order_by("-name")
    uses = models.LayerUse.objects.filter(attempt=attempt).select_related("layer").order_by("pk")
    documents = models.Document.objects.filter(attempt=attempt).order_by("pk")
    parsed = replace(
        factories.parsed(attempt.trial, 1, 1.0),
        measurements=tuple(
            Measurement(one.metric_id, one.value, one.node, one.label)
            for one in models.Measurement.objects.filter(attempt=attempt).order_by("pk")
        ),
        series=tuple(Series(one.name, one.node, one.unit, 0, 1, tuple(one.values), one.label) for one in series),
        latencies=(latencies,),
        layers=tuple(LayerUse(one.node, Layer(LayerKind(one.layer.kind), one.layer.content)) for one in uses),
        documents=tuple(Document(one.kind, one.label, one.content, one.node) for one in documents),
    )
    made_up = _rows(attempt)
    for table in _TABLES:
        sql.execute(f"DELETE FROM results_{table} WHERE attempt_id = {attempt.pk}")
    ingest.copy_tables([(attempt.run_id, attempt.pk, parsed)])
    assert _rows(attempt) == made_up


_TABLES = ("packedhistogram", "seriesgroup", "document", "attemptvalues")


def _rows(attempt: models.Attempt) -> dict[str, list[Any]]:
    """Return the rows of an attempt as text, without ids of their own."""
    rows = {}
    with connection.cursor() as cursor:
        for table in _TABLES:
            cursor.execute(
                f"SELECT (to_jsonb(one) - 'id')::text FROM results_{table} AS one"
                f" WHERE attempt_id = {attempt.pk} ORDER BY 1"
            )
            rows[table] = cursor.fetchall()
    return rows


def test_what_is_stored_before_an_interruption_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "_AT_ONCE", 1)

    def interrupt(trials: int) -> None:
        if models.Run.objects.count() == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        synthesize(SIZE, kinds(), timezone.now(), interrupt)
    assert models.Run.objects.count() == 2
    attempts = models.Attempt.objects.count()
    assert models.Trial.objects.count() == models.AttemptValues.objects.count() == attempts
    trial = factories.finished_run().trials.earliest("pk")
    assert trial.pk == models.Trial.objects.filter(run__name__startswith="made up").latest("pk").pk + 1


def test_pages_and_verdicts_are_made_of_them(made: Made, client: Client) -> None:
    run = models.Run.objects.filter(name="made up 2: pgbench").latest("pk")
    trial = run.trials.filter(state="done").latest("pk")
    for path in (
        *(f"/runs/{run.pk}/", f"/trials/{trial.pk}/", f"/trends/?workload={run.workload}", "/versions/"),
        *("/capabilities/", "/access-methods/", "/topologies/", f"/compare/?run={run.pk}"),
    ):
        assert client.get(path).status_code == 200, path
    versions = client.get("/api/v1/versions/").json()
    assert "pgbench" in {row["workload"] for row in versions["rows"]}
    comparison = client.get(f"/api/v1/comparison/?run={run.pk}")
    assert '"better"' in comparison.content.decode()  # 17 is 6 % faster than 14
    newest = factories.finished_run()
    assert newest.pk > run.pk
    assert newest.trials.earliest("pk").pk > trial.pk


def test_nothing_is_made_up_beside_measured_runs() -> None:
    run = factories.run()
    with pytest.raises(StateError, match="has runs"):
        synthesize(SIZE, kinds(), timezone.now())
    with pytest.raises(CommandError, match="has runs"):
        call_command("synthesize", trials=100)
    assert list(models.Run.objects.all()) == [run]


def test_the_command_says_what_it_made() -> None:
    output = StringIO()
    call_command("synthesize", trials=100, measured=3, detailed=0.0, stdout=output)
    trials, measurements = models.Trial.objects.count(), models.Measurement.objects.count()
    assert f"{trials:,} trials, {measurements:,} measurements" in output.getvalue()
    assert measurements == 3 * trials
    assert not models.Series.objects.exists()
