"""The values behind a comparison's cells, as columns: an array a quantity, an element a replicate."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from results import sql
from results.domain.errors import TeitenError
from results.domain.statistics.difference import FEWEST_PAIRS, Matched, Sample
from results.queries.cells import Key, Replicate
from results.queries.configurations import Bools, Column, Configurations, Ints, distinct, places_of
from results.queries.facets import percentile_of
from results.queries.selection import JOINT, LABEL, NODE, Selection, dimensions

OWN = (LABEL, NODE)
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Columns:
    """One element a replicate. cell: its place among the keys. environment: a number that is the same for all that ran
    in the same."""

    cell: Ints
    run: Ints
    configuration: Ints
    trial: Ints
    attempt: Ints
    block: Ints
    position: Ints
    environment: Ints
    value: Floats

    def take(self, places: Ints | Bools) -> Columns:
        return Columns(**{name: column[places] for name, column in vars(self).items()})


@dataclass(frozen=True)
class Replicates:
    """keys: of the cells. configurations: of each, how many different ones fell into it. mixed: dimensions that vary
    within a cell."""

    keys: tuple[Key, ...]
    columns: Columns
    configurations: tuple[int, ...]
    mixed: tuple[str, ...]

    def of_series(self, name: str) -> Replicates:
        """All under another name of their series."""
        return replace(self, keys=tuple((panel, x, name) for panel, x, _ in self.keys))

    def __add__(self, other: Replicates) -> Replicates:
        """Both, that have no cell in common."""
        mine, its = vars(self.columns), vars(other.columns)
        its = its | {"cell": other.columns.cell + len(self.keys)}
        return Replicates(
            keys=self.keys + other.keys,
            columns=Columns(**{name: np.concatenate([mine[name], its[name]]) for name in mine}),
            configurations=self.configurations + other.configurations,
            mixed=tuple(sorted({*self.mixed, *other.mixed})),
        )


@dataclass(frozen=True)
class Cells:
    """Cells in order, and in each its replicates as they were measured: those of the n-th from bounds[n] to
    bounds[n + 1]."""

    keys: tuple[Key, ...]
    columns: Columns
    configurations: tuple[int, ...]
    bounds: Ints

    def split(self, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """One element a replicate → one tuple a cell."""
        whole = tuple(values)
        return [whole[start:end] for start, end in pairwise(self.bounds.tolist())]

    def samples(self) -> list[Sample]:
        """Of each cell. Keys that are alike are one object, so that they are found to be equal at once."""
        block = self._blocks
        known: dict[bytes, tuple[tuple[int, int], ...]] = {}
        found = []
        values = tuple(self.columns.value.tolist())
        for start, end in pairwise(self.bounds.tolist()):
            own = block.number[start:end]
            key = own.tobytes()
            if key not in known:
                known[key] = tuple(block.keys[number] for number in own.tolist())
            found.append(Sample(values[start:end], known[key]))
        return found

    def matched(self, base: Ints, other: Ints) -> Matched:
        """What is judged of cells against others: see `statistics.difference.matched`."""
        n = np.diff(self.bounds)
        block = self._blocks
        first = np.cumsum(n[other]) - n[other]
        owner = np.repeat(np.arange(len(other)), n[other])
        within = np.arange(len(owner)) - first[owner]
        right = self.bounds[other][owner] + within
        left = np.minimum(self.bounds[base][owner] + within, self.bounds[base + 1][owner] - 1)
        differing = np.bincount(owner, block.number[left] != block.number[right], len(other))
        alike = (n[base] == n[other]) & (differing == 0)
        value = self.columns.value
        if alike.all():
            paired = block.once[other] & (n[other] >= FEWEST_PAIRS)
            return Matched(value[left], value[right], n[base], n[other], paired)
        samples = self.samples()
        return Matched.of([(samples[a], samples[b]) for a, b in zip(base.tolist(), other.tolist(), strict=True)])

    def replicates(self) -> list[tuple[Replicate, ...]]:
        """Of each cell."""
        quantities = vars(self.columns)
        columns = [quantities[name.removesuffix("_id")].tolist() for name in Replicate._fields]
        return self.split(list(map(Replicate._make, zip(*columns, strict=True))))

    def statistic(self, name: str) -> Floats:
        """median, mean, min or max of each cell."""
        first, last = self.bounds[:-1], self.bounds[1:] - 1
        if name == "mean":
            own = self.split(self.columns.value.tolist())
            return np.array([math.fsum(values) / len(values) for values in own], dtype=float)
        if name == "median":
            return (self._ordered[(first + last) // 2] + self._ordered[(first + last + 1) // 2]) / 2
        return self._ordered[first if name == "min" else last]

    @cached_property
    def _blocks(self) -> Blocks:
        return Blocks.of(self.columns, self.bounds)

    @cached_property
    def _ordered(self) -> Floats:
        """Values by size within each cell."""
        return self.columns.value[np.lexsort((self.columns.value, self.columns.cell))]


@dataclass(frozen=True)
class Blocks:
    """keys: (run, block) by number. number: of each replicate. once: of each cell whether no block was measured twice
    in it."""

    keys: tuple[tuple[int, int], ...]
    number: Ints
    once: Bools

    @staticmethod
    def of(columns: Columns, bounds: Ints) -> Blocks:
        most = int(columns.block.max(initial=0)) + 1
        _, first, number = np.unique(columns.run * most + columns.block, return_index=True, return_inverse=True)
        keys = tuple(zip(columns.run[first].tolist(), columns.block[first].tolist(), strict=True))
        pairs = distinct(columns.cell * (int(number.max(initial=0)) + 1) + number)
        cells = pairs // (int(number.max(initial=0)) + 1)
        return Blocks(keys, number, np.bincount(cells, minlength=len(bounds) - 1) == np.diff(bounds))


def in_cells(found: Replicates, panels: Sequence[str], series: Sequence[str], xs: Sequence[str]) -> Cells:
    """By panel, series and x, and within a cell by run and position."""
    panel, of, x = ({text: place for place, text in enumerate(order)} for order in (panels, series, xs))
    keys = sorted(found.keys, key=lambda key: (panel[key[0]], of[key[2]], x[key[1]]))
    place = {key: number for number, key in enumerate(keys)}
    columns = found.columns
    cell = np.array([place[key] for key in found.keys], dtype=np.int64)[columns.cell]
    order = np.lexsort((columns.position, columns.run, cell))
    counts = dict(zip(found.keys, found.configurations, strict=True))
    return Cells(
        keys=tuple(keys),
        columns=replace(columns, cell=cell).take(order),
        configurations=tuple(counts[key] for key in keys),
        bounds=np.searchsorted(cell[order], np.arange(len(keys) + 1)),
    )


def replicates(
    chosen: Selection,
    rows: Configurations,
    computed: bool,
    *,
    all_of_runs: bool,
    attempts: Sequence[int] | None = None,
) -> Replicates:
    """What was measured of the chosen metric. computed: it is a percentile that is not stored. all_of_runs: whether
    rows are all configurations of their runs. attempts: no others than these. One query, none without rows. Raises
    TeitenError for several nodes or labels in one cell."""
    measurable = rows.take(_clients(rows) > 0) if chosen.per == "client" else rows
    if not measurable:
        return _NOTHING
    parameters = {
        "runs": distinct(measurable.run).tolist(),
        "configurations": None if all_of_runs and len(measurable) == len(rows) else measurable.id.tolist(),
        "attempts": None if attempts is None else list(attempts),
        "metric": chosen.metric,
        "percent": percentile_of(chosen.metric) if computed else None,
        "per": chosen.per,
        "own": [name for name in chosen.axes if name in OWN],
        "nodes": _let_through(chosen, NODE, chosen.node),
        "labels": _let_through(chosen, LABEL, chosen.label),
    }
    source = "comparison_percentile" if computed else "comparison_measured"
    found = sql.columns(sql.load(__file__, source) + sql.load(__file__, "comparison"), parameters)
    return _replicates(chosen, measurable, found) if found["value"] is not None else _NOTHING


def _replicates(chosen: Selection, rows: Configurations, found: dict[str, Any]) -> Replicates:
    there, columns = _put_together(found)
    if not len(there):
        return _NOTHING
    row = places_of(columns["configuration"], rows.id)
    own = {name: Column.of(found[name]).take(there) for name in OWN if found[name] is not None}
    axes = [
        _together([_levels(rows.column(name).take(row), own.get(name)) for name in dimensions(names)], len(row))
        for names in (chosen.panel, chosen.x, chosen.series or "")
    ]
    panel, x, series = axes
    lines = (panel.places * len(x.texts) + x.places) * len(series.texts) + series.places
    _, first, cell = np.unique(lines, return_index=True, return_inverse=True)
    counts, mixed = _configurations(rows, row, cell, chosen.axes)
    if chosen.per == "client":
        columns["value"] = columns["value"] / _clients(rows)[row]
    keys = zip(*([axis.texts[place] for place in axis.places[first].tolist()] for axis in axes), strict=True)
    return Replicates(
        keys=tuple((panel, x, series) for panel, x, series in keys),
        columns=Columns(cell=cell, run=rows.run[row], **columns),
        configurations=tuple(counts),
        mixed=mixed,
    )


def _put_together(found: Mapping[str, Any]) -> tuple[Ints, dict[str, Any]]:
    """Places of the values that are a number and of a trial that counts; and of each its trial's quantities."""
    names = ("configuration", "trial", "attempt", "block", "position")
    if any(found[name] is None for name in (*names, "ran")):
        return np.zeros(0, dtype=np.int64), {}
    trial = places_of(found["measured"], found["attempt"])
    there = np.flatnonzero((found["attempt"][trial] == found["measured"]) & np.isfinite(found["value"]))
    columns = {name: found[name][trial[there]] for name in names}
    environment = found["environment"][places_of(columns["attempt"], found["ran"])]
    return there, columns | {"environment": environment, "value": found["value"][there]}


