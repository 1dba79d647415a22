"""Everything that the trials of some runs measured."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import NamedTuple

from results import sql
from results.domain.measurement.metrics import Better, Metric
from results.domain.measurement.wait_events import WAITS, wait_event
from results.domain.statistics.metric_changes import MeasuredTrial
from results.queries.comparison.cells import Replicate
from results.queries.shared.words import stored

Key = tuple[str, str, str]  # metric, node, label


class TrialRow(NamedTuple):
    """A trial that counts.

    seconds: of the measured window.
    processors: online, by node, as JSON.
    measures: ids of what its values are of, as text.
    values: in their order."""

    attempt_id: int
    trial_id: int
    run_id: int
    block: int
    position: int
    configuration_id: int
    seconds: float | None
    processors: str
    measures: str
    values: list[float]

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
    rows = sql.tuples(TrialRow, sql.load(__file__, "measured_trials"), {"runs": list(run_ids)})
    places_of, measures = _measured({row.measures for row in rows})
    processors_of = {text: json.loads(text) for text in {row.processors for row in rows}}
    trials = {_trial(row, places_of[row.measures], processors_of[row.processors]): row for row in rows}
    by_attempt = {row.attempt_id: measured for measured, row in trials.items()}
    meanings = {one.metric: one for one in measures}
    return MeasuredRuns(trials, by_attempt, {name: one.meaning() for name, one in meanings.items()})


def _trial(row: TrialRow, places: _Places, processors: Mapping[str, int]) -> MeasuredTrial:
    own = zip(places.keys, map(row.values.__getitem__, places.places), strict=True)
    values = dict(own) if all(map(isfinite, row.values)) else {key: value for key, value in own if isfinite(value)}
    return MeasuredTrial(row.trial_id, (row.run_id, row.block), row.seconds, processors, values)


class _Places(NamedTuple):
    """Where the values of keys are among those of a trial, in the order of keys."""

    keys: tuple[Key, ...]
    places: tuple[int, ...]


def _measured(lists: Collection[str]) -> tuple[Mapping[str, _Places], Sequence[_Measure]]:
    """Return of each list of measures where the values of which keys are, and all measures. One query.

    lists: ids as text."""
    ids_of = {text: [*map(int, filter(None, text[1:-1].split(",")))] for text in lists}
    every = set[int]().union(*ids_of.values())
    measures = sql.tuples(_Measure, sql.load(__file__, "measures"), {"measures": sql.array(every)})
    return {text: _places(ids, measures) for text, ids in ids_of.items()}, measures


def _places(ids: Sequence[int], measures: Sequence[_Measure]) -> _Places:
    place_of = {id_: place for place, id_ in enumerate(ids)}
    there = [one for one in measures if one.id in place_of]
    return _Places(tuple(one.key for one in there), tuple(place_of[one.id] for one in there))


class _Measure(NamedTuple):
    id: int
    node: str
    label: str
    metric: str
    unit: str
    label_of_metric: str
    better: str
    help: str
    minimum_effect: float
    whole: str
    client_overhead: bool

    @property
    def key(self) -> Key:
        return self.metric, self.node, wait_event(self.label) if self.metric == WAITS else self.label

    def meaning(self) -> Metric:
        better = Better(self.better)
        label, help_, whole = map(stored, (self.label_of_metric, self.help, self.whole))
        meaning = (self.unit, better, label, help_, self.minimum_effect)
        return Metric(self.metric, *meaning, whole=whole, client_overhead=self.client_overhead)
