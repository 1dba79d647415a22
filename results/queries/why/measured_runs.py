"""Everything that the trials of some runs measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from results import sql
from results.domain.measurement.metrics import Better, Metric
from results.domain.measurement.wait_events import WAITS, wait_event
from results.domain.statistics.metric_changes import MeasuredTrial
from results.queries.comparison.cells import Replicate
from results.queries.shared.words import stored


@dataclass(frozen=True)
class TrialRow:
    """A trial that counts.

    seconds: of the measured window.
    processors: online, by node."""

    attempt_id: int
    trial_id: int
    run_id: int
    block: int
    position: int
    configuration_id: int
    seconds: float | None
    processors: Mapping[str, int]

    def replicate(self, value: float) -> Replicate:
        """Return a value that it measured."""
        return Replicate(
            self.trial_id, self.attempt_id, self.run_id, self.block, value, self.configuration_id, self.position
        )


@dataclass(frozen=True)
class MeasuredRuns:
    """trials: in the order in which they were measured.
    by_attempt: what each measured.
    metrics: by name."""

    trials: Mapping[MeasuredTrial, TrialRow]
    by_attempt: Mapping[int, MeasuredTrial]
    metrics: Mapping[str, Metric]


def measured_runs(run_ids: Sequence[int]) -> MeasuredRuns:
    """Return what the counted trials of these runs measured. Two queries."""
    runs = {"runs": list(run_ids)}
    rows = sql.rows(TrialRow, sql.load(__file__, "measured_trials"), runs)
    measured = sql.rows(_ValuesRow, sql.load(__file__, "measured_values"), runs)
    values: dict[int, dict[tuple[str, str, str], float]] = {row.attempt_id: {} for row in rows}
    for one in measured:
        key = (one.metric, one.node, wait_event(one.label) if one.metric == WAITS else one.label)
        for attempt, value in zip(one.attempts, one.values, strict=True):
            if attempt in values:
                values[attempt][key] = value
    by_attempt = {
        row.attempt_id: MeasuredTrial(
            row.trial_id, (row.run_id, row.block), row.seconds, row.processors, values[row.attempt_id]
        )
        for row in rows
    }
    trials = {by_attempt[row.attempt_id]: row for row in rows}
    return MeasuredRuns(trials, by_attempt, {one.metric: one.meaning() for one in measured})


@dataclass(frozen=True)
class _ValuesRow:
    metric: str
    unit: str
    label_of_metric: str
    better: str
    help: str
    minimum_effect: float
    whole: str
    client_overhead: bool
    node: str
    label: str
    attempts: tuple[int, ...]
    values: tuple[float, ...]

    def meaning(self) -> Metric:
        better = Better(self.better)
        label, help_, whole = map(stored, (self.label_of_metric, self.help, self.whole))
        meaning = (self.unit, better, label, help_, self.minimum_effect)
        return Metric(self.metric, *meaning, whole=whole, client_overhead=self.client_overhead)