def _levels(configured: Column, measured: Column | None) -> Column:
    """Of each value the level of its configuration, or, of node and label, its own where it has one."""
    if measured is None:
        return configured
    if "" not in measured.texts:
        return measured
    return Column.of(
        measured.texts[own] or configured.texts[place]
        for own, place in zip(measured.places.tolist(), configured.places.tolist(), strict=True)
    )


def _together(columns: Sequence[Column], length: int) -> Column:
    """Several dimensions as one."""
    if len(columns) == 1:
        return columns[0]
    lines = np.zeros(length, dtype=np.int64)
    for column in columns:
        lines = lines * len(column.texts) + column.places
    _, first, inverse = np.unique(lines, return_index=True, return_inverse=True)
    parts = [[column.texts[place] for place in column.places[first].tolist()] for column in columns]
    texts = [JOINT.join(part) for part in zip(*parts, strict=True)] if parts else [""]
    return Column.of(texts).take(inverse)


def _configurations(
    rows: Configurations, row: Ints, cell: Ints, axes: Sequence[str]
) -> tuple[list[int], tuple[str, ...]]:
    """How many different configurations fell into each cell, but for their run; and the dimensions besides the axes
    in which they differ."""
    pairs = distinct(cell * len(rows) + row)
    cell, row = pairs // len(rows), pairs % len(rows)
    starts = np.flatnonzero(np.diff(cell, prepend=-1))
    if len(starts) == len(cell):
        return [1] * len(starts), ()
    different = np.zeros(len(cell), dtype=np.int64)
    mixed = []
    for name in sorted(rows.names - {"run", *axes}):
        places = rows.column(name).places[row]
        if (np.minimum.reduceat(places, starts) < np.maximum.reduceat(places, starts)).any():
            mixed.append(name)
            lines = different * (places.max() + 1) + places
            different = np.unique(lines, return_inverse=True)[1]
    kinds = distinct(cell * len(cell) + different) // len(cell)
    return np.bincount(kinds, minlength=len(starts)).tolist(), tuple(mixed)


def _let_through(chosen: Selection, name: str, one: str) -> list[str] | None:
    if several := chosen.filters.get(name):
        if len(several) > 1 and name not in chosen.axes:
            raise TeitenError(
                f"A trial's values of {', '.join(several)} are not replicates of one another.",
                where=f"filter.{name}",
                todo=f"Choose one {name}, or {name} as x, series or panel.",
            )
        return list(several)
    return None if name in chosen.axes else [one]


def _clients(rows: Configurations) -> Floats:
    column = rows.column("clients")
    return np.array([float(text) if text.isdecimal() else 0.0 for text in column.texts])[column.places]


_NO = np.zeros(0, dtype=np.int64)
_NOTHING = Replicates((), Columns(_NO, _NO, _NO, _NO, _NO, _NO, _NO, _NO, np.zeros(0)), (), ())
