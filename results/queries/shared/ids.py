"""Ids as they come from addresses and forms, before the database sees them."""

from __future__ import annotations

from collections.abc import Collection, Iterable


class NotFound(LookupError):
    """No row of the warehouse has the id or name."""


def known_id(number: int, kind: str) -> int:
    """Return the number if a bigint can hold it as an id. Raises NotFound."""
    if not 0 < number < 2**63:
        raise NotFound(f"There is no {kind} {number}.")
    return number


def known_ids(numbers: Iterable[int], kind: str) -> list[int]:
    """Return the numbers, each once and in order, if a bigint can hold them as ids. Raises NotFound."""
    return sorted({known_id(number, kind) for number in numbers})


def require_found(wanted: Iterable[int], found: Collection[int], kind: str) -> None:
    """Raise NotFound with the ids that were not found."""
    if missing := sorted(set(wanted).difference(found)):
        raise NotFound(f"There is no {kind} {', '.join(map(str, missing))}.")
