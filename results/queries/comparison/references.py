"""Saved references: a line of a citation that other comparisons are held against."""

from __future__ import annotations

from dataclasses import dataclass

from results import sql
from results.domain.errors import TeitenError


@dataclass(frozen=True)
class ReferenceRow:
    """series: of the citation `hash`, whose series are told apart by `dimensions`, as in a selection. runs, attempts:
    whose numbers that line holds. lost: attempts that are deleted, count no more, or were read again without the metric
    that the citation shows."""

    name: str
    series: str
    hash: str
    dimensions: str
    runs: tuple[int, ...]
    attempts: tuple[int, ...]
    lost: tuple[int, ...]


def reference(name: str, known: tuple[str, ...]) -> ReferenceRow:
    """By its name. One query. Raises TeitenError that lists those there are."""
    found = sql.rows(ReferenceRow, sql.load(__file__), {"name": name})
    if not found:
        there = f"There are {', '.join(known)}." if known else "Save a line of a citation as one."
        raise TeitenError(f"There is no reference {name!r}.", where="baseline", todo=there)
    return found[0]
