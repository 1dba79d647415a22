"""What configurations of a run say of one another's noise. Rates are simulated with known truth."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import special, stats

from results.domain.measurement.metrics import Better
from results.domain.statistics.borrowing import borrowed_variances, own_variances
from results.domain.statistics.difference import Noise
from results.domain.statistics.verdict import Kind, Question, Sample, judge
from tests.results.domain.statistics.questions import question, sample

DIFFERS = (Kind.BETTER, Kind.WORSE)
PAGES = 250
CELLS = 8


def samples_of(table, run=1, part=()):
    return [sample(row, run, part) for row in np.exp(table).tolist()]


def pages(n, noise, *, effect=0.0, cells=CELLS, seed=1):
    """Return families of questions: in each so many cells of a run.

    noise: (random, (2, cells, n)) → logarithms of the values of both sides."""
    random = np.random.default_rng([seed, n, cells])
    families = []
    for _ in range(PAGES):
        base, other = noise(random, (2, cells, n))
        families.append([question(a, b) for a, b in zip(np.exp(base), np.exp(other + math.log1p(effect)), strict=True)])
    return families


def alone(families, rule=2):
    """Return the share of cells that are called different without a correction: the most lenient case."""
    verdicts = [verdict for family in families for verdict in judge(family, rule)]
    return np.mean([v.p <= 0.05 and abs(math.log(v.ratio)) >= math.log(1.02) for v in verdicts])


def found(families, rule=2):
    return np.mean([verdict.kind in DIFFERS for family in families for verdict in judge(family, rule)])


def at_most(share, count=PAGES * CELLS):
    """Cells of a page are not independent: half as many are counted."""
    return stats.binom.ppf(0.999, count // 2, share) / (count // 2)


def equal(random, shape):
    return 0.02 * random.normal(0, 1, shape)


def blocks(random, shape):
    return equal(random, shape) + 0.05 * random.normal(0, 1, (1, 1, shape[2]))


def blocks_of_some(random, shape):
    hit = random.random((*shape[:2], 1)) < 0.25
    return equal(random, shape) + hit * 0.05 * random.normal(0, 1, (1, 1, shape[2]))


def unequal(random, shape):
    return equal(random, shape) * np.exp(0.7 * random.normal(0, 1, (*shape[:2], 1)))


def noisy_side(random, shape):
    return equal(random, shape) * np.array([1, 3]).reshape(2, 1, 1)


def heavy(random, shape):
    return 0.02 * random.standard_t(3, shape) / math.sqrt(3)


def skewed(random, shape):
    return 0.02 * (np.exp(random.normal(0, 1, shape)) - math.exp(0.5)) / 2.16


def outliers(random, shape):
    return equal(random, shape) + math.log(0.84) * (random.random(shape) < 0.05)


def modes(random, shape):
    return equal(random, shape) / 2 - 0.06 * (random.random(shape) < 0.3)


def drift(random, shape):
    return equal(random, shape) + 0.05 * (np.arange(shape[2]) + random.random(shape)) / shape[2]


CONDITIONS = [equal, blocks, blocks_of_some, unequal, noisy_side, heavy, skewed, outliers, modes, drift]


@pytest.mark.parametrize("noise", CONDITIONS)
@pytest.mark.parametrize("n", [3, 5])
def test_a_against_a_is_called_different_in_at_most_5_of_100_cells_whatever_the_noise(n, noise):
    assert alone(pages(n, noise)) <= at_most(0.055)


def test_three_replicates_find_five_percent_in_half_of_eight_cells_and_by_themselves_in_an_eighth():
    families = pages(3, equal, effect=0.05)
    assert found(families) >= 0.45
    assert found(families, rule=1) <= 0.2


def test_half_of_the_cells_that_differ_bring_no_more_than_5_of_100_false_ones():
    shares: list[float] = []
    for family in pages(3, unequal):
        random = np.random.default_rng(len(shares))
        truth = random.random(CELLS) < 0.5
        family = [
            question(np.array(q.base.values), np.array(q.other.values) * (1.05 if differs else 1))
            for q, differs in zip(family, truth, strict=True)
        ]
        called = np.array([verdict.kind in DIFFERS for verdict in judge(family)])
        shares.append((called & ~truth).sum() / max(called.sum(), 1))
    assert np.mean(shares) <= 0.05


def test_queries_of_the_same_trials_lend_one_another_nothing():
    """13 queries share each trial's own level: they are no 13 measurements of its noise."""
    random = np.random.default_rng(7)
    families = []
    for _ in range(PAGES):
        level = random.normal(0, 0.03, (2, 1, 3))
        base, other = level + random.normal(0, 0.002, (2, 13, 3))
        families.append(
            [
                question(a, b, part=(f"q{number}",))
                for number, (a, b) in enumerate(zip(np.exp(base), np.exp(other), strict=True))
            ]
        )
    assert alone(families) <= 0.09  # 250 trials, not 3,250


