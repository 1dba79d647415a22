"""Versions of PostgreSQL side by side: one workload, or all of them, as ratios to one version."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from results.queries.comparison import Comparison, Point, compare
from results.queries.configurations import configurations
from results.queries.facets import facets, metrics_of
from results.queries.metrics import MetricRow
from results.queries.ordering import sorted_levels
from results.queries.presets import Source, level_name, matched_by, sources, speed, trial_ids
from results.queries.selection import JOINT, LABEL, Selection
from results.statistics.verdict import Kind

MAJOR = "major"
RUNS_OF_A_ROW = 12  # measured runs of a workload that are compared, the newest
_CONFIGURATIONS_SHOWN = 200


@dataclass(frozen=True)
class VersionCell:
    """One version in one row. speed: to the row's base, geometric mean over the `cells` that both have and that are
    comparable; above 1 is better, None where there are none. kinds: class of verdict → cells. missing: configurations
    of the row that one of the two lacks. value: where the row is one configuration."""

    version: str
    speed: float | None
    cells: int
    missing: int
    kinds: Mapping[str, int]
    value: float | None
    n: int
    trial_ids: tuple[int, ...]
    selection: Selection


@dataclass(frozen=True)
class VersionRow:
    """name: of a workload or of a configuration. base: the version that ratios refer to, '' where there is none to
    compare with. cells: one a version shown, None where there is nothing."""

    name: str
    workload: str
    metric: MetricRow
    base: str
    published: bool
    cells: tuple[VersionCell | None, ...]
    selection: Selection


@dataclass(frozen=True)
class Versions:
    """versions: those with a ratio, in order; known: all that there are; beside: of these the ones that runs of the
    shown workloads measured with another one. means: geometric mean of a version's rows, where they share one base.
    alone: workloads of which no two versions have a configuration in common. hidden:
    configurations beyond those shown."""

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
    """workload: '' for a row a workload and metric, else a row a configuration of that one. baseline: a major version;
    '' for the one that most cells of a row can be compared with. only: versions shown. Queries: one, and for each pair
    of workload and metric with two versions or more two beside those of `compare`."""
    found = [source for source in sources() if source.workload != "capabilities"]
    known = sorted_levels(sorted({version for source in found for version in source.versions}), MAJOR)
    shown = tuple(version for version in known if not only or version in only)
    groups = _groups([source for source in found if not workload or source.workload == workload])
    compared = {version for group in groups if len(of := _versions_of(group)) > 1 for version in of}
    several = [group for group in groups if len(_versions_of(group) & set(shown)) > 1]
    made = [_Group.of(group, shown, base) for group in several if (base := _base(group, shown, baseline))]
    rows: list[VersionRow] = []
    for group in made:
        rows += group.configurations(shown) if workload else [group.row(shown)]
    used = tuple(v for place, v in enumerate(shown) if any(_says(row.cells[place]) for row in rows))
    rows = [replace(row, cells=tuple(row.cells[shown.index(version)] for version in used)) for row in rows]
    return Versions(
        workload=workload,
        baseline=baseline,
        versions=used,
        known=known,
        beside=tuple(version for version in known if version in compared),
        workloads=tuple(sorted({source.workload for source in found})),
        rows=tuple(rows[:_CONFIGURATIONS_SHOWN]),
        means=tuple(_mean(rows, place) for place in range(len(used))),
        alone=tuple(sorted({g[0].workload for g in groups} - {row.workload for row in rows})),
        hidden=max(0, len(rows) - _CONFIGURATIONS_SHOWN),
    )


def _groups(found: Sequence[Source]) -> list[list[Source]]:
    """By workload and first metric, published figures apart: the newest runs of each."""

    def key(source: Source) -> tuple[str, str, bool]:
        return source.workload, source.headline, source.published

    groups = [list(several) for _, several in groupby(sorted(found, key=key), key)]
    return [group if group[0].published else group[:RUNS_OF_A_ROW] for group in groups]


def _versions_of(group: Sequence[Source]) -> set[str]:
    return {version for source in group for version in source.versions}


def _says(cell: VersionCell | None) -> bool:
    """Whether it was compared, or is what others are compared with."""
    return cell is not None and bool(cell.speed or cell.kinds)


def _mean(rows: Sequence[VersionRow], place: int) -> float | None:
    """None where the rows refer to different versions: their ratios have no common measure."""
    found = [(row.base, cell.speed) for row in rows if (cell := row.cells[place]) is not None and cell.speed]
    if not found or len({base for base, _ in found}) > 1:
        return None
    return math.exp(math.fsum(math.log(value) for _, value in found) / len(found))


@dataclass(frozen=True)
class _Group:
    """One workload and metric. by: dimensions that x is made of. points: x → version → cell."""

    source: Source
    found: Comparison
    by: tuple[str, ...]
    base: str
    points: Mapping[str, Mapping[str, Point]]

    @classmethod
    def of(cls, group: Sequence[Source], shown: Sequence[str], base: _Base) -> _Group:
        runs = tuple(source.run_id for source in group)
        headline = group[0].headline
        labels = next((choice.labels for choice in metrics_of(runs) if choice.name == headline), ("",))
        by = base.by if "" in labels else (LABEL, *base.by)
        selection = Selection(
            runs, {MAJOR: tuple(shown)}, ",".join(by) or "workload", MAJOR, metric=headline, baseline=base.version
        )
        found = compare(selection)
        points: dict[str, dict[str, Point]] = {x: {} for x in found.xs}
        for point in found.points:
            points[point.x][point.series] = point
        return cls(group[0], found, by, base.version, points)

    def row(self, shown: Sequence[str]) -> VersionRow:
        cells = tuple(self._cell(version, list(self.points)) for version in shown)
        return self._row(self.source.workload, cells, self._selection(self.found.series))

    def configurations(self, shown: Sequence[str]) -> list[VersionRow]:
        """Of those that at least two versions have."""
        names = self.by or ("workload",)
        return [
            self._row(
                level_name(names, x),
                tuple(self._cell(version, [x]) for version in shown),
                self._selection(self.found.series, x),
            )
            for x, of in self.points.items()
            if len(of) > 1
        ]

    def _row(self, name: str, cells: tuple[VersionCell | None, ...], selection: Selection) -> VersionRow:
        source = self.source
        return VersionRow(name, source.workload, self.found.metric, self.base, source.published, cells, selection)

    def _cell(self, version: str, xs: Sequence[str]) -> VersionCell | None:
        own = [self.points[x][version] for x in xs if version in self.points[x]]
        if not own:
            return None
        comparable = [p for p in own if p.verdict is None or p.verdict.kind is not Kind.NOT_COMPARABLE]
        speeds = [s for point in comparable if (s := speed(point.ratio, self.found.metric.better))]
        kinds = Counter(str(point.verdict.kind) for point in own if point.verdict is not None)
        return VersionCell(
            version=version,
            speed=math.exp(math.fsum(map(math.log, speeds)) / len(speeds)) if speeds else None,
            cells=len(speeds),
            missing=sum(len({version, self.base} & {*self.points[x]}) == 1 for x in xs) if version != self.base else 0,
            kinds=dict(kinds),
            value=own[0].value if len(xs) == 1 else None,
            n=sum(point.n for point in own),
            trial_ids=trial_ids(own),
            selection=self._selection([v for v in self.found.series if v in (self.base, version)], *xs[: len(xs) == 1]),
        )

    def _selection(self, series: Sequence[str], *xs: str) -> Selection:
        """What the explorer shows of these versions: of every configuration, or of one."""
        chosen = replace(
            self.found.selection, filters={MAJOR: tuple(series)}, baseline=self.base, node="", label="", statistic=""
        )
        if not xs or not self.by:
            return chosen
        parts = xs[0].split(JOINT)
        if len(parts) != len(self.by):
            return chosen
        own = {name: (part,) for name, part in zip(self.by, parts, strict=True)}
        return replace(chosen, filters={**chosen.filters, **own})


@dataclass(frozen=True)
class _Base:
    """What a group is compared with. by: the dimensions by which its configurations are matched."""

    version: str
    by: tuple[str, ...]


def _base(group: Sequence[Source], shown: Sequence[str], wanted: str) -> _Base | None:
    """The version that has most others beside it, the oldest of several, or the one that is wanted; None where no
    configuration has that beside another."""
    rows = [row for row in configurations([source.run_id for source in group]) if row.done]
    by = matched_by(facets(rows, {}))
    beside: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for row in rows:
        if row.level(MAJOR) in shown:
            beside[tuple(row.level(name) for name in by)].add(row.level(MAJOR))
    others = {version: sum(len(of) - 1 for of in beside.values() if version in of) for version in shown}
    best = wanted or max(shown, key=lambda version: others[version], default="")
    return _Base(best, by) if others.get(best) else None


DECIDED = (Kind.BETTER, Kind.WORSE, Kind.HIGHER, Kind.LOWER, Kind.SAME)
