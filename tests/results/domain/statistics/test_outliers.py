import math
from pathlib import Path

import numpy as np
import pytest

from results.domain.statistics import outliers as rule

DATA = Path(__file__).parents[3] / "data" / "statistics"
# Rosner (1983), as in the NIST/SEMATECH e-Handbook, 1.3.5.17.3: three outliers among 54 values, taken as logarithms.
ROSNER = tuple(float(value) for value in (DATA / "rosner.txt").read_text().split())


def outliers(*samples, level=rule.LEVEL):
    """Of each sample the indexes of its outliers; of a single one without the list."""
    outliers = rule.outliers(samples, level)
    return outliers if len(samples) > 1 else outliers[0]


def test_rosners_own_example_has_three_outliers_at_five_percent():
    assert outliers([math.exp(value) for value in ROSNER], level=0.05) == (51, 52, 53)


def test_a_value_far_off_is_named_by_its_place():
    assert outliers([100, 101, 99, 150, 100, 102]) == (3,)


@pytest.mark.parametrize("place", [0, 1, 6])
def test_a_value_apart_from_equal_ones_is_named_wherever_it_stands(place):
    values = [1.0] * 7
    values[place] = 100.0
    assert outliers(values) == (place,)


def test_two_that_hide_each_other_are_both_named():
    assert outliers([1, 1.01, 0.99, 1, 2, 2.1, 1, 1.02, 0.98, 1]) == (4, 5)


def test_three_values_name_none():
    assert outliers([1, 1, 100]) == ()


def test_equal_values_name_none_and_one_that_differs_from_equal_ones_is_named():
    assert outliers([3, 3, 3, 3, 3]) == ()
    assert outliers([3, 3, 3, 3, 9]) == (4,)


def test_counts_with_zeros_are_judged_as_they_are():
    assert outliers([0, 0, 0, 0, 9]) == (4,)
    assert outliers([0, 1, 0, 1, 1]) == ()


def test_no_values_name_none():
    assert outliers([]) == ()


def test_samples_of_several_sizes_are_judged_each_by_itself():
    assert outliers([3, 3, 3, 3, 9], [], [100, 101, 99, 150, 100, 102], [1, 1, 100]) == [(4,), (), (3,), ()]


@pytest.mark.parametrize("n", [4, 5, 6, 10, 20])
def test_clean_samples_have_a_value_named_once_in_a_hundred(n):
    samples = np.exp(np.random.default_rng(n).normal(0, 0.02, (3000, n)))
    share = np.mean([bool(named) for named in outliers(*samples)])
    assert 0.004 < share < 0.025  # a second outlier's limit is approximate below 25 values


@pytest.mark.parametrize(("n", "least"), [(5, 0.65), (6, 0.9), (10, 0.999)])
def test_a_spike_of_30_percent_among_noise_of_2_percent_is_named(n, least):
    samples = np.exp(np.random.default_rng(n).normal(0, 0.02, (1000, n)))
    samples[:, 0] *= 1.3
    assert np.mean([0 in named for named in outliers(*samples)]) > least
