"""The checksum of an attempt's numbers: any bit of any of them changes it, and nothing else does."""

from __future__ import annotations

import math
from typing import Any

import pytest

from results import models
from results.ingest import numbers_hash
from tests import factories

pytestmark = pytest.mark.django_db
TABLES = [models.Measurement, models.Series, models.Histogram, models.Document, models.LayerUse]


@pytest.fixture
def attempt() -> models.Attempt:
    trial = factories.run().trials.select_related("configuration").first()
    assert trial is not None
    return factories.finish(trial)


@pytest.mark.parametrize(
    ("table", "rows", "change"),
    [
        (models.Measurement, {"metric_id": "tps"}, {"value": math.nextafter(1001.0, 2000)}),
        (models.Measurement, {"metric_id": "tps"}, {"node": "client"}),
        (models.Measurement, {"metric_id": "tps"}, {"label": "x"}),
        (models.Series, {"name": "cpu.user"}, {"values": [40, 41, 42, 41, 40.000004]}),
        (models.Series, {"name": "cpu.user"}, {"start_s": 1}),
        (models.Series, {"name": "cpu.user"}, {"times_s": [0, 1, 2, 3, 4]}),
        (models.Series, {"name": "cpu.user"}, {"unit": "1"}),
        (models.Histogram, {}, {"counts": [5, 90, 6]}),
        (models.Histogram, {}, {"heat_counts": [50, 51]}),
        (models.Document, {"kind": "plan"}, {"content": [{"Plan": {"Node Type": "Index Scan"}}]}),
        (models.LayerUse, {"layer__kind": "data"}, {"node": "client"}),
    ],
)
def test_any_change_changes_it(attempt: models.Attempt, table: Any, rows: Any, change: Any) -> None:
    before = numbers_hash(attempt.pk)
    assert table.objects.filter(attempt=attempt, **rows).update(**change) == 1
    assert numbers_hash(attempt.pk) != before


@pytest.mark.parametrize(
    "table", [models.Measurement, models.Series, models.Histogram, models.Document, models.LayerUse]
)
def test_a_missing_row_changes_it(attempt: models.Attempt, table: Any) -> None:
    before = numbers_hash(attempt.pk)
    table.objects.filter(attempt=attempt).first().delete()
    assert numbers_hash(attempt.pk) != before


def test_the_same_numbers_give_the_same_whatever_the_order_of_the_rows(attempt: models.Attempt) -> None:
    trial = factories.run(name="another").trials.select_related("configuration").first()
    assert trial is not None
    other = factories.finish(trial)
    first = models.Series.objects.filter(attempt=other).order_by("pk")[0]
    first.pk = models.Series.objects.order_by("-pk")[0].pk + 1
    models.Series.objects.filter(attempt=other, name=first.name).delete()
    first.save(force_insert=True)
    assert numbers_hash(other.pk) == numbers_hash(attempt.pk)
    assert len(numbers_hash(other.pk)) == 64
