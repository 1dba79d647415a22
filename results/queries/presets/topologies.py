"""Topologies side by side: what servers together reach, and what one reaches alone."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import median

from results import sql
from results.domain.messages import Message, pgettext_lazy
from results.domain.messages import gettext_lazy as _
from results.domain.statistics.difference import differences, in_shared_runs
from results.queries.comparison.cells import fields_of, sample_of
from results.queries.comparison.compare import Comparison, Point, compare
from results.queries.comparison.freshness import Freshness, freshness
from results.queries.presets.sources import Source, sources, trial_ids
from results.queries.shared.configurations import ConfigurationRow, configurations
from results.queries.shared.facets import facets, metrics_of
from results.queries.shared.metrics import MetricRow
from results.queries.shared.ordering import DEFAULT
from results.queries.shared.run_filter import NO_FILTER, RunFilter, count_runs
from results.queries.shared.selection import JOINT, Selection

SINGLE = "single"
NODES = "nodes"
MOST_RUNS = 30
_BESIDE = ("storage",)  # dimensions that tell series of one kind apart
LAG_BYTES, LAG, CATCH_UP = "replication.lag_bytes", "replication.lag", "replication.catch_up"


@dataclass(frozen=True)
class TopologyLine:
    """One kind with so many nodes.

    total: of all nodes.
    per_node: total / nodes.
    against_one: to one node of the kind, or to a single server where the kind has none: the ratio that a comparison of
        the two has, of geometric means.
    efficiency: against_one / nodes.
    nodes: None where it is not known.
    lag_bytes, lag_s, catch_up_s: how far standbys were behind in the mean and how long they took to catch up after the
        load: of each trial the standby that was worst, of the trials the median; None where none was measured."""

    kind: str
    nodes: int | None
    total: float
    per_node: float | None
    against_one: float | None
    efficiency: float | None
    n: int
    trial_ids: tuple[int, ...]
    lag_bytes: float | None = None
    lag_s: float | None = None
    catch_up_s: float | None = None


@dataclass(frozen=True)
class TopologyTable:
    """One run.

    one: what against_one refers to, in words.
    mixed: dimensions that vary within a line."""

    run_id: int
    workload: str
    published: bool
    metric: MetricRow
    one: str
    lines: tuple[TopologyLine, ...]
    mixed: tuple[str, ...]
    selection: Selection

    @property
    def lagging(self) -> bool:
        """Whether lag was measured on any line."""
        return any(line.lag_bytes is not None or line.catch_up_s is not None for line in self.lines)


@dataclass(frozen=True)
class Topologies:
    """The topologies side by side.

    left_out: older runs than those shown.
    without: runs of several servers that lack the metric.
    kept, exploratory: runs that the filter lets through, of any topology, by their standing; only kept ones are
        shown."""

    tables: tuple[TopologyTable, ...]
    left_out: int
    without: int
    kept: int
    exploratory: int


def topologies(metric: str = "tps", chosen: RunFilter = NO_FILTER) -> Topologies:
    """Return a table a kept run that has more than single servers and this metric. Queries: five, and those of
    `compare` once; three where nothing has changed since the last time."""
    counts = count_runs(chosen)
    runs = [source for source in sources(chosen) if set(source.topologies) - {SINGLE}]
    measured = [source for source in runs if not source.published]
    published = sorted((source for source in runs if source.published), key=lambda source: source.run_id)
    shown = measured[:MOST_RUNS] + published
    left_out = len(measured[MOST_RUNS:])
    tables = _tables(tuple(shown), metric, freshness([source.run_id for source in shown]))
    return Topologies(tables, left_out, len(shown) - len(tables), counts.kept, counts.exploratory)


# Of what its arguments say, `known` among them, which is another as soon as anything changes.
@lru_cache(16)
def _tables(shown: tuple[Source, ...], metric: str, known: Freshness) -> tuple[TopologyTable, ...]:
    """Return a table of each run that has the metric."""
    runs = tuple(source.run_id for source in shown)
    if all(choice.name != metric for choice in metrics_of(runs)):
        return ()
    rows = configurations(runs)
    names = {facet.name for facet in facets(rows, {})}
    compared = compare(_selection(runs, names, metric), known, mixtures=True)
    lags = _lags(trial_ids(compared.points))
    row_of = {row.id: row for row in rows}
    tables = (_table(source, compared, lags, row_of) for source in shown)
    return tuple(table for table in tables if table.lines)


def _selection(runs: tuple[int, ...], names: Collection[str], metric: str) -> Selection:
    series = ",".join(("topology", *(name for name in _BESIDE if name in names)))
    x = NODES if NODES in names else "topology"
    return Selection(runs, x=x, series=series, panel="run", metric=metric, node="", label="")


@dataclass(frozen=True)
class _Worst:
    """What the standby that was worst had in one trial."""

    trial_id: int
    metric: str
    value: float


def _lags(trials: tuple[int, ...]) -> dict[tuple[str, int], float]:
    """Return (metric, trial) → the worst standby's value. One query."""
    metrics = [LAG_BYTES, LAG, CATCH_UP]
    rows = sql.rows(_Worst, _WORST, {"trials": list(trials), "metrics": metrics})
    return {(row.metric, row.trial_id): row.value for row in rows}


