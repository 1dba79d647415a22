"""The configurations of some runs, with every dimension as text."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, lru_cache
from threading import Lock
from types import MappingProxyType
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from results import sql
from results.domain.kinds.parameters import Scalar
from results.queries.ordering import DEFAULT

STATES = ("done", "failed", "cancelled", "waiting", "running")
MOST_KEPT = 10_000  # configurations, some 40 MB
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class ConfigurationRow:
    """levels: factor → label; dimensions: those of its specification; both as stored. done, failed, …: trials in that
    state."""

    id: int
    run_id: int
    levels: Mapping[str, Any]
    dimensions: Mapping[str, Any]
    done: int
    failed: int
    cancelled: int
    waiting: int
    running: int

    @property
    def trials(self) -> int:
        return self.done + self.failed + self.cancelled + self.waiting + self.running

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """Dimension → text: those of its specification, the factors (a composite level has only its label) and the
        run. Empty values are 'default'; numbers are as short as they can be."""
        return _texts(self.run_id, self.levels, self.dimensions)

    def level(self, name: str) -> str:
        return self.texts.get(name, DEFAULT)


@dataclass(frozen=True)
class Column:
    """One dimension of many: texts, each once, and of each element the place of its own among them."""

    texts: tuple[str, ...]
    places: Ints

    def take(self, places: Ints) -> Column:
        return Column(self.texts, self.places[places])

    @staticmethod
    def of(texts: Iterable[str]) -> Column:
        known: dict[str, int] = {}
        places = np.array([known.setdefault(text, len(known)) for text in texts], dtype=np.int64)
        return Column(tuple(known), places)

    @staticmethod
    def joined(columns: Sequence[Column]) -> Column:
        """End to end."""
        if len(columns) == 1:
            return columns[0]
        if not columns:
            return Column((), np.zeros(0, dtype=np.int64))
        known: dict[str, int] = {}
        whole = [np.array([known.setdefault(text, len(known)) for text in column.texts]) for column in columns]
        places = [of[column.places] for of, column in zip(whole, columns, strict=True)]
        return Column(tuple(known), np.concatenate(places))


@dataclass(frozen=True)
class _Contents:
    """What is told of one run's configurations, in their order; the same for all who ask for this version, and never
    changed."""

    run: int
    version: str
    id: Ints
    levels: tuple[Mapping[str, Any], ...]
    dimensions: tuple[Mapping[str, Any], ...]
    texts: tuple[Mapping[str, str], ...]
    columns: Mapping[str, Column]
    factors: frozenset[str]

    @staticmethod
    def read(run: int, version: str, text: str) -> _Contents:
        ids, levels, dimensions = zip(*json.loads(text), strict=True)
        texts = [_texts(run, *row) for row in zip(levels, dimensions, strict=True)]
        names = dict.fromkeys(name for row in texts for name in row)
        return _Contents(
            run=run,
            version=version,
            id=np.array(ids, dtype=np.int64),
            levels=tuple(map(MappingProxyType, levels)),
            dimensions=tuple(map(MappingProxyType, dimensions)),
            texts=tuple(map(MappingProxyType, texts)),
            columns={name: Column.of(row.get(name, DEFAULT) for row in texts) for name in names},
            factors=frozenset(name for row in levels for name in row),
        )

    def column(self, name: str) -> Column:
        return self.columns.get(name) or Column((DEFAULT,), np.zeros(len(self.id), dtype=np.int64))


class Configurations(Sequence[ConfigurationRow]):
    """Configurations as rows, and, which takes no time, as columns. id, run: of each. trials: state →
    of each, how many."""

    def __init__(self, parts: Sequence[_Contents], counts: Ints, chosen: Ints | None = None) -> None:
        """counts: state × configuration of the parts. chosen: places in the parts; None for all."""
        self._parts, self._counts, self._chosen = parts, counts, chosen
        self.id = self._own([part.id for part in parts])
        self.run = self._own([np.full(len(part.id), part.run) for part in parts])
        self.trials: Mapping[str, Ints] = dict(
            zip(STATES, counts if chosen is None else counts[:, chosen], strict=True)
        )
        self.names = {name for part in parts for name in part.columns}
        self.factors = {name for part in parts for name in part.factors}

    def __len__(self) -> int:
        return len(self.id)

    @overload
    def __getitem__(self, place: int) -> ConfigurationRow: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[ConfigurationRow]: ...
    def __getitem__(self, place: int | slice) -> ConfigurationRow | Sequence[ConfigurationRow]:
        return self._rows[place]

    def __iter__(self) -> Iterator[ConfigurationRow]:
        return iter(self._rows)

    def column(self, name: str) -> Column:
        """'default' where a configuration does not have the dimension."""
        column = Column.joined([part.column(name) for part in self._parts])
        return column if self._chosen is None else column.take(self._chosen)

    def take(self, chosen: Bools) -> Configurations:
        if chosen.all():
            return self
        places = np.flatnonzero(chosen)
        return Configurations(self._parts, self._counts, places if self._chosen is None else self._chosen[places])

    def runs_with(self, name: str) -> set[int]:
        """Runs of which any configuration has this dimension."""
        return {part.run for part in self._parts if name in part.columns}

    def _own(self, columns: Sequence[Ints]) -> Ints:
        whole = np.concatenate(columns) if columns else np.zeros(0, dtype=np.int64)
        return whole if self._chosen is None else whole[self._chosen]

    @cached_property
    def _rows(self) -> list[ConfigurationRow]:
        whole = [row for part in self._parts for row in zip(part.levels, part.dimensions, part.texts, strict=True)]
        contents = whole if self._chosen is None else [whole[place] for place in self._chosen]
        counts = zip(*(self.trials[state].tolist() for state in STATES), strict=True)
        found = []
        for id_, run, (levels, dimensions, texts), of in zip(
            self.id.tolist(), self.run.tolist(), contents, counts, strict=True
        ):
            row = ConfigurationRow(id_, run, levels, dimensions, *of)
            row.__dict__["texts"] = texts  # its cached property
            found.append(row)
        return found


class _Kept:
    """The contents of the runs that were asked for last: of one process, for all its threads."""

    def __init__(self, most: int) -> None:
        """most: configurations."""
        self._most, self._lock = most, Lock()
        self._runs: OrderedDict[int, _Contents] = OrderedDict()

    def of(self, runs: Iterable[int]) -> dict[int, _Contents]:
        with self._lock:
            return {run: self._runs[run] for run in runs if run in self._runs}

    def keep(self, contents: _Contents) -> None:
        """As the newest; the oldest go."""
        with self._lock:
            self._runs[contents.run] = contents
            self._runs.move_to_end(contents.run)
            while sum(len(kept.id) for kept in self._runs.values()) > self._most:
                self._runs.popitem(last=False)


_KEPT = _Kept(MOST_KEPT)


@dataclass(frozen=True)
class _Row:
    """contents: None where the version is one that was known."""

    run: int
    version: str
    contents: str | None
    configuration: bytes | None
    state: bytes | None
    trials: bytes | None


def configurations(run_ids: Sequence[int]) -> Configurations:
    """In the order of their runs. One query. What a configuration is never changes; it is read again nevertheless as
    soon as its row is another one."""
    if not run_ids:
        return Configurations((), np.zeros((len(STATES), 0), dtype=np.int64))
    known = _KEPT.of(run_ids)
    versions = [contents.version for contents in known.values()]
    parameters = {"runs": list(run_ids), "known": versions, "states": list(STATES)}
    rows = sql.rows(_Row, sql.load(__file__), parameters)
    parts = [
        known[row.run] if row.contents is None else _Contents.read(row.run, row.version, row.contents) for row in rows
    ]
    for part in parts:
        _KEPT.keep(part)
    counts = np.zeros((len(STATES), sum(len(part.id) for part in parts)), dtype=np.int64)
    start = 0
    for row, part in zip(rows, parts, strict=True):
        if row.configuration and row.state and row.trials:
            place = places_of(sql.array(row.configuration), part.id)
            counts[sql.array(row.state) - 1, start + place] = sql.array(row.trials)
        start += len(part.id)
    return Configurations(parts, counts)


def distinct(values: Ints) -> Ints:
    """By size, each once. np.unique hashes, which takes thousands of numbers ten times as long."""
    ordered = np.sort(values)
    return ordered[np.diff(ordered, prepend=ordered[:1] - 1) > 0]


def places_of(wanted: Ints, among: Ints) -> Ints:
    """Of each number its place among others, all of which differ; any place for one that is not there."""
    order = among.argsort(kind="stable")
    found = np.searchsorted(among, wanted, sorter=order)
    return order[np.minimum(found, len(among) - 1)]


def _texts(run: int, levels: Mapping[str, Any], dimensions: Mapping[str, Any]) -> dict[str, str]:
    values = {**levels, **dimensions, "run": run}
    return dict(zip(values, map(_text, values.values()), strict=True))


@lru_cache(65536, typed=True)
def _text(value: Scalar | None) -> str:
    if isinstance(value, str):
        return value or DEFAULT
    if value is None:
        return DEFAULT
    if isinstance(value, bool | int):
        return str(value).lower()
    return format(Decimal(repr(value)).normalize(), "f")
