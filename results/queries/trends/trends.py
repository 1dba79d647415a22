"""Trends: one metric of configuration families over dates, versions or commits, across runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from results import sql
from results.domain.errors import TeitenError
from results.domain.measurement.metrics import Better
from results.domain.messages import gettext_lazy as _
from results.domain.statistics.changepoint import FEWEST, LEVEL, METHOD, MINIMUM_SEGMENT, change_points
from results.domain.statistics.verdict import Kind, direction
from results.queries.shared.facets import MetricChoice, metrics_of
from results.queries.shared.metrics import MetricRow, unknown
from results.queries.shared.ordering import sorted_levels
from results.queries.shared.selection import JOINT, unknown_choice
from results.queries.shared.words import name_of
from results.queries.trends.environment_changes import EnvironmentChange, Step, environment_changes
from results.queries.trends.families import (
    COMMIT,
    DATE,
    INSTALLATION,
    MOST_RUNS,
    VERSION,
    Choice,
    Family,
    FamilyFacet,
    FollowedRuns,
    TrendSelection,
    choose,
    followed_runs,
    known_families,
)

MOST_VALUES = 2_000  # of a trend: an answer of less than a megabyte

_COMMIT = re.compile(r"(?:[-_.+~]g?)([0-9a-f]{7,40})$")


class TrendValue(NamedTuple):
    """One replicate. A tuple, as a trend has thousands.

    at: when its attempt began."""

    trial_id: int
    attempt_id: int
    run_id: int
    block: int
    at: datetime
    value: float


@dataclass(frozen=True)
class TrendPoint:
    """One level of x on one line.

    level: the run's number, the version or the commit.
    at: when the first of its attempts began.
    versions: of the server, in order."""

    level: str
    at: datetime
    versions: tuple[str, ...]
    runs: tuple[int, ...]
    median: float
    values: tuple[TrendValue, ...]

    @property
    def n(self) -> int:
        return len(self.values)


@dataclass(frozen=True)
class Shift:
    """A change of a line's level.

    last, first: the points between which it lies, by their place on the line.
    before, after: medians of the levels, over `points_before` and `points_after` points.
    kind: better or worse, higher or lower where neither direction is an improvement."""

    line: str
    last: int
    first: int
    before: float
    after: float
    points_before: int
    points_after: int
    ratio: float | None
    p: float
    kind: Kind


@dataclass(frozen=True)
class TrendLine:
    name: str
    points: tuple[TrendPoint, ...]
    shifts: tuple[Shift, ...]


@dataclass(frozen=True)
class Trend:
    """One metric over dates, versions or commits.

    selection: complete.
    held: what is held at one value by default.
    levels: of x, in order.
    without_commit: trials whose build does not name its commit, where x is commit.
    kept, exploratory: runs of the plan or workload that the filter lets through, by their standing; only kept ones are
        followed.
    runs: how many of the kept ones are shown here, the newest, or the newest before the selection's `before`.
    earlier: the selection's `before` that shows those before them; None where there are none.
    method: version of the search for changes.
    level: its chance of a false alarm a line.
    minimum_segment: the fewest points that make a level.
    fewest: points of a line in which any change can be found."""

    selection: TrendSelection
    held: Mapping[str, str]
    metric: MetricRow
    levels: tuple[str, ...]
    lines: tuple[TrendLine, ...]
    environments: tuple[EnvironmentChange, ...]
    facets: tuple[FamilyFacet, ...]
    metrics: tuple[MetricChoice, ...]
    first_series: str
    left_out: int
    without_commit: int
    kept: int
    exploratory: int
    runs: int
    earlier: int | None
    method: int = METHOD
    level: float = LEVEL
    minimum_segment: int = MINIMUM_SEGMENT
    fewest: int = FEWEST

    @property
    def shifts(self) -> tuple[Shift, ...]:
        return tuple(shift for line in self.lines for shift in line.shifts)


@dataclass(frozen=True)
class Followed:
    """A plan, or what of a workload belongs to no plan, that has runs.

    runs: kept ones, which are followed.
    exploratory: how many more are not."""

    plan: str
    workload: str
    runs: int
    exploratory: int
    newest_at: datetime | None


def followed() -> list[Followed]:
    """Whatever has run, by plan and workload. One query."""
    return sql.rows(Followed, sql.load(__file__, "trends_choices"))


def trend(
    selection: TrendSelection, runs: FollowedRuns | None = None, families: Sequence[Family] | None = None
) -> Trend:
    """At most eight queries, whatever the number of runs. Raises TeitenError that names an unknown axis, dimension or
    metric.

    runs, families: those of the selection, where they were read before; each saves one query."""
    runs = runs or followed_runs(selection)
    choice = choose(selection, known_families(runs) if families is None else families)
    metrics = metrics_of([choice.newest_run]) if choice.newest_run else []
    chosen, metric = _with_metric(choice.selection, metrics)
    every, shown = _replicates(chosen, choice, runs.ids[:MOST_RUNS])
    rows = [(level, row) for row in every if (level := row.level(chosen.x))]
    levels = _levels(chosen.x, rows)
    lines = tuple(_line(name, points, levels, metric) for name, points in _by_line(choice, rows).items())
    return Trend(
        selection=chosen,
        held=choice.held,
        metric=metric,
        levels=levels,
        lines=lines,
        environments=tuple(environment_changes(_steps(lines, every), builds=chosen.x == DATE)),
        facets=choice.facets,
        metrics=tuple(metrics),
        first_series=choice.first_series,
        left_out=choice.left_out,
        without_commit=len(every) - len(rows),
        kept=runs.kept,
        exploratory=runs.exploratory,
        runs=len(shown),
        earlier=shown[-1] if len(shown) < len(runs.ids) and shown else None,
    )


@lru_cache(1_000)
def commit_of(build: str | None) -> str:
    """'PostgreSQL 19devel-g1a2b3c4d on x86_64…' → '1a2b3c4d'; '' where the build does not name its commit, which takes
    `--with-extra-version=-g$(git rev-parse --short HEAD)` when it is configured."""
    words = (build or "").split()
    match = _COMMIT.search(words[1]) if len(words) > 1 else None
    return match[1] if match else ""


def _with_metric(chosen: TrendSelection, metrics: Sequence[MetricChoice]) -> tuple[TrendSelection, MetricRow]:
    """Fill in metric, node and label. Raises TeitenError for what the newest run does not have."""
    if not metrics:
        return chosen, unknown(chosen.metric)
    by_name = {choice.name: choice for choice in metrics}
    name = chosen.metric or metrics[0].name
    if name not in by_name:
        raise unknown_choice("metric", "metric", name, sorted(by_name))
    metric = by_name[name]
    _require(name, "node", chosen.node, metric.nodes)
    _require(name, "label", chosen.label, metric.labels)
    node, label = chosen.node or metric.nodes[0], chosen.label or metric.labels[0]
    return replace(chosen, metric=name, node=node, label=label), metric.row()


def _require(metric: str, which: str, text: str, there: Sequence[str]) -> None:
    if text and text not in there:
        known = ", ".join(one for one in there if one)
        raise TeitenError(
            _("{metric} has no {kind} {name!r} in the newest run.", metric=metric, kind=name_of(which), name=text),
            where=which,
            todo=_("There are {names}.", names=known) if known else _("Leave it out."),
        )


class _Replicate(NamedTuple):
    key: str
    run_id: int
    trial_id: int
    attempt_id: int
    block: int
    position: int
    at: datetime
    environment: str
    version: str
    build: str | None
    value: float

    def level(self, x: str) -> str:
        if x == DATE:
            return str(self.run_id)
        return self.version if x == VERSION else commit_of(self.build)

    def shown(self) -> TrendValue:
        return TrendValue(self.trial_id, self.attempt_id, self.run_id, self.block, self.at, self.value)


def _replicates(chosen: TrendSelection, choice: Choice, runs: Sequence[int]) -> tuple[list[_Replicate], Sequence[int]]:
    """Return what the lines measured in the newest of these runs, in the order of time, and the runs that this is all
    of: those with MOST_VALUES together, but one at least. One query, two for a run with more."""
    keys = [key for several in choice.lines.values() for key in several]
    if not (keys and runs):
        return [], runs
    rows = _values(chosen, keys, runs, MOST_VALUES + 1)
    if len(rows) > MOST_VALUES:
        newest, cut = rows[0].run_id, rows[-1].run_id
        runs = [run for run in runs if run > cut or run == newest]
        whole = [row for row in rows if row.run_id != cut]
        rows = whole or _values(chosen, keys, [newest], None)
    return sorted(rows, key=lambda row: (row.at, row.run_id, row.position)), runs


def _values(chosen: TrendSelection, keys: Sequence[str], runs: Sequence[int], most: int | None) -> Sequence[_Replicate]:
    """Return what the families measured in these runs, the newest run first, so many values at most."""
    parameters = {
        "families": [key.partition(" ")[0] for key in keys],
        "keys": list(keys),
        "runs": sql.array(runs),
        "metric": chosen.metric,
        "node": chosen.node,
        "label": chosen.label,
        "builds": chosen.x == COMMIT,
        "most": most,
    }
    return sql.tuples(_Replicate, sql.load(__file__, "trends_points"), parameters)


_Leveled = tuple[str, _Replicate]  # with its level of x
_OfLevels = dict[str, list[_Replicate]]  # level of x → replicates, in the order of time


def _by_line(choice: Choice, rows: Sequence[_Leveled]) -> dict[str, _OfLevels]:
    """Return the lines that have a replicate. Where two installations measured the same level, they are no successors
    of each other: then each is a line of its own."""
    line_of = {key: name for name, keys in choice.lines.items() for key in keys}
    apart = _measured_twice(line_of, choice.installations, rows) if choice.installations else set()
    lines: dict[tuple[str, str], _OfLevels] = {}
    for level, row in rows:
        name = line_of[row.key]
        installation = choice.installations[row.key] if name in apart else ""
        lines.setdefault((name, installation), {}).setdefault(level, []).append(row)
    names = list(choice.lines)
    installations = ["", *sorted_levels(choice.installations.values(), INSTALLATION)]
    ordered = sorted(lines, key=lambda key: (names.index(key[0]), installations.index(key[1])))
    return {JOINT.join(text for text in key if text): lines[key] for key in ordered}


def _measured_twice(line_of: Mapping[str, str], installations: Mapping[str, str], rows: Sequence[_Leveled]) -> set[str]:
    """Return the lines on which several installations measured the same level."""
    there: dict[tuple[str, str], set[str]] = {}
    for level, row in rows:
        there.setdefault((line_of[row.key], level), set()).add(installations.get(row.key, ""))
    return {name for (name, _), several in there.items() if len(several) > 1}


def _levels(x: str, rows: Iterable[_Leveled]) -> tuple[str, ...]:
    """Versions in their own order, runs and commits in the order in which they were first measured."""
    levels = tuple(dict.fromkeys(level for level, _ in rows))
    return sorted_levels(levels, VERSION) if x == VERSION else levels


def _line(name: str, rows_of: _OfLevels, levels: Sequence[str], metric: MetricRow) -> TrendLine:
    points = tuple(_point(level, rows_of[level]) for level in levels if level in rows_of)
    return TrendLine(name, points, shifts(name, points, metric))


def _point(level: str, rows: Sequence[_Replicate]) -> TrendPoint:
    """Return the point of these rows, which are in the order of time."""
    return TrendPoint(
        level=level,
        at=rows[0].at,
        versions=sorted_levels(dict.fromkeys(row.version for row in rows), VERSION),
        runs=tuple(dict.fromkeys(row.run_id for row in rows)),
        median=median(row.value for row in rows),
        values=tuple(row.shown() for row in rows),
    )


def shifts(name: str, points: Sequence[TrendPoint], metric: MetricRow) -> tuple[Shift, ...]:
    """Return the changes of level in a line's points, by their medians."""
    changes = change_points([point.median for point in points], minimum_effect=metric.minimum_effect)
    edges = [0, *(change.index for change in changes), len(points)]
    return tuple(
        Shift(
            line=name,
            last=change.index - 1,
            first=change.index,
            before=change.before,
            after=change.after,
            points_before=edges[number + 1] - edges[number],
            points_after=edges[number + 2] - edges[number + 1],
            ratio=change.ratio,
            p=change.p,
            kind=direction(change.after > change.before, Better(metric.better)),
        )
        for number, change in enumerate(changes)
    )


def _steps(lines: Sequence[TrendLine], rows: Sequence[_Replicate]) -> list[Step]:
    """Neighbouring points of a line whose last attempts ran in different environments."""
    environment = {row.trial_id: row.environment for row in rows}
    steps = []
    for line in lines:
        for left, right in pairwise(line.points):
            a, b = left.values[-1], right.values[-1]
            if environment[a.trial_id] and environment[a.trial_id] != environment[b.trial_id]:
                hashes = environment[a.trial_id], environment[b.trial_id]
                trials, attempts = (a.trial_id, b.trial_id), (a.attempt_id, b.attempt_id)
                steps.append(Step(line.name, left.level, right.level, right.at, trials, attempts, hashes))
    return steps
