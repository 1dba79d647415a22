"""What the numbers of a comparison rest on: its trials, their hosts, and the noise that A/A runs kept of these."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import chain

from results import sql
from results.domain.statistics.trust import Noise, Sides, TrialFacts, Trust, trust
from results.domain.statistics.verdict import Verdict
from results.queries.comparison.cells import Comparison, Point
from results.queries.comparison.more_replicates import KeptNoise, kept_noise, own_level
from results.queries.shared.selection import LABEL, NODE


def trust_in(
    comparison: Comparison, points: Sequence[Point] | None = None, known: Sequence[KeptNoise] | None = None
) -> Trust:
    """Return the facts. Two queries, none without cells, one where it is known what A/A runs kept.

    points: those that are spoken of, their bases among them; all without.
    known: of `noise_of`."""
    shown = comparison.points if points is None else points
    attempts = _attempts(shown)
    runs = sorted(set[int]().union(*(point.fields.run_id for point in shown)))
    if not attempts:
        return Trust()
    parameters = {"attempts": sql.array(sorted(attempts)), "runs": runs}
    trials = sql.tuples(TrialFacts, sql.load(__file__), parameters)
    kept = kept_noise(runs, comparison.metric.name) if known is None else known
    return trust(_sides(comparison, shown, runs), trials, _noise(comparison, shown, runs, kept))


def _sides(comparison: Comparison, points: Sequence[Point], runs: Sequence[int]) -> Sides:
    judged = [point for point in points if point.verdict]
    verdicts = [point.verdict for point in judged if point.verdict]
    across_runs = any(verdict.across_runs for verdict in verdicts)
    groups = [values for point in points for values in _by_configuration(point)]
    return Sides(
        replicates=tuple(map(len, groups)),
        spreads=_known(map(_spread, groups)),
        detectable=_known(verdict.detectable for verdict in verdicts),
        minimum_effect=comparison.metric.minimum_effect,
        compared=bool(judged),
        drifting=_warned(comparison, runs, "drift"),
        ordered=_warned(comparison, runs, "order"),
        across_runs=across_runs,
        levels_known=_levels_known(verdicts),
        base=_attempts(_bases(comparison, judged)) if across_runs else frozenset(),
        other=_attempts(judged) if across_runs else frozenset(),
    )


def _warned(comparison: Comparison, runs: Sequence[int], kind: str) -> tuple[int, ...]:
    """Return those of the runs of which there is a warning of this kind."""
    return tuple(one.run_id for one in comparison.warnings if one.kind == kind and one.run_id in runs)


def _known(numbers: Iterable[float | None]) -> tuple[float, ...]:
    return tuple(number for number in numbers if number is not None)


def _levels_known(verdicts: Sequence[Verdict]) -> bool:
    """Return whether further runs say how far runs lie apart, wherever the sides are of different ones."""
    return all(verdict.runs for verdict in verdicts if verdict.across_runs)


def _bases(comparison: Comparison, judged: Sequence[Point]) -> list[Point]:
    keys = {point.base for point in judged}
    return [point for point in comparison.points if point.key in keys]


def _attempts(points: Sequence[Point]) -> frozenset[int]:
    return frozenset(chain.from_iterable(point.fields.attempt_id for point in points))


def _by_configuration(point: Point) -> list[Sequence[float]]:
    """Return the values of each configuration of a cell."""
    if len(set(point.fields.configuration_id)) == 1:
        return [point.fields.value]
    values: dict[int, list[float]] = {}
    for configuration, value in zip(point.fields.configuration_id, point.fields.value, strict=True):
        values.setdefault(configuration, []).append(value)
    return list(values.values())


def _spread(values: Sequence[float]) -> float | None:
    """Return the standard deviation as a share of the mean; None of fewer than two, or where the mean is not above
    zero."""
    mean = math.fsum(values) / len(values)
    if len(values) < 2 or mean <= 0:
        return None
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)) / mean


def _noise(
    comparison: Comparison, points: Sequence[Point], runs: Sequence[int], kept: Sequence[KeptNoise]
) -> Noise | None:
    """Return the widest that A/A runs kept of what the cells are of: without a spread where that of a run is not known,
    or where the values are divided by what a transaction took; None where nothing was kept."""
    if not kept:
        return None
    levels = {
        (own_level(point, comparison.selection, NODE), own_level(point, comparison.selection, LABEL))
        for point in points
    }
    own = [noise for noise in kept if (noise.node, noise.label) in levels]
    if comparison.selection.per == "transaction" or {noise.run_id for noise in own} != set(runs):
        return Noise(kept[0].aa_run_id, None)
    widest = max(own, key=lambda noise: noise.spread)
    return Noise(widest.aa_run_id, widest.spread)
