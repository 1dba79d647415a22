"""How far runs lie apart, of runs with a known level."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from results.domain.measurement.metrics import Better
from results.domain.statistics.difference import RunMean
from results.domain.statistics.run_levels import levels, run_mean
from results.domain.statistics.verdict import Kind, Question, Sample, Verdict, judge

FAMILIES = 150
CELLS = 8


def sample(logarithms: Sequence[float], run: int, others: Sequence[RunMean] = (), part: tuple[str, ...] = ()) -> Sample:
    values = tuple(float(value) for value in np.exp(logarithms))
    return Sample(values, tuple((run, block) for block in range(len(values))), part, tuple(others))


def means(*logarithms: float, first: int = 10, count: int = 3) -> tuple[RunMean, ...]:
    return tuple(RunMean(first + number, value, count) for number, value in enumerate(logarithms))


def verdict(base: Sample, other: Sample) -> Verdict:
    return judge([Question(base, other, Better.HIGHER, 0.02)])[0]


def test_a_mean_is_that_of_the_logarithms() -> None:
    assert run_mean(7, (1.0, math.e**2)) == RunMean(7, 1.0, 2)


def test_the_variance_of_runs_of_one_configuration_is_that_of_the_others_alone() -> None:
    others = means(0.1, 0.2, 0.3)
    known = levels(sample([0.0] * 3, 1, others), sample([9.0] * 3, 2, others))
    assert known.variance == pytest.approx(0.01)
    assert (known.freedom, known.runs, known.share, known.noise) == (2, 3, 2, pytest.approx(1 / 3))


def test_of_two_configurations_each_sides_own_run_counts_and_a_run_of_both_once() -> None:
    base = sample([0.0] * 3, 1, means(0.2, 0.4))
    other = sample([5.0] * 3, 2, means(5.2, 5.4))
    known = levels(base, other)
    assert known.variance == pytest.approx(0.04)
    assert (known.freedom, known.runs) == (2, 4)
    apart = levels(base, sample([5.0] * 3, 2, means(5.2, 5.4, first=20)))
    assert (apart.variance, apart.freedom, apart.runs) == (pytest.approx(0.04), 4, 6)


def test_several_runs_of_a_side_say_it_themselves() -> None:
    keys = tuple((run, block) for run in range(4) for block in range(2))
    earlier = Sample(tuple(math.exp(0.1 * run) for run, _ in keys), keys)
    known = levels(earlier, sample([0.0, 0.0], 9))
    assert known.variance == pytest.approx(np.var([0.0, 0.1, 0.2, 0.3], ddof=1))
    assert (known.freedom, known.share, known.noise) == (3, 1.25, 0.5)


def test_other_runs_widen_the_interval_by_what_noise_does_not_explain() -> None:
    noise = np.array([-0.01, 0.0, 0.01])
    alone = verdict(sample(noise, 1), sample(noise + 0.05, 2))
    assert (alone.kind, alone.runs, alone.words) == (Kind.BETTER, 0, "better in these runs")
    others = means(0.00, 0.08, 0.16)
    known = verdict(sample(noise, 1, others), sample(noise + 0.05, 2, others))
    assert (known.kind, known.runs, known.across_runs, known.more) == (Kind.TOO_FEW, 3, True, None)
    assert known.ratio == alone.ratio
    error = math.sqrt(2 * 0.0001 / 3 + 2 * (0.0064 - 0.0001 / 3))
    assert known.high == pytest.approx(math.exp(0.05 + stats.t.ppf(0.975, 0.75 * 2) * error))
    alike = means(*[0.001 * number for number in range(9)])
    assert verdict(sample(noise, 1, alike), sample(noise + 0.05, 2, alike)).words == "better"


def test_two_other_runs_of_a_plan_are_too_few() -> None:
    noise = np.array([-0.01, 0.0, 0.01])
    others = means(0.0, 0.01)
    assert verdict(sample(noise, 1, others), sample(noise + 0.05, 2, others)).of_these_runs


def test_a_shared_run_needs_no_other() -> None:
    noise = np.array([-0.01, 0.0, 0.01])
    others = means(0.0, 0.3, 0.9)
    within = verdict(sample(noise, 1, others), sample(noise + 0.05, 1, others))
    assert (within.runs, within.across_runs) == (0, False)
    assert within == verdict(sample(noise, 1), sample(noise + 0.05, 1))


def test_the_level_of_a_run_is_common_to_the_configurations_of_a_mixture() -> None:
    noise = np.array([-0.01, 0.0, 0.01])
    others = means(0.00, 0.08, 0.16)
    pair = (sample(noise, 1, others), sample(noise + 0.05, 2, others))
    one = Question(*pair, Better.HIGHER, 0.02)
    four = Question(*pair, Better.HIGHER, 0.02, strata=(pair,) * 4)
    [single], [mixture] = judge([one]), judge([], beside=[four])
    assert single.high and mixture.high and mixture.ratio == pytest.approx(single.ratio)
    assert mixture.high > math.exp(0.05 + 0.98 * (math.log(single.high) - 0.05)), "four cells of two runs are no surer"


@pytest.mark.parametrize("earlier", [3, 10])
def test_equal_runs_with_levels_of_their_own_are_called_different_in_at_most_5_percent(earlier: int) -> None:
    random = np.random.default_rng([20, earlier])
    differs, without = [], []
    for _ in range(FAMILIES):
        level = 0.02 * random.normal(0, 1, (earlier + 2, 1, 1))
        runs = level + 0.02 * random.normal(0, 1, (earlier + 2, CELLS, 5))
        *others, before, last = runs
        questions = []
        for cell in range(CELLS):
            beside = [run_mean(10 + number, np.exp(run[cell]).tolist()) for number, run in enumerate(others)]
            questions.append((sample(before[cell], 1, beside), sample(last[cell], 2, beside)))
        differs += _called(questions)
        bare = [(Sample(a.values, a.keys), Sample(b.values, b.keys)) for a, b in questions]
        without += _called(bare)
    assert np.mean(without) > 0.15
    assert np.mean(differs) <= 0.05


def _called(pairs: Sequence[tuple[Sample, Sample]]) -> list[bool]:
    verdicts = judge([Question(base, other, Better.HIGHER, 0.02) for base, other in pairs])
    return [one.kind in (Kind.BETTER, Kind.WORSE) for one in verdicts]
