"""The difference of two samples with its standard error, for many questions at once. Pure.

On logarithms, so that a difference is a ratio. Where a value is not above zero there is no logarithm: there the
difference is that of the means, as a share of the larger of the two.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

RESOLUTION = 0.001  # no single value is known better than that, however alike the replicates look
ROUNDING = 12**-0.5  # standard deviation of what rounding to whole numbers takes away (Sheppard)
FEWEST_PAIRS = 3
MOST_UNPAIRED = 0.25  # of the larger side: with more values without a partner, pairs would waste too much

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.intp]


class RunMean(NamedTuple):
    """Of the values of one configuration in one run the mean of their natural logarithms, and how many they are."""

    run: int
    logarithm: float
    n: int


class Noise(NamedTuple):
    """Variance of single values, on natural logarithms, and its degrees of freedom."""

    variance: float
    freedom: float


@dataclass(frozen=True)
class Sample:
    """Replicates of one configuration.

    keys: of each value the run and the block that it was measured in; values of two samples with the same key make a
        pair.
    part: of what was measured: metric, node, label. Samples of several parts come from the same trials, and say nothing
        of one another's noise.
    other_runs: what other runs of the same configuration measured: how far the levels of runs lie apart.
    earlier_noise: how much single values varied in earlier runs of the same configuration, if there are any."""

    values: tuple[float, ...]
    keys: tuple[tuple[int, int], ...]
    part: tuple[str, ...] = ()
    other_runs: tuple[RunMean, ...] = ()
    earlier_noise: Noise | None = None


@dataclass(frozen=True)
class Differences:
    """The differences of many questions: one element a question, NaN where it cannot be had."""

    estimate: Floats  # of other against base
    error: Floats  # standard error of the estimate
    freedom: Floats  # degrees of freedom of the error
    spread: Floats  # standard deviation of single values
    ratio: Floats  # of the geometric means; of the means where these are no logarithms
    logarithmic: Bools  # whether estimate, error and spread are logarithms; else shares
    used: Ints  # values of the smaller side that count
    pairs: Ints  # by which it was judged, 0 for none
    counts: tuple[Ints, Ints]  # values of base and of other that the estimate is made of
    least_error: Floats  # standard error that the resolution of single values leaves
    across_runs: Bools  # whether the sides were measured in different runs
    runs: Ints  # whose levels are part of the error, 0 where they are not
    earlier: Bools  # whether the error is that of earlier runs


def differences(sides: Sequence[tuple[Sample, Sample]]) -> Differences:
    """Return the difference of each question, of which (base, other) is given."""
    matches = [matched(base, other) for base, other in sides]
    base = _Side([values for values, _, _ in matches])
    other = _Side([values for _, values, _ in matches])
    pairs = np.where(np.array([paired for _, _, paired in matches], dtype=bool), other.n, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return _differences(base, other, pairs, np.array([apart(*sides_of) for sides_of in sides], dtype=bool))


def _differences(base: _Side, other: _Side, pairs: Ints, across_runs: Bools) -> Differences:
    logarithmic = base.above_zero & other.above_zero
    scale = np.where(logarithmic, 0, np.maximum(abs(base.means()), abs(other.means())))
    ratio = np.where(other.means() >= 0, other.means() / np.where(base.means() > 0, base.means(), np.nan), np.nan)
    first = base.first
    rounded = base.whole & other.whole & ~(base.all_are(first) & other.all_are(first))
    base.transform(logarithmic, scale, rounded)
    other.transform(logarithmic, scale, rounded)
    estimate = other.means() - base.means()
    error, freedom, spread = _errors(base, other, pairs)
    return Differences(
        estimate=estimate,
        error=error,
        freedom=freedom,
        spread=spread,
        ratio=np.where(logarithmic, np.exp(estimate), ratio),
        logarithmic=logarithmic,
        used=np.minimum(base.n, other.n),
        pairs=pairs,
        counts=(base.n, other.n),
        least_error=np.sqrt(base.floor**2 / base.n + other.floor**2 / other.n),
        across_runs=across_runs,
        runs=np.zeros(len(pairs), dtype=np.intp),
        earlier=np.zeros(len(pairs), dtype=bool),
    )


def matched(base: Sample, other: Sample) -> tuple[Sequence[float], Sequence[float], bool]:
    """Return the values of either side to be judged, and whether they are pairs in this order. Values without a partner
    stand aside only where they are few."""
    if base.keys == other.keys:
        paired = FEWEST_PAIRS <= len(base.keys) == len(set(base.keys))
        return base.values, other.values, paired
    of = dict(zip(base.keys, base.values, strict=True))
    shared = [(of[key], value) for key, value in zip(other.keys, other.values, strict=True) if key in of]
    larger = max(len(base.keys), len(other.keys))
    repeated = len(of) < len(base.keys) or len(set(other.keys)) < len(other.keys)
    if repeated or len(shared) < max(FEWEST_PAIRS, (1 - MOST_UNPAIRED) * larger):
        return base.values, other.values, False
    return [a for a, _ in shared], [b for _, b in shared], True


def apart(base: Sample, other: Sample) -> bool:
    """Return whether both have values, and no run in common."""
    if base.keys == other.keys:
        return False
    runs = {run for run, _ in base.keys}
    return bool(runs and other.keys) and runs.isdisjoint(run for run, _ in other.keys)


def in_shared_runs(base: Sample, other: Sample) -> tuple[Sample, Sample]:
    """Return the two without the values of runs that only one of them is in, where they share one: a run's own level
    would count as theirs."""
    if base.keys == other.keys:
        return base, other
    runs = [{run for run, _ in sample.keys} for sample in (base, other)]
    shared = runs[0] & runs[1]
    if not shared or runs[0] == runs[1]:
        return base, other
    return _of_runs(base, shared), _of_runs(other, shared)


def _of_runs(sample: Sample, runs: Set[int]) -> Sample:
    kept = [index for index, (run, _) in enumerate(sample.keys) if run in runs]
    return replace(sample, values=tuple(sample.values[i] for i in kept), keys=tuple(sample.keys[i] for i in kept))


class _Side:
    """The values of one side of all questions, end to end."""

    def __init__(self, samples: Sequence[Sequence[float]]) -> None:
        self.n: Ints = np.array([len(sample) for sample in samples], dtype=np.intp)
        self.owner: Ints = np.repeat(np.arange(len(self.n)), self.n)
        self.values: Floats = np.array(list(chain.from_iterable(samples)), dtype=float)
        self.above_zero = self._all(self.values > 0)
        self.whole = self._all(self.values == np.rint(self.values))
        self.first: Floats = np.array([sample[0] if sample else np.nan for sample in samples], dtype=float)
        self.floor: Floats = np.full(len(samples), RESOLUTION)

    def _all(self, true: Bools) -> Bools:
        return self._sum(~true) == 0

    def _sum(self, values: NDArray[np.generic]) -> Floats:
        return np.bincount(self.owner, weights=values, minlength=len(self.n)).astype(float)

    def all_are(self, value: Floats) -> Bools:
        return self._all(self.values == value[self.owner])

    def means(self) -> Floats:
        return self._sum(self.values) / self.n

    def variances(self) -> Floats:
        """Of single values; not less than what the floor says."""
        squares = self._sum((self.values - self.means()[self.owner]) ** 2)
        return np.maximum(squares / (self.n - 1), self.floor**2)

    def transform(self, logarithmic: Bools, scale: Floats, rounded: Bools) -> None:
        """To logarithms, or to shares of the scale; and what rounding took away on that scale."""
        middle = np.where(logarithmic, abs(self.means()), scale)
        self.floor = np.maximum(self.floor, np.where(rounded & (middle > 0), ROUNDING / middle, 0))
        logs = np.log(np.where(logarithmic[self.owner], self.values, 1))
        shares = self.values / np.where(scale > 0, scale, 1)[self.owner]
        self.values = np.where(logarithmic[self.owner], logs, shares)


def _errors(base: _Side, other: _Side, pairs: Ints) -> tuple[Floats, Floats, Floats]:
    """Standard error of the difference, its degrees of freedom, and the standard deviation of single values: from the
    pairs' differences, or from both sides by themselves (Welch, Biometrika 34, 1947)."""
    paired = pairs > 0
    each = other.values[paired[other.owner]] - base.values[paired[base.owner]]
    owner = base.owner[paired[base.owner]]
    mean = np.bincount(owner, each, minlength=len(pairs)) / pairs
    squares = np.bincount(owner, (each - mean[owner]) ** 2, minlength=len(pairs))
    between = np.maximum(squares / (pairs - 1), base.floor**2 + other.floor**2)
    a, b = base.variances() / base.n, other.variances() / other.n
    welch = (a + b) ** 2 / (a**2 / (base.n - 1) + b**2 / (other.n - 1))
    enough = (base.n > 1) & (other.n > 1)
    error = np.where(paired, np.sqrt(between / pairs), np.sqrt(a + b))
    single = np.sqrt(np.where(paired, between, base.variances() + other.variances()) / 2)
    return (
        np.where(enough, error, np.nan),
        np.where(enough, np.where(paired, pairs - 1, welch), np.nan),
        np.where(enough, single, np.nan),
    )
