"""The replicates of a comparison's cells: the values of one metric, by panel, x and series."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from operator import attrgetter
from typing import Any, NamedTuple

from results import sql
from results.domain.errors import TeitenError
from results.domain.statistics.difference import Sample
from results.queries.comparison.cells import Key, Replicate, fields_of
from results.queries.shared.configurations import ConfigurationRow
from results.queries.shared.facets import percentile_of
from results.queries.shared.ordering import DEFAULT, sorted_levels
from results.queries.shared.selection import JOINT, LABEL, NODE, Selection, dimensions

OWN = (LABEL, NODE)
_WHEN = attrgetter("run_id", "position")  # of a replicate


@dataclass(frozen=True)
class Cells:
    """The replicates of each cell, in the order in which they were measured.

    configurations: how many different ones fell into each cell.
    mixed: dimensions that vary within a cell."""

    replicates: Mapping[Key, tuple[Replicate, ...]]
    configurations: Mapping[Key, int]
    mixed: tuple[str, ...]

    def renamed(self, series: str) -> Cells:
        """Return the same cells under another name of their series."""
        return Cells(
            {(panel, x, series): own for (panel, x, _), own in self.replicates.items()},
            {(panel, x, series): count for (panel, x, _), count in self.configurations.items()},
            self.mixed,
        )

    def joined(self, other: Cells) -> Cells:
        """Return the cells of both, which have no key in common."""
        return Cells(
            {**self.replicates, **other.replicates},
            {**self.configurations, **other.configurations},
            tuple(sorted({*self.mixed, *other.mixed})),
        )

    def axes(self, chosen: Selection) -> tuple[tuple[str, ...], ...]:
        """Return the levels of panel, x and series, in reading order."""
        names = (chosen.panel, chosen.x, chosen.series or "")
        return tuple(sorted_levels([key[part] for key in self.replicates], name) for part, name in enumerate(names))

    def ordered(self, panels: Sequence[str], xs: Sequence[str], series: Sequence[str]) -> Cells:
        """Return the cells by panel, series and x, each in the order given."""
        panel_of, x_of, series_of = (
            {text: number for number, text in enumerate(texts)} for texts in (panels, xs, series)
        )
        keys = sorted(self.replicates, key=lambda key: (panel_of[key[0]], series_of[key[2]], x_of[key[1]]))
        return Cells({key: self.replicates[key] for key in keys}, self.configurations, self.mixed)

    @cached_property
    def fields(self) -> Mapping[Key, Any]:
        """Of each cell the fields of its replicates, see `fields_of`."""
        return {key: fields_of(own) for key, own in self.replicates.items()}

    @cached_property
    def samples(self) -> Mapping[Key, Sample]:
        return {
            key: Sample(each.value, tuple(zip(each.run_id, each.block, strict=True)))
            for key, each in self.fields.items()
        }


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

    def replicates(self, divisor: float) -> Iterator[Replicate]:
        values = [value / divisor for value in self.values]
        run, configuration = repeat(self.run_id), repeat(self.configuration_id)
        each = zip(self.trials, self.attempts, run, self.blocks, values, configuration, self.positions, strict=False)
        return map(Replicate._make, each)


def cells_of(
    chosen: Selection, rows: Sequence[ConfigurationRow], computed: bool, attempts: Sequence[int] | None = None
) -> Cells:
    """Return what was measured of the chosen metric. One query, none without rows. Raises TeitenError for several
    nodes or labels in one cell.

    rows: the configurations that count.
    computed: the metric is a percentile that is not stored.
    attempts: no others than these."""
    per_client = chosen.per == "client"
    by_id = {row.id: row for row in rows if not per_client or _clients(row)}
    axes = [dimensions(names or "") for names in (chosen.panel, chosen.x, chosen.series)]
    replicates: dict[Key, list[Replicate]] = {}
    rows_of: dict[Key, dict[int, ConfigurationRow]] = {}
    for measured in _measured(chosen, by_id, computed, attempts) if by_id else ():
        row = by_id[measured.configuration_id]
        key = _key(row, measured, axes)
        replicates.setdefault(key, []).extend(measured.replicates(_clients(row) if per_client else 1.0))
        rows_of.setdefault(key, {})[row.id] = row
    mixed = _mixed(rows_of, chosen.axes)
    return Cells(
        replicates={key: tuple(sorted(own, key=_WHEN)) for key, own in replicates.items()},
        configurations={key: _different(own, mixed) for key, own in rows_of.items()},
        mixed=mixed,
    )


def _measured(
    chosen: Selection, rows: Mapping[int, ConfigurationRow], computed: bool, attempts: Sequence[int] | None
) -> list[MeasuredConfiguration]:
    parameters = {
        "runs": sorted({row.run_id for row in rows.values()}),
        "configurations": sql.array(rows),
        "attempts": None if attempts is None else list(attempts),
        "metric": chosen.metric,
        "percent": percentile_of(chosen.metric) if computed else None,
        "per": chosen.per,
        "nodes": _filtered(chosen, NODE, chosen.node),
        "labels": _filtered(chosen, LABEL, chosen.label),
    }
    source = "replicates_percentile" if computed else "replicates_measured"
    return sql.tuples(MeasuredConfiguration, sql.load(__file__, source) + sql.load(__file__), parameters)


def _filtered(chosen: Selection, name: str, one: str) -> list[str] | None:
    """Return which nodes, or labels, count; None for all of them.

    one: that which is chosen where no filter is."""
    if several := chosen.filters.get(name):
        if len(several) > 1 and name not in chosen.axes:
            raise TeitenError(
                f"A trial's values of {', '.join(several)} are not replicates of one another.",
                where=f"filter.{name}",
                todo=f"Choose one {name}, or {name} as x, series or panel.",
            )
        return list(several)
    return None if name in chosen.axes else [one]


def _key(row: ConfigurationRow, measured: MeasuredConfiguration, axes: Sequence[Sequence[str]]) -> Key:
    """Return panel, x and series of values: levels of their configuration, or, of node and label, their own where they
    have one."""
    own = {name: text for name, text in ((NODE, measured.node), (LABEL, measured.label)) if text}
    levels = {**row.texts, **own} if own else row.texts
    panel, x, series = [JOINT.join([levels.get(name, DEFAULT) for name in names]) for names in axes]
    return panel, x, series


def _clients(row: ConfigurationRow) -> float:
    """Return 0 where the number of clients is not known."""
    text = row.level("clients")
    return float(text) if text.isdecimal() else 0.0


def _mixed(rows_of: Mapping[Key, Mapping[int, ConfigurationRow]], axes: Sequence[str]) -> tuple[str, ...]:
    """Return the dimensions besides the axes and the run in which configurations of one cell differ."""
    mixed = set[str]()
    for rows in rows_of.values():
        if len(rows) > 1:
            names = {name for row in rows.values() for name in row.texts} - {"run", *axes} - mixed
            mixed |= {name for name in names if len({row.level(name) for row in rows.values()}) > 1}
    return tuple(sorted(mixed))


def _different(rows: Mapping[int, ConfigurationRow], mixed: Sequence[str]) -> int:
    """Return how many different configurations there are, but for their run."""
    if len(rows) == 1:
        return 1
    return len({tuple(row.level(name) for name in mixed) for row in rows.values()})
