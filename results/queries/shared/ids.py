"""Ids as they come from addresses and forms, before the database sees them."""

from __future__ import annotations


class NotFound(LookupError):
    """No row of the warehouse has the id or name."""


def known_id(number: int, kind: str) -> int:
    """Return the number if a bigint can hold it as an id. Raises NotFound."""
    if not 0 < number < 2**63:
        raise NotFound(f"There is no {kind} {number}.")
    return number