def test_variances_are_those_of_member_and_block():
    """By least squares over indicators of every member and block, in other words than the code's."""
    random = np.random.default_rng(3)
    table = random.normal(0, 0.02, (6, 5)) + random.normal(0, 0.1, (6, 1)) + random.normal(0, 0.1, (1, 5))
    lost = {(0, 4), (3, 1)}
    places = [(m, b) for m in range(6) for b in range(5) if (m, b) not in lost]
    design = np.array([[m == i for i in range(6)] + [b == j for j in range(5)] for m, b in places], dtype=float)
    values = np.array([table[place] for place in places])
    hat = design @ np.linalg.pinv(design)
    residuals = values - hat @ values
    samples = [
        Sample(
            tuple(np.exp([table[place] for place in places if place[0] == m])),
            tuple((1, b) for i, b in places if i == m),
        )
        for m in range(6)
    ]
    one_side = borrowed_variances(samples[:2], ["", ""])  # two have no prior: their own variances
    own = borrowed_variances(samples, [""] * 6)
    for m in range(6):
        mine = [place for place, (member, _) in enumerate(places) if member == m]
        free = sum(1 - hat[place, place] for place in mine)
        assert own.variance[m] >= (residuals[mine] ** 2).sum() / free * (1 - 1e-9)
        assert own.freedom[m] > free
    assert one_side.freedom.sum() == pytest.approx(3)  # of four pairs


def test_a_sample_by_itself_keeps_its_blocks_unless_they_have_several_values():
    logarithms = np.array([0.01, 0.03, -0.02, 0.05])
    values = tuple(np.exp(logarithms))
    [variance], [freedom] = own_variances([Sample(values, ((1, 0), (1, 1), (1, 2), (1, 3)))])
    assert (variance, freedom) == (pytest.approx(logarithms.var(ddof=1)), 3)
    [variance], [freedom] = own_variances([Sample(values, ((1, 0), (1, 0), (1, 1), (1, 1)))])
    within = logarithms[::2] - logarithms[1::2]
    assert (variance, freedom) == (pytest.approx((within**2).sum() / 4), pytest.approx(2))


def test_equal_noise_is_borrowed_and_a_noisy_configuration_keeps_its_own():
    random = np.random.default_rng(5)
    table = random.normal(0, 0.02, (16, 3))
    table[0] = 0.3, -0.3, 0.0
    variances = borrowed_variances(samples_of(table), [""] * 16)
    assert variances.variance[0] > 0.05
    assert 0.015**2 < np.median(variances.variance[1:]) < 0.03**2
    assert (variances.freedom > 2).all()
    assert variances.most[0] == pytest.approx(32 / special.polygamma(1, 2 * 15 / 16 / 2))


def test_three_configurations_are_too_few_for_a_side_and_two_for_any():
    random = np.random.default_rng(5)
    few = samples_of(random.normal(0, 0.02, (2, 3)))
    assert borrowed_variances(few, ["a", "b"]).freedom.sum() == pytest.approx(2)
    more = samples_of(random.normal(0, 0.02, (4, 3)))
    assert borrowed_variances(more, ["a", "a", "b", "b"]).freedom.sum() > 6


EARLIER = 6


def with_earlier_runs(families, earlier, noise, *, seed=2):
    """Return the families, each sample with what so many earlier runs say, of (random, shape) → their logarithms."""
    random = np.random.default_rng(seed)
    with_noise = []
    for family in families:
        cells, n = len(family), len(family[0].base.values)
        runs = [samples_of(noise(random, (2, cells, n)).reshape(-1, n)) for _ in range(earlier)]
        variances = np.mean([own_variances(samples)[0] for samples in runs], axis=0)
        freedom = sum(own_variances(samples)[1] for samples in runs)
        of = [Noise(*one) for one in zip(variances, freedom, strict=True)]
        with_noise.append(
            [
                replace(q, base=replace(q.base, earlier_noise=a), other=replace(q.other, earlier_noise=b))
                for q, a, b in zip(family, of[:cells], of[cells:], strict=True)
            ]
        )
    return with_noise


def test_earlier_runs_find_more():
    families = pages(3, equal, effect=0.05)
    assert found(with_earlier_runs(families, EARLIER, equal)) >= found(families) + 0.03
    unequal_in_all = pages(3, noisy_side, effect=0.15)
    assert found(with_earlier_runs(unequal_in_all, EARLIER, noisy_side)) > found(unequal_in_all)


