"""How many replicates show what: the power of the t test that the verdict rests on. Pure.

The power of a t test is a probability of the noncentral t distribution (Johnson, Kotz, Balakrishnan, Continuous
Univariate Distributions 2, chapter 31); the chance to be significant in the wrong direction is neglected.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

SIGNIFICANCE = 0.05
POWER = 0.8
FEWEST = 3  # with fewer replicates a side there is no verdict
MOST = 1000  # a plan's most replicates

Floats = NDArray[np.float64]


def replicates_needed(spread: float, effect: float, power: float = POWER, paired: bool = True) -> int | None:
    """Replicates a side with which a difference of `effect` (0.05 = 5 %) differs significantly with probability
    `power`; None for more than 1000.

    spread: standard deviation of single values, as a share (CV)."""
    if effect <= 0:
        return None
    replicates = needed(np.array([math.log1p(effect)]), np.array([max(spread, 1e-12)]), np.array([paired]), power)
    return int(replicates[0]) or None


def detectable(spread: float, replicates: int, power: float = POWER, paired: bool = True) -> float | None:
    """The smallest difference, as a share, that differs significantly with probability `power`. None for fewer than
    three replicates."""
    if not FEWEST <= replicates <= MOST:
        return None
    return math.expm1(spread * float(_shifts(power, paired)[replicates - FEWEST]))


def needed(effects: Floats, spreads: Floats, paired: NDArray[np.bool_], power: float = POWER) -> NDArray[np.intp]:
    """Return the replicates needed for each effect (a logarithm) and spread; 0 where more than 1000 are needed."""
    ratio = -effects / spreads
    index = np.where(
        paired,
        np.searchsorted(-_shifts(power, True), ratio),
        np.searchsorted(-_shifts(power, False), ratio),
    )
    return np.where(index > MOST - FEWEST, 0, index + FEWEST)


def noncentrality(freedom: Floats, power: float = POWER) -> Floats:
    """How many standard errors a true difference must be away for that power. Interpolated in 1 / freedom between
    exact values, to four digits from one degree of freedom on."""
    at, exact = _noncentralities(power)
    return np.interp(1 / freedom, at, exact)


@lru_cache  # constants, 3.6 ms to compute; a comparison looks into them three times
def _noncentralities(power: float) -> tuple[Floats, Floats]:
    at = np.concatenate([[1e-6], np.geomspace(1e-4, 1, 400)])
    return at, special.nctdtrinc(1 / at, 1 - power, special.stdtrit(1 / at, 1 - SIGNIFICANCE / 2))


def _shifts(power: float, paired: bool) -> Floats:
    """For 3, 4, … 1000 replicates a side: the difference that is shown, in standard deviations of single values."""
    n = np.arange(FEWEST, MOST + 1, dtype=float)
    return noncentrality(n - 1 if paired else 2 * n - 2, power) * np.sqrt(2 / n)
