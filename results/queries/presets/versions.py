"""Versions of PostgreSQL side by side: one workload, or all of them, as ratios to one version."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from results.domain.statistics.summary import mean_ratio
from results.domain.statistics.verdict import Kind
from results.queries.comparison.compare import Comparison, Point, compare
from results.queries.presets.sources import Source, level_name, matched_by, sources, speed, trial_ids
from results.queries.shared.composites import composite_parts
from results.queries.shared.configurations import configurations
from results.queries.shared.facets import facets, metrics_of
from results.queries.shared.metrics import MetricRow
from results.queries.shared.ordering import sorted_levels
from results.queries.shared.selection import JOINT, LABEL, Selection

MAJOR = "major"
RUNS_OF_A_ROW = 12  # measured runs of a workload that are compared, the newest
_CONFIGURATIONS_SHOWN = 200


@dataclass(frozen=True)
class VersionCell:
    """One version in one row.

    speed: to the row's base, geometric mean over the `cells` that both have and that are comparable; above 1 is
        better, None where there are none.
    kinds: class of verdict → cells.
    missing: configurations of the row that one of the two lacks.
    value: where the row is one configuration.
    of_these_runs: every verdict says nothing of what other runs would show; see `Verdict`."""

    version: str
    speed: float | None
    cells: int
    missing: int
    kinds: Mapping[str, int]
    value: float | None
    n: int
    trial_ids: tuple[int, ...]
    selection: Selection
    of_these_runs: bool = False


@dataclass(frozen=True)
class VersionRow:
    """One workload over the versions.

    name: of a workload or of a configuration.
    base: the version that ratios refer to, '' where there is none to compare with.
    cells: one a version shown, None where there is nothing."""

    name: str
    workload: str
    metric: MetricRow
    base: str
    published: bool
    cells: tuple[VersionCell | None, ...]
    selection: Selection


@dataclass(frozen=True)
class Versions:
    """The versions side by side.

    versions: those with a ratio, in order.
    known: all that there are.
    beside: of these the ones that runs of the shown workloads measured with another one.
    means: geometric mean of a version's rows, where they share one base.
    alone: workloads of which no two versions have a configuration in common.
    hidden: configurations beyond those shown."""

    workload: str
    baseline: str
    versions: tuple[str, ...]
    known: tuple[str, ...]
    beside: tuple[str, ...]
    workloads: tuple[str, ...]
    rows: tuple[VersionRow, ...]
    means: tuple[float | None, ...]
    alone: tuple[str, ...]
    hidden: int


def versions(workload: str = "", baseline: str = "", only: Collection[str] = ()) -> Versions:
    """Return versions as ratios to one of them. Queries: one, and for each pair of workload and metric with two
    versions or more two beside those of `compare`.

    workload: '' for a row a workload and metric, else a row a configuration of that one.
    baseline: a major version; '' for the one that most cells of a row can be compared with.
    only: versions shown."""
    runs = [source for source in sources() if source.workload != "capabilities"]
    known = sorted_levels(_versions_of(runs), MAJOR)
    shown = tuple(version for version in known if not only or version in only)
    groups = _groups([source for source in runs if not workload or source.workload == workload])
    rows = _rows(groups, shown, baseline, by_configuration=bool(workload))
    used, rows = _without_empty(shown, rows)
    return Versions(
        workload=workload,
        baseline=baseline,
        versions=used,
        known=known,
        beside=_compared(groups, known),
        workloads=tuple(sorted({source.workload for source in runs})),
        rows=tuple(rows[:_CONFIGURATIONS_SHOWN]),
        means=tuple(_mean(rows, index) for index in range(len(used))),
        alone=_alone(groups, rows),
        hidden=max(0, len(rows) - _CONFIGURATIONS_SHOWN),
    )


def _groups(runs: Sequence[Source]) -> list[list[Source]]:
    """Return runs by workload and first metric, published figures apart: the newest of each."""

    def key(source: Source) -> tuple[str, str, bool]:
        return source.workload, source.headline, source.published

    groups = [list(several) for _, several in groupby(sorted(runs, key=key), key)]
    return [group if group[0].published else group[:RUNS_OF_A_ROW] for group in groups]


def _versions_of(runs: Sequence[Source]) -> set[str]:
    return {version for source in runs for version in source.versions}


def _compared(groups: Sequence[Sequence[Source]], known: Sequence[str]) -> tuple[str, ...]:
    """Return those of the known versions that runs measured with another one."""
    compared: set[str] = set()
    for runs in groups:
        if len(own := _versions_of(runs)) > 1:
            compared |= own
    return tuple(version for version in known if version in compared)


def _alone(groups: Sequence[Sequence[Source]], rows: Sequence[VersionRow]) -> tuple[str, ...]:
    """Return the workloads without a row."""
    return tuple(sorted({runs[0].workload for runs in groups} - {row.workload for row in rows}))


def _rows(
    groups: Sequence[Sequence[Source]], shown: Sequence[str], baseline: str, *, by_configuration: bool
) -> list[VersionRow]:
    rows: list[VersionRow] = []
    for runs in groups:
        several = len(_versions_of(runs) & set(shown)) > 1
        if several and (base := _base(runs, shown, baseline)):
            group = _Group.of(runs, shown, base)
            rows += group.configurations(shown) if by_configuration else [group.row(shown)]
    return rows


def _without_empty(shown: Sequence[str], rows: Sequence[VersionRow]) -> tuple[tuple[str, ...], list[VersionRow]]:
    """Leave out the versions that no row says anything of."""
    used = [index for index in range(len(shown)) if any(_is_compared(row.cells[index]) for row in rows)]
    narrow = [replace(row, cells=tuple(row.cells[index] for index in used)) for row in rows]
    return tuple(shown[index] for index in used), narrow


def _is_compared(cell: VersionCell | None) -> bool:
    """Return whether a cell was compared, or is what others are compared with."""
    return cell is not None and bool(cell.speed or cell.kinds)


def _mean(rows: Sequence[VersionRow], index: int) -> float | None:
    """Return the mean of one version's rows; None where they refer to different versions: their ratios have no common
    measure."""
    speeds = [(row.base, cell.speed) for row in rows if (cell := row.cells[index]) is not None and cell.speed]
    if not speeds or len({base for base, _ in speeds}) > 1:
        return None
    return mean_ratio([speed for _, speed in speeds])


@dataclass(frozen=True)
class _Group:
    """One workload and metric."""

    source: Source
    comparison: Comparison
    by: tuple[str, ...]  # dimensions that x is made of
    base: str  # the version that others are compared with
    points: Mapping[str, Mapping[str, Point]]  # x → version → cell

    @classmethod
    def of(cls, group: Sequence[Source], shown: Sequence[str], base: _Base) -> _Group:
        runs = tuple(source.run_id for source in group)
        headline = group[0].headline
        labels = next((choice.labels for choice in metrics_of(runs) if choice.name == headline), ("",))
        by = base.by if "" in labels else (LABEL, *base.by)
        selection = Selection(
            runs, {MAJOR: tuple(shown)}, ",".join(by) or "workload", MAJOR, metric=headline, baseline=base.version
        )
        comparison = compare(selection, mixtures=True)
        points: dict[str, dict[str, Point]] = {x: {} for x in comparison.xs}
        for point in comparison.points:
            points[point.x][point.series] = point
        return cls(group[0], comparison, by, base.version, points)

    def row(self, shown: Sequence[str]) -> VersionRow:
        """Return the row of all configurations together."""
        cells = tuple(self._cell(version, list(self.points)) for version in shown)
        return self._row(self.source.workload, cells, self._selection(self.comparison.series))

    def configurations(self, shown: Sequence[str]) -> list[VersionRow]:
        """Return a row for each configuration that at least two versions have."""
        names = self.by or ("workload",)
        rows = []
        for x, by_version in self.points.items():
            if len(by_version) > 1:
                cells = tuple(self._cell(version, [x]) for version in shown)
                rows.append(self._row(level_name(names, x), cells, self._selection(self.comparison.series, x)))
        return rows

    def _row(self, name: str, cells: tuple[VersionCell | None, ...], selection: Selection) -> VersionRow:
        source = self.source
        return VersionRow(name, source.workload, self.comparison.metric, self.base, source.published, cells, selection)

    def _cell(self, version: str, xs: Sequence[str]) -> VersionCell | None:
        own = [self.points[x][version] for x in xs if version in self.points[x]]
        if not own:
            return None
        speeds = self._speeds(own)
        series = [name for name in self.comparison.series if name in (self.base, version)]
        return VersionCell(
            version=version,
            speed=mean_ratio(speeds) if speeds else None,
            cells=len(speeds),
            missing=self._missing(version, xs),
            kinds=dict(Counter(str(point.verdict.kind) for point in own if point.verdict is not None)),
            value=own[0].value if len(xs) == 1 else None,
            n=sum(point.n for point in own),
            trial_ids=trial_ids(own),
            selection=self._selection(series, *xs[: len(xs) == 1]),
            of_these_runs=_of_these_runs(own),
        )

    def _speeds(self, points: Sequence[Point]) -> list[float]:
        """Return the speed of each cell that has one and is comparable."""
        kinds = [point.verdict.kind if point.verdict else None for point in points]
        comparable = [point for point, kind in zip(points, kinds, strict=True) if kind is not Kind.NOT_COMPARABLE]
        speeds = [speed(point.ratio, self.comparison.metric.better) for point in comparable]
        return [one for one in speeds if one]

    def _missing(self, version: str, xs: Sequence[str]) -> int:
        """Return how many configurations either the version or the base lacks."""
        if version == self.base:
            return 0
        return sum((version in self.points[x]) != (self.base in self.points[x]) for x in xs)

    def _selection(self, series: Sequence[str], *xs: str) -> Selection:
        """What the explorer shows of these versions: of every configuration, or of one."""
        chosen = replace(
            self.comparison.selection,
            filters={MAJOR: tuple(series)},
            baseline=self.base,
            node="",
            label="",
            statistic="",
        )
        if not xs or not self.by:
            return chosen
        parts = xs[0].split(JOINT)
        if len(parts) != len(self.by):
            return chosen
        own = {name: (part,) for name, part in zip(self.by, parts, strict=True)}
        return replace(chosen, filters={**chosen.filters, **own})


def _of_these_runs(points: Sequence[Point]) -> bool:
    """Return whether no verdict says anything of what other runs would show."""
    return all(point.verdict is not None and point.verdict.of_these_runs for point in points)


@dataclass(frozen=True)
class _Base:
    """What a group is compared with."""

    version: str
    by: tuple[str, ...]  # dimensions by which its configurations are matched


def _base(group: Sequence[Source], shown: Sequence[str], wanted: str) -> _Base | None:
    """Return the version that has most others beside it, the oldest of several, or the one that is wanted; None where
    no configuration has that beside another."""
    rows = [row for row in configurations([source.run_id for source in group]) if row.done]
    by = matched_by(facets(rows, {}), composite_parts(rows))
    beside: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for row in rows:
        if row.level(MAJOR) in shown:
            beside[tuple(row.level(name) for name in by)].add(row.level(MAJOR))
    others = {version: sum(len(of) - 1 for of in beside.values() if version in of) for version in shown}
    best = wanted or max(shown, key=lambda version: others[version], default="")
    return _Base(best, by) if others.get(best) else None


DECIDED = (Kind.BETTER, Kind.WORSE, Kind.HIGHER, Kind.LOWER, Kind.SAME)
