"""Verdicts on simulated data: how often the rule, and rules of other tools, call equals different and find differences.

Prints the tables of docs/method.md."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from scipy import stats

from bench import drift_rates, verdict_earlier, verdict_families, verdict_looks, verdict_runs
from bench.figures import Figure
from results.domain.measurement.metrics import Better
from results.domain.statistics.verdict import Kind, Question, Sample, judge

CELLS = 10_000
TOGETHER = 20
REPLICATES = (3, 5, 10)
NOISE = (0.01, 0.02, 0.04, 0.08)
EFFECTS = (0.02, 0.05, 0.10)
DIFFERS = (Kind.BETTER, Kind.WORSE)
MARGIN = 0.02

Values = NDArray[np.float64]
Bools = NDArray[np.bool_]
Sides = tuple[Values, Values]
Draw = Callable[[np.random.Generator, tuple[int, int]], Values]


def simulated(
    n: int, cv: float, effect: float = 0.0, draw: Draw | None = None, shared: float = 0.0, drift: float = 0.0
) -> Sides:
    """Return simulated values of both sides, base and other, each of shape (cells, n).

    n: replicates
    cv: standard deviation of the noise, as a share
    effect: relative difference of the other side
    draw: distribution of the noise; None for normal
    shared: standard deviation of what both sides of a block have in common
    drift: change over the whole run; a value's position within its block is random
    """
    random = np.random.default_rng([n, round(1e4 * cv), round(1e4 * effect), round(1e4 * shared)])
    distribution = draw or (lambda random, shape: random.normal(0, 1, shape))
    base, other = (cv * distribution(random, (CELLS, n)) for _ in range(2))
    block = random.normal(0, shared, (CELLS, n)) if shared else 0.0
    if drift:
        base, other = (side + drift * (np.arange(n) + random.random((CELLS, n))) / n for side in (base, other))
    return np.exp(base + block), (1 + effect) * np.exp(other + block)


def questions(base: Values, other: Values, paired: bool = True) -> list[Question]:
    """Return one question a cell, none of which has anything to do with another."""
    keys = [tuple((run, block) for block in range(base.shape[1])) for run in (1, 2)]
    return [
        Question(
            Sample(tuple(a), keys[0], (str(cell),)),
            Sample(tuple(b), keys[0 if paired else 1], (str(cell),)),
            Better.HIGHER,
            MARGIN,
        )
        for cell, (a, b) in enumerate(zip(base.tolist(), other.tolist(), strict=True))
    ]


def teiten(base: Values, other: Values, paired: bool = True) -> Bools:
    """Return which cells Teiten's rule calls different, each judged alone."""
    differs = []
    for verdict in judge(questions(base, other, paired)):
        differs.append(verdict.p <= 0.05 and abs(np.log(verdict.ratio)) >= np.log1p(MARGIN))
    return np.array(differs)


def unpaired(base: Values, other: Values) -> Bools:
    return teiten(base, other, paired=False)


def together(base: Values, other: Values) -> Bools:
    """Return which cells Teiten's rule calls different, twenty judged together and corrected for that."""
    all_questions, differs = questions(base, other), list[bool]()
    for start in range(0, len(all_questions), TOGETHER):
        differs += [verdict.kind in DIFFERS for verdict in judge(all_questions[start : start + TOGETHER])]
    return np.array(differs)


def threshold(base: Values, other: Values) -> Bools:
    return abs(other.mean(1) / base.mean(1) - 1) >= 0.03


def student(base: Values, other: Values) -> Bools:
    return abs(stats.ttest_ind(other, base, axis=1, equal_var=False).statistic) >= 5


def rank(base: Values, other: Values) -> Bools:
    test = stats.mannwhitneyu(other, base, axis=1, method="exact")
    delta = 2 * test.statistic / base.shape[1] ** 2 - 1
    return (test.pvalue < 0.05) & (abs(delta) >= 0.33)


def best(base: Values, other: Values) -> Bools:
    return abs(other.max(1) / base.max(1) - 1) >= 0.05


RULES: Mapping[str, Callable[[Values, Values], Bools]] = {
    "Teiten, same blocks": teiten,
    "Teiten, other blocks": unpaired,
    "Teiten, 20 cells together": together,
    "means differ by 3 %": threshold,
    "Welch's t ≥ 5": student,
    "Mann-Whitney 5 % and Cliff's δ ≥ 0.33": rank,
    "best of n differs by 5 %": best,
}


