"""Both rules on simulated runs of several cells: what they call different where nothing differs, and what they find."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from bench.figures import Figure
from results.domain.measurement.metrics import Better
from results.domain.statistics.verdict import Kind, Question, Sample, Verdict, judge

SEED = 20261123
CELLS = 8000  # simulated for each number, in families
FAMILIES = (8, 100)  # cells; one by itself has nobody to borrow from
REPLICATES = (3, 5, 10)
MARGIN = 0.02
NOISE = 0.02
EFFECT = 0.05
DIFFERS = (Kind.BETTER, Kind.WORSE)
CLAIM = 0.055  # at most that share of equal cells is called different

Values = NDArray[np.float64]
Shape = tuple[int, int, int, int]  # families, sides, cells, replicates
Draw = Callable[[np.random.Generator, Shape], Values]


def equal(random: np.random.Generator, shape: Shape) -> Values:
    return NOISE * random.normal(0, 1, shape)


def blocks(random: np.random.Generator, shape: Shape) -> Values:
    """Draw blocks that are slow for all."""
    families, *_, n = shape
    return equal(random, shape) + 0.05 * random.normal(0, 1, (families, 1, 1, n))


def blocks_of_some(random: np.random.Generator, shape: Shape) -> Values:
    """Draw blocks that are slow for a quarter of the configurations only."""
    families, sides, cells, n = shape
    hit = random.random((families, sides, cells, 1)) < 0.25
    return equal(random, shape) + hit * 0.05 * random.normal(0, 1, (families, 1, 1, n))


def blocks_of_cells(random: np.random.Generator, shape: Shape) -> Values:
    """Draw blocks that are slow for both sides of half the cells."""
    families, _, cells, n = shape
    hit = random.random((families, 1, cells, 1)) < 0.5
    return equal(random, shape) + hit * 0.05 * random.normal(0, 1, (families, 1, 1, n))


def unequal(random: np.random.Generator, shape: Shape) -> Values:
    """Draw configurations each with a noise of its own: log-normal about 2 %, by a factor of 2."""
    families, sides, cells, _ = shape
    return equal(random, shape) * np.exp(0.7 * random.normal(0, 1, (families, sides, cells, 1)))


def one_noisy(random: np.random.Generator, shape: Shape) -> Values:
    """Draw configurations of which one in eight is five times as noisy as the others."""
    families, sides, cells, _ = shape
    return equal(random, shape) * np.where(random.random((families, sides, cells, 1)) < 0.125, 5, 1)


def noisy_side(random: np.random.Generator, shape: Shape) -> Values:
    """Draw one side three times as noisy as the other."""
    return equal(random, shape) * np.array([1, 3]).reshape(1, 2, 1, 1)


def heavy(random: np.random.Generator, shape: Shape) -> Values:
    return NOISE * random.standard_t(3, shape) / np.sqrt(3)


def skewed(random: np.random.Generator, shape: Shape) -> Values:
    """Draw log-normal noise."""
    return NOISE * (np.exp(random.normal(0, 1, shape)) - np.exp(0.5)) / np.sqrt((np.e - 1) * np.e)


def outliers(random: np.random.Generator, shape: Shape) -> Values:
    """Draw one value in twenty 16 % off."""
    return equal(random, shape) + np.log(0.84) * (random.random(shape) < 0.05)


def modes(random: np.random.Generator, shape: Shape) -> Values:
    """Draw servers of which three in ten start 6 % slower."""
    return equal(random, shape) / 2 - 0.06 * (random.random(shape) < 0.3)


def modes_of_some(random: np.random.Generator, shape: Shape) -> Values:
    """Draw the same for a quarter of the configurations only, about the same mean as the others."""
    families, sides, cells, _ = shape
    hit = random.random((families, sides, cells, 1)) < 0.25
    return equal(random, shape) / 2 - 0.06 * ((random.random(shape) < 0.3) - 0.3) * hit


def drift(random: np.random.Generator, shape: Shape) -> Values:
    """Draw a change by 20 % over the run, in random order within each block."""
    return equal(random, shape) + 0.2 * (np.arange(shape[3]) + random.random(shape)) / shape[3]


def autocorrelated(random: np.random.Generator, shape: Shape) -> Values:
    """Draw noise of which nine tenths last from trial to trial, in random order within each block."""
    families, sides, cells, n = shape
    white = random.normal(0, 1, (families, sides * cells * n))
    for trial in range(1, white.shape[1]):
        white[:, trial] = 0.9 * white[:, trial - 1] + np.sqrt(1 - 0.9**2) * white[:, trial]
    of_blocks = white.reshape(families, n, sides * cells)
    shuffled = np.take_along_axis(of_blocks, random.random(of_blocks.shape).argsort(axis=2), axis=2)
    return NOISE * shuffled.transpose(0, 2, 1).reshape(shape)


CONDITIONS: Mapping[str, Draw] = {
    "equal noise of 2 %": equal,
    "blocks differ by 5 %": blocks,
    "blocks, for half the cells": blocks_of_cells,
    "blocks, for a quarter of configurations": blocks_of_some,
    "unequal noise": unequal,
    "one configuration in 8 at 10 %": one_noisy,
    "one side at 6 %": noisy_side,
    "heavy tails (t, 3 degrees)": heavy,
    "log-normal": skewed,
    "one value in 20 is 16 % off": outliers,
    "3 in 10 start 6 % slower": modes,
    "the same, a quarter of configurations": modes_of_some,
    "drift of 20 %": drift,
    "autocorrelated (0.9)": autocorrelated,
}


@dataclass(frozen=True)
class Rates:
    """Shares of cells, or of what is called different.

    alone: of equal cells, those called different without a correction: the most lenient case.
    false: of what is called different where half the cells differ by 5 %, what does not.
    found: of cells that all differ by 5 %, those called different."""

    alone: float
    false: float
    found: float


@cache
def rates(condition: str, cells: int, n: int, rule: int) -> Rates:
    count = max(CELLS // cells, 1)
    random = np.random.default_rng([SEED, list(CONDITIONS).index(condition), cells, n])
    noise = CONDITIONS[condition](random, (count, 2, cells, n))
    truth = random.random((count, cells)) < 0.5
    some = _verdicts(noise, np.where(truth, EFFECT, 0), rule)
    called = np.array([[verdict.kind in DIFFERS for verdict in family] for family in some])
    false = (called & ~truth).sum(axis=1) / np.maximum(called.sum(axis=1), 1)
    every = _verdicts(noise, np.full((count, cells), EFFECT), rule)
    return Rates(
        alone=float(
            np.mean([called_alone(verdict) for family in _verdicts(noise, 0 * truth, rule) for verdict in family])
        ),
        false=float(false.mean()),
        found=float(np.mean([verdict.kind in DIFFERS for family in every for verdict in family])),
    )


def _verdicts(noise: Values, effects: NDArray[np.generic], rule: int) -> list[tuple[Verdict, ...]]:
    values = np.exp(noise)
    values[:, 1] *= 1 + effects[:, :, None]
    keys = tuple((1, block) for block in range(noise.shape[3]))
    return [
        judge(
            [
                Question(Sample(tuple(a), keys), Sample(tuple(b), keys), Better.HIGHER, MARGIN)
                for a, b in zip(*family.tolist(), strict=True)
            ],
            rule,
        )
        for family in values
    ]


def called_alone(verdict: Verdict) -> bool:
    """Return whether it would be called different without a correction."""
    return verdict.p is not None and verdict.p <= 0.05 and abs(np.log(verdict.ratio or 1)) >= np.log1p(MARGIN)


def table() -> Table:
    columns = [f"{cells} cells, rule {rule}" for cells in FAMILIES for rule in (1, 2)]
    made = Table("noise", "n", *columns, title="A/A alone / false among found / found, %", show_lines=False)
    for condition in CONDITIONS:
        for n in REPLICATES:
            made.add_row(condition, str(n), *(_text(rates(condition, *cell)) for cell in _columns(n)))
    return made


def _columns(n: int) -> Sequence[tuple[int, int, int]]:
    return [(cells, n, rule) for cells in FAMILIES for rule in (1, 2)]


def _text(of: Rates) -> str:
    return " / ".join(f"{100 * share:.1f}" for share in (of.alone, of.false, of.found))


def figures() -> list[Figure]:
    every = [rates(condition, *cell) for condition in CONDITIONS for n in REPLICATES for cell in _columns(n)[1::2]]
    few = rates("equal noise of 2 %", 8, 3, 2).found
    before = rates("equal noise of 2 %", 8, 3, 1).found
    return [
        Figure("rule 2, equal cells called different, worst of all", "", CLAIM, (max(one.alone for one in every),)),
        Figure("rule 2, false among what is found, worst of all", "", CLAIM, (max(one.false for one in every),)),
        Figure("5 % found at n = 3 among 8 cells, rule 2 to rule 1", "×", 3, (few / before,), at_least=True),
    ]
