"""How many more blocks a comparison's open cells ask for."""

from __future__ import annotations

from typing import Any

import pytest

from results import models
from results.domain.statistics.looks import look_level
from results.domain.statistics.power import replicates_to_tell
from results.domain.statistics.verdict import Kind
from results.queries.comparison.compare import Comparison, compare
from results.queries.comparison.more_replicates import by_noise
from results.queries.shared.selection import Selection
from tests import factories

pytestmark = pytest.mark.django_db
EFFECT = 0.02  # of tps


def wavering() -> models.Run:
    run = factories.run(replicates=3)
    factories.finish_noisily(run, 0.1)
    return run


def more_needed(comparison: Comparison) -> list[int | None]:
    return [p.verdict.more for p in comparison.points if p.verdict and p.verdict.kind is Kind.TOO_FEW]


def test_the_noise_of_the_agents_aa_run_says_how_many_more() -> None:
    aa_run, run = factories.aa_run(0.02), wavering()
    comparison, noise = by_noise(compare(Selection((run.pk,))))
    (one,) = noise
    assert comparison.family == 2
    needed = replicates_to_tell(one.spread, EFFECT, look_level((3,), 6), 2)
    assert needed is not None
    undecided = [point for point in comparison.points if point.verdict and point.verdict.kind is Kind.TOO_FEW]
    assert undecided and more_needed(comparison) == [needed - 3] * len(undecided)
    assert (one.run_id, one.aa_run_id) == (run.pk, aa_run.pk)
    assert sorted(row.spread for row in models.Noise.objects.filter(metric="tps"))[0] <= one.spread


def test_noise_that_no_plan_can_overcome_leaves_no_number() -> None:
    aa_run, run = factories.aa_run(0.3), wavering()
    plain = compare(Selection((run.pk,)))
    comparison, (one,) = by_noise(plain)
    assert (one.aa_run_id, replicates_to_tell(one.spread, EFFECT, 0.01, 2)) == (aa_run.pk, None)
    assert any(more_needed(plain)) and not any(more_needed(comparison))


def test_where_that_asks_for_no_more_the_replicates_say_it() -> None:
    factories.aa_run(0.001)
    comparison = compare(Selection((wavering().pk,)))
    assert by_noise(comparison) == (comparison, ())


def test_without_an_aa_run_of_the_agents_the_replicates_say_it(django_assert_num_queries: Any) -> None:
    aa_run = factories.aa_run(0.02)
    for configuration in aa_run.configurations.all():
        configuration.spec["agents"] = {"primary": "db2"}
        configuration.save()
    comparison = compare(Selection((wavering().pk,)))
    with django_assert_num_queries(1):
        assert by_noise(comparison) == (comparison, ())


def test_values_per_transaction_spread_otherwise() -> None:
    factories.aa_run(0.02)
    run = wavering()
    models.Metric.objects.create(name="transactions", unit="1", better="higher", label="", minimum_effect=EFFECT)
    models.Measurement.objects.bulk_create(
        models.Measurement(run=run, attempt=trial.attempt, metric_id="transactions", node="", label="", value=1000)
        for trial in run.trials.select_related("attempt")
    )
    comparison = compare(Selection((run.pk,), per="transaction"))
    assert more_needed(comparison)
    assert by_noise(comparison) == (comparison, ())


def test_cells_that_are_decided_ask_nothing(django_assert_num_queries: Any) -> None:
    run = factories.run(replicates=5)
    factories.finish_noisily(run, 0.001)
    comparison = compare(Selection((run.pk,)))
    with django_assert_num_queries(0):
        assert by_noise(comparison) == (comparison, ())
