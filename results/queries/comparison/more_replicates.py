"""How many more blocks would decide the open cells of a comparison, by the noise that A/A runs kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from results import sql
from results.domain.statistics.power import replicates_to_tell
from results.domain.statistics.verdict import Kind, Verdict
from results.queries.comparison.cells import Comparison, Point
from results.queries.shared.ordering import DEFAULT
from results.queries.shared.selection import JOINT, LABEL, NODE, Selection, dimensions


@dataclass(frozen=True)
class KeptNoise:
    """One metric in the latest A/A run `aa_run_id` of the workload of run `run_id` on the same agents in the same
    roles.

    spread: standard deviation of single values as a share (0.02 = 2 %), the median of its configurations."""

    run_id: int
    aa_run_id: int
    node: str
    label: str
    spread: float


def kept_noise(run_ids: Sequence[int], metric: str) -> list[KeptNoise]:
    """Of each of these runs that has such an A/A run. One query."""
    return sql.rows(KeptNoise, sql.load(__file__), {"runs": list(run_ids), "metric": metric})


def noise_of(comparison: Comparison) -> list[KeptNoise]:
    """Return what A/A runs kept of the comparison's runs and metric. One query, none without cells."""
    runs = sorted(set[int]().union(*(point.fields.run_id for point in comparison.points)))
    return kept_noise(runs, comparison.metric.name) if runs else []


def by_noise(
    comparison: Comparison, known: Sequence[KeptNoise] | None = None
) -> tuple[Comparison, tuple[KeptNoise, ...]]:
    """Return the comparison with `more` of the cells with too few replicates as the noise of A/A runs asks for, and
    that noise. A cell of which none is known, or that spreads more than it, keeps what its own replicates say. One
    query where there is such a cell and nobody says what is known, none otherwise.

    known: of `noise_of`."""
    points = {point.key: point for point in comparison.points}
    undecided = _undecided(comparison)
    runs = sorted({value.run_id for pair in undecided for point in pair for value in point.values})
    if not runs or comparison.selection.per == "transaction":  # a spread of other values than these
        return comparison, ()
    known = kept_noise(runs, comparison.metric.name) if known is None else known
    kept = {(one.run_id, one.node, one.label): one for one in known}
    used: dict[KeptNoise, None] = {}
    for pair in undecided:
        point, _ = pair
        noise = _widest(pair, comparison.selection, kept)
        if noise and (verdict := _asking(point.verdict, noise.spread, comparison)):
            points[point.key] = replace(point, verdict=verdict)
            used[noise] = None
    return replace(comparison, points=tuple(points.values())), tuple(used)


def _undecided(comparison: Comparison) -> list[tuple[Point, Point]]:
    """Return each cell with too few replicates, and its base."""
    by_key = {point.key: point for point in comparison.points}
    return [
        (point, by_key[point.base])
        for point in comparison.points
        if point.base in by_key and point.verdict and point.verdict.kind is Kind.TOO_FEW
    ]


def _widest(
    pair: tuple[Point, Point], chosen: Selection, kept: Mapping[tuple[int, str, str], KeptNoise]
) -> KeptNoise | None:
    """Return the noise of both sides that is wider; None where that of any of their runs is not known."""
    noises = []
    for side in pair:
        node, label = own_level(side, chosen, NODE), own_level(side, chosen, LABEL)
        noises += [kept.get((run_id, node, label)) for run_id in {value.run_id for value in side.values}]
    known = [noise for noise in noises if noise is not None]
    return max(known, key=lambda noise: noise.spread) if len(known) == len(noises) else None


def _asking(verdict: Verdict | None, spread: float, comparison: Comparison) -> Verdict | None:
    """Return the verdict with as many more replicates as the noise asks for; None where it asks for no more than there
    are. Noise that asks for more than a plan can have leaves no number, whatever a few replicates that happen to agree
    say."""
    effect = comparison.metric.minimum_effect
    if verdict is None or verdict.runs or effect <= 0:  # replicates tell nothing of the levels of runs
        return None
    needed = replicates_to_tell(spread, effect, verdict.next_level, max(comparison.family, 1))
    there = min(verdict.n, verdict.n_base)
    if needed is None:
        return replace(verdict, more=None) if verdict.more else None
    return replace(verdict, more=needed - there) if needed > there else None


def own_level(point: Point, chosen: Selection, name: str) -> str:
    """The node or label that a cell's values are of."""
    for axis, text in ((chosen.panel, point.panel), (chosen.x, point.x), (chosen.series or "", point.series)):
        names, parts = dimensions(axis), text.split(JOINT)
        if name in names and len(parts) == len(names):
            part = parts[names.index(name)]
            return "" if part == DEFAULT else part
    return next(iter(chosen.filters.get(name, ())), chosen.node if name == NODE else chosen.label)
