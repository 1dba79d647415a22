"""Does a run's machine change while it is measured, and does the place within a block matter? Pure.

One linear model over all trials of a run: log value = configuration + change × (position in the run) + order change ×
(place within the block), by least squares. Blocks in random order make the three separable. A trial with several values
(one a label or node) is one observation: the mean of their logarithms.

What varies slowly by itself (a neighbour that is busy for an hour) looks like a change. The error of a slope therefore
grows with the autocorrelation from trial to trial, taken at an upper bound since it is estimated from few.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

LEVEL = 0.01  # of steady runs this share is warned about
SMALLEST = 0.01  # a smaller change over the run is not worth a warning
FREEDOM = 3  # with fewer degrees of freedom no change is given
_BOUND = 1.5  # standard errors by which the autocorrelation may be larger than it seems; by simulation
_SKEWNESS = 5  # how much further a high autocorrelation may be above its estimate; by simulation
_MOST_CORRELATED = 0.97

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Drift:
    """How the values of one run changed while it was measured.

    change: from the run's first trial to its last, as a share (0.02 = 2 % more).
    order_change: from a block's first trial to its last, besides.
    p, order_p: two-sided; None, like the change, where it cannot be told."""

    change: float | None
    p: float | None
    order_change: float | None
    order_p: float | None
    trials: int

    @property
    def drifts(self) -> bool:
        return _matters(self.change, self.p)

    @property
    def order_matters(self) -> bool:
        return _matters(self.order_change, self.order_p)


def drift(configurations: ArrayLike, blocks: ArrayLike, positions: ArrayLike, values: ArrayLike) -> Drift:
    """Return how the values of one run with one metric changed while it was measured. Configurations with
    a value that is not above zero are left out.

    configurations: a number for whatever has a level of its own: for each label or node, where a trial has a value of
        each.
    positions: in the run, in the order in which trials were measured; they tell trials apart."""
    configuration, block, position = (
        np.asarray(column, dtype=np.int64) for column in (configurations, blocks, positions)
    )
    value = np.asarray(values, dtype=float)
    fit = np.flatnonzero(~np.isin(configuration, configuration[~(value > 0)]))
    order = fit[np.lexsort((configuration[fit], position[fit]))]
    starts = np.flatnonzero(np.diff(position[order], prepend=-1))  # of each trial among its values
    if len(starts) < 2:
        return Drift(None, None, None, None, len(starts))
    groups = _groups(configuration[order], starts)
    block, position = block[order][starts], position[order][starts]
    logs = np.add.reduceat(np.log(value[order]), starts) / np.diff(starts, append=len(order))
    columns = [(position - position[0]) / (position[-1] - position[0]), _places(block)]
    y = _within(groups, logs)
    x = np.column_stack([_within(groups, column) for column in columns])
    separable = [index for index in range(2) if float(x[:, index] @ x[:, index]) > 1e-9]
    freedom = len(starts) - (int(groups.max()) + 1) - len(separable)
    changes: list[tuple[float | None, float | None]] = [(None, None), (None, None)]
    if separable and freedom >= FREEDOM and np.linalg.matrix_rank(x[:, separable]) == len(separable):
        slopes, errors, correlated = _fit(x[:, separable], y, freedom)
        for index, slope, error in zip(separable, slopes, errors, strict=True):
            left = max(freedom / correlated, 1)
            p = 2 * float(special.stdtr(left, -abs(slope) / error)) if error > 0 else float(slope == 0)
            changes[index] = (math.expm1(slope), p)
    return Drift(*changes[0], *changes[1], trials=len(starts))


def _matters(change: float | None, p: float | None) -> bool:
    return change is not None and p is not None and p <= LEVEL and abs(change) >= SMALLEST


def _groups(configuration: Ints, starts: Ints) -> Ints:
    """A number for all the configurations that a trial has a value of."""
    if len(starts) == len(configuration):
        return np.unique(configuration, return_inverse=True)[1]
    number_of: dict[bytes, int] = {}
    parts = np.split(configuration, starts[1:])
    return np.array([number_of.setdefault(part.tobytes(), len(number_of)) for part in parts])


def _places(block: Ints) -> Floats:
    """Of each trial, in the order of positions, its place among those of its block: 0 for the first, 1 for the last."""
    order = np.argsort(block, kind="stable")
    _, first, counts = np.unique(block[order], return_index=True, return_counts=True)
    places = np.empty(len(block))
    places[order] = (np.arange(len(block)) - np.repeat(first, counts)) / np.repeat(np.maximum(counts - 1, 1), counts)
    return places


def _within(groups: Ints, values: Floats) -> Floats:
    """Differences from the mean of each value's group."""
    return values - (np.bincount(groups, values) / np.bincount(groups))[groups]


def _fit(x: Floats, y: Floats, freedom: int) -> tuple[Floats, Floats, float]:
    """Least squares: slopes, their standard errors, and so many values that are correlated are worth one that is not.

    y: in the order in which it was measured."""
    inverse = np.linalg.inv(x.T @ x)
    slopes = inverse @ x.T @ y
    rest = y - x @ slopes
    squares = float(rest @ rest)
    correlated = _correlated(rest, squares, freedom)
    return slopes, np.sqrt(np.diag(inverse) * squares / freedom * correlated), correlated


def _correlated(rest: Floats, squares: float, freedom: int) -> float:
    """Return the variance inflation (1 + r) / (1 - r) of a mean of values with the autocorrelation r, from what is left
    after a fit. That underestimates r by what the fit took away, and by about (3 + 4 r) / n (Marriott and Pope,
    Biometrika 41, 1954)."""
    if not squares:
        return 1.0
    n = len(rest)
    seen = float(rest[1:] @ rest[:-1]) / squares
    unbiased = seen * n / freedom + (3 + 4 * max(seen, 0)) / n
    beyond = _BOUND * math.sqrt(max(1 - seen**2, 0)) + _SKEWNESS * max(seen, 0) ** 2
    bound = unbiased + beyond / math.sqrt(n)
    r = min(max(bound, 0), _MOST_CORRELATED)
    return (1 + r) / (1 - r)