def measure(rounds: int, seconds: float, console: Console) -> list[Figure]:
    console.print(_rates())
    console.print(_conditions())
    console.print(f"One of {TOGETHER} cells differs by 5 %, noise 2 %: {_one_of_many()}")
    console.print(verdict_families.table())
    console.print(verdict_earlier.table())
    console.print(verdict_runs.table())
    console.print(verdict_runs.alarms_table())
    console.print(*verdict_looks.tables())
    console.print(drift_rates.table())
    false = [teiten(*simulated(n, cv)).mean() for n in REPLICATES for cv in NOISE]
    chance = float(stats.binom.ppf(0.999, CELLS, 0.05) / CELLS)
    return [
        Figure("A against A called different, worst of all", "", chance, (max(false),)),
        Figure("5 % found at 5 replicates, noise 2 %", "", 0.8, (_power(5),), at_least=True),
        Figure("5 % found at 10 replicates, noise 2 %", "", 0.99, (_power(10),), at_least=True),
        Figure("95 % interval covers, n = 5", "", 0.93, (coverage(5),), at_least=True),
        Figure("95 % interval covers, n = 10", "", 0.93, (coverage(10),), at_least=True),
        *verdict_families.figures(),
        *verdict_earlier.figures(),
        *verdict_runs.figures(),
        *verdict_looks.figures(),
        *drift_rates.figures(),
    ]


def _power(n: int) -> float:
    return float(teiten(*simulated(n, 0.02, 0.05)).mean())


def coverage(n: int, cv: float = 0.02, paired: bool = True) -> float:
    verdicts = judge(questions(*simulated(n, cv, 0.05), paired))
    return float(np.mean([verdict.low <= 1.05 <= verdict.high for verdict in verdicts]))


def _rates() -> Table:
    table = Table(
        "rule",
        "n",
        *(f"A/A, noise {cv:.0%}" for cv in NOISE),
        *(f"finds {effect:.0%}" for effect in EFFECTS),
        title=f"{CELLS} cells each; found: noise 2 %",
    )
    for name, rule in RULES.items():
        for n in REPLICATES:
            false = [rule(*simulated(n, cv)).mean() for cv in NOISE]
            power = [rule(*simulated(n, 0.02, effect)).mean() for effect in EFFECTS]
            table.add_row(name, str(n), *_percent(false + power))
    return table


def heavy(random: np.random.Generator, shape: tuple[int, int]) -> Values:
    return random.standard_t(3, shape) / np.sqrt(3)


def spikes(random: np.random.Generator, shape: tuple[int, int]) -> Values:
    return random.normal(0, 1, shape) - 8 * (random.random(shape) < 0.05)


def levels(random: np.random.Generator, shape: tuple[int, int]) -> Values:
    """Draw noise of two runs that each have their own level, as after a restart of the machine between them."""
    return random.normal(0, 1, shape) + random.normal(0, 1, (shape[0], 1))


CONDITIONS: Mapping[
    str, tuple[Mapping[str, float | Draw], tuple[bool, ...]]
] = {  # and whether both sides are in the same blocks
    "normal noise": ({}, (True, False)),
    "blocks differ by 5 %": ({"shared": 0.05}, (True,)),
    "heavy tails (t, 3 degrees)": ({"draw": heavy}, (True, False)),
    "one value in 20 is 16 % off": ({"draw": spikes}, (True, False)),
    "drift of 5 % over the run": ({"drift": 0.05}, (True, False)),
    "drift of 20 % over the run": ({"drift": 0.2}, (True, False)),
    "each run has a level of its own (2 %)": ({"draw": levels}, (False,)),
}


def _conditions() -> Table:
    """Return a table of the rule under several conditions, at noise of 2 %."""
    table = Table("conditions", "blocks", "n", "A/A", "finds 5 %", "interval covers", title="the rule, noise 2 %")
    for name, (condition, blocks) in CONDITIONS.items():
        for paired in blocks:
            for n in REPLICATES:
                equal, different = simulated(n, 0.02, **condition), simulated(n, 0.02, 0.05, **condition)
                verdicts = judge(questions(*different, paired))
                covers = np.mean([verdict.low <= 1.05 <= verdict.high for verdict in verdicts])
                rates = (teiten(*equal, paired).mean(), teiten(*different, paired).mean(), covers)
                table.add_row(name, "same" if paired else "other", str(n), *_percent(rates))
    return table


def _one_of_many() -> str:
    """Return how often the one is found, and in how many families another is called different, as text."""
    sentences = []
    for n in REPLICATES:
        base, other = simulated(n, 0.02)
        other[::TOGETHER] *= 1.05
        differs = together(base, other).reshape(-1, TOGETHER)
        another = differs[:, 1:].any(1).mean()
        sentences.append(f"n = {n}: found {differs[:, 0].mean():.1%}, another in {another:.1%} of families")
    return "; ".join(sentences)


def _percent(rates: Sequence[float]) -> list[str]:
    return [f"{100 * rate:.1f}" for rate in rates]
