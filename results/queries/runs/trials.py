"""Trials: one with everything it says, the list, its series and histograms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from results import sql
from results.domain.errors import restored
from results.domain.failure_cause import cause
from results.domain.measurement.histogram import HeatMap, unpacked_histogram
from results.domain.measurement.packed_numbers import ascending, whole_numbers
from results.domain.measurement.parsed_trial import Latencies
from results.domain.measurement.record_texts import TEXTS, with_messages
from results.domain.measurement.series import Series
from results.domain.measurement.wait_events import WAITS, wait_event
from results.domain.messages import gettext_lazy as _
from results.domain.secrets import masked_spec, masked_values
from results.models.measurements import PLACES
from results.queries.shared.ids import NotFound, known_id
from results.queries.shared.words import as_messages, name_of, name_of_run, publication_texts


@dataclass(frozen=True)
class AttemptRow:
    """One attempt, as on `results.models.Attempt`: JSON columns hold lists of objects with the field names of
    `measurement.parsed_trial`."""

    id: int
    run_id: int
    number: int
    state: str
    worker: str
    started_at: datetime
    ended_at: datetime | None
    measured_from: datetime | None
    measured_to: datetime | None
    error: Mapping[str, Any] | None
    bundle: str
    bundle_sha256: str
    bundle_bytes: int | None
    bundle_removed_at: datetime | None
    bundle_removed_by: str
    phases: tuple[Mapping[str, Any], ...]
    commands: tuple[Mapping[str, Any], ...]
    checks: tuple[Mapping[str, Any], ...]
    files: tuple[Mapping[str, Any], ...]
    events: tuple[Mapping[str, Any], ...]
    gaps: tuple[Mapping[str, Any], ...]
    notes: Mapping[str, Any]


@dataclass(frozen=True)
class MeasurementRow:
    """One value in the metric's unit. Labels of one metric are in the order in which the trial reported them.

    label_of_metric: for headings.
    label: which of several, '' for one."""

    metric: str
    unit: str
    label_of_metric: str
    better: str
    node: str
    label: str
    value: float
    help: str

    def __post_init__(self) -> None:
        as_messages(self, "label_of_metric", "help")


@dataclass(frozen=True)
class SeriesHead:
    """A series without its values."""

    name: str
    node: str
    label: str
    unit: str
    length: int


@dataclass(frozen=True)
class LayerRow:
    """A layer of the environment that the attempt ran in, and the role it describes."""

    node: str
    kind: str
    hash: str
    content: Mapping[str, Any]


@dataclass(frozen=True)
class Sibling:
    """Another replicate of the same configuration.

    value: headline metric, only of a done trial."""

    trial_id: int
    block: int
    state: str
    value: float | None


@dataclass(frozen=True)
class TrialDetail:
    """One trial with everything that one of its attempts holds.

    attempt: the one shown: the chosen one, else the counted one, else the latest.
    counted: its numbers count. measurements, series, layers are that attempt's.
    previous, next: trials of the run by position.
    headline_unit: '' as long as no trial has measured that metric.
    publication: as of `results.queries.runs.runs.RunRow`.
    from_teiten: another Teiten measured it."""

    id: int
    run_id: int
    run_name: str
    workload: str
    headline: str
    headline_unit: str
    configuration: str
    levels: Mapping[str, str]
    dimensions: Mapping[str, Any]
    block: int
    position: int
    state: str
    phase: str
    phase_at: datetime | None
    expected_s: float | None
    error: Mapping[str, Any] | None
    spec: Mapping[str, Any]
    attempts: tuple[AttemptRow, ...]
    attempt: AttemptRow | None
    counted: bool
    measurements: tuple[MeasurementRow, ...]
    series: tuple[SeriesHead, ...]
    layers: tuple[LayerRow, ...]
    siblings: tuple[Sibling, ...]
    previous: int | None
    next: int | None
    publication: Mapping[str, Any] | None
    from_teiten: bool

    def __post_init__(self) -> None:
        object.__setattr__(self, "run_name", name_of_run(self.run_name, self.publication))
        object.__setattr__(self, "publication", publication_texts(self.publication))

    @property
    def cause(self) -> str:
        """Why the attempt shown failed, in one line; '' where it did not."""
        return cause((self.attempt.error if self.attempt else None) or self.error)


@dataclass(frozen=True)
class TrialRow:
    """One trial in a list.

    attempt_id: the attempt whose numbers count.
    failure: `TeitenError.as_dict()` of a trial that is not done.
    bundle: of the latest attempt is stored.
    publication: as of `results.queries.runs.runs.RunRow`.
    from_teiten: another Teiten measured it."""

    id: int
    run_id: int
    configuration: int
    name: str
    levels: Mapping[str, str]
    block: int
    position: int
    state: str
    phase: str
    phase_at: datetime | None
    expected_s: float | None
    attempts: int
    attempt_id: int | None
    metric: str
    unit: str
    value: float | None
    failure: Mapping[str, Any] | None
    started_at: datetime | None
    ended_at: datetime | None
    bundle: bool
    publication: Mapping[str, Any] | None
    from_teiten: bool

    @property
    def error(self) -> str:
        """Why it failed, in one line."""
        return cause(self.failure)


@dataclass(frozen=True)
class Measured:
    """One value in a list over trials, in `unit`. Only of attempts whose numbers count."""

    id: int
    run_id: int
    trial_id: int
    attempt_id: int
    configuration: int
    block: int
    metric: str
    unit: str
    better: str
    node: str
    label: str
    value: float


def trial_detail(trial_id: int, attempt: int | None = None) -> TrialDetail:
    """Return one trial with everything that an attempt holds. Raises NotFound. Six queries.

    attempt: the number of the one to show."""
    heads = sql.rows(_Head, sql.load(__file__, "trial_head"), {"trial_id": known_id(trial_id, "trial")})
    if not heads:
        raise NotFound(_("There is no {kind} {number}.", kind=name_of("trial"), number=trial_id))
    head = heads[0]
    attempts = _attempts(_ATTEMPTS, {"trial_id": trial_id})
    shown = _shown(head, attempts, attempt)
    of = {"run_id": head.run_id, "attempt_id": shown.id if shown else None}
    fields = {name: value for name, value in vars(head).items() if name not in ("configuration_id", "attempt_id")}
    fields |= {name: masked_spec(fields[name]) for name in ("spec", "dimensions", "levels")}
    fields["error"] = _error(fields["error"])
    return TrialDetail(
        **fields,
        attempts=tuple(attempts),
        attempt=shown,
        counted=shown is not None and shown.id == head.attempt_id,
        measurements=tuple(_with_newest_names(sql.rows(MeasurementRow, _MEASUREMENTS, of))),
        series=tuple(sql.rows(SeriesHead, _SERIES_HEADS, of)),
        layers=tuple(replace(row, content=masked_values(row.content)) for row in sql.rows(LayerRow, _LAYERS, of)),
        siblings=tuple(sql.rows(Sibling, _SIBLINGS, vars(head))),
    )


def _attempts(query: str, parameters: Mapping[str, Any]) -> list[AttemptRow]:
    """Return attempts without secrets: those that were stored before 1.0 may hold some."""
    rows = sql.rows(AttemptRow, query, parameters)
    return [replace(row, error=_error(row.error), **{name: _texts(row, name) for name in _WORDED}) for row in rows]


def _error(error: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    return restored(masked_values(error)) if error else error


def _texts(row: AttemptRow, name: str) -> Any:
    """Return a field without secrets, and with messages for the texts in it that Teiten wrote."""
    value = masked_values(getattr(row, name))
    return tuple(with_messages(name, value)) if name in TEXTS else value


def series_of(run_id: int, attempt_id: int, names: Sequence[str] = ()) -> list[Series]:
    """The series named, or all, of one attempt of a run; gaps are NaN. One query, of one partition."""
    series = sql.rows(Series, _SERIES, {"run_id": run_id, "attempt_id": attempt_id, "names": list(names)})
    return [replace(one, label=wait_event(one.label)) if one.name == WAITS else one for one in series]


def _with_newest_names(rows: Sequence[MeasurementRow]) -> list[MeasurementRow]:
    """Rename wait events that were stored as their server spelled them."""
    return [replace(row, label=wait_event(row.label)) if row.metric == WAITS else row for row in rows]


def histograms_of(run_id: int, attempt_id: int) -> list[Latencies]:
    """The exact latency counts of one attempt of a run, a row a (client, script). One query, of one partition."""
    return [row.latencies() for row in sql.rows(_Counts, _HISTOGRAMS, {"run_id": run_id, "attempt_id": attempt_id})]


def shown_attempt(trial_id: int, number: int | None = None) -> AttemptRow:
    """The attempt of that number, else the counted one, else the latest. Raises NotFound. One query."""
    rows = _attempts(_SHOWN, {"trial_id": known_id(trial_id, "trial"), "number": number})
    if not rows:
        if number:
            raise NotFound(_("There is no trial {trial}, or it has no such attempt.", trial=trial_id))
        raise NotFound(_("There is no trial {trial}, or it has no attempt.", trial=trial_id))
    return rows[0]


def list_trials(
    *,
    run_id: int | None = None,
    state: str = "",
    before_id: int | None = None,
    ids: Sequence[int] | None = None,
    limit: int = 100,
) -> list[TrialRow]:
    """Newest first. One query.

    before_id: the last id of the page before.
    ids: only these."""
    parameters = {"run_id": run_id, "state": state, "before_id": before_id, "ids": _array(ids), "limit": limit}
    return sql.rows(TrialRow, sql.load(__file__), parameters)


def list_measurements(
    *,
    run_id: int | None = None,
    trial_id: int | None = None,
    metric: str = "",
    node: str | None = None,
    after_id: int = 0,
    ids: Sequence[int] | None = None,
    limit: int = 1000,
) -> list[Measured]:
    """Values of counted attempts, oldest first. One query.

    after_id: the last id of the page before.
    ids: only these."""
    which = {"run_id": run_id, "trial_id": trial_id, "metric": metric, "node": node}
    attempts = None if ids is None else sorted({id // PLACES for id in ids})
    page = {"after_id": after_id, "ids": _array(ids), "attempts": attempts, "limit": limit}
    return sql.rows(Measured, sql.load(__file__, "measurements"), which | page)


def _array(ids: Sequence[int] | None) -> list[int] | None:
    return None if ids is None else list(ids)


@dataclass(frozen=True)
class _Head:
    id: int
    run_id: int
    run_name: str
    workload: str
    headline: str
    headline_unit: str
    configuration_id: int
    configuration: str
    levels: Mapping[str, str]
    dimensions: Mapping[str, Any]
    spec: Mapping[str, Any]
    block: int
    position: int
    state: str
    phase: str
    phase_at: datetime | None
    expected_s: float | None
    error: Mapping[str, Any] | None
    attempt_id: int | None
    previous: int | None
    next: int | None
    publication: Mapping[str, Any] | None
    from_teiten: bool


def _shown(head: _Head, attempts: Sequence[AttemptRow], number: int | None) -> AttemptRow | None:
    if number is not None:
        chosen = [attempt for attempt in attempts if attempt.number == number]
        if not chosen:
            raise NotFound(_("Trial {trial} has no attempt {number}.", trial=head.id, number=number))
        return chosen[0]
    counted = [attempt for attempt in attempts if attempt.id == head.attempt_id]
    return next(iter([*counted, *reversed(attempts)]), None)


_WORDED = ("phases", "commands", "checks", "events", "gaps", "notes")
_ATTEMPT = """
SELECT attempt.id, attempt.run_id, attempt.number, attempt.state, attempt.worker, attempt.started_at, attempt.ended_at,
    attempt.measured_from, attempt.measured_to, attempt.error::json, attempt.bundle, attempt.bundle_sha256,
    attempt.bundle_bytes, attempt.bundle_removed_at, attempt.bundle_removed_by, attempt.phases::json,
    results_commands(attempt.commands)::json AS commands, attempt.checks::json, attempt.files::json,
    attempt.events::json, attempt.gaps::json, attempt.notes::json
