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

Floats = NDArray[np.float64]
Logs = Floats | Sequence[tuple[Floats, Floats]]  # of (base, other) of each cell


class Source(StrEnum):
    """What an interval was computed from."""

    BLOCKS = "blocks"  # one geometric mean a block: cells of a block may depend on one another
    REPLICATES = "replicates"  # each cell's own error, cells taken as independent
    CELLS = "cells"  # the spread among cells, which differ in truth as well: the widest
    NOTHING = "nothing"  # no interval: a single cell without replicates, or cells that are not independent


@dataclass(frozen=True)
class Mean:
    """ratio: geometric mean of the cells' ratios of geometric means; low, high: its 95 % interval. None where there is
    nothing to compute it from. cells: those that count, with all values above zero."""

    ratio: float | None
    low: float | None
    high: float | None
    cells: int
    source: Source


def geometric_mean(cells: Sequence[tuple[Sample, Sample]]) -> Mean:
    """Of (base, other) of each cell."""
    fit = [(base, other) for base, other in cells if _positive(base) and _positive(other)]
    if not fit:
        return Mean(None, None, None, 0, Source.NOTHING)
    logs = _logs(fit)
    ratios = _ratios(logs)
    middle = float(ratios.mean())
    error, freedom, source = _error(fit, logs, ratios)
    if source is Source.NOTHING:
        return Mean(math.exp(middle), None, None, len(fit), source)
    reach = float(special.stdtrit(freedom, (1 + LEVEL) / 2)) * error
    return Mean(math.exp(middle), math.exp(middle - reach), math.exp(middle + reach), len(fit), source)


def _logs(cells: Sequence[tuple[Sample, Sample]]) -> Logs:
    """In one array (cell × side × value) where all samples are equally large."""
    values = [(base.values, other.values) for base, other in cells]
    if len({len(side) for pair in values for side in pair}) == 1:
        found: Floats = np.log(values)
        return found
    return [(np.log(base), np.log(other)) for base, other in values]


def _ratios(logs: Logs) -> Floats:
    """Of each cell, as a logarithm."""
    if isinstance(logs, np.ndarray):
        means: Floats = logs.mean(axis=2)
        return means[:, 1] - means[:, 0]
    return np.array([other.mean() - base.mean() for base, other in logs])


def _positive(sample: Sample) -> bool:
    return bool(sample.values) and min(sample.values) > 0


def _error(cells: Sequence[tuple[Sample, Sample]], logs: Logs, ratios: Floats) -> tuple[float, float, Source]:
    """Standard error of the mean logarithm, and its degrees of freedom."""
    blocks = _blocks(cells, logs)
    if blocks is not None:
        return float((blocks / len(cells)).std(ddof=1)) / math.sqrt(len(blocks)), len(blocks) - 1, Source.BLOCKS
    if all(len(a) > 1 and len(b) > 1 for a, b in logs):
        variances = np.array([side.var(ddof=1) / len(side) for pair in logs for side in pair])
        freedoms = np.array([len(side) - 1 for pair in logs for side in pair])
        total = float(variances.sum())
        freedom = total**2 / float((variances**2 / freedoms).sum()) if total else float(freedoms.sum())
        return math.sqrt(total) / len(cells), freedom, Source.REPLICATES
    if len(cells) > 1:
        return float(ratios.std(ddof=1)) / math.sqrt(len(cells)), len(cells) - 1, Source.CELLS
    return math.nan, 0, Source.NOTHING


def _blocks(cells: Sequence[tuple[Sample, Sample]], logs: Logs) -> Floats | None:
    """Of each block the sum over the cells; None where they were not all measured once in each of three blocks or
    more."""
    keys = cells[0][0].keys
    order = {key: place for place, key in enumerate(keys)}
    if not 2 < len(order) == len(keys):
        return None
    if isinstance(logs, np.ndarray) and all(sample.keys == keys for cell in cells for sample in cell):
        return np.asarray((logs[:, 1] - logs[:, 0]).sum(axis=0))
    if not all(len(s.keys) == len(keys) and order.keys() == set(s.keys) for cell in cells for s in cell):
        return None
    blocks = np.zeros(len(keys))
    for (base, other), (a, b) in zip(cells, logs, strict=True):
        blocks[[order[key] for key in other.keys]] += b
        blocks[[order[key] for key in base.keys]] -= a
    return blocks
