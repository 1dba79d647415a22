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
_ROUNDS = 3  # until the degrees of freedom are those of as many as are asked for
_KNOWN = 1e4  # degrees of freedom of a spread that is known

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


def needed_to_tell(
    spreads: Floats, freedom: Floats, margins: Floats, levels: Floats, used: NDArray[np.intp], family: int
) -> Floats:
    """Return the replicates a side with which, in four of five cases each, it is told that there is no difference, and
    that there is one of twice the margin, though it be the only one of its family. NaN where more than 1000 are needed.

    The spread is known from replicates that are there already, with their degrees of freedom, and is estimated again
    from all of them: the chance is one over both (Stein, Ann. Math. Stat. 16, 1945).

    spreads: standard deviations of single values, as logarithms, as the margins.
    levels: p up to which values differ by then.
    used: replicates a side that are there."""
    total = np.maximum(used, FEWEST).astype(float)
    for _ in range(_ROUNDS):
        later = freedom * np.maximum(total / np.maximum(used, 1), 1)
        same = _quantiles(freedom, special.stdtrit(later, 1 - SIGNIFICANCE / 2), (1 + POWER) / 2)
        differs = _quantiles(freedom, special.stdtrit(later, 1 - levels / (2 * family)), POWER) / 2
        total = np.clip(np.ceil(2 * (spreads * np.maximum(same, differs) / margins) ** 2), FEWEST, 10 * MOST)
    return np.where(total <= MOST, total, np.nan)


def _quantiles(freedom: Floats, shifts: Floats, probability: float) -> Floats:
    """Quantiles of noncentral t distributions, each pair once: one of few degrees of freedom takes 0.2 ms."""
    pairs = np.empty(len(freedom), dtype=np.complex128)
    pairs.real, pairs.imag = freedom, shifts
    own, back = np.unique(pairs, return_inverse=True)
    return special.nctdtrit(own.real, own.imag, probability)[back]


def replicates_to_tell(spread: float, effect: float, level: float, family: int) -> int | None:
    """The same of one spread that is known, as a share; None for more than 1000."""
    if effect <= 0:
        return None
    one = np.ones(1)
    total = needed_to_tell(
        one * max(spread, 1e-12), one * _KNOWN, one * math.log1p(effect), one * level, one.astype(np.intp), family
    )
    return int(total[0]) if math.isfinite(total[0]) else None


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
