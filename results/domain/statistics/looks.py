"""What a look at replicates costs, where more are added after it. Pure.

Who looks, adds replicates and looks again gives chance another try. The chance of a false difference is spent look by
look (Lan and DeMets, Biometrika 70, 1983): the first look has 5 %, as it would have alone, and all later ones together
half a percent more, each half of what the one before it had. So nobody who never adds any pays for those who do.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import special

FIRST = 0.05  # chance of a false difference at the first look
LATER = 0.005  # at all later ones together
_DRAWS = 100_000
_SEED = 20261124

Floats = NDArray[np.float64]


@lru_cache(1000)  # 20 to 40 ms each
def look_level(looks: tuple[int, ...], n: int) -> float:
    """Return the p up to which n replicates differ, after looks at fewer of them, so that what is called different at
    this look and at none before has the chance that is left for it.

    looks: replicates at each look before, at least 3 each and fewer than n, ascending.

    The p values are those of paired t tests, simulated where nothing differs; the same looks give the same level."""
    if not looks:
        return FIRST
    p = _p_values((*looks, n))
    called = p[0] <= FIRST
    level = FIRST
    for number, of_look in enumerate(p[1:], 1):
        chance = LATER / 2**number
        still = np.sort(of_look[~called])
        level = min(float(still[int(chance * _DRAWS) - 1]), FIRST) if len(still) else FIRST
        called |= of_look <= level
    return level


def _p_values(counts: Sequence[int]) -> list[Floats]:
    """Return of each count of pairs the p values of the same draws, with the pairs that were there before."""
    random = np.random.RandomState(_SEED)  # whose stream is frozen, so that a verdict stays what it was
    total, squares = np.zeros(_DRAWS), np.zeros(_DRAWS)
    p_values = []
    for before, count in pairwise((0, *counts)):
        added = count - before
        sums = random.normal(0, np.sqrt(added), _DRAWS)
        total += sums
        squares += sums**2 / added + (random.chisquare(added - 1, _DRAWS) if added > 1 else 0)
        variance = (squares - total**2 / count) / (count - 1)
        p_values.append(2 * special.stdtr(count - 1, -abs(total) / np.sqrt(variance * count)))
    return p_values
