"""How far runs lie apart beyond the noise of their replicates, where two sides were measured in different runs. Pure.

A run has a level of its own: the machine was started anew, files lie elsewhere, a neighbour is busy. Replicates within
a run say nothing of it. Other runs of the same configurations do: the spread of their means, beyond what the noise of
single values explains, is added to the error of a difference between runs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from results.domain.statistics.difference import Differences, RunMean, Sample, apart

FEWEST_FREEDOM = 2  # degrees of freedom from which runs tell anything
SHARE_OF_FREEDOM = 0.75  # that counts, by simulation: single runs lie further off than normal ones would


@dataclass(frozen=True)
class Levels:
    """What is known of the levels of runs.

    variance: of the means of runs, on natural logarithms.
    noise: mean of 1 / replicates over these runs: so much of the variance of single values is part of `variance`.
    share: of `variance` in the difference of the two sides, the sum of 1 / runs of either.
    freedom: degrees of freedom; below FEWEST_FREEDOM nothing is known.
    runs: how many different ones say it."""

    variance: float
    noise: float
    share: float
    freedom: int
    runs: int


NOTHING = Levels(0, 0, 0, 0, 0)


def levels(base: Sample, other: Sample) -> Levels:
    """Return what the runs of two sides without a run in common, and other runs of the same configurations, say.

    Where both sides are the same configuration, the other runs say it alone: what the two differ by would count as
    noise. A run that measured both counts once, since its level may be common to them."""
    own = [_means(base), _means(other)]
    telling = [group for group in _groups(base, other, own) if len(group) > 1]
    free = sum(map(len, telling)) - len(telling)
    if not free:
        return NOTHING
    means = list(chain.from_iterable(telling))
    runs = {mean.run for mean in means}
    return Levels(
        variance=sum(map(_squares, telling)) / free,
        noise=sum(1 / mean.n for mean in means) / len(means),
        share=sum(1 / len(side) for side in own),
        freedom=min(free, len(runs) - len(telling)),
        runs=len(runs),
    )


def _groups(base: Sample, other: Sample, own: Sequence[list[RunMean]]) -> list[list[RunMean]]:
    """Return the means of runs that are of the same configuration, a list for each."""
    compared = {mean.run for means in own for mean in means}
    beside = [[mean for mean in sample.other_runs if mean.run not in compared] for sample in (base, other)]
    if beside[0] and beside[0] == beside[1]:
        return beside[:1]
    return [means + others for means, others in zip(own, beside, strict=True)]


def _squares(group: Sequence[RunMean]) -> float:
    return float(np.var([mean.logarithm for mean in group])) * len(group)


def with_run_levels(difference: Differences, questions: Sequence[Sequence[tuple[Sample, Sample]]]) -> Differences:
    """Return the differences with the levels of runs in the error, where the sides have no run in common and enough
    runs are known.

    questions: (base, other) of each configuration in a question; a level of a run is common to all of them."""
    runs, error, freedom = difference.runs.copy(), difference.error.copy(), difference.freedom.copy()
    for index in map(int, np.flatnonzero(difference.across_runs & difference.logarithmic & (difference.spread > 0))):
        known = [levels(base, other) for base, other in questions[index] if apart(base, other)]
        least = min(known, key=lambda one: one.freedom)
        if least.freedom >= FEWEST_FREEDOM and len(known) == len(questions[index]):
            runs[index] = least.runs
            beyond = [_beyond(one, float(difference.spread[index])) for one in known]
            error[index] = np.sqrt(error[index] ** 2 + sum(beyond) / len(beyond))
            freedom[index] = np.fmin(freedom[index], SHARE_OF_FREEDOM * least.freedom)
    return replace(difference, runs=runs, error=error, freedom=freedom)


def _beyond(known: Levels, spread: float) -> float:
    """Return the variance of the difference that the noise of single values does not explain."""
    return max(known.variance - known.noise * spread**2, 0) * known.share


def _means(sample: Sample) -> list[RunMean]:
    by_run: dict[int, list[float]] = defaultdict(list)
    for (run, _), value in zip(sample.keys, sample.values, strict=True):
        by_run[run].append(value)
    return [run_mean(run, values) for run, values in by_run.items()]


def run_mean(run: int, values: Sequence[float]) -> RunMean:
    """Return the mean of a run's values, all above zero."""
    return RunMean(run, float(np.log(values).mean()), len(values))
