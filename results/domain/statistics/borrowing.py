"""How much single values vary, with help from the configurations measured beside them and from earlier runs. Pure.

Three replicates say little of their own spread. What all configurations of a run have in common says more: a block
that was slow for all of them, and how widely variances differ at all (Smyth, Stat. Appl. Genet. Mol. Biol. 3:1, 2004,
here with an upper bound for how widely they may differ). A variance is what configurations have in common or what its
own values say, whichever is larger: where some configurations start in one of two modes, or are noisier than others,
three that agree by chance would fool. Earlier runs of the same configuration say more than its neighbours, but only of
a run that is as noisy as they were: whether it is, all its configurations say together. Formulae: docs/method.md.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from results.domain.statistics.difference import RESOLUTION, Sample

FEWEST_OF_A_SIDE = 4  # samples from which a side has a prior of its own
FEWEST = 3  # samples from which there is a prior at all
BOUND = 0.2  # chance that variances differ more widely than the prior allows for
LIKE_EARLIER = (0.05, 0.8)  # quantiles of F between which a run is as noisy as earlier ones
FEWEST_LIKE_EARLIER = 8  # degrees of freedom of a run with which a noisier one is noticed, by simulation
LEAST_FREEDOM = 1e-6  # less is what rounding leaves of none
_EQUAL = 1e6  # degrees of freedom of a prior of variances that do not differ

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@dataclass(frozen=True)
class Variances:
    """Of single values, on natural logarithms: one element a sample, NaN where it cannot be had.

    freedom: degrees of freedom of each.
    most: degrees of freedom that all samples of its prior have together, the most that any two of them can have.
    earlier: whether it is what earlier runs say of the sample, or its own where that is larger."""

    variance: Floats
    freedom: Floats
    most: Floats
    earlier: NDArray[np.bool_]


def borrowed_variances(samples: Sequence[Sample], sides: Sequence[Hashable]) -> Variances:
    """Return the variance of each sample. Those with a value that is not above zero have none.

    sides: of each sample what it is a sample of: a side that is noisier than the others borrows from itself."""
    own, freedom = own_variances(samples)
    variance, total, most = own.copy(), freedom.copy(), np.full(len(samples), np.inf)
    for members in _priors(samples, sides, freedom):
        prior, prior_freedom, bound = _prior(own[members], freedom[members])
        variance[members] = np.maximum(prior, own[members])
        total[members] = np.minimum(prior_freedom + freedom[members], np.maximum(bound, freedom[members]))
        most[members] = bound
    of_earlier_runs = np.zeros(len(samples), dtype=bool)
    for members in _as_noisy_as_earlier(samples, own, freedom):
        earlier, earlier_freedom = _earlier([samples[index] for index in members])
        variance[members] = np.maximum(earlier, own[members])
        total[members] = earlier_freedom + freedom[members]
        most[members] = np.inf
        of_earlier_runs[members] = True
    return Variances(variance, total, most, of_earlier_runs)


def _priors(samples: Sequence[Sample], sides: Sequence[Hashable], freedom: Floats) -> list[Ints]:
    """Return which samples share a prior: those of one part and side, or of one part where sides are small."""
    by_part: dict[Hashable, dict[Hashable, list[int]]] = defaultdict(lambda: defaultdict(list))
    for index, (sample, side) in enumerate(zip(samples, sides, strict=True)):
        if freedom[index] > 0:
            by_part[sample.part][side].append(index)
    priors: list[list[int]] = []
    for by_side in by_part.values():
        if min(map(len, by_side.values())) >= FEWEST_OF_A_SIDE:
            priors += by_side.values()
        else:
            priors.append([index for several in by_side.values() for index in several])
    return [np.array(members, dtype=np.intp) for members in priors if len(members) >= FEWEST]


def _as_noisy_as_earlier(samples: Sequence[Sample], own: Floats, freedom: Floats) -> Iterator[Ints]:
    """Give the samples of each part that have earlier runs, where all of them together vary as much as there."""
    by_part: dict[Hashable, list[int]] = defaultdict(list)
    for index, sample in enumerate(samples):
        if freedom[index] > 0 and sample.earlier_noise is not None:
            by_part[sample.part].append(index)
    for part in by_part.values():
        members = np.array(part, dtype=np.intp)
        earlier, earlier_freedom = _earlier([samples[index] for index in part])
        ratios = own[members] / earlier * (1 - 2 / earlier_freedom)  # whose mean is 1 where they are equally noisy
        together = float(freedom[members].sum())
        low, high = stats.f.ppf(LIKE_EARLIER, together, earlier_freedom.sum())
        if together >= FEWEST_LIKE_EARLIER and low <= np.average(ratios, weights=freedom[members]) <= high:
            yield members


def _earlier(samples: Sequence[Sample]) -> tuple[Floats, Floats]:
    variance, freedom = zip(*(sample.earlier_noise or (np.nan, np.nan) for sample in samples), strict=True)
    return np.maximum(variance, RESOLUTION**2), np.array(freedom, dtype=float)


def _prior(variances: Floats, freedom: Floats) -> tuple[float, float, float]:
    """Return the variance that samples have in common, its degrees of freedom as a prior, and those that all of them
    have together.

    The spread of the logarithms of the variances beyond what their degrees of freedom explain is taken at its upper
    bound, since a prior that is taken for more certain than it is finds differences where there are none."""
    count = len(variances)
    half = freedom / 2
    expected = np.log(variances) - special.digamma(half) + np.log(half)
    chance = special.polygamma(1, half)
    uncertainty = 2 / (count - 1) + float((special.polygamma(3, half) / chance**2).mean()) / count
    equivalent = 2 / uncertainty
    bound = float(expected.var(ddof=1)) * equivalent / float(stats.chi2.ppf(BOUND, equivalent))
    beyond = bound - float(chance.mean())
    prior_freedom = min(2 * _inverse_trigamma(beyond), _EQUAL) if beyond > 2 / _EQUAL else _EQUAL
    location = float(expected.mean()) + float(special.digamma(prior_freedom / 2)) - float(np.log(prior_freedom / 2))
    return float(np.exp(location)), prior_freedom, 2 * count / float(chance.mean())


def _inverse_trigamma(value: float) -> float:
    """Solve trigamma(y) = value by Newton's method on 1 / trigamma, which is nearly linear."""
    y = 0.5 + 1 / value
    for _ in range(50):
        trigamma = float(special.polygamma(1, y))
        step = trigamma * (1 - trigamma / value) / float(special.polygamma(2, y))
        y += step
        if abs(step) < 1e-9 * y:
            break
    return y


