"""A plan's run against the one before it: every configuration judged, and the level of its latest runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from statistics import median

from django.db.models import Q

from results import models, sql
from results.metrics import Better
from results.queries import NotFound
from results.queries.configurations import configurations
from results.queries.environments import EnvironmentComparison, Side
from results.queries.facets import MetricChoice, metrics_of
from results.queries.families import Family, families
from results.queries.metrics import MetricRow
from results.queries.selection import JOINT, LABEL, NODE
from results.queries.side_by_side import side_by_side
from results.queries.trends import TrendLine, TrendPoint, TrendValue, shifts
from results.states import RunState, TrialState
from results.statistics.verdict import Kind, Question, Sample, Verdict, judge

MOST_RUNS = 60  # of a plan, the newest, that are looked through for changes of level
NEAR = 2  # points within which a change found again is the same change


@dataclass(frozen=True)
class CellProgress:
    """One configuration of the run and of the one before. name: by what tells it apart; with label and node where the
    metric's values have them, for each of which there is a cell. before, after: medians. kind:
    of the verdict, too-few without replicates to judge. ratio: after to before, of the geometric means; low, high: its
    95 % interval. environment: what differs and withholds the verdict, in words. since: the run that the present level
    began with, where that level was just recognised and is worse than the one before it; level_ratio: of the two."""

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
    since: int | None = None
    level_ratio: float | None = None

    @property
    def worse(self) -> bool:
        return self.kind is Kind.WORSE or self.since is not None


@dataclass(frozen=True)
class Lost:
    """What the run before measured and the run should have, but did not. failed: its trials that did."""

    name: str
    failed: int


@dataclass(frozen=True)
class Progress:
    """run, before: ids; before is None for a plan's first run. lost: see there. unmatched: configurations of the run
    that the one before did not measure. failed: trials of the run that did, of `trials`. comparison: query string of
    the page that sets the two runs side by side, '' without a run before."""

    run: int
    before: int | None
    plan: str
    metric: MetricRow | None
    cells: tuple[CellProgress, ...]
    lost: tuple[Lost, ...]
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
    """The run against the newest finished one of the same plan that began before it, by the first metric of the run.
    All cells are judged together. Raises NotFound. At most eight queries."""
    run = models.Run.objects.select_related("plan").filter(pk=run_id).first()
    if run is None:
        raise NotFound(f"There is no run {run_id}.")
    runs = _earlier(run)
    rows = configurations([*runs[:1], run.pk])
    own = [row for row in rows if row.run_id == run.pk]
    metric = next((choice for choice in metrics_of([*runs[:1], run.pk]) if choice.name == run.headline), None)
    nothing = Progress(
        run=run.pk,
        before=next(iter(runs), None),
        plan=run.plan.name if run.plan else "",
        metric=None,
        cells=(),
        lost=(),
        unmatched=(),
        failed=sum(row.failed for row in own),
        trials=sum(row.trials for row in own),
        comparison=side_by_side(rows, str(runs[0]), own=_own(metric), texts={"metric": run.headline}) if runs else "",
    )
    if not runs or metric is None:
        return nothing
    lines = _lines(families(runs=[*runs, run.pk]), metric, [*reversed(runs), run.pk])
    failed = {row.id: row.failed for row in own}
    pairs = {line.name: pair for line, _ in lines if (pair := _pair(line, runs[0], run.pk))}
    levels = {line.name: line for line, _ in lines}
    return replace(
        nothing,
        metric=metric.row(),
        cells=tuple(_with_level(cell, levels[cell.name], metric.row()) for cell in _judged(pairs, metric.row())),
        lost=tuple(
            Lost(line.name, sum(failed.get(one, 0) for one in family.configurations))
            for line, family in lines
            if _at(line, runs[0]) and not _at(line, run.pk) and any(one in failed for one in family.configurations)
        ),
        unmatched=tuple(line.name for line, _ in lines if _at(line, run.pk) and not _at(line, runs[0])),
    )


def _earlier(run: models.Run) -> list[int]:
    """Finished runs of its plan that began before it and measured something, the latest first."""
    if run.plan is None or run.started_at is None:
        return []
    found = run.plan.runs.filter(
        Q(started_at__lt=run.started_at) | Q(started_at=run.started_at, pk__lt=run.pk),
        state=RunState.FINISHED,
        publication=None,
        trials__state=TrialState.DONE,
    )
    ordered = found.order_by("-started_at", "-pk").values_list("pk", "started_at").distinct()
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


def _lines(known: Sequence[Family], metric: MetricChoice, runs: Sequence[int]) -> list[tuple[TrendLine, Family]]:
    """Of each family a line for each node and label of the metric, or for its total where it has one. runs: in order of
    time, as the points are."""
    of = {configuration: place for place, family in enumerate(known) for configuration in family.configurations}
    parameters = {"metric": metric.name, "configurations": list(of)}
    nodes, labels = _apart(metric.nodes), _apart(metric.labels)
    found: dict[tuple[int, str, str], dict[int, list[_Value]]] = {}
    for value in sql.rows(_Value, sql.load(__file__, "progress_values"), parameters):
        if value.node in nodes and value.label in labels:
            key = (of[value.configuration], value.label, value.node)
            found.setdefault(key, {}).setdefault(value.run_id, []).append(value)
    lines = []
    for (place, label, node), by_run in sorted(found.items()):
        points = tuple(_point(by_run[run]) for run in runs if run in by_run)
        names = [_name(known[place], known) if len(known) > 1 or not (label or node) else "", label, node]
        name = JOINT.join(text for text in names if text)
        lines.append((TrendLine(name, points, ()), known[place]))
    return lines


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


def _at(line: TrendLine, run: int) -> TrendPoint | None:
    return next((point for point in line.points if point.runs[0] == run), None)


def _name(family: Family, known: Sequence[Family]) -> str:
    """By the dimensions in which the families differ: '16 · clients 8'."""
    names = sorted({name for one in known for name in one.dimensions})
    varying = [name for name in names if len({one.level(name) for one in known}) > 1]
    factors = {name for one in known for text in one.factors for name in (text or "").split("\n")}
    shown = [name for name in varying if name in factors] or varying
    texts = [f"{name} {family.level(name)}" for name in shown]
    others = [one for one in known if one is not family and all(one.level(n) == family.level(n) for n in shown)]
    texts += [f"{name} {family.level(name)}" for name in varying if others and name not in shown]
    return JOINT.join(texts) or "the only configuration"


Pairs = Mapping[str, tuple[TrendPoint, TrendPoint]]


def _pair(line: TrendLine, before: int, run: int) -> tuple[TrendPoint, TrendPoint] | None:
    left, right = _at(line, before), _at(line, run)
    return (left, right) if left and right else None


def _judged(pairs: Pairs, metric: MetricRow) -> list[CellProgress]:
    """An environment that differs in what matters withholds the verdict; another build does not: it is what a plan
    follows."""
    attempts = [value.attempt_id for pair in pairs.values() for point in pair for value in point.values]
    environments = EnvironmentComparison(attempts)
    differences = {
        name: environments.difference(_side(before, "before"), _side(after, "after"))
        for name, (before, after) in pairs.items()
    }
    questions = [
        Question(
            _sample(before),
            _sample(after),
            Better(metric.better),
            metric.minimum_effect,
            comparable=differences[name].comparable,
        )
        for name, (before, after) in pairs.items()
    ]
    verdicts: Sequence[Verdict] = judge(questions)
    return [
        CellProgress(
            name=name,
            kind=verdict.kind,
            before=before.median,
            after=after.median,
            ratio=verdict.ratio,
            low=verdict.low,
            high=verdict.high,
            trials_before=tuple(value.trial_id for value in before.values),
            trials_after=tuple(value.trial_id for value in after.values),
            environment=tuple(
                f"{one.kind} {one.key}: {_text(one.left)} → {_text(one.right)}"
                for one in differences[name].judgements
                if one.matters
            ),
        )
        for (name, (before, after)), verdict in zip(pairs.items(), verdicts, strict=True)
    ]


def _side(point: TrendPoint, mark: str) -> Side:
    """The server's build is meant to differ."""
    builds = dict.fromkeys(("installation", "version", "major"), mark)
    return Side(
        tuple(value.attempt_id for value in point.values), tuple(value.trial_id for value in point.values), builds
    )


def _sample(point: TrendPoint) -> Sample:
    return Sample(
        tuple(value.value for value in point.values), tuple((value.run_id, value.block) for value in point.values)
    )


def _text(values: Sequence[object]) -> str:
    return ", ".join("–" if value is None else str(value)[:80] for value in values)


def _with_level(cell: CellProgress, line: TrendLine, metric: MetricRow) -> CellProgress:
    """A worse level that has just become long enough to be told: what a changed environment cost, and losses too small
    for two runs alone, come to light so."""
    last = next(reversed(shifts(line.name, line.points, metric)), None)
    if last is None or last.kind is not Kind.WORSE:
        return cell
    earlier = shifts(line.name, line.points[:-1], metric)
    if any(one.kind is Kind.WORSE and abs(one.first - last.first) <= NEAR for one in earlier):
        return cell
    return replace(cell, since=line.points[last.first].runs[0], level_ratio=last.ratio)