FROM results_attempt AS attempt JOIN results_trial AS trial ON trial.id = attempt.trial_id
WHERE trial.id = %(trial_id)s
"""
_ATTEMPTS = f"{_ATTEMPT} ORDER BY attempt.number"
_SHOWN = f"""{_ATTEMPT} AND (%(number)s::int IS NULL OR attempt.number = %(number)s)
ORDER BY (attempt.id = trial.attempt_id) IS TRUE DESC, attempt.number DESC LIMIT 1
"""
_MEASUREMENTS = """
SELECT metric.name AS metric, metric.unit, metric.label AS label_of_metric, metric.better, measurement.node,
    measurement.label, measurement.value, metric.help
FROM results_measurement AS measurement JOIN results_metric AS metric ON metric.name = measurement.metric_id
WHERE measurement.attempt_id = %(attempt_id)s
ORDER BY metric.name, measurement.node, measurement.id
"""
_SERIES_HEADS = """
SELECT name, node, label, unit, length FROM results_series
WHERE run_id = %(run_id)s AND attempt_id = %(attempt_id)s ORDER BY name, node, label
"""
_LAYERS = """
SELECT use.node, layer.kind, layer.hash, layer.content::json AS content
FROM results_layeruse AS use JOIN results_layer AS layer ON layer.hash = use.layer_id
WHERE use.attempt_id = %(attempt_id)s ORDER BY use.node, layer.kind, layer.hash
"""
_SIBLINGS = """
SELECT trial.id AS trial_id, trial.block, trial.state, headline.value
FROM results_trial AS trial
LEFT JOIN LATERAL (
    SELECT value FROM results_measurement
    WHERE attempt_id = trial.attempt_id AND metric_id = %(headline)s AND label = '' ORDER BY node LIMIT 1
) AS headline ON trial.state = 'done'
WHERE trial.configuration_id = %(configuration_id)s AND trial.id <> %(id)s
ORDER BY trial.block, trial.position
"""
_SERIES = """
SELECT name, node, unit, start_s, step_s, values, label, coalesce(times_s, '{}') AS times_s FROM results_series
WHERE run_id = %(run_id)s AND attempt_id = %(attempt_id)s AND (%(names)s::text[] = '{}' OR name = ANY(%(names)s))
ORDER BY name, node, label
"""
_HISTOGRAMS = """
SELECT node, label, latencies_us, counts, heat_seconds, heat_buckets, heat_counts FROM results_packedhistogram
WHERE run_id = %(run_id)s AND attempt_id = %(attempt_id)s ORDER BY node, label
"""


@dataclass(frozen=True)
class _Counts:
    node: str
    label: str
    latencies_us: bytes
    counts: bytes
    heat_seconds: bytes
    heat_buckets: bytes
    heat_counts: bytes

    def latencies(self) -> Latencies:
        seconds, buckets = ascending(self.heat_seconds), whole_numbers(self.heat_buckets)
        heat = HeatMap(tuple(seconds), tuple(buckets), tuple(whole_numbers(self.heat_counts)))
        return Latencies(self.node, self.label, unpacked_histogram(self.latencies_us, self.counts), heat)
