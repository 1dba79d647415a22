"""What the trials of some runs can be told apart by, and which metrics they have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from results import sql
from results.queries.metrics import MetricRow
from results.queries.ordering import DEFAULT, all_numbers, in_order


@dataclass(frozen=True)
class Facet:
    """One dimension. values: (text, number of trials) in reading order; `default` stands for nothing set.
    varies: more than one value. factor: a factor of one of the runs."""

    name: str
    values: tuple[tuple[str, int], ...]
    varies: bool
    factor: bool

    @property
    def numeric(self) -> bool:
        return all_numbers(self.texts, self.name)

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(text for text, _ in self.values)


@dataclass(frozen=True)
class MetricChoice:
    """A metric that the runs' counted trials have. headlines: how many of the runs show it first."""

    name: str
    unit: str
    better: str
    label: str
    help: str
    minimum_effect: float
    nodes: tuple[str, ...]
    labels: tuple[str, ...]
    headlines: int

    def row(self) -> MetricRow:
        return MetricRow(self.name, self.unit, self.better, self.label, self.help, self.minimum_effect)


def facets(run_ids: Sequence[int]) -> list[Facet]:
    """Every dimension of the runs' configurations: those that vary first, factors before the rest. One query."""
    if not run_ids:
        return []
    text = sql.load(__file__, "dimensions") + sql.load(__file__)
    values = sql.rows(_Value, text, {"runs": list(run_ids)})
    whole = [value for value in values if value.name == "run"]
    configurations, trials = sum(v.configurations for v in whole), sum(v.trials for v in whole)
    found = [_facet(name, list(several), configurations, trials) for name, several in groupby(values, lambda v: v.name)]
    return sorted(found, key=lambda facet: (not facet.varies, not facet.factor, facet.name))


def metrics_of(run_ids: Sequence[int]) -> list[MetricChoice]:
    """Metrics with a value in a counted trial of the runs; the runs' headline first, then by name. One query."""
    if not run_ids:
        return []
    return sql.rows(MetricChoice, _METRICS, {"runs": list(run_ids)})


@dataclass(frozen=True)
class _Value:
    name: str
    text: str
    configurations: int
    trials: int
    factor: bool


def _facet(name: str, values: list[_Value], configurations: int, trials: int) -> Facet:
    """Configurations that lack the dimension count as having its default."""
    counts = {value.text: value.trials for value in values}
    if sum(value.configurations for value in values) < configurations:
        counts[DEFAULT] = counts.get(DEFAULT, 0) + trials - sum(value.trials for value in values)
    ordered = tuple((text, counts[text]) for text in in_order(counts, name))
    return Facet(name, ordered, len(counts) > 1, any(value.factor for value in values))


_METRICS = """
SELECT metric.name, metric.unit, metric.better, metric.label, metric.help, metric.minimum_effect,
    array_agg(DISTINCT present.node) AS nodes, array_agg(DISTINCT present.label) AS labels,
    (SELECT count(*) FROM results_run WHERE id = ANY(%(runs)s) AND headline = metric.name) AS headlines
FROM (
    SELECT DISTINCT measurement.metric_id, measurement.node, measurement.label
    FROM results_measurement AS measurement
    JOIN results_trial AS trial ON trial.attempt_id = measurement.attempt_id AND trial.state = 'done'
    WHERE measurement.run_id = ANY(%(runs)s)
) AS present
JOIN results_metric AS metric ON metric.name = present.metric_id
GROUP BY metric.name
ORDER BY headlines DESC, metric.name
"""