def own_variances(samples: Sequence[Sample]) -> tuple[Floats, Floats]:
    """Return the variance of each sample by its own values, without what blocks add to all samples of a run and part
    alike, and its degrees of freedom, 0 where there are none."""
    squares, freedom = np.zeros(len(samples)), np.zeros(len(samples))
    for members, blocks, logarithms in _measured_together(samples):
        indexes, member_of = np.unique(members, return_inverse=True)
        of_members, freedom_of_members = _residuals(member_of, blocks, logarithms)
        squares[indexes] += of_members
        freedom[indexes] += freedom_of_members
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.maximum(squares / freedom, RESOLUTION**2), freedom


def _measured_together(samples: Sequence[Sample]) -> list[tuple[Ints, Ints, Floats]]:
    """Return of each run and part the values: of which sample, in which block, their logarithm."""
    by_part: dict[Hashable, list[int]] = defaultdict(list)
    for index, sample in enumerate(samples):
        if sample.values and min(sample.values) > 0:
            by_part[sample.part].append(index)
    return [of_run for indexes in by_part.values() for of_run in _by_run(samples, indexes)]


def _by_run(samples: Sequence[Sample], indexes: Sequence[int]) -> Iterator[tuple[Ints, Ints, Floats]]:
    """Give of each run the values of these samples, as `_measured_together` does, runs in the order of the values."""
    members = np.repeat(indexes, [len(samples[index].values) for index in indexes])
    values = np.array(list(chain.from_iterable(samples[index].values for index in indexes)), dtype=float)
    keys = chain.from_iterable(samples[index].keys for index in indexes)
    runs, blocks = np.array(list(chain.from_iterable(keys))).reshape(-1, 2).T
    for run in dict.fromkeys(runs.tolist()):
        own = runs == run
        yield members[own], np.unique(blocks[own], return_inverse=True)[1], np.log(values[own])


def _residuals(members: Ints, blocks: Ints, logarithms: Floats) -> tuple[Floats, Floats]:
    """Return of each member the sum of squares about its mean and its degrees of freedom, without what the blocks add
    to all members alike: by least squares of member + block, each value's degrees of freedom by its leverage.

    Where next to nothing would be left (a member by itself) the blocks stay in."""
    count = np.bincount(members).astype(float)
    centred = _centred(members, logarithms, count)
    alone = np.bincount(members, centred**2).astype(float), count - 1
    if len(count) == 1 and len(np.unique(blocks)) == len(blocks):  # what is worked out below comes to the same
        return alone
    shares = np.zeros((len(count), int(blocks.max()) + 1))
    np.add.at(shares, (members, blocks), 1)
    occurrences = shares.sum(axis=0)
    shares /= count[:, None]
    inverse = np.linalg.pinv(np.diag(occurrences) - shares.T @ (shares * count[:, None]), rcond=1e-9, hermitian=True)
    by_share = shares @ inverse
    leverage = np.diag(inverse)[blocks] - 2 * by_share[members, blocks] + (by_share * shares).sum(axis=1)[members]
    free: Floats = (count - 1 - np.bincount(members, leverage)).astype(float)
    free[free < LEAST_FREEDOM] = 0
    if free.sum() >= (count.max() - 1) / 2 > 0:
        effects = inverse @ np.bincount(blocks, centred)
        return np.bincount(members, _centred(members, centred - effects[blocks], count) ** 2).astype(float), free
    return alone


def _centred(members: Ints, values: Floats, count: Floats) -> Floats:
    return values - (np.bincount(members, values) / count)[members]
