"""Change points: where the level of a series in order changes for good. Pure. Method, rates, sources: docs/trends.md.

Circular binary segmentation (Olshen et al. 2004) on clipped scores: of every stretch of the series its distance from
the rest, in standard errors; the largest one is tested by permutations. Clipping bounds what a spike can do, and a
stretch in the midst (slow for a week, then mended) is found as well as a step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

METHOD = 1
MINIMUM_SEGMENT = 3
LEVEL = 0.01
FEWEST = 10  # values in which any change can reach LEVEL
PERMUTATIONS = 999
_BATCH = 111
_PARTS = 3  # of a batch, after each of which the chance may be known to be too large
_CLIP = 3.0  # robust standard deviations from the median: as much as one value can count
_MOST = 400  # of the newest values that are looked at: the work grows with the square
_REMEMBERED = 500  # series of which the answer is kept: a line is asked for again and again, and rarely grows

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ChangePoint:
    """An index at which the level of a series changes.

    index: of the first value of the new level.
    before, after: medians of the levels that meet here.
    ratio: of them; None where `before` is 0.
    p: of the permutation test that found it."""

    index: int
    before: float
    after: float
    ratio: float | None
    p: float


def change_points(
    values: Sequence[float],
    *,
    minimum_effect: float = 0.0,
    minimum_segment: int = MINIMUM_SEGMENT,
    level: float = LEVEL,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> tuple[ChangePoint, ...]:
    """Return the change points in the order of their indexes. The same values and seed give the same answer. Raises
    ValueError for values that are not finite or a segment below 2.

    values: finite, in the order of time, such as medians of runs.
    minimum_effect: the smallest relative change of the level that is reported (0.02 = 2 %).
    minimum_segment: the fewest values that make a level, so that no single spike does.
    level: the chance of a false alarm in a series without change."""
    return _change_points(tuple(map(float, values)), minimum_effect, minimum_segment, level, permutations, seed)


@lru_cache(_REMEMBERED)
def _change_points(
    values: tuple[float, ...], minimum_effect: float, minimum_segment: int, level: float, permutations: int, seed: int
) -> tuple[ChangePoint, ...]:
    series = np.asarray(values)
    if not np.isfinite(series).all():
        raise ValueError("a value is not finite")
    if minimum_segment < 2:
        raise ValueError("a level takes at least 2 values")
    skipped = max(len(series) - _MOST, 0)
    series = series[skipped:]
    if len(series) < 2 * minimum_segment:
        return ()
    test = _Test(minimum_segment, level, permutations, np.random.default_rng(seed))
    p_of_cut: dict[int, float] = {}
    waiting = [(0, len(series))]
    while waiting:
        start, end = waiting.pop()
        split = test.stretch(series[start:end])
        if split is None:
            continue
        first, last, p = split
        cuts = [start + cut for cut in (first, last) if 0 < cut < end - start]
        p_of_cut |= dict.fromkeys(cuts, p)
        edges = [start, *cuts, end]
        waiting += pairwise(edges)
    kept = _pruned(series, p_of_cut, minimum_effect, level)
    return tuple(
        ChangePoint(skipped + cut, before, after, after / before if before else None, p_of_cut[cut])
        for cut, before, after in _levels(series, kept)
    )


@dataclass(frozen=True)
class _Test:
    minimum: int
    level: float
    permutations: int
    random: np.random.Generator

    def stretch(self, series: Floats) -> tuple[int, int, float] | None:
        """(first, behind last, p) of the stretch that differs most from the rest, where that is more than chance."""
        n = len(series)
        if n < 2 * self.minimum:
            return None
        scores = _scores(series)
        if not scores.any():
            return None
        first, last, strength = self._strongest(scores)
        p = self._chance(scores, strength)
        return None if p > self.level else (first, last, p)

    def _chance(self, scores: Floats, strength: float) -> float:
        """How often an order by chance is as strong, the true order counted in. Stops where it cannot be few."""
        reached = done = 0
        while done < self.permutations:
            count = min(_BATCH, self.permutations - done)
            orders = self.random.permuted(np.broadcast_to(scores, (count, len(scores))), axis=1)
            for some in np.array_split(orders, _PARTS):
                reached += self._reached(some, strength - 1e-9)
                done += len(some)
                if (reached + 1) / (self.permutations + 1) > self.level:
                    return (reached + 1) / (done + 1)
        return (reached + 1) / (done + 1)

    def _strongest(self, scores: Floats) -> tuple[int, int, float]:
        """(first, behind last, standardised sum) of the stretch whose sum is the largest. What is left of the series on
        either side of it must be a level of its own, or nothing."""
        n = len(scores)
        sums = _sums(scores[None, :])[0]
        lengths = np.arange(self.minimum, n - self.minimum + 1)[:, None]
        starts = np.arange(n + 1)[None, :]
        ends = starts + lengths
        level_before = (starts == 0) | (starts >= self.minimum)
        level_behind = (ends == n) | (ends <= n - self.minimum)
        sizes = np.abs(sums[np.minimum(ends, n)] - sums[starts]) / _deviation(lengths, n)
        sizes[~(level_before & level_behind)] = -1
        row, start = np.unravel_index(sizes.argmax(), sizes.shape)
        return int(start), int(ends[row, start]), float(sizes[row, start])

    def _reached(self, orders: Floats, strength: float) -> int:
        """In how many orders (rows) a stretch is as strong. No sum of a stretch is above the range of the sums from the
        beginning, so that of most lengths few orders are looked at."""
        n = orders.shape[1]
        sums = _sums(orders)
        ranges = sums.max(axis=1) - sums.min(axis=1)
        by_range = ranges.argsort()[::-1]
        sums = sums[by_range]
        lengths = np.arange(self.minimum, n - self.minimum + 1)
        deviations = _deviation(lengths, n)
        possible = (ranges / deviations[:, None] >= strength).sum(axis=1)
        reached = np.zeros(len(orders), dtype=bool)
        for length, deviation, count in zip(
            lengths[possible > 0], deviations[possible > 0], possible[possible > 0], strict=True
        ):
            some, rest = sums[:count], n - length
            inner = slice(self.minimum, max(rest - self.minimum + 1, self.minimum))
            edges = np.abs(some[:, [length, n]] - some[:, [0, rest]])
            inside = np.abs(some[:, inner.start + length : inner.stop + length] - some[:, inner])
            largest = np.maximum(edges.max(axis=1), inside.max(axis=1, initial=0))
            reached[:count] |= largest / deviation >= strength
        return int(reached.sum())


def _sums(orders: Floats) -> Floats:
    """Of each order (row) the sums of its first 0, 1, … scores."""
    return np.concatenate([np.zeros((len(orders), 1)), orders.cumsum(axis=1)], axis=1)


def _deviation(length: Any, n: int) -> Any:
    """The standard deviation of the sum of so many of n scores in an order by chance."""
    return (length * (n - length) / (n - 1)) ** 0.5


def _scores(series: Floats) -> Floats:
    """Mean 0 and standard deviation 1, after clipping; all 0 where no value differs. The same for every order of the
    values, so that the permutations are exact."""
    centred = series - np.median(series)
    deviation = float(stats.median_abs_deviation(series, scale="normal")) or float(series.std())
    if not deviation:
        return np.zeros_like(series)
    clipped = np.clip(centred / deviation, -_CLIP, _CLIP)
    scores: Floats = (clipped - clipped.mean()) / clipped.std()
    return scores


def _pruned(series: Floats, p_of_cut: dict[int, float], minimum_effect: float, level: float) -> list[int]:
    """Without the cuts between levels that do not differ by themselves (weakest first), or by too little."""
    cuts = sorted(p_of_cut)
    while cuts:
        weights = {}
        for index, cut in enumerate(cuts):
            left = series[cuts[index - 1] if index else 0 : cut]
            right = series[cut : cuts[index + 1] if index + 1 < len(cuts) else len(series)]
            before, after = float(np.median(left)), float(np.median(right))
            small = abs(after - before) < minimum_effect * abs(before) or before == after
            p = float(stats.mannwhitneyu(left, right).pvalue)
            weights[cut] = 2.0 if small else p if p > largest_p(len(left), len(right), level) else 0.0
        weakest = max(cuts, key=lambda cut: weights[cut])
        if not weights[weakest]:
            break
        cuts.remove(weakest)
    return cuts


def largest_p(left: int, right: int, level: float = LEVEL) -> float:
    """Up to which p of a Mann–Whitney test two neighbouring levels of so many values are kept apart. Short ones never
    reach `level`: they may have twice the smallest p that there is, which is one pair of values in the wrong order."""
    return max(level, 4 / comb(left + right, left))


def _levels(series: Floats, cuts: Sequence[int]) -> list[tuple[int, float, float]]:
    edges = [0, *cuts, len(series)]
    medians = [float(np.median(series[a:b])) for a, b in pairwise(edges)]
    return [(cut, *levels) for cut, levels in zip(cuts, pairwise(medians), strict=True)]
