"""Replicates that are added after a look: how often anything is ever called different, and whether as many as are asked
for tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from rich.table import Table

from bench.figures import Figure
from bench.verdict_families import (
    CLAIM,
    DIFFERS,
    EFFECT,
    MARGIN,
    Draw,
    Values,
    blocks,
    equal,
    heavy,
    modes,
    outliers,
    unequal,
)
from results.domain.measurement.metrics import Better
from results.domain.statistics.verdict import Kind, Question, Sample, judge

SEED = 20261124
CELLS = 2000  # simulated for each number, in families
SIZES = (1, 8)
FIRST = (3, 5)
ADDED = 3  # times that as many replicates are added as there were first
TOLD = 0.8
MOST_ASKED = 300  # of more replicates that are simulated

CONDITIONS: Mapping[str, Draw] = {
    "equal noise of 2 %": equal,
    "blocks differ by 5 %": blocks,
    "unequal noise": unequal,
    "heavy tails (t, 3 degrees)": heavy,
    "one value in 20 is 16 % off": outliers,
    "3 in 10 start 6 % slower": modes,
}


@cache
def ever_different(condition: str, cells: int, n: int, rule: int) -> float:
    """Return the share of equal cells that are called different at any of four looks."""
    random = np.random.default_rng([SEED, list(CONDITIONS).index(condition), cells, n])
    families = CELLS // cells
    noise = CONDITIONS[condition](random, (families, 2, cells, (ADDED + 1) * n))
    ever = 0
    for family in noise:
        called = np.zeros(cells, dtype=bool)
        for look in range(1, ADDED + 2):
            looks = tuple(n * before for before in range(1, look))
            called |= [verdict.kind in DIFFERS for verdict in judge(_questions(family[:, :, : look * n], looks), rule)]
        ever += int(called.sum())
    return ever / (families * cells)


@dataclass(frozen=True)
class Told:
    """Of cells that were undecided and got as many replicates more as was asked for.

    share: that are decided by them.
    asked: median of how many more it were."""

    share: float
    asked: float


@cache
def told(cells: int, n: int, effect: float) -> Told:
    """Return how often as many more as the first undecided cell of a family asks for tell it."""
    random = np.random.default_rng([SEED, 2, cells, n, round(100 * effect)])
    decided, asked = [], []
    for _ in range(CELLS // 8):
        first = equal(random, (1, 2, cells, n))[0]
        verdicts = judge(_questions(first, (), effect))
        place = next((number for number, verdict in enumerate(verdicts) if verdict.kind is Kind.TOO_FEW), None)
        if place is None or (more := verdicts[place].more) is None:
            continue
        asked.append(more)
        more = min(more, MOST_ASKED)
        every = np.concatenate([first, equal(random, (1, 2, cells, more))[0]], axis=2)
        decided.append(judge(_questions(every, (n,), effect))[place].kind is not Kind.TOO_FEW)
    return Told(float(np.mean(decided)), float(np.median(asked)))


def _questions(values: Values, looks: tuple[int, ...], effect: float = 0.0) -> list[Question]:
    keys = tuple((1, block) for block in range(values.shape[2]))
    base, other = np.exp(values[0]).tolist(), (np.exp(values[1]) * (1 + effect)).tolist()
    return [
        Question(Sample(tuple(a), keys), Sample(tuple(b), keys), Better.HIGHER, MARGIN, looks=looks)
        for a, b in zip(base, other, strict=True)
    ]


_EVERY = [(cells, n) for cells in SIZES for n in FIRST]


def tables() -> Sequence[Table]:
    columns = [f"{cells} cells, n = {n}, rule {rule}" for cells, n in _EVERY for rule in (1, 2)]
    ever = Table("noise", *columns, title="equal cells ever called different at four looks, %")
    for condition in CONDITIONS:
        shares = [ever_different(condition, *of, rule) for of in _EVERY for rule in (1, 2)]
        ever.add_row(condition, *(f"{100 * share:.1f}" for share in shares))
    more = Table(
        "cells", "n", "equal", "differ by 5 %", title="decided by as many more as are asked for, % (median asked)"
    )
    for of in _EVERY:
        both = [told(*of, effect) for effect in (0.0, EFFECT)]
        more.add_row(*map(str, of), *(f"{100 * one.share:.1f} ({one.asked:.0f})" for one in both))
    return ever, more


def figures() -> list[Figure]:
    ever = [ever_different(condition, *of, 2) for condition in CONDITIONS for of in _EVERY]
    shares = [told(*of, effect).share for of in _EVERY for effect in (0.0, EFFECT)]
    return [
        Figure("four looks, equal cells ever called different, worst of all", "", CLAIM, (max(ever),)),
        Figure("as many more as are asked for tell, worst of all", "", TOLD, (min(shares),), at_least=True),
    ]
