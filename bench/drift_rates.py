"""Drift warnings on simulated runs: of steady ones whose noise lasts from trial to trial, and of ones that drift."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from bench.figures import Figure
from results.domain.statistics.drift import LEVEL, drift

SEED = 20261124
RUNS = 1000
NOISE = 0.02
CHANGE = 0.06
SIZES = ((4, 5), (8, 5), (8, 10), (24, 3))  # configurations, blocks
LASTING = (0.0, 0.3, 0.5, 0.7, 0.9)  # autocorrelation from trial to trial
CLAIM = 0.0125


@cache
def warned(configurations: int, blocks: int, lasting: float, change: float) -> tuple[float, float]:
    """Return the shares of runs with a drift, and with an effect of the order, at p of 1 %."""
    random = np.random.default_rng([SEED, configurations, blocks, round(10 * lasting), round(100 * change)])
    trials = configurations * blocks
    block = np.repeat(np.arange(blocks), configurations)
    position = np.arange(trials)
    called = np.zeros(2)
    for _ in range(RUNS):
        order = np.concatenate([random.permutation(configurations) for _ in range(blocks)])
        logs = NOISE * _lasting(random, trials, lasting) + np.log1p(change) * position / (trials - 1)
        result = drift(order, block, position, np.exp(logs))
        called += [result.p is not None and result.p <= LEVEL, result.order_p is not None and result.order_p <= LEVEL]
    return float(called[0]) / RUNS, float(called[1]) / RUNS


def _lasting(random: np.random.Generator, count: int, share: float) -> NDArray[np.float64]:
    values = random.normal(0, 1, count)
    for index in range(1, count):
        values[index] = share * values[index - 1] + np.sqrt(1 - share**2) * values[index]
    return values


def table() -> Table:
    title = f"drift / order warned about in steady runs / a drift of {CHANGE:.0%} noticed, %"
    made = Table("configurations × blocks", *(f"autocorrelation {share}" for share in LASTING), title=title)
    for size in SIZES:
        cells = [(*warned(*size, share, 0.0), warned(*size, share, CHANGE)[0]) for share in LASTING]
        made.add_row(f"{size[0]} × {size[1]}", *(" / ".join(f"{100 * one:.1f}" for one in cell) for cell in cells))
    return made


def figures() -> list[Figure]:
    rates = [rate for size in SIZES for share in LASTING for rate in warned(*size, share, 0.0)]
    return [Figure("steady runs warned about, worst of all", "", CLAIM, (max(rates),))]
