"""Replicates that stand apart from the others of their configuration: named, never left out. Pure.

Rosner's generalised extreme studentised deviate test (Technometrics 25, 1983; for one outlier it is Grubbs' test) on
the logarithms, because benchmark noise is multiplicative; on the values themselves where one is not above zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import stats

FEWEST = 4  # of three values one always stands apart
LEVEL = 0.01  # of clean samples this share has a value named

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def outliers(values: Floats, bounds: Ints, level: float = LEVEL) -> Bools:
    """Which values stand apart from the others of their sample: at most a third of a sample, none of fewer than 4.
    bounds: sample n holds the values from bounds[n] to bounds[n + 1].

    With 4 or 5 values only one that is more than some ten standard deviations off is named: more cannot be said of so
    few."""
    apart = np.zeros(len(values), dtype=bool)
    sizes = np.diff(bounds)
    for size in np.unique(sizes):
        places = bounds[:-1][sizes == size, None] + np.arange(size)
        apart[places] = _apart(values[places], _limits(int(size), level))
    return apart


def _apart(samples: Floats, limits: Sequence[float]) -> Bools:
    """samples: one a row, all of the same size."""
    furthest = np.zeros(samples.shape, dtype=int)  # in which round a value was the furthest of those left
    named = np.zeros((len(samples), 1), dtype=int)
    steady = np.zeros(len(samples), dtype=bool)
    fit = samples.min(axis=1, keepdims=True, initial=np.inf) > 0
    left = np.where(fit, np.log(np.where(fit, samples, 1)), samples)
    for number, limit in enumerate(limits, 1):
        count = samples.shape[1] - number + 1
        there = furthest == 0
        mean = left.sum(axis=1, keepdims=True, where=there) / count
        deviations = np.where(there, abs(left - mean), 0)
        spread = np.sqrt((deviations**2).sum(axis=1) / (count - 1))
        steady |= spread <= 1e-12 * abs(mean[:, 0])
        each, place = np.arange(len(samples)), np.where(there, deviations, -1).argmax(axis=1)
        furthest[each, place] = number
        named[~steady & (deviations[each, place] > limit * spread)] = number
    return (furthest > 0) & (furthest <= named)


@lru_cache
def _limits(n: int, level: float) -> tuple[float, ...]:
    """The deviation, in standard deviations, that the first, second, … furthest of n values must exceed."""
    if n < FEWEST:
        return ()
    limits = []
    for left in range(n, n - (n - 1) // 3, -1):
        t = stats.t.isf(level / (2 * left), left - 2)
        limits.append(float((left - 1) * t / math.sqrt((left - 2 + t**2) * left)))
    return tuple(limits)
