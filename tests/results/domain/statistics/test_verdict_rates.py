"""What the rule claims, by simulation with known truth. Limits are those of the binomial distribution at 99.9 %."""

import math

import numpy as np
import pytest
from scipy import stats

from results.domain.statistics.verdict import Kind, judge
from tests.results.domain.statistics.questions import simulated

COUNT = 4000
DIFFERS = (Kind.BETTER, Kind.WORSE)
PAIRED, UNPAIRED = 1, 2


def alone(questions):
    """Of each question asked by itself, without correction, whether it is called different: the most lenient case."""
    margin = math.log1p(questions[0].minimum_effect)
    return np.array([v.p <= 0.05 and abs(math.log(v.ratio)) >= margin for v in judge(questions)])


def at_most(share, count=COUNT):
    return stats.binom.ppf(0.999, count, share) / count


def at_least(share, count=COUNT):
    return stats.binom.ppf(0.001, count, share) / count


def heavy(random, shape):
    """Student's t with 3 degrees of freedom, scaled to unit variance."""
    return random.standard_t(3, shape) / math.sqrt(3)


def spikes(random, shape):
    """One value in twenty slower by eight standard deviations."""
    return random.normal(0, 1, shape) - 8 * (random.random(shape) < 0.05)


def test_a_question_by_itself_is_what_the_shorthand_says():
    questions = simulated(300, 5, cv=0.02, effect=0.03)
    assert [judge([each])[0].kind in DIFFERS for each in questions] == alone(questions).tolist()


@pytest.mark.parametrize("run", [PAIRED, UNPAIRED])
@pytest.mark.parametrize("cv", [0.01, 0.02, 0.04, 0.08])
@pytest.mark.parametrize("n", [3, 5, 10])
def test_a_against_a_is_called_different_in_at_most_5_of_100_cells(n, cv, run):
    assert alone(simulated(COUNT, n, cv=cv, run=run)).mean() <= at_most(0.05)


@pytest.mark.parametrize("n", [3, 5, 10])
def test_of_cells_asked_together_hardly_any_is_called_different(n):
    questions = simulated(COUNT, n, cv=0.08)
    families = [judge(questions[start : start + 20]) for start in range(0, COUNT, 20)]
    any_false = np.mean([any(v.kind in DIFFERS for v in family) for family in families])
    assert any_false <= at_most(0.05, len(families))


@pytest.mark.parametrize("n", [3, 5, 10])
@pytest.mark.parametrize(
    "rest", [{"block": 0.05}, {"noise": heavy}, {"noise": spikes}, {"noise": heavy, "block": 0.05}]
)
def test_neither_blocks_that_differ_nor_heavy_tails_nor_spikes_make_more_of_them(n, rest):
    for run in (PAIRED, UNPAIRED):
        assert alone(simulated(COUNT, n, cv=0.02, run=run, **rest)).mean() <= at_most(0.05)


@pytest.mark.parametrize("run", [PAIRED, UNPAIRED])
@pytest.mark.parametrize(("n", "power"), [(5, 0.80), (10, 0.99)])
def test_five_percent_in_noise_of_two_percent_is_found(n, power, run):
    assert alone(simulated(COUNT, n, cv=0.02, effect=0.05, run=run)).mean() >= at_least(power)


def test_three_replicates_find_it_in_a_third_of_cases():
    mean = alone(simulated(COUNT, 3, cv=0.02, effect=0.05)).mean()
    assert at_least(0.37) <= mean <= at_most(0.37)


def test_blocks_that_differ_cost_pairs_no_power():
    assert alone(simulated(COUNT, 5, cv=0.02, effect=0.05, block=0.05)).mean() >= at_least(0.80)


@pytest.mark.parametrize("run", [PAIRED, UNPAIRED])
@pytest.mark.parametrize("effect", [0.0, 0.05])
@pytest.mark.parametrize("cv", [0.01, 0.08])
@pytest.mark.parametrize("n", [3, 5, 10])
def test_the_interval_covers_the_truth_in_93_to_97_of_100(n, cv, effect, run):
    verdicts = judge(simulated(COUNT, n, cv=cv, effect=effect, run=run))
    covered = np.mean([v.low <= 1 + effect <= v.high for v in verdicts])
    highest = 0.98 if run == UNPAIRED and n == 3 else 0.97  # Welch's degrees of freedom are cautious for three
    assert at_least(0.94) <= covered <= highest


@pytest.mark.parametrize("n", [3, 5, 10])
@pytest.mark.parametrize("run", [PAIRED, UNPAIRED])
def test_same_is_said_of_what_differs_by_the_margin_in_at_most_5_of_100(n, run):
    verdicts = judge(simulated(COUNT, n, cv=0.01, effect=0.02, run=run))
    assert np.mean([v.kind is Kind.SAME for v in verdicts]) <= at_most(0.05)


@pytest.mark.parametrize("cv", [0.01, 0.04])
@pytest.mark.parametrize("n", [3, 5, 10])
def test_a_difference_that_is_called_detectable_is_found_in_four_of_five_cases(n, cv):
    """The median of what the verdicts call detectable, taken as truth."""
    reported = float(np.median([v.detectable for v in judge(simulated(COUNT, n, cv=cv))]))
    assert alone(simulated(COUNT, n, cv=cv, effect=reported)).mean() == pytest.approx(0.8, abs=0.04)


def test_as_many_more_as_are_asked_for_tell_that_there_is_no_difference():
    """From five replicates in noise of 2 %: the median of `more`, added, shows equals as the same in four of five
    cases, which the five did not."""
    questions = simulated(COUNT, 5, cv=0.02, minimum_effect=0.03)
    more = float(np.median([v.more or 1000 for v in judge(questions) if v.kind is Kind.TOO_FEW]))

    def same(n):
        verdicts = judge(simulated(COUNT, n, cv=0.02, minimum_effect=0.03))
        return np.mean([verdict.kind is Kind.SAME for verdict in verdicts])

    assert same(5 + round(more)) >= 0.8 > 0.5 > same(5)
