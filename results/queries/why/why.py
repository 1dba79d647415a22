"""Why two configurations differ: everything that the trials of two cells measured, laid side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeVar

from results import sql
from results.domain.environment.layers import KeyDifference, difference
from results.domain.measurement.histogram import Histogram, merge, unpacked_histogram
from results.domain.measurement.query_plans import Pair, QueryPlan, read_plan, side_by_side
from results.domain.measurement.record_texts import with_messages
from results.domain.measurement.series import Series
from results.domain.statistics.metric_changes import MeasuredTrial, MetricChange, metric_changes, rest
from results.queries.comparison.compare import Comparison, Point
from results.queries.comparison.freshness import Freshness
from results.queries.why.families import Families
from results.ranges import why_missing

RATE, MEAN = "tps", "latency.mean"


@dataclass(frozen=True)
class Gap:
    """What trials could not gather; see `measurement.parsed_trial.Gap`.

    trials: of which it is said."""

    source: str
    node: str
    reason: str
    trials: tuple[int, ...]


@dataclass(frozen=True)
class Attempt:
    """One replicate's attempt that counts.

    number: within its trial.
    published: its figures come from a report or were imported: nothing that Teiten collects lies behind them."""

    attempt_id: int
    number: int
    trial_id: int
    run_id: int
    block: int
    configuration_id: int
    gaps: tuple[Mapping[str, Any], ...]
    collectors: tuple[str, ...]
    published: bool
    stacks: bool


@dataclass(frozen=True)
class PlanOf:
    """A query's plan, and the attempt that it was taken in."""

    attempt: Attempt
    plan: QueryPlan


@dataclass(frozen=True)
class Side:
    """One of the two cells.

    series: (attempt, its series of RATE and MEAN).
    latencies: of all its trials together; None where none has them.
    with_latencies: trials that have.
    archived: where series and latencies are that are not in the warehouse, as of `results.ranges.why_missing`.
    settings: node → content, of its first attempt."""

    point: Point
    attempts: tuple[Attempt, ...]
    replicates: tuple[MeasuredTrial, ...]
    series: tuple[tuple[Attempt, tuple[Series, ...]], ...]
    latencies: Histogram | None
    with_latencies: tuple[int, ...]
    settings: Mapping[str, Mapping[str, Any]]
    plans: Mapping[str, PlanOf]
    archived: str = ""

    @property
    def trials(self) -> tuple[int, ...]:
        return tuple(attempt.trial_id for attempt in self.attempts)

    @property
    def published(self) -> bool:
        return any(attempt.published for attempt in self.attempts)

    @property
    def configurations(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(attempt.configuration_id for attempt in self.attempts))

    @property
    def stacks(self) -> bool:
        return any(attempt.stacks for attempt in self.attempts)

    def has(self, metric: str) -> bool:
        return any(metric == name for one in self.replicates for name, _, _ in one.values)

    def gaps(self, collector: str) -> tuple[Gap, ...]:
        """What its trials say of a collector, equal words once."""
        gaps: dict[tuple[str, str], list[int]] = {}
        for attempt in self.attempts:
            for gap in with_messages("gaps", attempt.gaps):
                if gap["source"] == collector:
                    gaps.setdefault((str(gap["node"]), gap["reason"]), []).append(attempt.trial_id)
        return tuple(Gap(collector, node, reason, tuple(trials)) for (node, reason), trials in gaps.items())

    def watched_by(self, collector: str) -> bool:
        return any(collector in attempt.collectors for attempt in self.attempts)


@dataclass(frozen=True)
class PlanPair:
    """A query that both have a plan of."""

    label: str
    base: PlanOf
    other: PlanOf
    pairs: tuple[Pair, ...]


@dataclass(frozen=True)
class Why:
    """Everything that was measured of two cells.

    movements: costs of a piece of work, latencies, waits.
    metric: that the comparison is of.
    settings: (node, what differs) of the first trial of either."""

    base: Side
    other: Side
    movements: tuple[MetricChange, ...]
    families: Families
    metric: str

    @cached_property
    def rest(self) -> tuple[MetricChange, ...]:
        """Every measured number. As a large run has many, they are judged only where they are shown."""
        return rest(self.families.trials, self.families.answers, apart=self.metric)

    @cached_property
    def settings(self) -> tuple[tuple[str, tuple[KeyDifference, ...]], ...]:
        nodes = sorted(self.base.settings.keys() | self.other.settings.keys())
        settings = [
            (node, tuple(difference(self.base.settings.get(node, {}), self.other.settings.get(node, {}))))
            for node in nodes
        ]
        return tuple((node, differing) for node, differing in settings if differing)

    @cached_property
    def plans(self) -> tuple[PlanPair, ...]:
        return tuple(
            PlanPair(label, plan, self.other.plans[label], side_by_side(plan.plan, self.other.plans[label].plan))
            for label, plan in self.base.plans.items()
            if label in self.other.plans
        )


