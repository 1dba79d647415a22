"""The checksum of an attempt's numbers: any bit of any of them changes it, and nothing else does."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from results import models
from results.ingest import numbers_hash
from tests import factories
from tests.environments import set_environment
from tests.series_rows import add_series, change_series, stored_series

pytestmark = pytest.mark.django_db


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
        (models.Histogram, {}, {"counts": [5, 90, 6]}),
        (models.Histogram, {}, {"heat_counts": [50, 51]}),
        (models.Document, {"kind": "plan"}, {"content": [{"Plan": {"Node Type": "Index Scan"}}]}),
    ],
)
def test_any_change_changes_it(attempt: models.Attempt, table: Any, rows: Any, change: Any) -> None:
    before = numbers_hash(attempt.pk)
    assert table.objects.filter(attempt=attempt, **rows).update(**change) == 1
    assert numbers_hash(attempt.pk) != before


@pytest.mark.parametrize(
    "change",
    [
        {"values": (40.0, 41.0, 42.0, 41.0, 40.000004)},
        {"start_s": 1.0},
        {"times_s": (0.0, 1.0, 2.0, 3.0, 4.0), "step_s": 0.0},
        {"unit": "1"},
    ],
)
def test_any_change_of_a_series_changes_it(attempt: models.Attempt, change: dict[str, Any]) -> None:
    before = numbers_hash(attempt.pk)
    assert change_series(lambda one: [replace(one, **change) if one.name == "cpu.user" else one], pk=attempt.pk)
    assert numbers_hash(attempt.pk) != before


@pytest.mark.parametrize("table", [models.Measurement, models.SeriesGroup, models.Histogram, models.Document])
def test_a_missing_row_changes_it(attempt: models.Attempt, table: Any) -> None:
    before = numbers_hash(attempt.pk)
    table.objects.filter(attempt=attempt).first().delete()
    assert numbers_hash(attempt.pk) != before


@pytest.mark.parametrize("change", [lambda node, layer: [("client", layer)], lambda node, layer: []])
def test_another_role_of_a_layer_and_a_missing_layer_change_it(attempt: models.Attempt, change: Any) -> None:
    before = numbers_hash(attempt.pk)
    first, *others = attempt.layer_uses.values_list("node", "layer_id")
    set_environment(attempt.pk, [*change(*first), *others])
    assert numbers_hash(attempt.pk) != before
    set_environment(attempt.pk, [first, *others])
    assert numbers_hash(attempt.pk) == before


def test_the_same_numbers_give_the_same_whatever_the_order_of_the_rows(attempt: models.Attempt) -> None:
    trial = factories.run(name="another").trials.select_related("configuration").first()
    assert trial is not None
    other = factories.finish(trial)
    first, *others = stored_series(other)
    models.SeriesGroup.objects.filter(attempt=other).delete()
    add_series(other, *others)
    add_series(other, first)
    assert numbers_hash(other.pk) == numbers_hash(attempt.pk)
    assert len(numbers_hash(other.pk)) == 64
