"""What is compared with its like: the values of one configuration, node and label, whatever a view shows of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

from results import sql
from results.domain.errors import TeitenError
from results.domain.messages import gettext_lazy as _
from results.domain.statistics.difference import Sample
from results.queries.comparison.cells import Replicate, joined_fields, replicates_of_fields, sample_of
from results.queries.comparison.percentiles import percentiles
from results.queries.shared.composites import Parts
from results.queries.shared.configurations import ConfigurationRow, levels_by_dimension
from results.queries.shared.facets import percentile_of
from results.queries.shared.metrics import MetricRow
from results.queries.shared.ordering import DEFAULT
from results.queries.shared.selection import LABEL, NODE, Selection

RUN = "run"
MOST_VALUES = 200_000  # in a comparison; a process needs some 400 MB for so many, and keeps 300
WHEN = attrgetter("run_id", "position")  # of a replicate


@dataclass(frozen=True, eq=False)
class Unit:
    """The values of configurations that are alike in all but their run, of one node and label.

    whole: what it is called where it has no label and others have.
    rows: the configurations; of a cell they all pass its filters, or none does.
    fields: those of its replicates, see `fields_of`, in the order in which they were measured."""

    rows: tuple[ConfigurationRow, ...]
    node: str
    label: str
    fields: Any
    whole: str = ""

    def level(self, name: str) -> str:
        """Return its level of a dimension, `node` and `label` among them."""
        if name == NODE:
            return self.node or DEFAULT
        if name == LABEL:
            return self.label or self.whole or DEFAULT
        return self.rows[0].texts.get(name, DEFAULT)

    @cached_property
    def sample(self) -> Sample:
        return sample_of(self.fields, self.part)

    @cached_property
    def replicates(self) -> tuple[Replicate, ...]:
        return replicates_of_fields(self.fields)

    @property
    def part(self) -> tuple[str, str]:
        return self.node, self.label


def levels_of_units(units: Iterable[Unit], name: str) -> list[str]:
    """Return the level of each unit of a dimension, `node` and `label` among them."""
    if name in (NODE, LABEL):
        return [unit.level(name) for unit in units]
    return [unit.rows[0].texts.get(name, DEFAULT) for unit in units]


def joint_levels(units: Sequence[Unit], names: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the levels of each unit of these dimensions."""
    if not names:
        return [()] * len(units)
    return list(zip(*(levels_of_units(units, name) for name in names), strict=True))


class MeasuredConfiguration(NamedTuple):
    """The values of one configuration, node and label, in no order, and of each the trial and where it stood. Divided
    by cores or transactions where that was asked for."""

    configuration_id: int
    run_id: int
    node: str
    label: str
    trials: list[int]
    attempts: list[int]
    blocks: list[int]
    positions: list[int]
    values: list[float]

    def fields(self, divisor: float) -> Any:
        """Return the fields of its replicates, see `fields_of`."""
        count = len(self.values)
        values = self.values if divisor == 1 else [value / divisor for value in self.values]
        runs, configurations = (self.run_id,) * count, (self.configuration_id,) * count
        return Replicate._make((self.trials, self.attempts, runs, self.blocks, values, configurations, self.positions))


def units_of(
    chosen: Selection,
    metric: MetricRow,
    rows: Sequence[ConfigurationRow],
    parts: Parts,
    computed: bool,
    attempts: Sequence[int] | None = None,
) -> tuple[Unit, ...]:
    """Return all that was measured of the chosen metric, whatever is filtered, in the order of the configurations. One
    query, two for a percentile that is computed, none without rows.

    computed: the metric is a percentile that is not stored.
    attempts: no others than these.

    Raises TeitenError for more values than a comparison may have."""
    _require_comparable(sum(row.done for row in rows) if attempts is None else len(attempts))
    per_client = chosen.per == "client"
    by_id = {row.id: row for row in rows if row.done and (not per_client or _clients(row))}
    names = telling_apart(list(by_id.values()), parts, (*chosen.axes, *chosen.filters))
    stored = _measured(chosen, by_id, computed, attempts) if by_id else []
    _require_comparable(sum(len(one.values) for one in stored))
    measured = []
    for one in stored:
        divisor = _clients(by_id[one.configuration_id]) if per_client else 1.0
        measured.append((one.configuration_id, one.node, one.label, one.fields(divisor)))
    return alike(measured, by_id, levels_at(by_id, names), metric.whole)


