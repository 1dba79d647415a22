"""Many cells in one figure: the geometric mean of their ratios, with its interval. Pure.

The geometric mean, because the ratio of two of them does not depend on which side is the base (Fleming and Wallace,
CACM 29:3, 1986).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray
from scipy import special

from results.domain.statistics.difference import Sample

LEVEL = 0.95
FEWEST_BLOCKS = 3

Floats = NDArray[np.float64]
Keys = tuple[tuple[int, int], ...]  # run and block of each value


class Source(StrEnum):
    """What an interval was computed from."""

    BLOCKS = "blocks"  # one geometric mean a block: cells of a block may depend on one another
    REPLICATES = "replicates"  # each cell's own error, cells taken as independent
    RUNS = "runs"  # the cells' own intervals, since the level of a run is common to all of its cells
    CELLS = "cells"  # the spread among cells, which differ in truth as well: the widest
    NOTHING = "nothing"  # no interval: a single cell without replicates, or cells that are not independent


@dataclass(frozen=True)
class Mean:
    """A geometric mean over cells. None stands for what there is nothing to compute from."""

    ratio: float | None  # geometric mean of the cells' ratios of geometric means
    low: float | None  # of its 95 % interval
    high: float | None
    cells: int  # that count: those with all values above zero
    source: Source


@dataclass(frozen=True)
class _Logarithms:
    """The logarithms of one cell's values."""

    base: Floats
    other: Floats

    @property
    def ratio(self) -> float:
        return float(self.other.sum() / len(self.other) - self.base.sum() / len(self.base))


def mean_ratio(ratios: Sequence[float]) -> float:
    """Return the geometric mean of ratios, all above zero."""
    return math.exp(math.fsum(map(math.log, ratios)) / len(ratios))


def geometric_mean(cells: Sequence[tuple[Sample, Sample]]) -> Mean:
    """Return the geometric mean over cells, of each of which (base, other) is given."""
    counted = [(base, other) for base, other in cells if _positive(base) and _positive(other)]
    if not counted:
        return Mean(None, None, None, 0, Source.NOTHING)
    logs = [_Logarithms(np.log(base.values), np.log(other.values)) for base, other in counted]
    middle = float(np.array([one.ratio for one in logs]).mean())
    error, freedom, source = _error(counted, logs)
    if source is Source.NOTHING:
        return Mean(math.exp(middle), None, None, len(counted), source)
    reach = float(special.stdtrit(freedom, (1 + LEVEL) / 2)) * error
    return Mean(math.exp(middle), math.exp(middle - reach), math.exp(middle + reach), len(counted), source)


def _positive(sample: Sample) -> bool:
    return bool(sample.values) and min(sample.values) > 0


def _error(cells: Sequence[tuple[Sample, Sample]], logs: Sequence[_Logarithms]) -> tuple[float, float, Source]:
    """Return the standard error of the mean logarithm, its degrees of freedom, and what they were computed from."""
    if _measured_together(cells):
        blocks = _blocks(cells, logs)
        return float((blocks / len(cells)).std(ddof=1)) / math.sqrt(len(blocks)), len(blocks) - 1, Source.BLOCKS
    sides = [side for one in logs for side in (one.base, one.other)]
    if all(len(side) > 1 for side in sides):
        variances = np.array([side.var(ddof=1) / len(side) for side in sides])
        freedoms = np.array([len(side) - 1 for side in sides])
        total = float(variances.sum())
        freedom = total**2 / float((variances**2 / freedoms).sum()) if total else float(freedoms.sum())
        return math.sqrt(total) / len(cells), freedom, Source.REPLICATES
    if len(cells) > 1:
        ratios = np.array([one.ratio for one in logs])
        return float(ratios.std(ddof=1)) / math.sqrt(len(cells)), len(cells) - 1, Source.CELLS
    return math.nan, 0, Source.NOTHING


def _measured_together(cells: Sequence[tuple[Sample, Sample]]) -> bool:
    """Return whether both sides of all cells were measured once in each of the same three blocks or more."""
    keys = cells[0][0].keys
    blocks = set(keys)
    if not FEWEST_BLOCKS <= len(blocks) == len(keys):
        return False
    samples = [sample for cell in cells for sample in cell]
    return all(sample.keys == keys or _once_in_each(sample, blocks) for sample in samples)


def _once_in_each(sample: Sample, blocks: set[tuple[int, int]]) -> bool:
    return len(sample.keys) == len(blocks) and set(sample.keys) == blocks


def _blocks(cells: Sequence[tuple[Sample, Sample]], logs: Sequence[_Logarithms]) -> Floats:
    """Return of each block the sum of the cells' differences in it."""
    keys = cells[0][0].keys
    differences = [
        _ordered(of_cell.other, other.keys, keys) - _ordered(of_cell.base, base.keys, keys)
        for (base, other), of_cell in zip(cells, logs, strict=True)
    ]
    total: Floats = np.sum(differences, axis=0)
    return total


def _ordered(logs: Floats, keys: Keys, order: Keys) -> Floats:
    if keys == order:
        return logs
    index = {key: number for number, key in enumerate(keys)}
    return logs[[index[key] for key in order]]