def why(comparison: Comparison, base: Point, other: Point, known: Freshness | None = None) -> Why:
    """Two cells of a comparison. Ten queries, whatever the number of trials and of metrics, one less where `freshness`
    of the runs is known already, one more for a saved reference."""
    ids = [replicate.attempt_id for point in (base, other) for replicate in point.values]
    runs = list({replicate.run_id for point in (base, other) for replicate in point.values})
    of = {"runs": runs, "attempts": ids, "left": len(base.values), "names": [RATE, MEAN]}
    firsts = {"attempts": [point.values[0].attempt_id for point in (base, other)]}
    families = Families(comparison, base, other, known)
    trials = families.trials
    read = _Read(
        attempts={row.attempt_id: row for row in sql.rows(Attempt, sql.load(__file__), of)},
        series=_by_attempt(sql.rows(_OneSeries, _SERIES, of)),
        counts=_by_attempt(sql.rows(_Counts, _COUNTS, of)),
        settings=_by_attempt(sql.rows(_Settings, _SETTINGS, firsts)),
        plans=_by_attempt(sql.rows(_Plan, sql.load(__file__, "why_plans"), of)),
    )
    return Why(
        base=read.side(base, trials.base),
        other=read.side(other, trials.other),
        movements=metric_changes(trials, families.answers, apart=comparison.metric.name),
        families=families,
        metric=comparison.metric.name,
    )


class _OfAttempt(Protocol):
    @property
    def attempt_id(self) -> int: ...


RowT = TypeVar("RowT", bound=_OfAttempt)


def _by_attempt(rows: Iterable[RowT]) -> dict[int, list[RowT]]:
    by_attempt: dict[int, list[RowT]] = {}
    for row in rows:
        by_attempt.setdefault(row.attempt_id, []).append(row)
    return by_attempt


@dataclass(frozen=True)
class _OneSeries:
    attempt_id: int
    name: str
    node: str
    unit: str
    start_s: float
    step_s: float
    values: tuple[float, ...]
    times_s: tuple[float, ...]

    def series(self) -> Series:
        return Series(self.name, self.node, self.unit, self.start_s, self.step_s, self.values, times_s=self.times_s)


@dataclass(frozen=True)
class _Counts:
    attempt_id: int
    latencies_us: bytes
    counts: bytes


@dataclass(frozen=True)
class _Settings:
    attempt_id: int
    node: str
    content: Mapping[str, Any]


@dataclass(frozen=True)
class _Plan:
    attempt_id: int
    label: str
    content: Any


@dataclass(frozen=True)
class _Read:
    """What the queries say, by attempt."""

    attempts: Mapping[int, Attempt]
    series: Mapping[int, Sequence[_OneSeries]]
    counts: Mapping[int, Sequence[_Counts]]
    settings: Mapping[int, Sequence[_Settings]]
    plans: Mapping[int, Sequence[_Plan]]

    def side(self, point: Point, replicates: Sequence[MeasuredTrial]) -> Side:
        attempts = tuple(self.attempts[replicate.attempt_id] for replicate in point.values)
        lacking = [one.run_id for one in attempts if one.attempt_id not in self.series.keys() | self.counts.keys()]
        settings: dict[str, Mapping[str, Any]] = {}
        plans: dict[str, PlanOf] = {}
        for one in attempts:
            settings |= {row.node: row.content for row in self.settings.get(one.attempt_id, ())}
            plans |= {row.label: PlanOf(one, read_plan(row.content)) for row in self.plans.get(one.attempt_id, ())}
        return Side(
            point=point,
            attempts=attempts,
            replicates=tuple(replicates),
            series=tuple((one, self._series(one)) for one in attempts),
            latencies=self._latencies(attempts),
            with_latencies=tuple(one.trial_id for one in attempts if one.attempt_id in self.counts),
            settings=settings,
            plans=plans,
            archived=why_missing(lacking) if lacking else "",
        )

    def _series(self, one: Attempt) -> tuple[Series, ...]:
        return tuple(row.series() for row in self.series.get(one.attempt_id, ()))

    def _latencies(self, attempts: Iterable[Attempt]) -> Histogram | None:
        """Of all of them together; None where none has any."""
        parts: list[Histogram] = []
        for one in attempts:
            parts += [unpacked_histogram(row.latencies_us, row.counts) for row in self.counts.get(one.attempt_id, ())]
        return merge(parts) if parts else None


_SERIES = """
SELECT attempt_id, name, node, unit, start_s, step_s, values, coalesce(times_s, '{}') AS times_s FROM results_series
WHERE run_id = ANY(%(runs)s) AND attempt_id = ANY(%(attempts)s) AND name = ANY(%(names)s) AND label = ''
ORDER BY name, node
"""
# a script's own counts are part of the whole's, whose label is empty
_COUNTS = """
SELECT attempt_id, latencies_us, counts FROM results_packedhistogram
WHERE run_id = ANY(%(runs)s) AND attempt_id = ANY(%(attempts)s) AND label = '' ORDER BY node
"""
_SETTINGS = """
SELECT used.attempt_id, used.node, layer.content::json AS content
FROM results_layeruse AS used JOIN results_layer AS layer ON layer.hash = used.layer_id AND layer.kind = 'settings'
WHERE used.attempt_id = ANY(%(attempts)s)
"""
