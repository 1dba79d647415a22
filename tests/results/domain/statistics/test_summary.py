import math

import numpy as np
import pytest
from scipy import stats

from results.domain.statistics.summary import Source, geometric_mean
from results.domain.statistics.verdict import Sample

TRUTH = np.log([1.1, 0.95, 1.3, 1.02])


def sample(values, run=1):
    return Sample(tuple(float(v) for v in values), tuple((run, block) for block in range(1, len(values) + 1)))


def cells(seed, *, blocks=5, shared=0.0, noise=0.02, base_run=1):
    """Four cells of known ratios;

    shared: noise of a block that all cells have alike on the other side."""
    random = np.random.default_rng(seed)
    common = random.normal(0, shared, blocks) if shared else np.zeros(blocks)
    return [
        (
            sample(np.exp(random.normal(0, noise, blocks)), base_run),
            sample(np.exp(truth + common + random.normal(0, noise, blocks))),
        )
        for truth in TRUTH
    ]


def test_the_ratio_is_the_geometric_mean_of_the_cells():
    mean = geometric_mean([(sample([2, 2, 2]), sample([4, 4, 4])), (sample([3, 3, 3]), sample([3, 3, 3]))])
    assert mean.ratio == pytest.approx(math.sqrt(2))
    assert mean.cells == 2


def test_over_blocks_it_is_a_t_interval_of_one_mean_a_block():
    questions = cells(1)
    mean = geometric_mean(questions)
    logs = np.mean([np.log(other.values) - np.log(base.values) for base, other in questions], axis=0)
    low, high = stats.t.interval(0.95, len(logs) - 1, logs.mean(), stats.sem(logs))
    assert mean.source is Source.BLOCKS
    assert (mean.low, mean.high) == (pytest.approx(math.exp(low)), pytest.approx(math.exp(high)))


def test_values_meet_by_their_blocks_and_not_by_their_order():
    base, other = cells(2)[0]
    turned = Sample(other.values[::-1], other.keys[::-1])
    assert geometric_mean([(base, turned)]).low == pytest.approx(geometric_mean([(base, other)]).low)


def test_without_shared_blocks_the_cells_own_errors_count():
    mean = geometric_mean(cells(3, base_run=2))
    assert mean.source is Source.REPLICATES
    assert mean.low < mean.ratio < mean.high


def test_one_replicate_a_cell_leaves_the_spread_of_the_cells():
    pairs = [(sample([1.0]), sample([ratio])) for ratio in (1.1, 1.2, 0.9)]
    mean = geometric_mean(pairs)
    logs = np.log([1.1, 1.2, 0.9])
    low, high = stats.t.interval(0.95, 2, logs.mean(), stats.sem(logs))
    assert mean.source is Source.CELLS
    assert (mean.low, mean.high) == (pytest.approx(math.exp(low)), pytest.approx(math.exp(high)))


def test_one_value_against_one_has_a_ratio_and_no_interval():
    mean = geometric_mean([(sample([1.0]), sample([1.5]))])
    assert (mean.ratio, mean.low, mean.high, mean.source) == (pytest.approx(1.5), None, None, Source.NOTHING)


def test_a_cell_with_zeros_does_not_count():
    mean = geometric_mean([(sample([0, 0, 0]), sample([1, 1, 1])), (sample([1, 1, 1]), sample([2, 2, 2]))])
    assert (mean.ratio, mean.cells) == (pytest.approx(2), 1)
    assert geometric_mean([]).ratio is None


def test_exchanging_the_sides_inverts_it():
    questions = cells(4)
    there, back = geometric_mean(questions), geometric_mean([(other, base) for base, other in questions])
    assert (back.ratio, back.low, back.high) == pytest.approx((1 / there.ratio, 1 / there.high, 1 / there.low))


@pytest.mark.parametrize(("shared", "base_run"), [(0.0, 1), (0.03, 1), (0.0, 2)])
def test_the_interval_covers_the_truth_in_95_of_100(shared, base_run):
    """Even where the cells of a block share its noise."""
    truth = math.exp(TRUTH.mean())
    means = [geometric_mean(cells(seed, shared=shared, base_run=base_run)) for seed in range(2000)]
    covered = np.mean([each.low <= truth <= each.high for each in means])
    assert 0.93 < covered < 0.97
