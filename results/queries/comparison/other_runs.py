"""What other runs of the same plans measured of the same configurations: how far the levels of runs lie apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, product

from results.domain.statistics.difference import RunMean, Sample, apart
from results.domain.statistics.run_levels import run_mean
from results.queries.comparison.family import UnitPair
from results.queries.comparison.units import RUN, Unit
from results.queries.shared.configurations import ConfigurationRow, configurations

Same = frozenset[tuple[str, str]]  # what configurations have alike that are the same but for their run
Measured = Callable[[Sequence[ConfigurationRow]], Sequence[Unit]]


def samples_with_other_runs(
    family: Sequence[UnitPair], units: Sequence[Unit], others: Sequence[int], measured: Measured
) -> dict[Unit, Sample]:
    """Return of the configurations that are compared with those of another run their values, with what other runs
    measured of the same. Two queries where there are any.

    units: all that the runs compared measured; they are other runs of one another.
    others: runs beside these.
    measured: what configurations measured of the metric asked for; one query."""
    compared = {row.run_id for unit in units for row in unit.rows}
    if len(compared) < 2:
        return {}
    across = list(chain.from_iterable((*pair.bases, *pair.others) for pair in family if _apart(pair)))
    if not across:
        return {}
    beside = [run for run in others if run not in compared]
    known = _means((*units, *(measured(configurations(beside)) if beside else ())))
    return {unit: replace(unit.sample, other_runs=_beside(unit, known)) for unit in across}


def _apart(pair: UnitPair) -> bool:
    return any(apart(base.sample, other.sample) for base, other in product(pair.bases, pair.others))


def _means(units: Iterable[Unit]) -> dict[Same, dict[int, RunMean]]:
    """Return of each configuration the mean of each run that measured it, without a value of zero or below."""
    values: dict[Same, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for unit in units:
        same_of = {row.id: _same(unit, row) for row in unit.rows}
        for replicate in unit.replicates:
            values[same_of[replicate.configuration_id]][replicate.run_id].append(replicate.value)
    return {
        same: {run: run_mean(run, own) for run, own in by_run.items() if min(own) > 0}
        for same, by_run in values.items()
    }


def _beside(unit: Unit, known: Mapping[Same, Mapping[int, RunMean]]) -> tuple[RunMean, ...]:
    own = {replicate.run_id for replicate in unit.replicates}
    means = {run: mean for row in unit.rows for run, mean in known.get(_same(unit, row), {}).items() if run not in own}
    return tuple(means[run] for run in sorted(means))


def _same(unit: Unit, row: ConfigurationRow) -> Same:
    texts = {**row.texts, "node of the metric": unit.node, "label of the metric": unit.label}
    del texts[RUN]
    return frozenset(texts.items())
