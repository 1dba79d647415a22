import math

import numpy as np
import pytest
from scipy import stats

from results.domain.statistics.power import detectable, needed_to_tell, noncentrality, replicates_needed


def exact_power(effect, spread, n, paired):
    """Both tails, by the noncentral t distribution, of a difference of logarithms."""
    freedom = n - 1 if paired else 2 * n - 2
    shift = math.log1p(effect) / (spread * math.sqrt(2 / n))
    limit = stats.t.ppf(0.975, freedom)
    return stats.nct.sf(limit, freedom, shift) + stats.nct.cdf(-limit, freedom, shift)


def test_cohens_table():
    """Cohen (1988), table 2.4.1: 26 a group for d = 0.8 at 5 %, two-sided, 80 % power; 64 for d = 0.5."""
    assert replicates_needed(1.0, math.expm1(0.8), paired=False) == 26
    assert replicates_needed(1.0, math.expm1(0.5), paired=False) == 64


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize(("spread", "effect", "power"), [(0.02, 0.05, 0.8), (0.01, 0.02, 0.8), (0.05, 0.03, 0.95)])
def test_as_many_as_needed_have_the_power_and_one_fewer_does_not(spread, effect, power, paired):
    n = replicates_needed(spread, effect, power, paired)
    assert exact_power(effect, spread, n, paired) >= power - 1e-3
    assert exact_power(effect, spread, n - 1, paired) < power


@pytest.mark.parametrize("n", [3, 4, 5, 10, 100])
def test_what_is_detectable_is_detected_in_four_of_five_cases(n):
    assert exact_power(detectable(0.02, n), 0.02, n, True) == pytest.approx(0.8, abs=2e-3)


def test_two_replicates_show_nothing_and_a_thousand_may_be_too_few():
    assert detectable(0.02, 2) is None
    assert replicates_needed(0.5, 0.001) is None
    assert replicates_needed(0.01, 0) is None


def test_without_noise_the_fewest_do():
    assert replicates_needed(0.0, 0.02) == 3


def test_interpolation_agrees_with_the_noncentral_t_distribution():
    for freedom in (1.0, 1.37, 2.0, 3.3, 7.7, 30.0, 400.0):
        shift = float(noncentrality(np.array([freedom]))[0])
        assert stats.nct.sf(stats.t.ppf(0.975, freedom), freedom, shift) == pytest.approx(0.8, abs=1e-4)


def test_replicates_to_tell_are_the_same_alone_and_among_others():
    spreads, freedom = np.array([0.01, 0.02, 0.02, 0.5]), np.array([4.0, 4.0, 7.3, 2.0])
    margins, levels, used = np.full(4, math.log1p(0.02)), np.array([0.05, 0.05, 0.01, 0.05]), np.array([5, 5, 3, 3])
    together = needed_to_tell(spreads, freedom, margins, levels, used, family=4)
    alone = [
        needed_to_tell(*(one[at : at + 1] for one in (spreads, freedom, margins, levels, used)), family=4)[0]
        for at in range(4)
    ]
    assert together.tolist()[:3] == alone[:3] and len(set(alone[:3])) == 3
    assert math.isnan(together[3]) and math.isnan(alone[3])
    assert (
        chance_of_same(0.01, 4.0, margins[0], together[0])
        >= 0.9
        > chance_of_same(0.01, 4.0, margins[0], together[0] - 1)
    )


def chance_of_same(spread, freedom, margin, n):
    """That an end of the interval stays within the margin, of a spread known from five replicates a side."""
    shift = stats.t.ppf(0.975, freedom * n / 5)
    return stats.nct.cdf(margin / spread * math.sqrt(n / 2), freedom, shift)
