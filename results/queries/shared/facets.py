"""What the trials of some runs can be told apart by, and which metrics they have."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Protocol, TypeVar

from results import sql
from results.domain.errors import TeitenError
from results.domain.measurement.metrics import percentile_name
from results.domain.messages import gettext_lazy as _
from results.queries.shared.configurations import configurations, levels_by_dimension
from results.queries.shared.metrics import MetricRow
from results.queries.shared.ordering import all_numbers, sorted_levels
from results.queries.shared.words import as_messages

Filters = Mapping[str, Sequence[str]]
RUN = "run"
_PERCENTILE = re.compile(rf"{re.escape(percentile_name(0)[:-1])}(\d{{1,3}}(?:\.\d{{1,6}})?)")  # latency.p99.5


class HasLevels(Protocol):
    """What facets count and filters choose from: a configuration of a run, or a family of configurations."""

    @property
    def texts(self) -> Mapping[str, str]:
        """Dimension → level."""

    @property
    def factors(self) -> Collection[str]:
        """The dimensions that a plan varied."""

    @property
    def done(self) -> int:
        """How many trials count."""

    def level(self, name: str) -> str: ...


L = TypeVar("L", bound=HasLevels)


@dataclass(frozen=True)
class Facet:
    """One dimension of configurations."""

    name: str
    # in reading order: (text, number of counted trials that have it and pass the filters of all other dimensions), also
    # where no trial is counted; `default` stands for nothing set
    values: tuple[tuple[str, int], ...]
    varies: bool  # more than one value
    factor: bool  # a factor of one of the runs
    # (run, its level) where each run has one level and not all runs the same: they differ in it, nothing varies it
    by_run: tuple[tuple[str, str], ...] = ()

    @property
    def numeric(self) -> bool:
        return all_numbers(self.texts, self.name)

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(text for text, _ in self.values)


@dataclass(frozen=True)
class MetricChoice:
    """A metric that the runs' counted trials have.

    headlines: how many of the runs show it first."""

    name: str
    unit: str
    better: str
    label: str
    help: str
    minimum_effect: float
    nodes: tuple[str, ...]
    labels: tuple[str, ...]
    headlines: int
    parts: str = ""
    whole: str = ""
    client_overhead: bool = False
    label_noun: str = ""

    def __post_init__(self) -> None:
        as_messages(self, "label", "help", "whole", "label_noun")

    def row(self) -> MetricRow:
        return MetricRow(
            self.name,
            self.unit,
            self.better,
            self.label,
            self.help,
            self.minimum_effect,
            parts=self.parts,
            whole=self.whole,
            client_overhead=self.client_overhead,
            label_noun=self.label_noun,
        )


def passing(rows: Sequence[L], filters: Filters) -> list[L]:
    """Return the configurations, or families of them, that every filter lets through."""
    return [row for row in rows if not _failed(row, filters)] if filters else list(rows)


def facets(rows: Sequence[HasLevels], filters: Filters) -> list[Facet]:
    """Return every dimension of the configurations: those that vary first, factors before the rest. Pure."""
    texts = [row.texts for row in rows]
    factors = set[str]().union(*(row.factors for row in rows))
    failed = [_failed(row, filters) for row in rows] if filters else [set[str]()] * len(rows)
    runs = [row.get(RUN, "") for row in texts]
    of_all = [0 if fails else row.done for row, fails in zip(rows, failed, strict=True)]
    dimensions = []
    for name, levels in levels_by_dimension(texts).items():
        done = of_all
        if name in filters:
            done = [row.done if fails <= {name} else 0 for row, fails in zip(rows, failed, strict=True)]
        dimensions.append(_facet(name, levels, done, name in factors, runs))
    return sorted(dimensions, key=lambda facet: (not facet.varies, not facet.factor, facet.name))


def varying(rows: Sequence[HasLevels]) -> list[str]:
    """Return the dimensions that vary, in the order of `facets`. Pure."""
    factors = set[str]().union(*(row.factors for row in rows))
    names = [name for name, levels in levels_by_dimension([row.texts for row in rows]).items() if len({*levels}) > 1]
    return sorted(names, key=lambda name: (name not in factors, name))


def facets_of(run_ids: Sequence[int]) -> list[Facet]:
    """Return every dimension of all configurations of the runs. One query."""
    return facets(configurations(run_ids), {})


def metrics_of(run_ids: Sequence[int]) -> list[MetricChoice]:
    """Return the metrics with a value in a counted trial of the runs; their headline first, then by name. One query."""
    if not run_ids:
        return []
    return sql.rows(MetricChoice, sql.load(__file__, "metrics_of"), {"runs": list(run_ids)})


def percentile_of(name: str) -> Decimal | None:
    """Read the name of a percentile: 'latency.p99.5' → 99.5; None for what is none. Raises TeitenError for one that
    there cannot be."""
    match = _PERCENTILE.fullmatch(name)
    percent = Decimal(match[1]) if match else None
    if percent is not None and not 0 < percent < 100:
        raise TeitenError(
            _("There is no percentile {percent}.", percent=percent),
            where="metric",
            todo=_("Choose one above 0 and below 100."),
        )
    return percent


def percentile_choice(name: str, choices: Sequence[MetricChoice]) -> MetricChoice | None:
    """Return a percentile that is not stored, to be computed of the exact latencies. None where the name is none of a
    percentile, or it is stored. Raises TeitenError where the runs logged no latencies."""
    percent = percentile_of(name)
    if percent is None or any(choice.name == name for choice in choices):
        return None
    stored = {percentile_of(choice.name): choice for choice in choices}
    near = min((p for p in stored if p is not None), key=lambda p: (p < percent, abs(p - percent)), default=None)
    if near is None:
        raise TeitenError(
            _("{name} is not known of these runs.", name=name),
            where="metric",
            why=_("Percentiles are computed from the latencies of single transactions, and none were logged."),
            todo=_(
                "Plan with the collector latency_log. There are {names}.",
                names=", ".join(choice.name for choice in choices),
            ),
        )
    label = _("p{percent} latency", percent=f"{percent:f}")
    help_ = _("Computed from the exact latencies of every trial.")
    return replace(stored[near], name=name, label=label, help=help_, nodes=("",), headlines=0, parts="")


def _failed(row: HasLevels, filters: Filters) -> set[str]:
    """Return the filters that do not let a configuration through."""
    return {name for name, texts in filters.items() if row.level(name) not in texts}


def _facet(name: str, levels: Sequence[str], done: Sequence[int], factor: bool, runs: Sequence[str]) -> Facet:
    """Return one dimension with the number of trials at each of its levels.

    levels: of each configuration.
    done: of each how many trials count.
    runs: of each the run."""
    trials = dict.fromkeys(levels, 0)
    if len(trials) == 1:
        trials = {levels[0]: sum(done)}
    else:
        for level, count in zip(levels, done, strict=True):
            trials[level] += count
    values = tuple((level, trials[level]) for level in sorted_levels(trials, name))
    varies = len(values) > 1
    return Facet(name, values, varies, factor, _by_run(levels, runs) if varies and name != RUN else ())


def _by_run(levels: Sequence[str], runs: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return each run with its level; none where a run has several."""
    pairs = dict.fromkeys(zip(runs, levels, strict=True))
    return tuple(pairs) if len(pairs) == len({run for run, _ in pairs}) else ()
