"""Verdicts within a run of a plan that was run before: what the noise of earlier runs brings, and what it costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from rich.table import Table
from scipy import special

from bench.figures import Figure
from bench.verdict_families import (
    CLAIM,
    DIFFERS,
    EFFECT,
    MARGIN,
    NOISE,
    Draw,
    Shape,
    Values,
    blocks,
    called_alone,
    drift,
    equal,
    heavy,
    modes,
    modes_of_some,
    noisy_side,
    outliers,
    skewed,
)
from results.domain.measurement.metrics import Better
from results.domain.statistics.borrowing import own_variances
from results.domain.statistics.difference import Noise
from results.domain.statistics.verdict import Question, Sample, Verdict, judge

SEED = 20261125
CELLS = 4000  # simulated for each number, in families
EARLIER = 6
TRUSTING = 3  # replicates
SIZES = ((1, 3), (1, 10), (4, 3), (8, 3), (8, 5))  # cells, replicates


def noisier(factor: float) -> Draw:
    """Return a draw of which the newest run is so many times as noisy as the earlier ones."""

    def draw(random: np.random.Generator, shape: Shape) -> Values:
        return equal(random, shape) * np.where(_newest(shape), factor, 1)

    return draw


def _newest(shape: Shape) -> Values:
    return (np.arange(shape[0]) % (EARLIER + 1) == EARLIER).reshape(-1, 1, 1, 1)


def runs_unequal(random: np.random.Generator, shape: Shape) -> Values:
    """Draw runs each with a noise of its own: log-normal about 2 %, by a factor of 2."""
    return equal(random, shape) * np.exp(0.7 * random.normal(0, 1, (shape[0], 1, 1, 1)))


def configurations_unequal(random: np.random.Generator, shape: Shape) -> Values:
    """Draw configurations each with a noise of its own, which it has in every run."""
    families, sides, cells, _ = shape
    own = np.exp(0.7 * random.normal(0, 1, (families // (EARLIER + 1), sides, cells, 1)))
    return equal(random, shape) * np.repeat(own, EARLIER + 1, axis=0)


CONDITIONS: Mapping[str, Draw] = {
    "equal noise of 2 %": equal,
    "blocks differ by 5 %": blocks,
    "configurations unequal": configurations_unequal,
    "runs unequal": runs_unequal,
    "newest run 1.5 × as noisy": noisier(1.5),
    "newest run 2 × as noisy": noisier(2),
    "newest run 3 × as noisy": noisier(3),
    "one side at 6 %": noisy_side,
    "heavy tails (t, 3 degrees)": heavy,
    "log-normal": skewed,
    "one value in 20 is 16 % off": outliers,
    "3 in 10 start 6 % slower": modes,
    "the same, a quarter of configurations": modes_of_some,
    "drift of 20 %": drift,
}


@dataclass(frozen=True)
class Rates:
    """Shares of cells.

    alone: of equal cells, those called different without a correction.
    found: of cells that all differ by 5 %, those called different."""

    alone: float
    found: float


@cache
def rates(condition: str, cells: int, n: int, earlier: bool) -> Rates:
    random = np.random.default_rng([SEED, list(CONDITIONS).index(condition), cells, n])
    families = CELLS // cells
    noise = CONDITIONS[condition](random, (families * (EARLIER + 1), 2, cells, n))
    runs = noise.reshape(families, EARLIER + 1, 2, cells, n)
    return Rates(
        alone=float(np.mean([called_alone(verdict) for verdict in _verdicts(runs, 0, earlier)])),
        found=float(np.mean([_found(verdict, cells) for verdict in _verdicts(runs, EFFECT, earlier)])),
    )


def _found(verdict: Verdict, cells: int) -> bool:
    return verdict.kind in DIFFERS if cells > 1 else called_alone(verdict)


def _verdicts(families: Values, effect: float, earlier: bool) -> list[Verdict]:
    """Return the verdicts on the cells of the last run of each family. Cells that are alone in theirs are judged at
    once, as parts that lend one another nothing; their p is not adjusted."""
    of_families = [_questions(runs, effect, earlier, (str(number),)) for number, runs in enumerate(families)]
    if families.shape[3] == 1:
        return list(judge([question for questions in of_families for question in questions]))
    return [verdict for questions in of_families for verdict in judge(questions)]


def _questions(runs: Values, effect: float, earlier: bool, part: tuple[str, ...]) -> list[Question]:
    *before, newest = np.exp(runs)
    _, cells, n = newest.shape
    noise = _noise(before) if earlier else [None] * 2 * cells
    keys = tuple((EARLIER, block) for block in range(n))
    samples = [
        Sample(tuple(values), keys, part, earlier_noise=own)
        for values, own in zip((newest * [[[1]], [[1 + effect]]]).reshape(-1, n).tolist(), noise, strict=True)
    ]
    sides = zip(samples[:cells], samples[cells:], strict=True)
    return [Question(base, other, Better.HIGHER, MARGIN) for base, other in sides]


def _noise(runs: Sequence[Values]) -> list[Noise]:
    n = runs[0].shape[-1]
    keys = tuple((number, block) for number in range(len(runs)) for block in range(n))
    values = np.stack(runs, axis=2).reshape(-1, len(runs) * n)
    variances, freedom = own_variances([Sample(tuple(own), keys) for own in values.tolist()])
    return [Noise(*one) for one in zip(variances.tolist(), freedom.tolist(), strict=True)]


@cache
def trusting(condition: str, n: int) -> Rates:
    """Return what one pair of configurations would show by the noise of its earlier runs, or its own where that is
    larger, whether or not this run is as noisy as they were: why the rule asks."""
    count = 5 * CELLS
    random = np.random.default_rng([SEED, 1, list(CONDITIONS).index(condition), n])
    noise = CONDITIONS[condition](random, (count * (EARLIER + 1), 2, 1, n))
    pairs = (noise[:, 1, 0] - noise[:, 0, 0]).reshape(count, EARLIER + 1, n)
    variances = pairs.var(axis=2, ddof=1)
    error = np.sqrt(np.maximum(variances[:, -1], variances[:, :-1].mean(axis=1)) / n)
    limit = special.stdtrit((EARLIER + 1) * (n - 1), 0.975) * error
    shares = []
    for effect in (0, EFFECT):
        estimate = abs(pairs[:, -1].mean(axis=1) + np.log1p(effect))
        shares.append(float(((estimate >= limit) & (estimate >= np.log1p(MARGIN))).mean()))
    return Rates(*shares)


def table() -> Table:
    columns = [f"{cells} cells, n = {n}{', earlier' if earlier else ''}" for cells, n, earlier in _columns()]
    title = f"within a run, alone and with {EARLIER} earlier ones: A/A alone / all differ by {EFFECT:.0%}, found, %"
    whatever = f"1 cell, n = {TRUSTING}, earlier whatever this run shows"
    made = Table(f"noise ({NOISE:.0%})", *columns, whatever, title=title)
    for condition in CONDITIONS:
        every = [*(rates(condition, *column) for column in _columns()), trusting(condition, TRUSTING)]
        made.add_row(condition, *(f"{100 * one.alone:.1f} / {100 * one.found:.1f}" for one in every))
    return made


def _columns() -> Sequence[tuple[int, int, bool]]:
    return [(*size, earlier) for size in SIZES for earlier in (False, True)]


def figures() -> list[Figure]:
    every = [rates(condition, *size, True).alone for condition in CONDITIONS for size in SIZES]
    name = f"with {EARLIER} earlier runs, equal cells called different, worst of all"
    among_eight = rates("equal noise of 2 %", 8, 3, True).found
    return [
        Figure(name, "", CLAIM, (max(every),)),
        Figure(
            f"5 % found at n = 3 among 8 cells with {EARLIER} earlier runs", "", 0.55, (among_eight,), at_least=True
        ),
    ]
