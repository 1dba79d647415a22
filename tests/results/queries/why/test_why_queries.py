"""Everything that the trials of two cells measured."""

from __future__ import annotations

from statistics import median
from typing import Any

import pytest

from results import models
from results.domain.environment.layers import Layer, LayerKind
from results.domain.measurement.histogram import Histogram
from results.domain.statistics.metric_changes import State
from results.queries.comparison.compare import Comparison, compare
from results.queries.shared.selection import Selection
from results.queries.why.why import Why, why
from tests import factories
from tests.environments import replace_layers
from tests.watched import PROCESSORS, SECONDS, measured, watched_run

pytestmark = pytest.mark.django_db


def cells(run: models.Run) -> tuple[Comparison, Why]:
    """18 against 16 at one client."""
    comparison = compare(Selection((run.pk,)))
    by_key = {point.key: point for point in comparison.points}
    other = by_key["", "1", "postgresql-18.1"]
    assert other.base is not None
    return comparison, why(comparison, by_key[other.base], other)


def test_ten_queries_whatever_the_number_of_trials(django_assert_num_queries: Any) -> None:
    for replicates in (2, 9):
        comparison = compare(Selection((watched_run(replicates).pk,)))
        with django_assert_num_queries(10):
            result = why(comparison, comparison.points[0], comparison.points[2])
        assert len(result.base.trials) == len(result.other.trials) == replicates


def test_costs_are_those_of_the_stored_numbers() -> None:
    run = watched_run()
    _, result = cells(run)
    cost = {one.name: one for one in result.movements}
    expected: dict[bool, list[float]] = {False: [], True: []}
    for trial in run.trials.filter(configuration__dimensions__clients=1).select_related("configuration"):
        values = {metric: value for metric, _, label, value in measured(trial) if not label}
        busy_us = values["cpu.busy"] / 100 * PROCESSORS * SECONDS * 1e6
        expected[trial.configuration.dimensions["major"] == "18"].append(busy_us / values["transactions"])
    assert cost["cpu"].base_median == pytest.approx(median(expected[False]))
    assert cost["cpu"].other_median == pytest.approx(median(expected[True]))
    assert cost["cpu"].ratio == pytest.approx(16 / 18, rel=1e-3)
    states = {name: cost[name].state for name in ("cpu", "wal", "blocks.hit", "blocks.read")}
    assert states == {"cpu": State.MOVED, "wal": State.MOVED, "blocks.hit": State.SAME, "blocks.read": State.NONE}


def test_every_value_leads_to_its_own_trial() -> None:
    run = watched_run(2)
    _, result = cells(run)
    wal = next(one for one in result.movements if one.name == "wal")
    for value in (*wal.base, *wal.other):
        trial = run.trials.select_related("configuration").get(pk=value.trial_id)
        values = {metric: number for metric, _, label, number in measured(trial) if not label}
        assert value.value == pytest.approx(values["wal.bytes"] / values["transactions"])


def test_latencies_of_all_trials_are_one_histogram() -> None:
    _, result = cells(watched_run(3))
    assert result.base.latencies == Histogram((400, 500, 900), (15, 270, 15))
    assert result.base.with_latencies == result.base.trials


def test_series_plans_and_settings_are_there_for_both() -> None:
    run = watched_run(2)
    attempt = run.trials.filter(configuration__dimensions__major="18").order_by("block")[0].attempt
    settings = Layer(LayerKind.SETTINGS, {"shared_buffers": "1GB"})
    attempts = models.Attempt.objects.filter(trial__configuration=attempt.trial.configuration)
    replace_layers(attempts, settings=("primary", settings))
    comparison = compare(Selection((run.pk,)))
    other = next(point for point in comparison.points if point.values[0].trial_id == attempt.trial_id)
    base = next(point for point in comparison.points if point.key == other.base)
    result = why(comparison, base, other)
    ((node, (difference,)),) = result.settings
    assert (node, difference.key, difference.left, difference.right) == ("primary", "shared_buffers", "128MB", "1GB")
    (plan,) = result.plans
    assert next(pair.left.title for pair in plan.pairs if pair.left) == "Hash Join"
    assert [sorted(pair.differs) for pair in plan.pairs] == [["node"], [], [], []]
    assert (plan.base.attempt.trial_id, plan.other.attempt.trial_id) == (result.base.trials[0], result.other.trials[0])
    assert [len(series) for _, series in result.base.series] == [1, 1]


def test_what_was_not_gathered_is_said_once_with_its_trials() -> None:
    _, result = cells(watched_run(2))
    (gap,) = result.base.gaps("sar")
    assert (gap.node, gap.reason, gap.trials) == ("client", "sar is not installed", result.base.trials)
    assert result.base.gaps("pg_stat") == ()


def test_cells_with_next_to_nothing_in_them_are_laid_over_too() -> None:
    run = factories.run(replicates=1)
    for trial in run.trials.select_related("configuration"):
        factories.finish(trial)
    models.Measurement.objects.filter(run=run).exclude(metric="tps").delete()
    models.SeriesGroup.objects.filter(run=run).delete()
    models.Histogram.objects.filter(run=run).delete()
    models.Document.objects.filter(run=run).delete()
    _, result = cells(run)
    assert (result.movements, result.plans, result.base.latencies) == ((), (), None)
    assert [one.state for one in result.rest] == [State.OPEN]
