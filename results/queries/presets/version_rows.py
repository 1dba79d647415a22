"""One workload over the versions of PostgreSQL: its configurations against those of one version."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log

from results.domain.measurement.metrics import Better
from results.domain.statistics.change_sentence import main_node
from results.domain.statistics.summary import mean_ratio
from results.domain.statistics.trust import Trust
from results.domain.statistics.verdict import Kind
from results.queries.comparison.compare import Comparison, Point, Summary, compare
from results.queries.comparison.freshness import Freshness
from results.queries.comparison.trust import trust_in
from results.queries.presets.sources import Source, fewest_that_tell_apart, level_name, matched_by, trial_ids
from results.queries.shared.composites import composite_parts
from results.queries.shared.configurations import configurations
from results.queries.shared.facets import facets, metrics_of
from results.queries.shared.metrics import MetricRow, unknown
from results.queries.shared.selection import JOINT, LABEL, Selection

MAJOR = "major"
DECIDED = (Kind.BETTER, Kind.WORSE, Kind.HIGHER, Kind.LOWER, Kind.SAME)


@dataclass(frozen=True)
class VersionCell:
    """One version in one row.

    ratio: to the row's base, geometric mean over the `cells` that both have and that are comparable; None where there
        are none. Of the row's own first metric above 1 is better; of a chosen metric it is that of its values.
    low, high: its 95 % interval; None where there is none.
    speed: the same, turned so that above 1 is better.
    kinds: class of verdict → cells.
    missing: configurations of the row that one of the two lacks.
    value: where the row is one configuration.
    at: the configuration with the greatest difference that is decided, or else the first: where Why begins.
    of_these_runs: every verdict says nothing of what other runs would show; see `Verdict`."""

    version: str
    ratio: float | None
    low: float | None
    high: float | None
    speed: float | None
    cells: int
    missing: int
    kinds: Mapping[str, int]
    value: float | None
    n: int
    trial_ids: tuple[int, ...]
    selection: Selection
    at: str = ""
    of_these_runs: bool = False


@dataclass(frozen=True)
class VersionRow:
    """One workload over the versions.

    name: of a workload or of a configuration.
    base: the version that ratios refer to, '' where there is none to compare with.
    cells: one a version shown, None where there is nothing.
    measured: whether the workload has the chosen metric at all.
    basis: what they rest on, 'from 3 replicates of 5 s'; is_weak: a reason not to trust them is in it."""

    name: str
    workload: str
    metric: MetricRow
    base: str
    published: bool
    cells: tuple[VersionCell | None, ...]
    selection: Selection
    measured: bool = True
    basis: str = ""
    is_weak: bool = False


@dataclass(frozen=True)
class Base:
    """What a group is compared with."""

    version: str
    by: tuple[str, ...]  # dimensions by which its configurations are matched


@dataclass(frozen=True)
class _Estimate:
    """A ratio with its 95 % interval."""

    ratio: float | None
    low: float | None = None
    high: float | None = None

    def turned(self) -> _Estimate:
        """Return that of the inverse."""
        ends = (1 / end if end else None for end in (self.high, self.low))
        return _Estimate(1 / self.ratio if self.ratio else None, *ends)


@dataclass(frozen=True)
class Group:
    """One workload and metric.

    by: dimensions that x is made of.
    base: the version that others are compared with.
    points: x → version → cell.
    chosen: whether the metric was chosen, instead of the runs' own first one.
    trust: what the numbers rest on."""

    source: Source
    comparison: Comparison
    by: tuple[str, ...]
    base: str
    points: Mapping[str, Mapping[str, Point]]
    chosen: bool
    trust: Trust

    @classmethod
    def of(
        cls, group: Sequence[Source], shown: Sequence[str], base: Base, metric: str, known: Freshness
    ) -> Group | None:
        """Return what runs measured of a metric, '' for their first one; None where they did not. Queries: three
        beside those of `compare`."""
        runs = tuple(source.run_id for source in group)
        name = metric or group[0].headline
        choice = {choice.name: choice for choice in metrics_of(runs)}.get(name)
        if metric and choice is None:
            return None
        by = base.by if choice is None or "" in choice.labels else (LABEL, *base.by)
        node = main_node(choice.nodes) if metric and choice else ""
        selection = Selection(
            runs, {MAJOR: tuple(shown)}, ",".join(by) or "workload", MAJOR, "", name, node=node, baseline=base.version
        )
        comparison = compare(selection, known, mixtures=True)
        points = _by_version(comparison)
        return cls(group[0], comparison, by, base.version, points, bool(metric), trust_in(comparison))

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
                name = level_name(names, x, self.comparison.metric.whole)
                rows.append(self._row(name, cells, self._selection(self.comparison.series, x)))
        return rows

    def _row(self, name: str, cells: tuple[VersionCell | None, ...], selection: Selection) -> VersionRow:
        source, trust = self.source, self.trust
        return VersionRow(
            name=name,
            workload=source.workload,
            metric=self.comparison.metric,
            base=self.base,
            published=source.published,
            cells=cells,
            selection=selection,
            basis="" if source.published else trust.basis,
            is_weak=trust.is_weak,
        )

    def _cell(self, version: str, xs: Sequence[str]) -> VersionCell | None:
        own = [self.points[x][version] for x in xs if version in self.points[x]]
        if not own:
            return None
        comparable = [point for point in own if _is_comparable(point)]
        estimate = self._estimate(version, comparable)
        turned = estimate.turned() if self.comparison.metric.better == Better.LOWER else estimate
        shown = estimate if self.chosen else turned
        series = [name for name in self.comparison.series if name in (self.base, version)]
        one = len(xs) == 1
        return VersionCell(
            version=version,
            ratio=shown.ratio,
            low=shown.low,
            high=shown.high,
            speed=turned.ratio,
            cells=len(comparable),
            missing=self._missing(version, xs),
            kinds=_kinds(own),
            value=own[0].value if one else None,
            n=_count(own),
            trial_ids=trial_ids(own),
            selection=self._selection(series, *xs[:one]),
            at=max(own, key=_decided_distance).x,
            of_these_runs=_of_these_runs(own),
        )

    def _estimate(self, version: str, comparable: Sequence[Point]) -> _Estimate:
        """Return the ratio of one cell as it was judged; of several that of the comparison's summary, as long as it is
        over the same cells."""
        if not comparable:
            return _Estimate(None)
        if len(comparable) == 1:
            [point] = comparable
            verdict = point.verdict
            return _Estimate(point.ratio, verdict.low, verdict.high) if verdict else _Estimate(point.ratio)
        summary = self._summary(version)
        if summary is not None and summary.cells == len(comparable):
            return _Estimate(summary.ratio, summary.low, summary.high)
        return _Estimate(mean_ratio([point.ratio for point in comparable if point.ratio]))

    def _summary(self, version: str) -> Summary | None:
        return next((one for one in self.comparison.summaries if one.series == version), None)

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
            node=self.comparison.selection.node if self.chosen else "",
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


@dataclass(frozen=True)
class WithoutMetric:
    """A workload that has no such metric."""

    source: Source
    metric: str

    def row(self, shown: Sequence[str]) -> VersionRow:
        workload, selection = self.source.workload, Selection((self.source.run_id,))
        empty = (None,) * len(shown)
        return VersionRow(workload, workload, unknown(self.metric), "", False, empty, selection, measured=False)

    def configurations(self, shown: Sequence[str]) -> list[VersionRow]:
        return [self.row(shown)]


def base_of(group: Sequence[Source], shown: Sequence[str], wanted: str) -> Base | None:
    """Return the version that has most others beside it, the oldest of several, or the one that is wanted; None where
    no configuration has that beside another."""
    rows = [row for row in configurations([source.run_id for source in group]) if row.done]
    by = fewest_that_tell_apart(rows, matched_by(facets(rows, {}), composite_parts(rows)))
    beside: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for row in rows:
        if row.level(MAJOR) in shown:
            beside[tuple(row.level(name) for name in by)].add(row.level(MAJOR))
    others = {version: sum(len(of) - 1 for of in beside.values() if version in of) for version in shown}
    best = wanted or max(shown, key=lambda version: others[version], default="")
    return Base(best, by) if others.get(best) else None


def _by_version(comparison: Comparison) -> dict[str, dict[str, Point]]:
    """Return the cells by x and version."""
    points: dict[str, dict[str, Point]] = {x: {} for x in comparison.xs}
    for point in comparison.points:
        points[point.x][point.series] = point
    return points


def _kinds(points: Sequence[Point]) -> dict[str, int]:
    return dict(Counter(str(point.verdict.kind) for point in points if point.verdict is not None))


def _count(points: Sequence[Point]) -> int:
    return sum(point.n for point in points)


def _is_comparable(point: Point) -> bool:
    """Return whether a cell has a ratio that may be shown."""
    return bool(point.ratio) and (point.verdict is None or point.verdict.kind is not Kind.NOT_COMPARABLE)


def _decided_distance(point: Point) -> float:
    """Return how far a cell lies from its base, 0 where that is not decided."""
    if point.verdict is None or point.verdict.kind not in DECIDED:
        return 0.0
    return abs(log(point.ratio)) if point.ratio else 0.0


def _of_these_runs(points: Sequence[Point]) -> bool:
    """Return whether no verdict says anything of what other runs would show."""
    return all(point.verdict is not None and point.verdict.of_these_runs for point in points)
