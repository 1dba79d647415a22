"""A plan's run against the latest before it: every configuration judged, and the level that they are on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from statistics import median

from django.db.models import Q

from results import models, sql
from results.domain.environment.difference import EnvironmentDifference
from results.domain.measurement.metrics import Better
from results.domain.messages import gettext_lazy as _
from results.domain.states import RunState, Standing, TrialState
from results.domain.statistics.verdict import Kind, Question, Sample, Verdict, judge
from results.queries.environment.environments import EnvironmentComparison, Side, environments_of
from results.queries.shared.configurations import ConfigurationRow, configurations
from results.queries.shared.facets import Facet, MetricChoice, facets, metrics_of
from results.queries.shared.ids import NotFound
from results.queries.shared.metrics import MetricRow
from results.queries.shared.selection import JOINT, LABEL, NODE
from results.queries.shared.side_by_side import side_by_side
from results.queries.shared.words import name_of
from results.queries.trends.families import Family, families
from results.queries.trends.trends import Shift, TrendPoint, TrendValue, shifts

MOST_RUNS = 60  # of a plan, the newest, that are looked through for changes of level
AGAINST = 10  # runs that the newest is held against
NEAR = 2  # points within which a change found again is the same change


@dataclass(frozen=True)
class CellProgress:
    """One configuration of the run and of those that it is held against.

    name: by what tells it apart; with label and node where the metric's values have them, for each of which there is a
        cell.
    against: those runs: the latest before it, up to ten, on the same level and in the same environment, in order of
        time.
    runs: of them, whose spread is part of the interval; 0 where they are too few, so that the verdict is one on these
        runs only.
    before, after: medians.
    kind, words: of the verdict, too-few without replicates to judge.
    ratio: after to before, of the geometric means.
    low, high: its 95 % interval.
    environment: what differs and withholds the verdict, in words.
    since: the run that the present level began with, where that level was just recognised and is worse than the one
        before it.
    level_ratio: of the two."""

    name: str
    kind: Kind
    before: float
    after: float
    ratio: float | None
    low: float | None
    high: float | None
    trials_before: tuple[int, ...]
    trials_after: tuple[int, ...]
    environment: tuple[str, ...]
    against: tuple[int, ...] = ()
    runs: int = 0
    since: int | None = None
    level_ratio: float | None = None
    words: str = ""

    @property
    def worse(self) -> bool:
        return self.kind is Kind.WORSE or self.since is not None


@dataclass(frozen=True)
class LostTrials:
    """What the run before measured and the run should have, but did not.

    failed: its trials that did."""

    name: str
    failed: int


@dataclass(frozen=True)
class Progress:
    """A run of a plan against the latest before it.

    run, before: ids; before is None for a plan's first run.
    lost: see there.
    unmatched: configurations of the run that the one before did not measure.
    failed: trials of the run that did, of `trials`.
    comparison: query string of the page that sets the two runs side by side, '' without a run before."""

    run: int
    before: int | None
    plan: str
    metric: MetricRow | None
    cells: tuple[CellProgress, ...]
    lost: tuple[LostTrials, ...]
    unmatched: tuple[str, ...]
    failed: int
    trials: int
    comparison: str

    @property
    def worse(self) -> tuple[CellProgress, ...]:
        return tuple(cell for cell in self.cells if cell.worse)

    @property
    def alarming(self) -> bool:
        return bool(self.worse or self.lost)


def progress(run_id: int) -> Progress:
    """The run against the finished and kept ones of the same plan that began before it, by the first metric of the run.
    All cells are judged together. Raises NotFound. At most eight queries."""
    run = models.Run.objects.select_related("plan").filter(pk=run_id).first()
    if run is None:
        raise NotFound(_("There is no {kind} {number}.", kind=name_of("run"), number=run_id))
    runs = _earlier(run)
    both = [*runs[:1], run.pk]
    rows = configurations(both)
    own = [row for row in rows if row.run_id == run.pk]
    metric = next((choice for choice in metrics_of(both) if choice.name == run.headline), None)
    nothing = Progress(
        run=run.pk,
        before=runs[0] if runs else None,
        plan=run.plan.name if run.plan else "",
        metric=None,
        cells=(),
        lost=(),
        unmatched=(),
        failed=sum(row.failed for row in own),
        trials=sum(row.trials for row in own),
        comparison="",
    )
    if not runs:
        return nothing
    beside = side_by_side(rows, str(runs[0]), own=_own(metric), texts={"metric": run.headline})
    unmeasured = replace(nothing, comparison=beside)
    if metric is None:
        return unmeasured
    lines = _lines(families([run.pk, *runs]), metric, [*reversed(runs), run.pk])
    return _compared(unmeasured, lines, metric.row(), own)


def _compared(
    unmeasured: Progress, lines: Sequence[_Line], metric: MetricRow, own: Sequence[ConfigurationRow]
) -> Progress:
    """Return the progress with every configuration judged.

    unmeasured: of the run, without what it measured.
    own: its configurations."""
    failed = {row.id: row.failed for row in own}
    steps: list[_Step] = []
    lost: list[LostTrials] = []
    unmatched: list[str] = []
    for line in lines:
        before, after = line.at(unmeasured.before), line.at(unmeasured.run)
        if before and after:
            steps.append(_step(line, after, metric, own[0].looks))
        elif before and (missing := failed.keys() & set(line.family.configurations)):
            lost.append(LostTrials(line.name, sum(failed[configuration] for configuration in missing)))
        elif after:
            unmatched.append(line.name)
    return replace(
        unmeasured,
        metric=metric,
        cells=tuple(_with_level(cell, step, metric) for cell, step in zip(_judged(steps, metric), steps, strict=True)),
        lost=tuple(lost),
        unmatched=tuple(unmatched),
    )


def _earlier(run: models.Run) -> list[int]:
    """Finished and kept runs of its plan that are on the lists, began before it and measured something, the latest
    first."""
    if run.plan is None or run.started_at is None:
        return []
    earlier = run.plan.runs.filter(
        Q(started_at__lt=run.started_at) | Q(started_at=run.started_at, pk__lt=run.pk),
        state=RunState.FINISHED,
        standing=Standing.KEPT,
        archived=False,
        publication=None,
        trials__state=TrialState.DONE,
    )
    ordered = earlier.order_by("-started_at", "-pk").values_list("pk", "started_at").distinct()
    return [pk for pk, _ in ordered[: MOST_RUNS - 1]]


@dataclass(frozen=True)
class _Value:
    configuration: int
    run_id: int
    trial_id: int
    attempt_id: int
    block: int
    at: datetime
    node: str
    label: str
    value: float


@dataclass(frozen=True)
class _Line:
    """What a family measured of one node and label, a point for each run, in order of time."""

    name: str
    points: tuple[TrendPoint, ...]
    family: Family
    part: tuple[str, str]

    def at(self, run: int | None) -> TrendPoint | None:
        return next((point for point in self.points if point.runs[0] == run), None)


@dataclass(frozen=True)
class _Step:
    """The newest point of a line, and what it is held against.

    earlier: at least one point, on the level of the latest of them, in order of time.
    shifts: of the level, before the newest.
    looks: replicates of the newest, each time that some were added."""

    line: _Line
    earlier: tuple[TrendPoint, ...]
    newest: TrendPoint
    shifts: tuple[Shift, ...]
    looks: tuple[int, ...]


def _step(line: _Line, newest: TrendPoint, metric: MetricRow, looks: Sequence[int]) -> _Step:
    points = line.points[: line.points.index(newest)]
    before = shifts(line.name, points, metric)
    on_level = points[before[-1].first :] if before else points
    seen = [sum(value.block <= look for value in newest.values) for look in looks]
    return _Step(line, on_level[-AGAINST:], newest, tuple(before), tuple(seen))


def _lines(known: Sequence[Family], metric: MetricChoice, runs: Sequence[int]) -> list[_Line]:
    """Of each family a line for each node and label of the metric, or for its total where it has one.

    runs: in order of time, as the points are."""
    lines = []
    varying = [facet for facet in facets(known, {}) if facet.varies]
    for (index, label, node), by_run in sorted(_values(known, metric).items()):
        family = known[index]
        points = tuple(_point(by_run[run]) for run in runs if run in by_run)
        needs_name = len(known) > 1 or not (label or node)
        names = [*filter(None, (_name(family, known, varying) if needs_name else "", label, node))]
        name = names[0] if len(names) == 1 else JOINT.join(names)
        lines.append(_Line(name, points, family, (node, label)))
    return lines


def _values(known: Sequence[Family], metric: MetricChoice) -> dict[tuple[int, str, str], dict[int, list[_Value]]]:
    """(index of the family, label, node) → run → its values."""
    index_of: dict[int, int] = {}
    for index, family in enumerate(known):
        index_of |= dict.fromkeys(family.configurations, index)
    parameters = {"metric": metric.name, "configurations": list(index_of)}
    nodes, labels = _apart(metric.nodes), _apart(metric.labels)
    by_cell: dict[tuple[int, str, str], dict[int, list[_Value]]] = {}
    for value in sql.rows(_Value, sql.load(__file__, "progress_values"), parameters):
        if value.node in nodes and value.label in labels:
            by_run = by_cell.setdefault((index_of[value.configuration], value.label, value.node), {})
            by_run.setdefault(value.run_id, []).append(value)
    return by_cell


def _apart(texts: Sequence[str]) -> Sequence[str]:
    return [""] if "" in texts else texts


def _own(metric: MetricChoice | None) -> list[str]:
    """Of label and node those by which values of the metric are told apart."""
    several = ((LABEL, metric.labels), (NODE, metric.nodes)) if metric else ()
    return [name for name, texts in several if len(_apart(texts)) > 1]


def _point(values: Sequence[_Value]) -> TrendPoint:
    return TrendPoint(
        level=str(values[0].run_id),
        at=values[0].at,
        versions=(),
        runs=(values[0].run_id,),
        median=median(value.value for value in values),
        values=tuple(TrendValue(v.trial_id, v.attempt_id, v.run_id, v.block, v.at, v.value) for v in values),
    )


def _name(family: Family, known: Sequence[Family], varying: Sequence[Facet]) -> str:
    """Return '16 · clients 8': the levels by which the family differs from the others. varying: what they differ in."""
    everything = [facet.name for facet in varying]
    shown = [facet.name for facet in varying if facet.factor] or everything
    if not _told_apart(family, known, shown):
        shown = everything
    return JOINT.join(f"{name} {family.level(name)}" for name in shown) or _("the only configuration")


def _told_apart(family: Family, known: Sequence[Family], names: Sequence[str]) -> bool:
    """Return whether no other family has the same levels of these dimensions."""
    levels = [family.level(name) for name in names]
    return not any(other is not family and [other.level(name) for name in names] == levels for other in known)


def _judged(steps: Sequence[_Step], metric: MetricRow) -> list[CellProgress]:
    """An environment that differs in what matters from that of the run before withholds the verdict, and an earlier run
    in another one does not count; another build does not matter: it is what a plan follows, without its
    pgbench."""
    points = [point for step in steps for point in (*step.earlier, step.newest)]
    attempts = [value.attempt_id for point in points for value in point.values]
    environments = EnvironmentComparison(
        environments_of(list(dict.fromkeys(attempts))), client_overhead=metric.client_overhead
    )
    asked = [_asked(step, environments, metric) for step in steps]
    verdicts = judge([question for question, _, _ in asked])
    return [
        _cell(step, against, verdict, difference)
        for step, verdict, (_, against, difference) in zip(steps, verdicts, asked, strict=True)
    ]


def _asked(
    step: _Step, environments: EnvironmentComparison, metric: MetricRow
) -> tuple[Question, tuple[TrendPoint, ...], EnvironmentDifference]:
    """Return the question, the points that the newest is held against, and what differs from the latest of them."""
    *others, latest = step.earlier
    difference = _difference(latest, step.newest, environments)
    alike = [point for point in others if _difference(point, step.newest, environments).comparable]
    against = (*(alike if difference.comparable else ()), latest)
    question = Question(
        base=_sample(against, step.line.part),
        other=_sample([step.newest], step.line.part),
        better=Better(metric.better),
        minimum_effect=metric.minimum_effect,
        comparable=difference.comparable,
        looks=step.looks,
    )
    return question, against, difference


def _difference(before: TrendPoint, after: TrendPoint, environments: EnvironmentComparison) -> EnvironmentDifference:
    return environments.difference(_side(before, "before"), _side(after, "after"))


def _cell(
    step: _Step, against: Sequence[TrendPoint], verdict: Verdict, difference: EnvironmentDifference
) -> CellProgress:
    mattering = [one for one in difference.judgements if one.matters]
    before = [value for point in against for value in point.values]
    return CellProgress(
        name=step.line.name,
        kind=verdict.kind,
        before=median(value.value for value in before),
        after=step.newest.median,
        ratio=verdict.ratio,
        low=verdict.low,
        high=verdict.high,
        trials_before=tuple(value.trial_id for value in before),
        trials_after=tuple(value.trial_id for value in step.newest.values),
        environment=tuple(f"{one.kind} {one.key}: {_text(one.left)} → {_text(one.right)}" for one in mattering),
        against=tuple(point.runs[0] for point in against),
        runs=verdict.runs,
        words=verdict.words,
    )


def _side(point: TrendPoint, mark: str) -> Side:
    """The server's build is meant to differ."""
    builds = dict.fromkeys(("installation", "version", "major"), mark)
    return Side(
        tuple(value.attempt_id for value in point.values), tuple(value.trial_id for value in point.values), builds
    )


def _sample(points: Sequence[TrendPoint], part: tuple[str, str]) -> Sample:
    values = [value for point in points for value in point.values]
    return Sample(tuple(value.value for value in values), tuple((value.run_id, value.block) for value in values), part)


def _text(values: Sequence[object]) -> str:
    return ", ".join("–" if value is None else str(value)[:80] for value in values)


def _with_level(cell: CellProgress, step: _Step, metric: MetricRow) -> CellProgress:
    """A worse level that has just become long enough to be told: what a changed environment cost, and losses too small
    for one run alone, come to light so."""
    points = step.line.points
    last = next(reversed(shifts(step.line.name, points, metric)), None)
    if last is None or last.kind is not Kind.WORSE:
        return cell
    if any(one.kind is Kind.WORSE and abs(one.first - last.first) <= NEAR for one in step.shifts):
        return cell
    return replace(cell, since=points[last.first].runs[0], level_ratio=last.ratio)
