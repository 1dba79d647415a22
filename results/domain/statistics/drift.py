"""Does a run's machine change while it is measured, and does the place within a block matter? Pure.

One linear model over all trials of a run: log value = configuration + change × (position in the run) + order change ×
(place within the block), by least squares. Blocks in random order make the three separable. A trial with several values
(one a label or node) is one observation: the mean of their logarithms.
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
        slopes, errors = _fit(x[:, separable], y, freedom)
        for index, slope, error in zip(separable, slopes, errors, strict=True):
            p = 2 * float(special.stdtr(freedom, -abs(slope) / error)) if error > 0 else float(slope == 0)
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


def _fit(x: Floats, y: Floats, freedom: int) -> tuple[Floats, Floats]:
    """Least squares: slopes and their standard errors."""
    inverse = np.linalg.inv(x.T @ x)
    slopes = inverse @ x.T @ y
    rest = y - x @ slopes
    return slopes, np.sqrt(np.diag(inverse) * float(rest @ rest) / freedom)
