"""Table access methods side by side, each against the heap of its own build."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache

from results import sql
from results.domain.messages import gettext_lazy as _
from results.queries.comparison.compare import Comparison, Point, compare
from results.queries.comparison.freshness import Freshness, freshness_of_each
from results.queries.presets.sources import level_name, matched_by, sources
from results.queries.shared.composites import composite_parts
from results.queries.shared.configurations import ConfigurationRow, configurations
from results.queries.shared.facets import MetricChoice, facets, metrics_of
from results.queries.shared.metrics import MetricRow
from results.queries.shared.ordering import DEFAULT
from results.queries.shared.run_filter import NO_FILTER, RunFilter, count_runs
from results.queries.shared.selection import JOINT, LABEL, PUBLISHED, Selection

WORKLOAD = "access_method"
MOST_RUNS = 12
ACCESS_METHOD, HEAP = "access_method", "heap"
_BY = (ACCESS_METHOD, "installation")  # what makes a series

# (heading, metrics in order); a metric that no run has is left out
GROUPS = (
    (_("Sizes"), ("size.table", "size.indexes")),
    (_("Growth by updates"), ("growth.percent", "tpcb.growth", "dead_tuples")),
    (_("Maintenance"), ("maintenance.seconds",)),
    (_("Latency"), ("update.latency", "commit.latency", "index_scan.latency")),
    (_("Reading and loading"), ("scan.seconds", "bulk_insert.seconds")),
    (_("Throughput"), ("tpcb.tps",)),
)


@dataclass(frozen=True)
class AccessMethodTable:
    """One metric.

    columns: (access method, installation).
    lines: what was measured → a cell a column, compared with the heap of the same build where that has such a cell.
    wholes: places of the lines that stand for the metric: those without a label; all, where each has one."""

    group: str
    metric: MetricRow
    columns: tuple[tuple[str, str], ...]
    lines: tuple[tuple[str, tuple[Point | None, ...]], ...]
    mixed: tuple[str, ...]
    selection: Selection
    wholes: tuple[int, ...]

    @property
    def run_ids(self) -> tuple[int, ...]:
        return self.selection.runs


@dataclass(frozen=True)
class AccessMethods:
    """The access methods side by side.

    run_ids: the newest measured runs, and the published ones.
    kept, exploratory: runs that the filter lets through, by their standing; only kept ones are shown."""

    run_ids: tuple[int, ...]
    tables: tuple[AccessMethodTable, ...]
    kept: int
    exploratory: int


@dataclass(frozen=True)
class _Stored:
    """A metric that was measured of a heap."""

    metric: str
    node: str


def access_methods(chosen: RunFilter = NO_FILTER) -> AccessMethods:
    """Return a table a metric of GROUPS that the kept runs have; several where a factor sets an access method together
    with something else, since that is no row then. Queries: six, and those of `compare`, and one, for each such table;
    four where nothing has changed since the last time."""
    counts = count_runs(chosen, [WORKLOAD])
    every = sources(chosen, [WORKLOAD])
    measured = [source.run_id for source in every if not source.published][:MOST_RUNS]
    runs = (*measured, *(source.run_id for source in every if source.published))
    if not runs:
        return AccessMethods((), (), counts.kept, counts.exploratory)
    rows = configurations(runs)
    several = _set_together(rows)
    own = [tuple(run for run in runs if run in together.runs) for together in several]
    tables: list[AccessMethodTable] = []
    for together, of_runs, known in zip(several, own, freshness_of_each(own), strict=True):
        tables += _tables(of_runs, together.names, known)
    order: list[str] = [group for group, _names in GROUPS]
    ordered = tuple(sorted(tables, key=lambda table: order.index(table.group)))
    return AccessMethods(runs, ordered, counts.kept, counts.exploratory)


@dataclass(frozen=True)
class _Together:
    """Runs in which access methods are set together with these dimensions."""

    names: frozenset[str]
    runs: tuple[int, ...]


def _set_together(rows: Sequence[ConfigurationRow]) -> list[_Together]:
    """Return the runs by what a factor of theirs sets besides the access method, those in which none does first."""
    by_run: dict[int, list[ConfigurationRow]] = {}
    for row in rows:
        by_run.setdefault(row.run_id, []).append(row)
    runs_of: dict[frozenset[str], list[int]] = {}
    for run_id, own in by_run.items():
        parts = [names for names in composite_parts(own).values() if ACCESS_METHOD in names]
        names = frozenset[str]().union(*parts)
        if names:
            names &= set(matched_by(facets(own, {}), {}, *_BY))
        runs_of.setdefault(names, []).append(run_id)
    return [_Together(names, tuple(runs_of[names])) for names in sorted(runs_of, key=lambda names: sorted(names))]


# Of what its arguments say, `known` among them, which is another as soon as anything changes.
@lru_cache(16)
def _tables(runs: tuple[int, ...], together: frozenset[str], known: Freshness) -> tuple[AccessMethodTable, ...]:
    """Return the tables of runs in which access methods are set together with the same dimensions, which therefore
    tell no rows apart."""
    rows = configurations(runs)
    choices = {choice.name: choice for choice in metrics_of(runs)}
    heaps = set(sql.rows(_Stored, _OF_HEAPS, {"runs": list(runs)}))
    by = (LABEL, *(name for name in _telling_apart(rows) if name not in together))
    return tuple(
        _table(group, choices[name], _compared(choices[name], runs, by, heaps, known), by)
        for group, names in GROUPS
        for name in names
        if name in choices
    )


def _telling_apart(rows: Sequence[ConfigurationRow]) -> tuple[str, ...]:
    """Return the dimensions that vary: of what was measured, of what was published, or between values that both have.
    Little of a plan is published, and what is not tells nothing apart."""
    published = [row for row in rows if PUBLISHED in row.texts]
    measured = [row for row in rows if PUBLISHED not in row.texts]

    def varies(name: str) -> bool:
        levels, own, of_reports = ({row.level(name) for row in group} for group in (rows, measured, published))
        return max(len(levels - {DEFAULT}), len(own), len(of_reports)) > 1

    names = matched_by(facets(rows, {}), composite_parts(rows), *_BY, PUBLISHED, "updates_before")
    return tuple(name for name in names if varies(name))


def _table(group: str, choice: MetricChoice, comparison: Comparison, by: Sequence[str]) -> AccessMethodTable:
    columns = [(method, rest) for method, _, rest in (series.partition(JOINT) for series in comparison.series)]
    ordered = sorted(columns, key=lambda column: (column[1], column[0] != HEAP, column[0]))
    points = {(point.x, point.series): point for point in comparison.points}
    lines = []
    for x in comparison.xs:
        cells = tuple(points.get((x, JOINT.join(column))) for column in ordered)
        lines.append((level_name(by, x, choice.whole), cells))
    unlabelled = ("", DEFAULT, choice.whole)
    wholes = [index for index, x in enumerate(comparison.xs) if x.split(JOINT)[0] in unlabelled]
    return AccessMethodTable(
        group=group,
        metric=choice.row(),
        columns=tuple(ordered),
        lines=tuple(lines),
        mixed=comparison.mixed,
        selection=comparison.selection,
        wholes=tuple(wholes or range(len(lines))),
    )


def _compared(
    choice: MetricChoice, runs: tuple[int, ...], by: Sequence[str], heaps: Set[_Stored], known: Freshness
) -> Comparison:
    """Return the comparison of one metric. Where no build has a heap with it there is nothing to refer to: ratios are
    left out."""
    selection = Selection(runs, x=",".join(by), series=",".join(_BY), metric=choice.name)
    if _Stored(choice.name, choice.nodes[0]) in heaps:
        return compare(replace(selection, baseline=HEAP), known, mixtures=True)
    alone = compare(selection, known, mixtures=True)
    return replace(alone, points=tuple(replace(point, base=None, ratio=None, verdict=None) for point in alone.points))


_OF_HEAPS = """
SELECT DISTINCT measurement.metric_id AS metric, measurement.node
FROM results_trial AS trial
JOIN results_configuration AS configuration ON configuration.id = trial.configuration_id
JOIN results_measurement AS measurement ON measurement.attempt_id = trial.attempt_id
WHERE trial.run_id = ANY(%(runs)s) AND trial.state = 'done'
    AND configuration.dimensions ->> 'access_method' = 'heap'
"""
