"""What changed: every metric in every cell of a comparison, only what is decided, the greatest effect first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, log
from statistics import median

from results.domain.measurement.metrics import Better, Metric
from results.domain.measurement.one_fact import MEAN_LATENCY, THROUGHPUT
from results.domain.statistics.metric_changes import Answer, Trials
from results.domain.statistics.verdict import Kind, Verdict
from results.queries.comparison.baselines import CELL
from results.queries.comparison.cells import Comparison, Point
from results.queries.comparison.compare import compare
from results.queries.comparison.trust import trust_in
from results.queries.shared.composites import Parts, composite_parts
from results.queries.shared.configurations import ConfigurationRow, configurations
from results.queries.shared.facets import Facet, facets, metrics_of
from results.queries.shared.selection import DERIVED, Selection, dimensions, first_choice
from results.queries.why.families import JudgedCells

MOST = 300  # changes that are listed
_RANK = {Kind.WORSE: 0, Kind.BETTER: 1, Kind.HIGHER: 2, Kind.LOWER: 2}


@dataclass(frozen=True)
class Change:
    """One metric in one cell, of which a difference is decided.

    metric, label, unit, better: see `Metric`.
    group: first part of the metric's name.
    node, part: where, and which of several; '' for the whole.
    x, series, panel: the cell.
    base: series that it is compared with.
    base_value, value: medians of the replicates, in `unit`.
    with_mean_latency: it is the throughput of clients in a closed loop, from which their mean latency follows."""

    metric: str
    label: str
    group: str
    unit: str
    better: Better
    node: str
    part: str
    x: str
    series: str
    panel: str
    base: str
    base_value: float
    value: float
    verdict: Verdict
    with_mean_latency: bool = False

    @property
    def size(self) -> float:
        """By what the list is sorted: how far the ratio lies from 1, the same for half and for double; what came from
        nothing or went to nothing changed most."""
        ratio = self.verdict.ratio
        return abs(log(ratio)) if ratio and ratio > 0 and self.base_value and self.value else inf


@dataclass(frozen=True)
class Changes:
    """What changed.

    selection: of the comparison whose cells these are, each of them one configuration.
    changes: regressions first, then improvements, then what has no better direction; at most MOST.
    hidden: changes beyond these.
    groups: group of metrics → how many changes it has, whichever group is chosen.
    kinds: class of verdict → cells of metrics, whichever group is chosen.
    facets: the dimensions that can be filtered by.
    basis: what the verdicts rest on: 'from 3 replicates of 60 s'.
    is_weak: whether that is little."""

    selection: Selection
    changes: tuple[Change, ...]
    hidden: int
    groups: Mapping[str, int]
    kinds: Mapping[str, int]
    facets: tuple[Facet, ...] = ()
    basis: str = ""
    is_weak: bool = False


def what_changed(selection: Selection, group: str = "") -> Changes:
    """Return what changed in the cells of a comparison, one a configuration. Each metric is judged as its own
    comparison judges it. Sixteen queries at most, whatever the number of trials, cells and metrics. Raises TeitenError
    as `compare` does.

    group: only metrics of it, which is what stands before the first dot of their names; '' for all."""
    comparison = compare(by_configuration(selection))
    judged = list(_judged(comparison))
    moved = [_change(one) for one in judged if one.kind in _RANK]
    changes = sorted((one for one in moved if group in ("", one.group)), key=_order)
    rests_on = trust_in(comparison)
    return Changes(
        selection=comparison.selection,
        changes=tuple(changes[:MOST]),
        hidden=max(0, len(changes) - MOST),
        groups=dict(sorted(Counter(one.group for one in moved).items())),
        kinds=dict(Counter(str(one.kind) for one in judged)),
        facets=_chosen_by(comparison),
        basis=rests_on.basis,
        is_weak=rests_on.is_weak,
    )


def by_configuration(selection: Selection) -> Selection:
    """Return the selection with a cell for each configuration that its series can have in common: x is everything that
    varies and of which two series have the same level. One that compares with a single cell stays as it is. Two
    queries."""
    if not selection.runs or CELL in selection.baseline:
        return selection
    rows = [row for row in configurations(selection.runs) if row.done]
    parts = composite_parts(rows)
    every, metrics = facets(rows, {}), metrics_of(selection.runs)
    series = selection.series
    if series is None:
        series = first_choice(selection.runs, every, metrics, rows, parts).series or ""
    if not series:
        return selection
    x = ",".join(_shared(rows, every, series, parts))
    return replace(selection, x=x, series=series, panel="", node="", label="", per="", statistic="", without=())


def _shared(rows: Sequence[ConfigurationRow], every: Sequence[Facet], series: str, parts: Parts) -> list[str]:
    """Return the dimensions in which configurations of two series can be alike; of a factor that sets several things at
    once not what it sets."""
    apart = {*dimensions(series), *DERIVED}
    names = [facet.name for facet in every if facet.varies and facet.name not in apart]
    shared = [name for name in names if _is_shared(rows, name, dimensions(series))]
    hidden = set[str]().union(*(own for name, own in parts.items() if name in shared))
    return [name for name in shared if name not in hidden]


def _is_shared(rows: Sequence[ConfigurationRow], name: str, series: Sequence[str]) -> bool:
    sides: dict[str, set[tuple[str, ...]]] = {}
    for row in rows:
        sides.setdefault(row.level(name), set()).add(tuple(map(row.level, series)))
    return any(len(own) > 1 for own in sides.values())


@dataclass(frozen=True)
class _Judged:
    """What is known of one metric at one node and label of a cell."""

    metric: Metric
    node: str
    part: str
    point: Point
    answer: Answer
    with_mean_latency: bool

    @property
    def kind(self) -> Kind:
        return self.answer.verdict.kind


def _judged(comparison: Comparison) -> Iterator[_Judged]:
    """Give each metric at each node and label of each cell that is compared. Where clients are in a closed loop their
    mean latency is left out, as their throughput says the same."""
    cells = {str(index): point for index, point in enumerate(comparison.points)}
    bases = base_of(cells)
    if not bases:
        return
    judged = JudgedCells(comparison, cells, bases)
    quantities = Trials((), (), judged.every_trial, judged.metrics).stored
    closed = {name for name, base in bases.items() if judged.is_closed_loop((name, base))}
    one_fact = {THROUGHPUT, MEAN_LATENCY} & quantities.keys()
    for metric, quantity in quantities.items():
        for (node, part, name), answer in judged.judged(quantity).items():
            is_fact = len(one_fact) == 2 and metric in one_fact and name in closed and not part
            if not (is_fact and metric == MEAN_LATENCY):
                yield _Judged(judged.metrics[metric], node, part, cells[name], answer, is_fact)


def base_of(cells: Mapping[str, Point]) -> dict[str, str]:
    """Return of each cell that is compared with another one the name of that."""
    name_of = {point.key: name for name, point in cells.items()}
    bases = {}
    for name, point in cells.items():
        if point.base in name_of and point.base != point.key:
            bases[name] = name_of[point.base]
    return bases


def _change(one: _Judged) -> Change:
    metric, point, answer = one.metric, one.point, one.answer
    return Change(
        metric=metric.name,
        label=metric.label,
        group=metric.name.partition(".")[0],
        unit=metric.unit,
        better=metric.better,
        node=one.node,
        part=one.part,
        x=point.x,
        series=point.series,
        panel=point.panel,
        base=point.base[2] if point.base else "",
        base_value=median(value.value for value in answer.base),
        value=median(value.value for value in answer.other),
        verdict=answer.verdict,
        with_mean_latency=one.with_mean_latency,
    )


def _order(change: Change) -> tuple[int, float, str]:
    return _RANK[change.verdict.kind], -change.size, change.metric


def _chosen_by(comparison: Comparison) -> tuple[Facet, ...]:
    """Return the dimensions of the cells, by whose levels they can be filtered."""
    names = dimensions(comparison.selection.x)
    return tuple(facet for facet in comparison.facets if facet.name in names and len(facet.values) > 1)
