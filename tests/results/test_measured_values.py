"""The values of an attempt are one row, and are read one by one as they were measured."""

from __future__ import annotations

import time
from threading import Thread

import pytest
from django.db import IntegrityError, connection, connections, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from results import models, removal
from results.measured_values import Key, store_values
from tests import factories
from tests.databases import somebody_waits

pytestmark = pytest.mark.django_db
TPS: Key = ("tps", "", "")
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
KEYS = st.tuples(
    st.sampled_from(["tps", "latency.p99"]), st.sampled_from(["", "primary"]), st.text("ab:é ", max_size=9)
)


@pytest.fixture
def attempt() -> models.Attempt:
    trial = factories.run().trials.select_related("configuration").first()
    assert trial is not None
    attempt = factories.finish(trial)
    models.AttemptValues.objects.filter(attempt=attempt).delete()
    return attempt


def stored(attempt: models.Attempt) -> list[tuple[Key, float]]:
    rows = models.Measurement.objects.filter(attempt=attempt).order_by("id")
    return [(row[:3], row[3]) for row in rows.values_list("metric_id", "node", "label", "value")]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(KEYS, NUMBERS, max_size=12))
def test_values_are_read_to_the_last_bit_in_the_order_in_which_they_came(
    attempt: models.Attempt, values: dict[Key, float]
) -> None:
    models.AttemptValues.objects.filter(attempt=attempt).delete()
    store_values([(attempt.run_id, attempt.pk, values)])
    read = stored(attempt)
    assert [(key, value.hex()) for key, value in read] == [(key, value.hex()) for key, value in values.items()]
    ids = list(models.Measurement.objects.filter(attempt=attempt).order_by("id").values_list("id", flat=True))
    assert ids == [1_000_000 * attempt.pk + place for place in range(1, len(values) + 1)]


def test_a_measure_is_stored_once_for_all_attempts(attempt: models.Attempt) -> None:
    other = factories.finish(models.Trial.objects.filter(state="waiting").select_related("configuration")[0])
    models.AttemptValues.objects.filter(attempt=other).delete()
    before = models.Measure.objects.count()
    new: Key = ("tps", "client", "a script of its own")
    store_values([(attempt.run_id, attempt.pk, {TPS: 1.0, new: 2.0})])
    store_values([(other.run_id, other.pk, {new: 3.0, TPS: 4.0})])
    assert models.Measure.objects.count() == before + 1
    assert (stored(attempt), stored(other)) == ([(TPS, 1.0), (new, 2.0)], [(new, 3.0), (TPS, 4.0)])


def test_an_attempt_without_values_has_no_row(attempt: models.Attempt) -> None:
    store_values([(attempt.run_id, attempt.pk, {})])
    assert not models.AttemptValues.objects.filter(attempt=attempt).exists()
    assert stored(attempt) == []


def test_a_row_has_a_measure_for_each_value(attempt: models.Attempt) -> None:
    with pytest.raises(IntegrityError, match="one_measure_a_value"), transaction.atomic():
        models.AttemptValues.objects.create(run_id=attempt.run_id, attempt=attempt, measures=[1, 2], values=[1.0])


@pytest.mark.django_db(transaction=True)
def test_two_who_store_the_same_new_measures_at_once_name_the_same() -> None:
    attempts = list(factories.finished_run().trials.order_by("pk").values_list("run_id", "attempt_id")[:2])
    models.AttemptValues.objects.filter(attempt_id__in=[attempt_id for _, attempt_id in attempts]).delete()
    labels = [f"label {n}" for n in range(40)]
    first, second = ({("tps", "", label): 1.0 for label in some} for some in (labels, reversed(labels)))

    def store_second() -> None:
        try:
            with transaction.atomic():
                store_values([(*attempts[1], second)])
        finally:
            connections.close_all()

    thread = Thread(target=store_second)
    with transaction.atomic():
        store_values([(*attempts[0], first)])
        thread.start()
        while thread.is_alive() and not somebody_waits():
            time.sleep(0.01)
        assert thread.is_alive()
    thread.join()
    assert models.Measure.objects.filter(label__in=labels).count() == 40
    rows = models.AttemptValues.objects.filter(attempt_id__in=[attempt_id for _, attempt_id in attempts])
    one, other = rows.values_list("measures", flat=True)
    assert sorted(one) == sorted(other) and len(one) == 40


@pytest.mark.django_db(transaction=True)
def test_a_metric_whose_value_is_being_stored_is_not_forgotten() -> None:
    run_id, attempt_id = factories.finished_run().trials.values_list("run_id", "attempt_id")[0]
    models.Metric.objects.create(name="own.x", unit="s", better="lower", label="x", minimum_effect=0.02)
    models.Measure.objects.create(metric_id="own.x", node="", label="")
    models.AttemptValues.objects.filter(attempt_id=attempt_id).delete()

    def forget() -> None:
        try:
            with transaction.atomic():
                removal._forget_metrics(["own.x"])
        finally:
            connections.close_all()

    with transaction.atomic():
        store_values([(run_id, attempt_id, {("own.x", "", ""): 5.0})])
        thread = Thread(target=forget)
        thread.start()
        thread.join()
    assert models.Measurement.objects.get(attempt_id=attempt_id).value == 5.0
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM results_attemptvalues WHERE attempt_id = %s", [attempt_id])
    with transaction.atomic():
        removal._forget_metrics(["own.x"])
    assert not models.Metric.objects.filter(name="own.x").exists()
    assert not models.Measure.objects.filter(metric="own.x").exists()
