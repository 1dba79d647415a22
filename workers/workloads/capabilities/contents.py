"""The rows that tables must contain, computed without a server, and the difference of two contents. Pure."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from results.domain.messages import gettext_lazy as _
from workers.workloads.capabilities.outcome import listed

_SHOWN = 3
_LONGEST = 120


@dataclass(frozen=True)
class Item:
    """A row of the table that items.sql makes."""

    id: int
    part: int
    word: str

    def __str__(self) -> str:
        """As PostgreSQL writes the row as text."""
        return f"({self.id},{self.part},{self.word})"


def word(text: str) -> str:
    """PostgreSQL's md5(text)."""
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def items(count: int) -> dict[int, Item]:
    """The rows of items.sql by id, 1 … count."""
    return {i: Item(i, i % 10, word(str(i))) for i in range(1, count + 1)}


def texts(rows: Iterable[object]) -> list[str]:
    return [str(row) for row in rows]


def difference(expected: Iterable[str], actual: Iterable[str]) -> str:
    """Describe how two contents differ, whatever their order, with some of the rows; '' where they are equal."""
    expected_rows, actual_rows = Counter(expected), Counter(actual)
    missing = sorted((expected_rows - actual_rows).elements())
    surplus = sorted((actual_rows - expected_rows).elements())
    if not missing and not surplus:
        return ""
    due, found = expected_rows.total(), actual_rows.total()
    message_parts = [_("expected {expected} rows, found {actual}", expected=due, actual=found)]
    if missing:
        what = _("{number} missing, such as {rows}", number=len(missing), rows=_examples(missing))
        message_parts.append(what)
    if surplus:
        what = _("{number} that should not be there, such as {rows}", number=len(surplus), rows=_examples(surplus))
        message_parts.append(what)
    return listed(message_parts)


def _examples(rows: list[str]) -> str:
    return " ".join(row if len(row) <= _LONGEST else f"{row[:_LONGEST]}…" for row in rows[:_SHOWN])
