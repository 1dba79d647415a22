"""Series that share rows, histograms that are packed, and commands that share texts, are read as they were measured and
run."""

from __future__ import annotations

import math
import struct
from dataclasses import replace

import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from results import command_texts, ingest, models
from results.domain.measurement.parsed_trial import CommandRun
from results.domain.measurement.series import Series
from results.queries.runs.trials import series_of, trial_detail
from tests import factories
from tests.series_rows import add_series

pytestmark = pytest.mark.django_db
REALS = st.one_of(st.floats(width=32), st.sampled_from([0.0, -0.0, math.nan, math.inf, -math.inf]))
WHOLE = st.integers(0, 2**63 - 1)
SCRIPT = "".join(f"line {n} of a script that every attempt runs\n" for n in range(5))


@pytest.fixture
def attempt() -> models.Attempt:
    trial = factories.run().trials.select_related("configuration").first()
    assert trial is not None
    attempt = factories.finish(trial)
    models.SeriesGroup.objects.filter(attempt=attempt).delete()
    return attempt


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 5).flatmap(lambda count: st.lists(st.lists(REALS, min_size=count, max_size=count), max_size=4)))
def test_every_value_is_read_to_the_last_bit(attempt: models.Attempt, values: list[list[float]]) -> None:
    models.SeriesGroup.objects.filter(attempt=attempt).delete()
    series = [Series(f"s{n}", "primary", "%", -0.5, 1.0, tuple(some)) for n, some in enumerate(values)]
    add_series(attempt, *series)
    assert [bits(one.values) for one in series_of(attempt.run_id, attempt.pk)] == [bits(one.values) for one in series]


def test_one_series_is_read_of_those_that_share_its_times(attempt: models.Attempt) -> None:
    times = (0.25, 1.5, 7.125)
    some = [Series(name, "primary", "B", 0.25, 0.0, (n, 2.0, 3.0), times_s=times) for n, name in enumerate("abc")]
    longer = Series("b", "standby", "%", 0.0, 1.0, (1.0,) * 70_000, "x" * 300)
    add_series(attempt, *some, longer)
    assert models.SeriesGroup.objects.filter(attempt=attempt).count() == 2
    assert series_of(attempt.run_id, attempt.pk, ["b"]) == [some[1], replace(longer, label="x" * 200)]
    heads = [(one.name, one.length) for one in trial_detail(attempt.trial_id).series]
    assert heads == [("a", 3), ("b", 3), ("b", 70_000), ("c", 3)]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(WHOLE), st.lists(WHOLE), st.lists(st.integers(-(2**31), 2**31 - 1)))
def test_psql_shows_what_a_histogram_packs(
    attempt: models.Attempt, latencies_us: list[int], counts: list[int], seconds: list[int]
) -> None:
    models.Histogram.objects.filter(attempt=attempt).update(
        latencies_us=latencies_us, counts=counts, heat_seconds=seconds, heat_buckets=[], heat_counts=counts
    )
    own = "latencies_us, counts, heat_seconds, heat_buckets, heat_counts"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {own} FROM results_histogram WHERE attempt_id = %s", [attempt.pk])
        assert cursor.fetchall() == [(latencies_us, counts, seconds, [], counts)]
    [row] = models.Histogram.objects.filter(attempt=attempt).values_list(*own.split(", "))
    assert row == (latencies_us, counts, seconds, [], counts)


def test_commands_are_shown_as_they_ran_and_their_scripts_stored_once(attempt: models.Attempt) -> None:
    trial = models.Trial.objects.select_related("configuration", "run").get(pk=attempt.trial_id)
    parsed = factories.parsed(trial, attempt.number, 100.0)
    own = f"{parsed.trial_key.replace('/', '-')}-{parsed.attempt}"
    texts = [f"sh -s -- /work/jobs/{own} <<'INPUT'\n{SCRIPT}INPUT", f"sh -c '\n{SCRIPT}' 1", "psql -c 'SELECT 1'"]
    runs = tuple(CommandRun("primary", "load", text, 0, 0.5) for text in texts * 2)
    ingest.replace(replace(parsed, commands=runs), attempt.pk)
    assert [one["command"] for one in command_texts.whole(attempt.pk)] == texts * 2
    shown = trial_detail(trial.pk, attempt.number).attempt
    assert shown is not None
    assert [one["command"] for one in shown.commands] == texts * 2
    assert ingest.differences(replace(parsed, commands=runs), attempt.pk) == []
    assert models.CommandText.objects.filter(text__contains="line 3 of a script").count() == 2
    stored = models.Attempt.objects.get(pk=attempt.pk).commands
    assert "line 3" not in str(stored)
    assert stored[0]["command"][0] == f"sh -s -- /work/jobs/{own} <<'INPUT'\n"


def test_commands_that_were_stored_whole_are_read_as_before(attempt: models.Attempt) -> None:
    command = {"node": "primary", "phase": "load", "command": SCRIPT, "exit_status": None, "seconds": 0.1}
    models.Attempt.objects.filter(pk=attempt.pk).update(commands=[command])
    assert command_texts.whole(attempt.pk) == [command]
    models.Attempt.objects.filter(pk=attempt.pk).update(commands=[])
    assert command_texts.whole(attempt.pk) == []


def bits(values: tuple[float, ...]) -> bytes:
    """Return what is stored: one NaN, and one zero, as ever since series are stored."""
    return b"".join(struct.pack("<f", math.nan if value != value else value or 0.0) for value in values)


def test_the_layers_of_an_environment_stand_once_and_another_reading_gives_another_one(attempt: models.Attempt) -> None:
    other = factories.finish(models.Trial.objects.filter(run=attempt.run_id, state="waiting")[0])
    used = set(attempt.layer_uses.values_list("node", "layer_id"))
    assert models.EnvironmentLayer.objects.count() == len(used) > 1
    assert set(other.layer_uses.values_list("node", "layer_id")) == used
    parsed = factories.parsed(other.trial, 1, 1001.0)
    ingest.replace(replace(parsed, layers=parsed.layers[:1]), other.pk)
    layer = parsed.layers[0].layer
    assert list(other.layer_uses.values_list("node", "layer_id")) == [(parsed.layers[0].node, layer.hash)]
    assert set(attempt.layer_uses.values_list("node", "layer_id")) == used
    assert {one.table for one in ingest.differences(parsed, other.pk)} == {"layeruse"}