@pytest.mark.parametrize("factor", [1, 1.5, 2, 3])
@pytest.mark.parametrize("cells", [1, 3, CELLS])
def test_a_run_that_is_noisier_than_earlier_ones_finds_nothing_false_by_their_noise(cells, factor):
    families = pages(3, lambda random, shape: factor * equal(random, shape), cells=cells)
    assert alone(with_earlier_runs(families, EARLIER, equal)) <= at_most(0.055, PAGES * cells)


def test_earlier_runs_are_left_aside_where_a_run_is_noisier_or_has_too_few_values_to_show_it():
    random = np.random.default_rng(5)
    table = 0.02 * random.normal(0, 1, (8, 3))
    known = Noise(0.02**2, 12.0)

    def earlier(table):
        samples = [replace(sample, earlier_noise=known) for sample in samples_of(table)]
        return borrowed_variances(samples, [""] * len(table))

    assert earlier(table).earlier.all()
    assert (earlier(table).freedom > 12).all()
    assert not earlier(4 * table).earlier.any()
    assert not earlier(table / 20).earlier.any()
    assert not earlier(table[:2]).earlier.any()
    assert earlier(4 * table).variance.tolist() == borrowed_variances(samples_of(4 * table), [""] * 8).variance.tolist()


def test_a_configuration_that_shares_no_block_lends_nothing_and_takes_nothing_from_others():
    """Of whose values the blocks explain everything, rounding leaves next to no degrees of freedom."""
    blocks_of = [(3, 5), (5,), (5,), (0, 1, 2, 4), (0, 1, 2, 4)]
    random = np.random.default_rng(1)
    samples = [
        Sample(tuple(np.exp(0.02 * random.normal(0, 1, len(own)))), tuple((1, block) for block in own))
        for own in blocks_of
    ]
    variances = borrowed_variances(samples, [""] * 5)
    assert all(free == 0 or free > 1e-6 for free in variances.freedom)
    assert np.isfinite(variances.variance[3:]).all() and (variances.freedom[3:] > 1).all()


def test_a_configuration_that_is_noisier_than_before_keeps_its_own_noise():
    random = np.random.default_rng(6)
    table = 0.02 * random.normal(0, 1, (16, 3))
    table[0] = 0.06, -0.06, 0.0
    samples = [replace(sample, earlier_noise=Noise(0.02**2, 12.0)) for sample in samples_of(table)]
    variances = borrowed_variances(samples, [""] * 16)
    assert variances.earlier.all()
    assert variances.variance[0] > 0.04**2
    assert np.median(variances.variance[1:]) == pytest.approx(0.02**2)


def test_values_that_are_not_above_zero_have_no_variance():
    variances = borrowed_variances([sample((0, 1, 2)), sample((1, 2, 3))], ["", ""])
    assert variances.freedom.tolist() == [0, 2]


MIXED = [(4, 1), (1, 4)]


def mixture(seed, effect=1.0):
    """Two configurations far apart, one side measured four times as often in the one, the other in the other."""
    random = np.random.default_rng(seed)
    sides, strata = [], []
    for side, (first, second) in enumerate(MIXED):
        factor = effect if side else 1.0
        one = _measured(random, 1000 * factor, 3 * first, 1 + side)
        two = _measured(random, 5000 * factor, 3 * second, 1 + side)
        sides.append(Sample(one.values + two.values, one.keys + two.keys))
        strata.append((one, two))
    pairs = tuple(zip(*strata, strict=True))
    family = [Question(base, other, Better.HIGHER, 0.02) for base, other in pairs]
    return judge(family, beside=[Question(sides[0], sides[1], Better.HIGHER, 0.02, strata=pairs)])[-1]


def _measured(random, level, n, run):
    return Sample(tuple(level * np.exp(random.normal(0, 0.02, n))), tuple((run, block) for block in range(n)))


def test_a_mixture_is_compared_configuration_by_configuration():
    verdicts = [mixture(seed) for seed in range(200)]
    assert np.mean([verdict.kind in DIFFERS for verdict in verdicts]) <= 0.09
    assert all(0.9 < verdict.ratio < 1.1 for verdict in verdicts)
    assert np.mean([mixture(seed, 1.1).kind is Kind.BETTER for seed in range(50)]) > 0.9


def test_what_is_asked_beside_a_family_is_corrected_as_one_more_of_it():
    family = pages(5, equal, effect=0.03)[0]
    verdicts = judge(family, beside=[family[0], family[1]])
    assert verdicts[:CELLS] == judge(family)
    for index in (0, 1):
        together = stats.false_discovery_control([*(v.p for v in verdicts[:CELLS]), verdicts[index].p])
        assert verdicts[CELLS + index].adjusted == pytest.approx(together[-1])
