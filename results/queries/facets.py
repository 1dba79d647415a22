"""What the trials of some runs can be told apart by, and which metrics they have."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np

from results import sql
from results.domain.errors import TeitenError
from results.domain.measurement.metrics import percentile_name
from results.queries.configurations import Bools, ConfigurationRow, Configurations, configurations
from results.queries.metrics import MetricRow
from results.queries.ordering import all_numbers, in_order

Filters = Mapping[str, Sequence[str]]
_PERCENTILE = re.compile(rf"{re.escape(percentile_name(0)[:-1])}(\d{{1,3}}(?:\.\d{{1,6}})?)")  # latency.p99.5


@dataclass(frozen=True)
class Facet:
    """One dimension. values: (text, number of counted trials that have it and pass the filters of all other dimensions)
    in reading order, also where no trial is counted; `default` stands for nothing set. varies: more than one value.
    factor: a factor of one of the runs."""

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


def passing(rows: Sequence[ConfigurationRow], filters: Filters) -> list[ConfigurationRow]:
    """Those that every filter lets through."""
    return [row for row in rows if all(row.level(name) in texts for name, texts in filters.items())]


def let_through(rows: Configurations, filters: Filters) -> Configurations:
    """Those that every filter lets through."""
    refused = _refused(rows, filters)
    return rows.take(~np.logical_or.reduce(list(refused.values()))) if refused else rows


def facets(rows: Configurations, filters: Filters) -> list[Facet]:
    """Every dimension of the configurations: those that vary first, factors before the rest. Pure."""
    refused = _refused(rows, filters)
    times = np.sum(list(refused.values()), axis=0) if refused else np.zeros(len(rows), dtype=np.int64)
    done = rows.trials["done"]
    found = []
    for name in rows.names:
        column = rows.column(name)
        passing = times == refused[name] if name in refused else times == 0
        counts = np.bincount(column.places, done * passing, len(column.texts)).astype(int).tolist()
        there = np.bincount(column.places, minlength=len(column.texts)).tolist()
        trials = {text: count for text, count, any_ in zip(column.texts, counts, there, strict=True) if any_}
        found.append(_facet(name, trials, name in rows.factors))
    return sorted(found, key=lambda facet: (not facet.varies, not facet.factor, facet.name))


def facets_of(run_ids: Sequence[int]) -> list[Facet]:
    """Of all configurations of the runs. One query."""
    return facets(configurations(run_ids), {})


def metrics_of(run_ids: Sequence[int]) -> list[MetricChoice]:
    """Metrics with a value in a counted trial of the runs; the runs' headline first, then by name. One query."""
    if not run_ids:
        return []
    return sql.rows(MetricChoice, sql.load(__file__, "metrics_of"), {"runs": list(run_ids)})


def percentile_of(name: str) -> Decimal | None:
    """'latency.p99.5' → 99.5. None for what is no name of a percentile. Raises TeitenError for one that there cannot
    be."""
    found = _PERCENTILE.fullmatch(name)
    percent = Decimal(found[1]) if found else None
    if percent is not None and not 0 < percent < 100:
        raise TeitenError(
            f"There is no percentile {percent}.", where="metric", todo="Choose one above 0 and below 100."
        )
    return percent


def percentile_choice(name: str, choices: Sequence[MetricChoice]) -> MetricChoice | None:
    """A percentile that is not stored, to be computed of the exact latencies. None where the name is none of a
    percentile, or it is stored. Raises TeitenError where the runs logged no latencies."""
    percent = percentile_of(name)
    if percent is None or any(choice.name == name for choice in choices):
        return None
    stored = {percentile_of(choice.name): choice for choice in choices}
    near = min((p for p in stored if p is not None), key=lambda p: (p < percent, abs(p - percent)), default=None)
    if near is None:
        raise TeitenError(
            f"{name} is not known of these runs.",
            where="metric",
            why="Percentiles are computed from the latencies of single transactions, and none were logged.",
            todo=f"Plan with the collector latency_log. There are {', '.join(choice.name for choice in choices)}.",
        )
    label = f"Latency, {percent:f} % of transactions within"
    help_ = "Computed from the exact latencies of every trial."
    return replace(stored[near], name=name, label=label, help=help_, nodes=("",), headlines=0)


def _refused(rows: Configurations, filters: Filters) -> dict[str, Bools]:
    """Filter → which of the configurations it does not let through."""
    found = {}
    for name, texts in filters.items():
        column = rows.column(name)
        found[name] = np.array([text not in texts for text in column.texts], dtype=bool)[column.places]
    return found


def _facet(name: str, counts: Mapping[str, int], factor: bool) -> Facet:
    return Facet(name, tuple((text, counts[text]) for text in in_order(counts, name)), len(counts) > 1, factor)