def _table(
    source: Source,
    compared: Comparison,
    lags: Mapping[tuple[str, int], float],
    row_of: Mapping[int, ConfigurationRow],
) -> TopologyTable:
    points = [point for point in compared.points if point.panel == str(source.run_id)]
    kinds = _kinds(points)
    alone = next((point for point in points if _kind(point.series) == SINGLE), None)
    ones = {kind: _one(own) or alone for kind, own in kinds.items()}
    lines = []
    for kind in sorted(kinds, key=lambda kind: _kind(kind) != SINGLE):
        lines += [_line(kind, point, ones[kind], lags) for point in kinds[kind]]
    return TopologyTable(
        run_id=source.run_id,
        workload=source.workload,
        published=source.published,
        metric=compared.metric,
        one=_ones_in_words(ones),
        lines=tuple(lines),
        mixed=_mixed(points, compared.mixed, row_of),
        selection=_selection((source.run_id,), _names(points), compared.metric.name),
    )


def _mixed(points: Sequence[Point], names: Sequence[str], row_of: Mapping[int, ConfigurationRow]) -> tuple[str, ...]:
    """Return those of the dimensions that vary within a line of this run, without the version that an installation
    has."""
    mixed = []
    for name in names:
        levels = [{row_of[value.configuration_id].level(name) for value in point.values} for point in points]
        if any(len(own) > 1 for own in levels):
            mixed.append(name)
    implied = ("version", "major") if "installation" in mixed else ()
    return tuple(name for name in mixed if name not in implied)


def _kinds(points: Sequence[Point]) -> dict[str, list[Point]]:
    kinds: dict[str, list[Point]] = {}
    for point in points:
        kinds.setdefault(point.series, []).append(point)
    return kinds


def _names(points: Sequence[Point]) -> set[str]:
    """Return those of the dimensions asked for that this run has."""
    names = {NODES} if any(point.x.isdigit() for point in points) else set()
    for point in points:
        parts = point.series.split(JOINT)[1:]
        names |= {name for name, part in zip(_BESIDE, parts, strict=False) if part != DEFAULT}
    return names


def _one(points: Sequence[Point]) -> Point | None:
    return next((point for point in points if _nodes(point) == 1), None)


def _nodes(point: Point) -> int | None:
    """A single server is one node, whether or not its run says so."""
    if point.x.isdigit() and int(point.x) > 0:
        return int(point.x)
    return 1 if _kind(point.series) == SINGLE else None


def _kind(series: str) -> str:
    return series.split(JOINT)[0]


def _name(series: str) -> str:
    kind, *rest = [part for part in series.split(JOINT) if part != DEFAULT]
    name = _("single server") if kind == SINGLE else kind
    return Message("{kind} · {rest}", values={"kind": name, "rest": JOINT.join(rest)}) if rest else name


def _line(kind: str, point: Point, one: Point | None, lags: Mapping[tuple[str, int], float]) -> TopologyLine:
    nodes = _nodes(point)
    against = _ratio(point, one) if one is not None else None
    return TopologyLine(
        kind=_name(kind),
        nodes=nodes,
        total=point.value,
        per_node=point.value / nodes if nodes else None,
        against_one=against,
        efficiency=against / nodes if against is not None and nodes else None,
        n=point.n,
        trial_ids=trial_ids([point]),
        lag_bytes=_lag(LAG_BYTES, point, lags),
        lag_s=_lag(LAG, point, lags),
        catch_up_s=_lag(CATCH_UP, point, lags),
    )


def _ratio(point: Point, one: Point) -> float | None:
    sides = in_shared_runs(*(sample_of(fields_of(side.values), ()) for side in (one, point)))
    ratio = float(differences([sides]).ratio[0])
    return ratio if math.isfinite(ratio) else None


def _lag(metric: str, point: Point, lags: Mapping[tuple[str, int], float]) -> float | None:
    values = [lags[metric, trial] for trial in trial_ids([point]) if (metric, trial) in lags]
    return median(values) if values else None


def _ones_in_words(ones: Mapping[str, Point | None]) -> str:
    texts = [
        _("{kind} to its own one node", kind=_name(kind))
        if one.series == kind
        else _("{kind} to the {other}", kind=_name(kind), other=_name(one.series))
        for kind, one in ones.items()
        if one is not None and _kind(kind) != SINGLE
    ]
    words: str = texts[0] if texts else ""
    for text in texts[1:]:
        words = pgettext_lazy("between what ratios of topologies refer to", "{texts}; {text}", texts=words, text=text)
    return words


_WORST = """
SELECT trial.id AS trial_id, measurement.metric_id AS metric, max(measurement.value) AS value
FROM results_trial AS trial JOIN results_measurement AS measurement ON measurement.attempt_id = trial.attempt_id
WHERE trial.id = ANY(%(trials)s) AND measurement.metric_id = ANY(%(metrics)s) AND measurement.label = ''
GROUP BY trial.id, measurement.metric_id
"""
