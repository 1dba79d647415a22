"""Verdicts against a known truth: how often the rule, and rules of other tools on the same data, call equals different,
and how often they find a difference. The tables of docs/method.md."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from scipy import stats

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
    """(base, other), each (cells, n). shared: standard deviation of what both sides of a block have alike. drift: the
    change over the whole run, to which each value adds by its own random place in its block."""
    random = np.random.default_rng([n, round(1e4 * cv), round(1e4 * effect), round(1e4 * shared)])
    drawn = draw or (lambda random, shape: random.normal(0, 1, shape))
    base, other = (cv * drawn(random, (CELLS, n)) for _ in range(2))
    block = random.normal(0, shared, (CELLS, n)) if shared else 0.0
    if drift:
        base, other = (side + drift * (np.arange(n) + random.random((CELLS, n))) / n for side in (base, other))
    return np.exp(base + block), (1 + effect) * np.exp(other + block)


def questions(base: Values, other: Values, paired: bool = True) -> list[Question]:
    keys = [tuple((run, block) for block in range(base.shape[1])) for run in (1, 2)]
    return [
        Question(Sample(tuple(a), keys[0]), Sample(tuple(b), keys[0 if paired else 1]), Better.HIGHER, MARGIN)
        for a, b in zip(base.tolist(), other.tolist(), strict=True)
    ]


def ours(base: Values, other: Values, paired: bool = True) -> Bools:
    """Each cell asked by itself."""
    found = judge(questions(base, other, paired))
    return np.array([v.p <= 0.05 and abs(np.log(v.ratio)) >= np.log1p(MARGIN) for v in found])


def unpaired(base: Values, other: Values) -> Bools:
    return ours(base, other, paired=False)


def together(base: Values, other: Values) -> Bools:
    """Twenty cells asked together: the correction costs something."""
    asked = questions(base, other)
    families = (judge(asked[start : start + TOGETHER]) for start in range(0, len(asked), TOGETHER))
    return np.array([verdict.kind in DIFFERS for family in families for verdict in family])


def threshold(base: Values, other: Values) -> Bools:
    return abs(other.mean(1) / base.mean(1) - 1) >= 0.03


def student(base: Values, other: Values) -> Bools:
    return abs(stats.ttest_ind(other, base, axis=1, equal_var=False).statistic) >= 5


def rank(base: Values, other: Values) -> Bools:
    found = stats.mannwhitneyu(other, base, axis=1, method="exact")
    delta = 2 * found.statistic / base.shape[1] ** 2 - 1
    return (found.pvalue < 0.05) & (abs(delta) >= 0.33)


def best(base: Values, other: Values) -> Bools:
    return abs(other.max(1) / base.max(1) - 1) >= 0.05


RULES: Mapping[str, Callable[[Values, Values], Bools]] = {
    "Teiten, same blocks": ours,
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
    false = [ours(*simulated(n, cv)).mean() for n in REPLICATES for cv in NOISE]
    chance = float(stats.binom.ppf(0.999, CELLS, 0.05) / CELLS)
    return [
        Figure("A against A called different, worst of all", "", chance, (max(false),)),
        Figure("5 % found at 5 replicates, noise 2 %", "", 0.8, (_power(5),), at_least=True),
        Figure("5 % found at 10 replicates, noise 2 %", "", 0.99, (_power(10),), at_least=True),
        Figure("95 % interval covers, n = 5", "", 0.93, (coverage(5),), at_least=True),
        Figure("95 % interval covers, n = 10", "", 0.93, (coverage(10),), at_least=True),
    ]


def _power(n: int) -> float:
    return float(ours(*simulated(n, 0.02, 0.05)).mean())


def coverage(n: int, cv: float = 0.02, paired: bool = True) -> float:
    found = judge(questions(*simulated(n, cv, 0.05), paired))
    return float(np.mean([verdict.low <= 1.05 <= verdict.high for verdict in found]))


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
            found = [rule(*simulated(n, 0.02, effect)).mean() for effect in EFFECTS]
            table.add_row(name, str(n), *_percent(false + found))
    return table


def heavy(random: np.random.Generator, shape: tuple[int, int]) -> Values:
    return random.standard_t(3, shape) / np.sqrt(3)


def spikes(random: np.random.Generator, shape: tuple[int, int]) -> Values:
    return random.normal(0, 1, shape) - 8 * (random.random(shape) < 0.05)


def levels(random: np.random.Generator, shape: tuple[int, int]) -> Values:
    """Two runs, each with a level of its own, as spread as its noise: a machine that was restarted between."""
    return random.normal(0, 1, shape) + random.normal(0, 1, (shape[0], 1))


CONDITIONS: Mapping[str, tuple[Mapping[str, float | Draw], tuple[bool, ...]]] = {  # and whether in the same blocks
    "normal noise": ({}, (True, False)),
    "blocks differ by 5 %": ({"shared": 0.05}, (True,)),
    "heavy tails (t, 3 degrees)": ({"draw": heavy}, (True, False)),
    "one value in 20 is 16 % off": ({"draw": spikes}, (True, False)),
    "drift of 5 % over the run": ({"drift": 0.05}, (True, False)),
    "drift of 20 % over the run": ({"drift": 0.2}, (True, False)),
    "each run has a level of its own (2 %)": ({"draw": levels}, (False,)),
}


def _conditions() -> Table:
    """Noise 2 %."""
    table = Table("conditions", "blocks", "n", "A/A", "finds 5 %", "interval covers", title="the rule, noise 2 %")
    for name, (condition, blocks) in CONDITIONS.items():
        for paired in blocks:
            for n in REPLICATES:
                none, some = simulated(n, 0.02, **condition), simulated(n, 0.02, 0.05, **condition)
                covers = np.mean([v.low <= 1.05 <= v.high for v in judge(questions(*some, paired))])
                rates = (ours(*none, paired).mean(), ours(*some, paired).mean(), covers)
                table.add_row(name, "same" if paired else "other", str(n), *_percent(rates))
    return table


def _one_of_many() -> str:
    """How often the one is found, and in how many families another is called different."""
    said = []
    for n in REPLICATES:
        base, other = simulated(n, 0.02)
        other[::TOGETHER] *= 1.05
        found = together(base, other).reshape(-1, TOGETHER)
        said.append(f"n = {n}: found {found[:, 0].mean():.1%}, another in {found[:, 1:].any(1).mean():.1%} of families")
    return "; ".join(said)


def _percent(rates: Sequence[float]) -> list[str]:
    return [f"{100 * rate:.1f}" for rate in rates]