def newest_within_bounds(rows: Sequence[ConfigurationRow]) -> list[ConfigurationRow]:
    """Return the configurations of the newest of these runs that together have no more trials than may be compared."""
    trials: Counter[int] = Counter()
    for row in rows:
        trials[row.run_id] += row.done
    runs = sorted(trials, reverse=True)
    within = {
        run for run, total in zip(runs, accumulate(trials[run] for run in runs), strict=True) if total <= MOST_VALUES
    }
    return [row for row in rows if row.run_id in within]


def _require_comparable(values: int) -> None:
    if values > MOST_VALUES:
        raise TeitenError(
            _(
                "The runs have {values:,} values to compare, and a comparison has at most {most:,}.",
                values=values,
                most=MOST_VALUES,
            ),
            where="run",
            todo=_("Choose fewer runs, or download the values: the API's measurements, or a run's archive."),
        )


def levels_at(rows: Mapping[int, ConfigurationRow], names: Sequence[str]) -> dict[int, tuple[str, ...]]:
    """Return the levels of each configuration at these dimensions."""
    return {id_: tuple(map(row.level, names)) for id_, row in rows.items()}


def alike(
    measured: Iterable[tuple[int, str, str, Any]],
    rows: Mapping[int, ConfigurationRow],
    levels: Mapping[int, tuple[str, ...]],
    whole: str = "",
) -> tuple[Unit, ...]:
    """Return what was measured of configurations, in their order, those of the same levels together.

    measured: (id of the configuration, node, label, fields of replicates in no order, see `fields_of`).
    rows: the configurations by id.
    levels: of each at the dimensions that tell them apart."""
    fields: dict[tuple[str, ...], list[Any]] = {}
    rows_of: dict[tuple[str, ...], dict[int, ConfigurationRow]] = {}
    for id_, node, label, own in measured:
        key = (node, label, *levels[id_])
        fields.setdefault(key, []).append(own)
        rows_of.setdefault(key, {})[id_] = rows[id_]
    index_of = {id_: index for index, id_ in enumerate(rows)}
    units = [
        Unit(tuple(rows_of[key].values()), key[0], key[1], _as_measured(own), whole) for key, own in fields.items()
    ]
    return tuple(sorted(units, key=lambda unit: (index_of[unit.rows[0].id], unit.node, unit.label)))


def _as_measured(parts: Sequence[Any]) -> Any:
    """Return the fields of replicates in the order in which these were measured.

    parts: fields of some of them each, in no order."""
    fields = joined_fields(parts)
    when = list(zip(fields.run_id, fields.position, strict=True))
    order = sorted(range(len(when)), key=when.__getitem__)
    return Replicate._make(map(itemgetter(*order) if len(order) > 1 else tuple, fields))


def telling_apart(rows: Sequence[ConfigurationRow], parts: Parts, named: Collection[str]) -> tuple[str, ...]:
    """Return the dimensions in which configurations differ. A composite factor is told by its parts, and runs are not
    told apart, but where a view names them as an axis or filters by them."""
    levels = levels_by_dimension(list({id(row.texts): row.texts for row in rows}.values()))
    names = levels.keys() - ({RUN, *parts} - {*named})
    return tuple(sorted(name for name in names if len({*levels[name]}) > 1))


def _measured(
    chosen: Selection, rows: Mapping[int, ConfigurationRow], computed: bool, attempts: Sequence[int] | None
) -> list[MeasuredConfiguration]:
    parameters: dict[str, Any] = {
        "runs": sorted({row.run_id for row in rows.values()}),
        "configurations": sql.array(rows),
        "attempts": None if attempts is None else list(attempts),
        "metric": chosen.metric,
        "per": chosen.per,
    }
    if computed:
        parameters |= _percentiles(chosen.metric, parameters)
    source = "replicates_percentile" if computed else "replicates_measured"
    return sql.tuples(MeasuredConfiguration, sql.load(__file__, source) + sql.load(__file__, "replicates"), parameters)


def _percentiles(metric: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    percent = percentile_of(metric)
    assert percent is not None
    values = percentiles(float(percent), parameters)
    return {
        "counted": sql.array(attempt_id for attempt_id, _label in values),
        "labels": [label for _id, label in values],
        "percentiles": sql.array(values.values()),
    }


def _clients(row: ConfigurationRow) -> float:
    """Return 0 where the number of clients is not known."""
    text = row.level("clients")
    return float(text) if text.isdecimal() else 0.0
