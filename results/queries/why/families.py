"""What is known of each quantity of two cells: what a comparison of that quantity says of them.

Each quantity is judged among all configurations of the runs, by the functions with which `results.queries.comparison`
judges the metric asked for; here the values of all are read at once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from results.domain.environment.difference import EnvironmentDifference
from results.domain.measurement.metrics import Metric
from results.domain.measurement.one_fact import is_closed_loop
from results.domain.statistics.metric_changes import Answer, MeasuredQuantity, MeasuredTrial, Part, Trials, Value
from results.queries.comparison.baselines import REFERENCE, Baseline, baseline_of, baseline_of_reference
from results.queries.comparison.cells import Comparison, Key, Point, chosen_fields, fields_of
from results.queries.comparison.family import family_of
from results.queries.comparison.freshness import Freshness, freshness
from results.queries.comparison.judging import judged_sides, levels_of, side_of
from results.queries.comparison.other_runs import other_runs
from results.queries.comparison.references import ReferenceRow, reference
from results.queries.comparison.replicates import OWN, Cells
from results.queries.comparison.units import Unit, alike, levels_at, telling_apart
from results.queries.environment.environments import EnvironmentComparison, Side, TrialEnvironment, environments_of
from results.queries.shared.composites import Parts, composite_parts
from results.queries.shared.configurations import ConfigurationRow, configurations
from results.queries.shared.metrics import MetricRow
from results.queries.why.measured_runs import TrialRow, measured_runs

_BASE, _OTHER = "base", "other"
_Configurations = tuple[Mapping[int, ConfigurationRow], Mapping[int, tuple[str, ...]]]  # with the levels of each


class _ConfigurationTrials:
    """The trials of one configuration, in the order in which they were measured."""

    def __init__(self, configuration_id: int, measured: Sequence[MeasuredTrial], rows: Sequence[TrialRow]) -> None:
        self.configuration_id, self._measured = configuration_id, measured
        self._fields = fields_of([row.replicate(0.0) for row in rows])

    def fields(self, values: Mapping[MeasuredTrial, float]) -> Any:
        """Return the fields of the replicates that have one of these values, see `fields_of`; None without any."""
        own = [values.get(one) for one in self._measured]
        if None not in own:
            return self._fields._replace(value=tuple(own))
        there = [value is not None for value in own]
        return chosen_fields(self._fields._replace(value=own), there) if any(there) else None


def _when_first(fields: Any) -> tuple[int, int]:
    """Return when the first of these replicates was measured, see `fields_of`."""
    return fields.run_id[0], fields.position[0]


class JudgedCells:
    """All that is judged with cells of a comparison, of whatever quantity."""

    def __init__(
        self,
        comparison: Comparison,
        points: Mapping[str, Point],
        base_of: Mapping[str, str],
        known: Freshness | None = None,
    ) -> None:
        """Read what was measured of the runs compared, and of others of the same plans. Five queries, one less where
        `freshness` of the runs is known already, one more for a saved reference.

        points: the cells by names for them.
        base_of: of each that is compared the one that it is compared with."""
        self._points, self._base_of = points, base_of
        self._chosen = replace(comparison.selection, per="", node="", label="")  # which a quantity has for itself
        self._line = _reference(comparison)
        runs = list(dict.fromkeys((*self._chosen.runs, *(self._line.runs if self._line else ()))))
        self._freshness = known or freshness(self._chosen.runs)
        beside = self._freshness.earlier + (self._freshness.others if len(runs) > 1 else ())
        every_run = list(dict.fromkeys((*runs, *beside)))
        self._rows = configurations(every_run)
        self._row_of = {row.id: row for row in self._rows}
        self._parts = composite_parts([row for row in self._rows if row.run_id in self._chosen.runs])
        self._baseline = _baseline(comparison, self._line, self._row_of)
        self._measured = measured_runs(every_run)
        attempts = [trial.attempt_id for trial in self._measured.trials.values() if trial.run_id in runs]
        environments = environments_of(attempts)
        self._environments = {
            overhead: _RememberedDifferences(environments, self._parts, client_overhead=overhead)
            for overhead in (False, True)
        }
        self._configurations: dict[tuple[int, ...], _Configurations] = {}
        self._trials: dict[tuple[tuple[int, ...], tuple[int, ...] | None], Sequence[_ConfigurationTrials]] = {}

    @property
    def every_trial(self) -> list[MeasuredTrial]:
        return list(self._measured.trials)

    @property
    def metrics(self) -> Mapping[str, Metric]:
        return self._measured.metrics

    def is_closed_loop(self, names: Collection[str]) -> bool:
        """Return whether that is known of every configuration of these cells."""
        ids = {one.configuration_id for name in names for one in self._points[name].values}
        return all(is_closed_loop(self._row_of[one].dimensions) for one in ids)

    def judged(self, quantity: MeasuredQuantity) -> dict[Key, Answer]:
        """Return of each node, label and cell that is compared the values of both and the verdict. No query."""
        units, line = self._units(quantity, self._chosen.runs), self._line
        saved = self._units(quantity, line.runs, line.attempts) if line else ()
        cells, bases = self._cells(saved if line else units, units)
        family = family_of(self._chosen, units, saved, self._baseline, self._parts)
        others = other_runs(family, (*units, *saved), self._freshness, lambda runs: self._units(quantity, tuple(runs)))
        levels = {name: levels_of(self._chosen, point.key) for name, point in self._points.items()}
        sides = {key: side_of(own, levels[key[2]]) for key, own in cells.units.items()}
        metric = MetricRow(
            quantity.name, quantity.unit, quantity.better, quantity.label, minimum_effect=quantity.minimum_effect
        )
        environments = self._environments[quantity.client_overhead]
        verdicts = judged_sides(
            self._chosen, family, self._baseline, cells, bases, sides, environments, metric, others.samples
        ).verdicts
        values = {key: tuple(Value(one.trial_id, one.value) for one in own) for key, own in cells.replicates.items()}
        return {key: Answer(values[bases[key]], values[key], verdict) for key, verdict in verdicts.items()}

    def _units(
        self, quantity: MeasuredQuantity, runs: tuple[int, ...], attempts: Sequence[int] | None = None
    ) -> tuple[Unit, ...]:
        """Return what these runs measured of the quantity.

        attempts: no others than these."""
        if runs not in self._configurations:
            self._configurations[runs] = self._configurations_of(runs)
        rows, levels = self._configurations[runs]
        return alike(self._replicates(quantity, runs, attempts), rows, levels, quantity.whole)

    def _configurations_of(self, runs: tuple[int, ...]) -> _Configurations:
        rows = {row.id: row for row in self._rows if row.done and row.run_id in runs}
        names = telling_apart(list(rows.values()), self._parts, (*self._chosen.axes, *self._chosen.filters))
        return rows, levels_at(rows, names)

    def _replicates(
        self, quantity: MeasuredQuantity, runs: tuple[int, ...], attempts: Sequence[int] | None
    ) -> Iterator[tuple[int, str, str, Any]]:
        """Give of each node and label the replicates of each configuration, in the order of their first ones."""
        several = self._trials_of(runs, attempts)
        for (node, label), values in quantity.values.items():
            own = [(trials, fields) for trials in several if (fields := trials.fields(values))]
            for trials, fields in sorted(own, key=lambda one: _when_first(one[1])):
                yield trials.configuration_id, node, label, fields

    def _trials_of(self, runs: tuple[int, ...], attempts: Sequence[int] | None) -> Sequence[_ConfigurationTrials]:
        key = (runs, None if attempts is None else tuple(attempts))
        if key not in self._trials:
            rows, wanted = self._configurations[runs][0], None if attempts is None else frozenset(attempts)
            of: dict[int, list[MeasuredTrial]] = {}
            for measured, trial in self._measured.trials.items():
                if trial.configuration_id in rows and (wanted is None or trial.attempt_id in wanted):
                    of.setdefault(trial.configuration_id, []).append(measured)
            self._trials[key] = [
                _ConfigurationTrials(id_, own, [self._measured.trials[one] for one in own]) for id_, own in of.items()
            ]
        return self._trials[key]

    def _cells(self, bases: Iterable[Unit], others: Iterable[Unit]) -> tuple[Cells, dict[Key, Key]]:
        """Return the cells at each node and label that both have, and of each with which it is compared.

        bases, others: among which the one is, and the other."""
        own_bases = set(self._base_of.values())
        cells = _by_part(bases, {name: point for name, point in self._points.items() if name in own_bases})
        cells |= _by_part(others, {name: point for name, point in self._points.items() if name not in own_bases})
        base_of: dict[Key, Key] = {}
        for key in cells:
            node, label, name = key
            base = (node, label, self._base_of.get(name, ""))
            if base in cells and cells[base] != cells[key]:
                base_of[key] = base
        return Cells({key: cells[key] for key in (*base_of, *base_of.values())}, ()), base_of


class Families(JudgedCells):
    """All that is judged with two cells of a comparison, of whatever quantity."""

    def __init__(self, comparison: Comparison, base: Point, other: Point, known: Freshness | None = None) -> None:
        super().__init__(comparison, {_BASE: base, _OTHER: other}, {_OTHER: _BASE}, known)
        self._known: dict[str, Mapping[Part, Answer]] = {}

    @cached_property
    def trials(self) -> Trials:
        base, other = (
            [self._measured.by_attempt[one.attempt_id] for one in self._points[name].values] for name in (_BASE, _OTHER)
        )
        closed_loop = self.is_closed_loop((_BASE, _OTHER))
        return Trials(base, other, self.every_trial, self.metrics, closed_loop)

    def answers(self, quantity: MeasuredQuantity) -> Mapping[Part, Answer]:
        """Return of each part that both cells have its values and the verdict of its comparison; nothing where the
        cells hold the same trials. No query."""
        if quantity.family not in self._known:
            self._known[quantity.family] = {key[:2]: answer for key, answer in self.judged(quantity).items()}
        return self._known[quantity.family]


class _RememberedDifferences(EnvironmentComparison):
    """Differences of sides that come again with each quantity: the same trials are always told by the same levels."""

    def __init__(self, environments: Mapping[int, TrialEnvironment], parts: Parts, *, client_overhead: bool) -> None:
        super().__init__(environments, parts, client_overhead=client_overhead)
        self._of_attempts: dict[tuple[tuple[int, ...], tuple[int, ...]], EnvironmentDifference] = {}

    def difference(self, left: Side, right: Side) -> EnvironmentDifference:
        attempts = (left.attempts, right.attempts)
        if attempts not in self._of_attempts:
            self._of_attempts[attempts] = super().difference(left, right)
        return self._of_attempts[attempts]


def _by_part(units: Iterable[Unit], points: Mapping[str, Point]) -> dict[Key, tuple[Unit, ...]]:
    """Return the units of each cell by node, label and its name."""
    names_of: dict[int, list[str]] = {}
    for name, point in points.items():
        for configuration in {replicate.configuration_id for replicate in point.values}:
            names_of.setdefault(configuration, []).append(name)
    cells: dict[Key, list[Unit]] = {}
    for unit in units:
        names = dict.fromkeys(name for row in unit.rows for name in names_of.get(row.id, ()))
        for name in names:
            cells.setdefault((unit.node, unit.label, name), []).append(unit)
    return {key: tuple(own) for key, own in cells.items()}


def _reference(comparison: Comparison) -> ReferenceRow | None:
    """Return the saved reference that is the baseline, if one is."""
    name = comparison.selection.baseline
    return reference(name.removeprefix(REFERENCE), comparison.references) if name.startswith(REFERENCE) else None


def _baseline(comparison: Comparison, line: ReferenceRow | None, rows: Mapping[int, ConfigurationRow]) -> Baseline:
    """Return what the baseline means for any quantity: each node and label is compared with itself."""
    if line:
        baseline = baseline_of_reference(comparison.selection, line)
    else:
        cells = {point.key: [rows[point.values[0].configuration_id]] for point in comparison.points}
        bases = {point.key: point.base for point in comparison.points if point.base}
        baseline = baseline_of(comparison.selection, cells, bases)
    kept = [index for index, name in enumerate(baseline.dimensions) if name not in OWN]
    levels = baseline.levels and tuple(baseline.levels[index] for index in kept)
    return Baseline(tuple(baseline.dimensions[index] for index in kept), levels)
