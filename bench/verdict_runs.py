"""Verdicts on two runs of one plan, with earlier runs of it that say how far the levels of runs lie apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from bench.figures import Figure
from bench.verdict_families import CLAIM, DIFFERS, EFFECT, MARGIN, NOISE, called_alone
from results.domain.measurement.metrics import Better
from results.domain.statistics.run_levels import run_mean
from results.domain.statistics.verdict import Kind, Question, Sample, Verdict, judge

SEED = 20261124
FAMILIES = 1000
CELLS = 8
EARLIER = (0, 3, 5, 10)
REPLICATES = (3, 5)
EARLIEST = 3  # runs from which the rule says more than "in these runs"

Values = NDArray[np.float64]
Draw = Callable[[np.random.Generator, tuple[int, int, int]], Values]  # families, runs, cells


def none(random: np.random.Generator, shape: tuple[int, int, int]) -> Values:
    return np.zeros(shape)


def common(random: np.random.Generator, shape: tuple[int, int, int]) -> Values:
    """Draw a level of 2 % for each run, the same for all its cells."""
    families, runs, cells = shape
    return np.repeat(0.02 * random.normal(0, 1, (families, runs, 1)), cells, axis=2)


def own(random: np.random.Generator, shape: tuple[int, int, int]) -> Values:
    """Draw a level of 2 % for each configuration of each run."""
    return 0.02 * random.normal(0, 1, shape)


def slow_runs(random: np.random.Generator, shape: tuple[int, int, int]) -> Values:
    """Draw runs of which three in ten are 6 % slower."""
    families, runs, cells = shape
    return np.repeat(-0.06 * (random.random((families, runs, 1)) < 0.3), cells, axis=2)


def heavy(random: np.random.Generator, shape: tuple[int, int, int]) -> Values:
    """Draw levels of 2 % with heavy tails."""
    families, runs, cells = shape
    return np.repeat(0.02 * random.standard_t(3, (families, runs, 1)) / np.sqrt(3), cells, axis=2)


def wandering(random: np.random.Generator, shape: tuple[int, int, int]) -> Values:
    """Draw levels of which half lasts from run to run."""
    levels = common(random, shape)
    for run in range(1, shape[1]):
        levels[:, run] = 0.5 * levels[:, run - 1] + np.sqrt(1 - 0.5**2) * levels[:, run]
    return levels


CONDITIONS: Mapping[str, Draw] = {
    "runs have no level": none,
    "level of 2 %, all cells of a run alike": common,
    "level of 2 %, each configuration its own": own,
    "3 runs in 10 are 6 % slower": slow_runs,
    "heavy tails (t, 3 degrees)": heavy,
    "half of the level lasts to the next run": wandering,
}


@dataclass(frozen=True)
class Rates:
    """Shares of cells.

    alone: of equal cells, those called different without a correction.
    together: of the same, those called different as a family.
    found: of cells that all differ by 5 %, those called different."""

    alone: float
    together: float
    found: float


@cache
def rates(condition: str, earlier: int, n: int) -> Rates:
    random = np.random.default_rng([SEED, list(CONDITIONS).index(condition), earlier, n])
    runs = earlier + 2
    level = CONDITIONS[condition](random, (FAMILIES, runs, CELLS))
    noise = level[..., None] + NOISE * random.normal(0, 1, (FAMILIES, runs, CELLS, n))
    equal, differing = _verdicts(noise, 0), _verdicts(noise, EFFECT)
    return Rates(
        alone=float(np.mean([called_alone(verdict) for verdict in equal])),
        together=float(np.mean([verdict.kind in DIFFERS for verdict in equal])),
        found=float(np.mean([verdict.kind in DIFFERS for verdict in differing])),
    )


def _verdicts(noise: Values, effect: float) -> list[Verdict]:
    """Return the verdicts on the last run against the one before it."""
    *_, n = noise.shape
    verdicts: list[Verdict] = []
    for family in noise:
        *earlier, before, last = family
        questions = []
        for cell in range(CELLS):
            others = tuple(run_mean(number, np.exp(run[cell]).tolist()) for number, run in enumerate(earlier))
            sides = (np.exp(before[cell]), np.exp(last[cell]) * (1 + effect))
            base, other = (
                Sample(tuple(values.tolist()), tuple((-1 - side, block) for block in range(n)), other_runs=others)
                for side, values in enumerate(sides)
            )
            questions.append(Question(base, other, Better.HIGHER, MARGIN))
        verdicts += judge(questions)
    return verdicts


@dataclass(frozen=True)
class Alarms:
    """Shares of newest runs with a configuration that is worse: of equal ones, and of those that are all 5 % slower."""

    false: float
    true: float


@cache
def alarms(condition: str, earlier: int, cells: int) -> Alarms:
    """Return how often the newest run is worse than so many earlier ones, of five replicates."""
    n = 5
    random = np.random.default_rng([SEED, 1, list(CONDITIONS).index(condition), earlier, cells])
    level = CONDITIONS[condition](random, (FAMILIES, earlier + 1, cells))
    noise = level[..., None] + NOISE * random.normal(0, 1, (FAMILIES, earlier + 1, cells, n))
    keys = tuple((run, block) for run in range(earlier) for block in range(n))
    newest = tuple((earlier, block) for block in range(n))
    rates = []
    for effect in (0.0, -EFFECT):
        worse = 0
        for *before, last in noise:
            questions = [
                Question(
                    Sample(tuple(np.exp([run[cell] for run in before]).ravel().tolist()), keys),
                    Sample(tuple((np.exp(last[cell]) * (1 + effect)).tolist()), newest),
                    Better.HIGHER,
                    MARGIN,
                )
                for cell in range(cells)
            ]
            worse += any(verdict.kind is Kind.WORSE for verdict in judge(questions))
        rates.append(worse / FAMILIES)
    return Alarms(*rates)


def alarms_table() -> Table:
    columns = [f"{earlier} runs before, {cells} configurations" for cells in (1, CELLS) for earlier in (1, 3, 10)]
    made = Table("levels of runs", *columns, title="alarms for the newest run, n = 5: A/A / all 5 % slower, %")
    for condition in CONDITIONS:
        every = [alarms(condition, earlier, cells) for cells in (1, CELLS) for earlier in (1, 3, 10)]
        made.add_row(condition, *(f"{100 * one.false:.1f} / {100 * one.true:.1f}" for one in every))
    return made


def table() -> Table:
    columns = [f"{earlier} earlier runs" for earlier in EARLIER]
    made = Table("levels of runs", "n", *columns, title="two runs: A/A alone / A/A of eight cells / 5 % found, %")
    for condition in CONDITIONS:
        for n in REPLICATES:
            made.add_row(condition, str(n), *(_text(rates(condition, earlier, n)) for earlier in EARLIER))
    return made


def _text(of: Rates) -> str:
    return " / ".join(f"{100 * share:.1f}" for share in (of.alone, of.together, of.found))


def figures() -> Sequence[Figure]:
    known = [
        rates(condition, earlier, n)
        for condition in CONDITIONS
        for earlier in EARLIER
        for n in REPLICATES
        if earlier >= EARLIEST
    ]
    return [
        Figure("two runs with a history, equal cells called different", "", CLAIM, (max(k.together for k in known),))
    ]
