"""The comparison: one metric over one dimension, a series for each value of another."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from results import sql
from results.errors import TeitenError
from results.queries.facets import Facet, MetricChoice, facets, metrics_of
from results.queries.metrics import MetricRow, unknown
from results.queries.ordering import in_order

# follow from other dimensions, or are no subject of an experiment: never a first choice
_DERIVED = ("run", "threads", "version", "major", "initdb", "collectors")
_FIRST_SERIES = ("installation", "version", "access_method", "topology")


@dataclass(frozen=True)
class Selection:
    """What to compare. filters: dimension → the values let through, as text. x, metric: '' for the default choice.
    series: None for the default choice, '' for a single line. node, label: which of the metric's, '' for its first.
    baseline: the series that ratios refer to, '' for the first."""

    runs: tuple[int, ...]
    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    x: str = ""
    series: str | None = None
    metric: str = ""
    node: str = ""
    label: str = ""
    baseline: str = ""


@dataclass(frozen=True)
class Replicate:
    trial_id: int
    run_id: int
    block: int
    value: float


@dataclass(frozen=True)
class Point:
    """One cell. ratio: its median to the baseline series' at the same x. configurations: how many different
    ones fell into it: more than one means that something else varies."""

    x: str
    series: str
    median: float
    mean: float
    minimum: float
    maximum: float
    n: int
    values: tuple[Replicate, ...]
    ratio: float | None
    configurations: int


@dataclass(frozen=True)
class Comparison:
    """selection: complete, with the default choices filled in. first: the default choices themselves, for a URL
    that holds only what differs. mixed: dimensions that vary within a cell. excluded: trials of the selection that
    are in no cell: failed, cancelled, waiting, running, and `without` (done, but without this metric)."""

    selection: Selection
    first: Selection
    metric: MetricRow
    xs: tuple[str, ...]
    series: tuple[str, ...]
    points: tuple[Point, ...]
    mixed: tuple[str, ...]
    excluded: Mapping[str, int]
    facets: tuple[Facet, ...]
    metrics: tuple[MetricChoice, ...]


def compare(selection: Selection) -> Comparison:
    """Five queries whatever the number of trials. Raises TeitenError that names an unknown x, series, metric,
    filter or baseline."""
    known = facets(selection.runs)
    choices = metrics_of(selection.runs)
    first = _first(selection.runs, known, choices)
    chosen = _complete(selection, first, known, choices)
    parameters = _parameters(chosen)
    cells = sql.rows(_Cell, _query("comparison"), parameters)
    states = sql.rows(_State, _query("comparison_states"), parameters)
    mixed = sql.rows(_Name, _query("comparison_mixed"), parameters)
    series = in_order([cell.series for cell in cells], chosen.series or "")
    chosen = replace(chosen, baseline=_baseline(chosen, series))
    metric = next((choice.row() for choice in choices if choice.name == chosen.metric), unknown(chosen.metric))
    xs = in_order([cell.x for cell in cells], chosen.x)
    return Comparison(
        selection=chosen,
        first=replace(first, baseline=series[0] if series else ""),
        metric=metric,
        xs=xs,
        series=series,
        points=_points(cells, chosen, xs, series),
        mixed=tuple(row.name for row in mixed),
        excluded=_excluded(states, cells),
        facets=tuple(known),
        metrics=tuple(choices),
    )


def _query(name: str) -> str:
    return sql.load(__file__, "dimensions") + sql.load(__file__, "chosen") + sql.load(__file__, name)


def _parameters(chosen: Selection) -> dict[str, object]:
    return {
        "runs": list(chosen.runs),
        "filters": json.dumps({name: list(values) for name, values in chosen.filters.items()}),
        "x": chosen.x,
        "series": chosen.series,
        "metric": chosen.metric,
        "node": chosen.node,
        "label": chosen.label,
    }


def _first(runs: tuple[int, ...], known: Sequence[Facet], choices: Sequence[MetricChoice]) -> Selection:
    """x: the factor with the most numbers; series: the installation, or else a factor that is not x."""
    varying = [facet for facet in known if facet.varies and facet.name not in _DERIVED]
    factors = [facet for facet in varying if facet.factor] or varying
    by_name = {facet.name: facet for facet in varying}
    numeric = sorted((f for f in factors if f.numeric), key=lambda facet: (-len(facet.values), facet.name))
    preferred = [by_name[name] for name in _FIRST_SERIES if name in by_name]
    series = next(iter([*preferred, *(f for f in factors if not numeric or f != numeric[0])]), None)
    rest = [facet for facet in factors if facet != series]
    x = next(iter([*numeric, *rest, *([series] if series else [])]), None)
    if x == series:
        series = None
    if x is None and known:
        x = next((facet for facet in known if facet.name == "installation"), known[0])
    return Selection(
        runs=runs,
        x=x.name if x else "",
        series=series.name if series else "",
        metric=choices[0].name if choices else "",
    )


def _complete(
    selection: Selection, first: Selection, known: Sequence[Facet], choices: Sequence[MetricChoice]
) -> Selection:
    dimensions = {facet.name for facet in known}
    for where, text in _texts(selection):
        if "\x00" in text:
            raise TeitenError("A NUL byte is nothing that can be chosen.", where=where, todo="Leave it out.")
    chosen = replace(
        selection,
        x=selection.x or first.x,
        series=first.series if selection.series is None else selection.series,
        metric=selection.metric or first.metric,
    )
    if not dimensions:
        return chosen
    for where, name in (
        ("x", chosen.x),
        ("series", chosen.series or ""),
        *((f"filter.{name}", name) for name in chosen.filters),
    ):
        if name not in dimensions and (where, name) != ("series", ""):
            raise _unknown(where, "dimension", name, sorted(dimensions))
    metrics = {choice.name: choice for choice in choices}
    if chosen.metric and metrics and chosen.metric not in metrics:
        raise _unknown("metric", "metric", chosen.metric, sorted(metrics))
    return _which(chosen, metrics.get(chosen.metric))


def _texts(selection: Selection) -> Iterator[tuple[str, str]]:
    yield from (("node", selection.node), ("label", selection.label))
    yield from ((f"filter.{name}", text) for name, texts in selection.filters.items() for text in texts)


def _which(chosen: Selection, metric: MetricChoice | None) -> Selection:
    """Node and label that the metric has, where the selection leaves them open."""
    if metric is None:
        return chosen
    return replace(
        chosen,
        node=chosen.node if chosen.node in metric.nodes or chosen.node else metric.nodes[0],
        label=chosen.label if chosen.label in metric.labels or chosen.label else metric.labels[0],
    )


def _baseline(chosen: Selection, series: Sequence[str]) -> str:
    if not series:
        return chosen.baseline
    if chosen.baseline and chosen.baseline not in series:
        raise _unknown("baseline", "series", chosen.baseline, series)
    return chosen.baseline or series[0]


def _unknown(where: str, kind: str, name: str, known: Sequence[str]) -> TeitenError:
    return TeitenError(
        f"There is no {kind} {name!r} in these runs.", where=where, todo=f"There are {', '.join(known)}."
    )


def _points(cells: Sequence[_Cell], chosen: Selection, xs: Sequence[str], series: Sequence[str]) -> tuple[Point, ...]:
    base = {cell.x: cell.median for cell in cells if cell.series == chosen.baseline}
    ordered = sorted(cells, key=lambda cell: (series.index(cell.series), xs.index(cell.x)))
    return tuple(cell.point(base.get(cell.x) if chosen.series else None) for cell in ordered)


def _excluded(states: Sequence[_State], cells: Sequence[_Cell]) -> dict[str, int]:
    counts = {row.state: row.trials for row in states}
    excluded = {state: counts.get(state, 0) for state in ("failed", "cancelled", "waiting", "running")}
    return excluded | {"without": counts.get("done", 0) - sum(cell.n for cell in cells)}


@dataclass(frozen=True)
class _Cell:
    x: str
    series: str
    median: float
    mean: float
    minimum: float
    maximum: float
    n: int
    values: tuple[Mapping[str, float], ...]
    configurations: int

    def point(self, base: float | None) -> Point:
        replicates = tuple(
            Replicate(int(v["trial_id"]), int(v["run_id"]), int(v["block"]), float(v["value"])) for v in self.values
        )
        fields = vars(self) | {"values": replicates}
        return Point(**fields, ratio=self.median / base if base else None)


@dataclass(frozen=True)
class _State:
    state: str
    trials: int


@dataclass(frozen=True)
class _Name:
    name: str
