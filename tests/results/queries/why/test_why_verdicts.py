"""Each quantity of two cells has the verdict that a comparison of it gives for them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from results import models
from results.domain.statistics.metric_changes import MetricChange
from results.domain.statistics.verdict import Kind
from results.queries.comparison.compare import Comparison, Point, compare
from results.queries.shared.selection import Selection
from results.queries.why.why import Why, why
from tests import factories
from tests.watched import watched_run

pytestmark = pytest.mark.django_db
FACTORS = {"installation": ["16", "18"], "clients": [1, 2, 4, 8], "script": ["select-only", "tpcb-like"]}
CLIENTS = {"installation": ["16", "18"], "clients": [1, 2, 4, 8]}
COMPARED = (
    "ratio",
    "low",
    "high",
    "p",
    "adjusted",
    "n",
    "n_base",
    "pairs",
    "detectable",
    "more",
    "runs",
    "earlier",
    "looks",
)
TOTALS = {"wal": "wal.bytes", "blocks.hit": "blocks.hit"}


def noisy_run(seed: int = 1, **changes: Any) -> models.Run:
    """A run of two versions whose numbers all spread by two percent."""
    run = watched_run(**{"factors": FACTORS, "replicates": 3} | changes)
    chance = random.Random(seed)
    numbers = list(models.Measurement.objects.filter(run=run).order_by("pk"))
    for number in numbers:
        number.value *= chance.gauss(1, 0.02)
    models.Measurement.objects.bulk_update(numbers, ["value"], batch_size=1000)
    return run


def cells(comparison: Comparison) -> Iterator[tuple[Point, Point]]:
    points = {point.key: point for point in comparison.points}
    for point in comparison.points:
        if point.base in points and point.base != point.key:
            yield points[point.base], point


def cell_of(comparison: Comparison, one: MetricChange, key: tuple[str, str, str], **changes: Any) -> Point:
    """What a comparison of the metric says of the same cell."""
    chosen = replace(comparison.selection, metric=one.name, node=one.node, label=one.part, per="")
    return next(point for point in compare(replace(chosen, **changes)).points if point.key == key)


def assert_alike(one: MetricChange, cell: Point) -> None:
    verdict = cell.verdict
    assert verdict is not None
    assert (one.verdict.kind, one.verdict.words) == (verdict.kind, verdict.words), one.name
    for name in COMPARED:
        own, other = getattr(one.verdict, name), getattr(verdict, name)
        assert own == (other if other is None else pytest.approx(other, rel=1e-9)), (one.name, name)
    assert sorted(value.value for value in one.other) == pytest.approx(sorted(value.value for value in cell.values))
    assert [value.trial_id for value in one.other] == [value.trial_id for value in cell.values]


def assert_one_answer(comparison: Comparison) -> list[Why]:
    answers = [why(comparison, base, other) for base, other in cells(comparison)]
    for answer in answers:
        key = answer.other.point.key
        measured = [one for one in (*answer.movements, *answer.rest) if not one.formula]
        assert measured
        for one in measured:
            assert_alike(one, cell_of(comparison, one, key))
    return answers


def test_each_metric_of_each_cell_has_the_verdict_of_its_own_comparison() -> None:
    answers = assert_one_answer(compare(Selection((noisy_run().pk,), panel="script")))
    kinds = {one.verdict.kind for answer in answers for one in answer.rest}
    assert kinds >= {Kind.HIGHER, Kind.TOO_FEW}


def test_the_metric_of_the_comparison_is_among_them() -> None:
    comparison = compare(Selection((noisy_run().pk,), panel="script"))
    for base, other in cells(comparison):
        (own,) = [one for one in why(comparison, base, other).rest if one.name == comparison.metric.name]
        assert own.verdict == other.verdict


def test_what_a_transaction_costs_has_the_verdict_of_the_comparison_per_transaction() -> None:
    comparison = compare(Selection((noisy_run().pk,), panel="script"))
    for base, other in cells(comparison):
        costs = {one.name: one for one in why(comparison, base, other).movements if one.formula}
        for name, metric in TOTALS.items():
            cost = replace(costs[name], name=metric)
            assert_alike(cost, cell_of(comparison, cost, other.key, per="transaction"))


def test_a_cost_that_no_comparison_shows_is_judged_among_all_configurations() -> None:
    """CPU per transaction of two configurations borrows the noise of the others, and pays for them."""
    run = noisy_run(factors=CLIENTS, replicates=5)
    base, other = next(cells(compare(Selection((run.pk,)))))
    whole = why(compare(Selection((run.pk,))), base, other)
    models.Trial.objects.filter(run=run).exclude(configuration__dimensions__clients=int(other.x)).update(state="failed")
    alone = why(compare(Selection((run.pk,))), base, other)
    of_whole, of_alone = (next(one for one in answer.movements if one.name == "cpu") for answer in (whole, alone))
    assert of_whole.ratio == pytest.approx(of_alone.ratio)
    assert of_whole.verdict.detectable != of_alone.verdict.detectable
    assert of_alone.verdict.p == of_alone.verdict.adjusted


def test_filters_and_panels_change_no_verdict_of_any_quantity() -> None:
    run = noisy_run()
    whole = compare(Selection((run.pk,), panel="script"))
    part = compare(Selection((run.pk,), filters={"script": ("tpcb-like",), "clients": ("2", "8")}))
    of_cells = {frozenset(answer.other.trials): answer for answer in (why(whole, *pair) for pair in cells(whole))}
    answers = [why(part, *pair) for pair in cells(part)]
    assert len(answers) == 2
    for answer in answers:
        same = of_cells[frozenset(answer.other.trials)]
        assert (answer.movements, answer.rest) == (same.movements, same.rest)


def test_one_cell_as_the_baseline_is_that_of_every_quantity() -> None:
    run = noisy_run(factors=CLIENTS)
    assert_one_answer(compare(Selection((run.pk,), baseline="postgresql-16.9 at 1")))


def test_a_mixture_is_one_of_every_quantity() -> None:
    run = noisy_run()
    both = {"script": ("select-only", "tpcb-like")}
    comparison = compare(Selection((run.pk,), filters=both))
    assert comparison.mixed == ("script",)
    assert_one_answer(comparison)


def test_across_runs_every_quantity_says_how_far_runs_lie_apart() -> None:
    plan = {"factors": {"clients": [1, 4]}, "installation": "16"}
    stored = factories.stored_plan(**plan)
    runs = [noisy_run(seed, stored=stored, **plan) for seed in range(6)]
    comparison = compare(Selection((runs[0].pk, runs[1].pk), series="run"))
    answers = assert_one_answer(comparison)
    assert {one.verdict.runs for answer in answers for one in answer.rest} == {4}


def test_earlier_runs_say_of_every_quantity_how_much_it_varies() -> None:
    stored = factories.stored_plan(factors=CLIENTS, replicates=3)
    runs = [noisy_run(seed, stored=stored, factors=CLIENTS, replicates=3) for seed in range(5)]
    answers = assert_one_answer(compare(Selection((runs[-1].pk,))))
    assert any(one.verdict.earlier for answer in answers for one in answer.rest)


def test_a_saved_reference_is_the_baseline_of_every_quantity() -> None:
    saved, run = noisy_run(1, factors=CLIENTS), noisy_run(2, factors=CLIENTS)
    citation = factories.citation(saved)
    models.Reference.objects.create(name="before", snapshot=citation, series="postgresql-16.9")
    assert_one_answer(compare(Selection((run.pk,), baseline="@before")))


def test_cells_of_the_same_trials_differ_in_nothing_else() -> None:
    run = noisy_run(factors=CLIENTS)
    comparison = compare(Selection((run.pk,), x="clients", series="label", metric="waits", node="primary"))
    base, other = next(cells(comparison))
    assert [value.trial_id for value in base.values] == [value.trial_id for value in other.values]
    result = why(comparison, base, other)
    assert (result.movements, result.rest) == ((), ())


def test_more_metrics_or_configurations_are_no_more_queries(django_assert_num_queries: Any) -> None:
    for run in (watched_run(3), noisy_run()):
        comparison = compare(Selection((run.pk,), panel="script" if run.factors[1:] else ""))
        with django_assert_num_queries(10):
            why(comparison, *next(cells(comparison)))
