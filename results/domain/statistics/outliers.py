"""Replicates that stand apart from the others of their configuration: named, never left out. Pure.

Rosner's generalised extreme studentised deviate test (Technometrics 25, 1983; for one outlier it is Grubbs' test) on
the logarithms, because benchmark noise is multiplicative; on the values themselves where one is not above zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

FEWEST = 4  # of three values one always stands apart
LEVEL = 0.01  # of clean samples this share has a value named

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def outliers(samples: Sequence[Sequence[float]], level: float = LEVEL) -> list[tuple[int, ...]]:
    """Return of each sample the indexes of the values that stand apart from its others: at most a third of a sample,
    none of fewer than 4.

    With 4 or 5 values only one that is more than some ten standard deviations off is named: more cannot be said of so
    few."""
    by_size: dict[int, list[int]] = {}
    for index, sample in enumerate(samples):
        by_size.setdefault(len(sample), []).append(index)
    apart: list[tuple[int, ...]] = [()] * len(samples)
    for size, indexes in by_size.items():
        if size < FEWEST:
            continue
        named = _apart(np.array([samples[index] for index in indexes], dtype=float), _limits(size, level))
        for row in np.flatnonzero(named.any(axis=1)).tolist():
            apart[indexes[row]] = tuple(np.flatnonzero(named[row]).tolist())
    return apart


def _apart(samples: Floats, limits: Sequence[float]) -> Bools:
    """Return which values stand apart.

    samples: one a row, all of the same size."""
    furthest = np.zeros(samples.shape, dtype=int)  # in which round a value was the furthest of those left
    named = np.zeros((len(samples), 1), dtype=int)
    steady = np.zeros(len(samples), dtype=bool)
    fit = samples.min(axis=1, keepdims=True) > 0
    left = np.where(fit, np.log(np.where(fit, samples, 1)), samples)
    for number, limit in enumerate(limits, 1):
        count = samples.shape[1] - number + 1
        there = furthest == 0
        mean = left.sum(axis=1, keepdims=True, where=there) / count
        deviations = np.where(there, abs(left - mean), 0)
        spread = np.sqrt((deviations**2).sum(axis=1) / (count - 1))
        steady |= spread <= 1e-12 * abs(mean[:, 0])
        each, worst = np.arange(len(samples)), np.where(there, deviations, -1).argmax(axis=1)
        furthest[each, worst] = number
        named[~steady & (deviations[each, worst] > limit * spread)] = number
    return (furthest > 0) & (furthest <= named)


def _limits(n: int, level: float) -> tuple[float, ...]:
    """Return the deviation, in standard deviations, that the first, second, … furthest of n values must exceed."""
    limits = []
    for left in range(n, n - (n - 1) // 3, -1):
        t = stats.t.isf(level / (2 * left), left - 2)
        limits.append(float((left - 1) * t / math.sqrt((left - 2 + t**2) * left)))
    return tuple(limits)
