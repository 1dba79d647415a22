"""Change points on simulated series: false alarms, detected changes and delays, beside other rules. No servers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import count
from statistics import median

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from bench.figures import Figure
from results.domain.statistics.changepoint import LEVEL, MINIMUM_SEGMENT, change_points

NOISE = 0.02
Floats = NDArray[np.float64]
Rule = Callable[[Floats], bool]  # whether it detects a change anywhere
Simulation = Callable[[np.random.Generator], Floats]


def measure(rounds: int, seconds: float, console: Console) -> list[Figure]:
    """Simulate rounds × 20 series a cell: the default of 21 rounds gives rates to about a percent."""
    count_of_series = rounds * 20
    table = Table(
        "true course of 40 runs, noise 2 %", "Teiten", "E-divisive", "3 % against the last", "t ≥ 5 of the last 5"
    )
    rules: list[Rule] = [_teiten, _e_divisive, _three_percent, _t_of_five]
    rates: dict[str, float] = {}
    for name, simulate in _SIMULATIONS.items():
        shares = []
        for rule in rules:
            shares.append(_share(rule, simulate, count_of_series // 4 if rule is _e_divisive else count_of_series))
        rates[name] = shares[0]
        table.add_row(name, *(f"{share:.1%}" for share in shares))
    alarms = [_ever_alarmed(seed) for seed in range(count_of_series)]
    table.add_row(
        "no change, looked at after each of 10 to 100 runs: ever alarmed", f"{np.mean(alarms):.1%}", "", "", ""
    )
    delays = [_delay(seed) for seed in range(count_of_series // 4)]
    console.print(table)
    console.print(f"−5 %: detected {median(delays):g} runs after it (nine in ten: {np.quantile(delays, 0.9):g})")
    ceiling = LEVEL + 3 * (LEVEL / count_of_series) ** 0.5
    return [
        Figure("false alarms without change", "share", ceiling, (rates["no change"],)),
        Figure("false alarms by a spike at the end", "share", ceiling, (rates["the last run at half"],)),
        Figure("5 % less, 8 runs ago", "share", 0.9, (rates["−5 % for the last 8"],), at_least=True),
    ]


def _unchanged(random: np.random.Generator, n: int = 40) -> Floats:
    return np.exp(random.normal(0, NOISE, n))


def _changed(random: np.random.Generator, start: int, end: int | None, size: float) -> Floats:
    values = _unchanged(random)
    values[start:end] *= size
    return values


_SIMULATIONS: dict[str, Simulation] = {
    "no change": _unchanged,
    "no change, heavy tails (t with 2 degrees)": lambda random: np.exp(NOISE * random.standard_t(2, 40)),
    "the last run at half": partial(_changed, start=-1, end=None, size=0.5),
    "one run in the midst at half": partial(_changed, start=20, end=21, size=0.5),
    "−5 % for the last 3": partial(_changed, start=-3, end=None, size=0.95),
    "−5 % for the last 5": partial(_changed, start=-5, end=None, size=0.95),
    "−5 % for the last 8": partial(_changed, start=-8, end=None, size=0.95),
    "−5 % for the last 20": partial(_changed, start=-20, end=None, size=0.95),
    "−3 % for the last 20": partial(_changed, start=-20, end=None, size=0.97),
    "−5 % for 6 in the midst, then mended": partial(_changed, start=20, end=26, size=0.95),
}


def _share(rule: Rule, simulate: Simulation, count_of_series: int) -> float:
    random = np.random.default_rng(1)
    return sum(rule(simulate(random)) for _ in range(count_of_series)) / count_of_series


def _teiten(values: Floats) -> bool:
    return bool(change_points(values))


def _e_divisive(values: Floats, permutations: int = 199) -> bool:
    """The first step of E-divisive (Matteson & James 2014), energy statistic with exponent 1."""
    random = np.random.default_rng(0)
    distances = np.abs(values[:, None] - values[None, :])
    observed = _energy(distances)
    orders = (random.permutation(len(values)) for _ in range(permutations))
    as_large = sum(_energy(distances[np.ix_(order, order)]) >= observed - 1e-12 for order in orders)
    return bool((as_large + 1) / (permutations + 1) <= LEVEL)


def _energy(distances: Floats) -> float:
    n = len(distances)
    sums = np.pad(distances.cumsum(0).cumsum(1), ((1, 0), (1, 0)))
    cut = np.arange(MINIMUM_SEGMENT, n - MINIMUM_SEGMENT + 1)
    left, right = cut, n - cut
    within_left, total, upper = sums[cut, cut], sums[n, n], sums[cut, n]
    between = upper - within_left
    within_right = total - 2 * between - within_left
    energy = 2 * between / (left * right) - within_left / (left * (left - 1)) - within_right / (right * (right - 1))
    return float((energy * left * right / n).max())


def _three_percent(values: Floats) -> bool:
    return bool(abs(values[-1] / values[-2] - 1) > 0.03)


def _t_of_five(values: Floats) -> bool:
    last, before = values[-5:], values[:-5]
    error = (last.var(ddof=1) / len(last) + before.var(ddof=1) / len(before)) ** 0.5
    return bool(abs(last.mean() - before.mean()) / error >= 5)


def _ever_alarmed(seed: int) -> bool:
    values = _unchanged(np.random.default_rng(seed), 100)
    return any(change_points(values[:n]) for n in range(10, 101))


def _delay(seed: int) -> int:
    """Return after how many runs a loss of 5 % is detected."""
    values = _unchanged(np.random.default_rng(seed), 100)
    values[40:] *= 0.95
    return next(n for n in count(1) if any(abs(change.index - 40) <= 2 for change in change_points(values[: 40 + n])))
