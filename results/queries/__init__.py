"""Questions to the warehouse: one module a question, its SQL beside it, frozen dataclasses out. Pages and API call
the same functions. Each says how many SQL queries it takes."""

from __future__ import annotations


class NotFound(LookupError):
    """What was asked for by its id or name is not in the warehouse."""


def known_id(number: int, kind: str) -> int:
    """The number, where it can be an id at all. Raises NotFound."""
    if not 0 < number < 2**63:
        raise NotFound(f"There is no {kind} {number}.")
    return number
