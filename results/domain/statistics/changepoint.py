"""Change points: where the level of a series in order changes for good. Pure. Method, rates, sources: docs/trends.md.

Circular binary segmentation (Olshen et al. 2004) on clipped scores: of every stretch of the series its distance from
the rest, in standard errors; the largest one is tested by permutations. Clipping bounds what a spike can do, and a
stretch in the midst (slow for a week, then mended) is found as well as a step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import comb

import numpy as np
from numpy.typing import NDArray
from scipy import stats

METHOD = 1
MINIMUM_SEGMENT = 3
LEVEL = 0.01
FEWEST = 10  # values in which any change can reach LEVEL
PERMUTATIONS = 999
_BATCH = 111
_CLIP = 3.0  # robust standard deviations from the median: as much as one value can count
_MOST = 400  # of the newest values that are looked at: the work grows with the square

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
    series = np.asarray(values, dtype=float)
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
        strengths, starts = self._strongest(scores[None, :])
        best = int(np.argmax(strengths[:, 0]))
        strength = float(strengths[best, 0])
        p = self._chance(scores, strength)
        if p > self.level:
            return None
        length = best + self.minimum
        return int(starts[best, 0]), int(starts[best, 0]) + length, p

    def _chance(self, scores: Floats, strength: float) -> float:
        """How often an order by chance is as strong, the true order counted in. Stops where it cannot be few."""
        reached = done = 0
        while done < self.permutations:
            count = min(_BATCH, self.permutations - done)
            orders = self.random.permuted(np.broadcast_to(scores, (count, len(scores))), axis=1)
            strengths, _ = self._strongest(orders)
            reached += int((strengths.max(axis=0) >= strength - 1e-9).sum())
            done += count
            if (reached + 1) / (self.permutations + 1) > self.level:
                break
        return (reached + 1) / (done + 1)

    def _strongest(self, scores: Floats) -> tuple[Floats, NDArray[np.int64]]:
        """For every length of a stretch (rows) and every order (columns of the result, rows of `scores`): the largest
        standardised sum, and where the stretch begins. What is left of the series on either side of it must be a level
        of its own, or nothing."""
        orders, n = scores.shape
        sums = np.concatenate([np.zeros((orders, 1)), scores.cumsum(axis=1)], axis=1)
        lengths = range(self.minimum, n - self.minimum + 1)
        strengths = np.empty((len(lengths), orders))
        starts = np.empty((len(lengths), orders), dtype=np.int64)
        for row, length in enumerate(lengths):
            rest = n - length
            allowed = np.r_[0, self.minimum : rest - self.minimum + 1, rest] if rest else np.zeros(1, dtype=int)
            sizes = np.abs(sums[:, allowed + length] - sums[:, allowed])
            largest = sizes.argmax(axis=1)
            deviation = (length * rest / (n - 1)) ** 0.5
            strengths[row] = sizes[np.arange(orders), largest] / deviation
            starts[row] = allowed[largest]
        return strengths, starts


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
