import math
from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats

from results.domain.statistics import drift as model

CONFIGURATIONS = 6


class Observation(NamedTuple):
    configuration: object
    block: int
    position: int
    value: float


def drift(observations):
    names, blocks, positions, values = map(
        np.array, zip(*((repr(seen[0]), *seen[1:]) for seen in observations), strict=True)
    )
    return model.drift(np.unique(names, return_inverse=True)[1], blocks, positions, values)


def run(seed, *, blocks=5, drift_share=0.0, order_share=0.0, noise=0.01, configurations=CONFIGURATIONS):
    random = np.random.default_rng(seed)
    last = blocks * configurations - 1
    observations = []
    for block in range(blocks):
        for place, configuration in enumerate(random.permutation(configurations)):
            position = block * configurations + place
            log = (
                configuration
                + math.log1p(drift_share) * position / last
                + math.log1p(order_share) * place / (configurations - 1)
                + random.normal(0, noise)
            )
            observations.append(Observation(f"c{configuration}", block, position, math.exp(log)))
    return observations


def test_a_drift_without_noise_is_found_exactly():
    change = drift(run(1, drift_share=0.03, noise=1e-9))
    assert change.change == pytest.approx(0.03, abs=1e-6)
    assert change.order_change == pytest.approx(0, abs=1e-6)
    assert change.drifts and not change.order_matters
    assert change.trials == 30


def test_an_order_effect_without_noise_is_found_exactly():
    change = drift(run(2, order_share=-0.05, noise=1e-9))
    assert change.order_change == pytest.approx(-0.05, abs=1e-6)
    assert change.order_matters and not change.drifts


def test_one_configuration_is_plain_regression():
    observations = run(3, blocks=9, configurations=1 + 1, drift_share=0.04)
    own = [seen for seen in observations if seen.configuration == "c0"]
    alone = [Observation("c0", seen.block, seen.block, seen.value) for seen in own]
    change = drift(alone)
    expected = stats.linregress(range(9), np.log([seen.value for seen in alone]))
    assert change.change == pytest.approx(math.expm1(8 * expected.slope))
    assert expected.pvalue < change.p  # the autocorrelation of nine values may be larger than it seems
    assert change.order_change is None


def test_units_change_nothing():
    observations = run(4, drift_share=0.02)
    scaled = [Observation(s.configuration, s.block, s.position, 1000 * s.value) for s in observations]
    assert drift(scaled).p == pytest.approx(drift(observations).p)


def test_a_significant_but_tiny_drift_is_no_warning():
    change = drift(run(5, drift_share=0.002, noise=1e-6))
    assert change.p < 1e-6 and not change.drifts and not change.order_matters


def test_one_block_says_nothing():
    change = drift(run(6, blocks=1))
    assert (change.change, change.p, change.order_change) == (None, None, None)
    assert not change.drifts and not change.order_matters


def test_a_configuration_with_zeros_is_left_out():
    observations = [*run(7, drift_share=0.03, noise=1e-9), Observation("counts", 0, 30, 0.0)]
    assert drift(observations).trials == 30
    assert drift([Observation("counts", 0, 0, 0.0)]).trials == 0


def test_steady_runs_are_warned_about_at_most_once_in_a_hundred_by_each_of_both_tests():
    drifts = [drift(run(seed, noise=0.03)) for seed in range(1500)]
    for p in ([each.p for each in drifts], [each.order_p for each in drifts]):
        assert 0 < np.mean(np.array(p) <= 0.01) < 0.01


def test_a_drift_of_5_percent_in_noise_of_1_percent_is_warned_about():
    assert np.mean([drift(run(seed, drift_share=0.05)).drifts for seed in range(200)]) > 0.85


def labelled(observations, labels):
    """Every trial with as many values, that share its noise."""
    return [
        Observation((s.configuration, label), s.block, s.position, (label + 1) * s.value)
        for s in observations
        for label in range(labels)
    ]


def test_many_values_of_a_trial_say_no_more_than_one():
    observations = run(8, drift_share=0.01, order_share=0.01)
    one, many = drift(observations), drift(labelled(observations, 13))
    assert (many.change, many.p, many.order_change, many.order_p) == pytest.approx(
        (one.change, one.p, one.order_change, one.order_p)
    )
    assert many.trials == one.trials == 30


def test_steady_runs_of_labelled_values_are_warned_about_as_seldom():
    drifts = [drift(labelled(run(seed, noise=0.03), 13)) for seed in range(300)]
    assert np.mean([each.drifts or each.order_matters for each in drifts]) < 0.06


def lasting(seed, share, *, blocks=10, configurations=8, change=0.0):
    """A run whose noise lasts from trial to trial."""
    random = np.random.default_rng(seed)
    level = 0.0
    observations: list[Observation] = []
    for block in range(blocks):
        for configuration in random.permutation(configurations):
            level = share * level + math.sqrt(1 - share**2) * random.normal(0, 0.02)
            position = len(observations)
            log = configuration + level + change * position / (blocks * configurations - 1)
            observations.append(Observation(f"c{configuration}", block, position, math.exp(log)))
    return observations


@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
def test_steady_runs_are_warned_about_once_in_a_hundred_though_their_noise_lasts(share):
    warned = [drift(lasting(seed, share)).p <= model.LEVEL for seed in range(300)]
    assert sum(warned) <= stats.binom.ppf(0.999, 300, 0.01)


def test_a_drift_is_noticed_where_noise_does_not_last():
    assert np.mean([drift(lasting(seed, 0.0, change=0.06)).drifts for seed in range(50)]) > 0.9
