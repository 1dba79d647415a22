"""The configurations of some runs, with every dimension as text."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, lru_cache
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

from results import sql
from results.domain.kinds.parameters import Scalar
from results.queries.shared.ordering import DEFAULT

STATES = ("done", "failed", "cancelled", "waiting", "running")


@dataclass(frozen=True)
class ConfigurationRow:
    """A configuration of a run, and how many of its trials are in which state.

    looks: blocks that the run had, each time that some were added."""

    id: int
    run_id: int
    levels: Mapping[str, Any]  # factor → label, as stored
    dimensions: Mapping[str, Any]  # those of its specification, as stored
    done: int
    failed: int
    cancelled: int
    waiting: int
    running: int
    looks: tuple[int, ...] = ()

    @property
    def trials(self) -> int:
        return self.done + self.failed + self.cancelled + self.waiting + self.running

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """Dimension → text: those of its specification, the factors (a composite level has only its label) and the
        run. Empty values are 'default'; numbers are as short as they can be."""
        return _texts(self.run_id, self.levels, self.dimensions)

    @cached_property
    def besides_run(self) -> frozenset[tuple[str, str]]:
        """What it has alike with the same configuration of another run: every dimension but that, with its text."""
        return _besides_run(self.texts)

    @property
    def factors(self) -> Collection[str]:
        return self.levels.keys()

    def level(self, name: str) -> str:
        return self.texts.get(name, DEFAULT)


def levels_by_dimension(texts: Sequence[Mapping[str, str]]) -> dict[str, tuple[str, ...]]:
    """Return dimension → the level of each of these configurations, given by their texts."""
    names = list(dict.fromkeys(chain.from_iterable(texts)))
    absent = dict.fromkeys(names, DEFAULT)
    every = [own if len(own) == len(names) else {**absent, **own} for own in texts]
    return {name: tuple(map(itemgetter(name), every)) for name in names}


class _StoredRow(NamedTuple):
    id: int
    run_id: int
    looks: str  # JSON
    levels: str  # JSON
    dimensions: str  # JSON
    done: int
    failed: int
    cancelled: int
    waiting: int
    running: int


def configurations(run_ids: Sequence[int]) -> list[ConfigurationRow]:
    """Return them in the order of their runs. One query, none without runs."""
    if not run_ids:
        return []
    looks_of: dict[str, tuple[int, ...]] = {}
    rows = []
    for stored in sql.tuples(_StoredRow, sql.load(__file__), {"runs": list(run_ids)}):
        levels, dimensions, texts, besides_run = _contents(stored.run_id, stored.levels, stored.dimensions)
        if stored.looks not in looks_of:
            looks_of[stored.looks] = tuple(json.loads(stored.looks))
        looks = looks_of[stored.looks]
        row = ConfigurationRow(stored.id, stored.run_id, levels, dimensions, *stored[5:], looks=looks)
        row.__dict__.update(texts=texts, besides_run=besides_run)  # its cached properties
        rows.append(row)
    return rows


# Of its arguments alone, so that nothing can be stale. For 1,000 configurations this saves 9 of the 85 ms that a
# comparison takes (docs/measured.md); 4,000 take 16 MB, which a process keeps.
@lru_cache(4_000)
def _contents(
    run_id: int, levels: str, dimensions: str
) -> tuple[Mapping[str, Any], Mapping[str, Any], Mapping[str, str], frozenset[tuple[str, str]]]:
    """Return levels, dimensions and texts of a configuration, and what it has alike in all runs, read of their JSON."""
    read = json.loads(levels), json.loads(dimensions)
    texts = _texts(run_id, *read)
    return *read, texts, _one_for_all_runs(_besides_run(texts))


def _texts(run_id: int, levels: Mapping[str, Any], dimensions: Mapping[str, Any]) -> dict[str, str]:
    return as_texts({**levels, **dimensions, "run": run_id})


@lru_cache(4_000)
def _one_for_all_runs(besides_run: frozenset[tuple[str, str]]) -> frozenset[tuple[str, str]]:
    """Return the same object for what is equal: to find a configuration again takes no comparison of its dimensions."""
    return besides_run


def _besides_run(texts: Mapping[str, str]) -> frozenset[tuple[str, str]]:
    return frozenset((name, text) for name, text in texts.items() if name != "run")


def as_texts(levels: Mapping[str, Any]) -> dict[str, str]:
    """Return dimension → text of its level."""
    return {name: _text(value) for name, value in levels.items()}


def _text(value: Scalar | None) -> str:
    if isinstance(value, str):
        return value or DEFAULT
    if value is None:
        return DEFAULT
    if isinstance(value, bool | int):
        return str(value).lower()
    return format(Decimal(repr(value)).normalize(), "f")
