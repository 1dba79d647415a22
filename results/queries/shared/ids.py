"""Ids as they come from addresses and forms, before the database sees them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from results.domain.messages import gettext_lazy as _
from results.queries.shared.words import name_of


class NotFound(LookupError):
    """No row of the warehouse has the id or name."""


def known_id(number: int, kind: str) -> int:
    """Return the number if a bigint can hold it as an id. Raises NotFound."""
    if not 0 < number < 2**63:
        raise NotFound(_("There is no {kind} {number}.", kind=name_of(kind), number=number))
    return number


def known_ids(numbers: Iterable[int], kind: str) -> list[int]:
    """Return the numbers, each once and in order, if a bigint can hold them as ids. Raises NotFound."""
    return sorted({known_id(number, kind) for number in numbers})


def require_found(wanted: Iterable[int], found: Collection[int], kind: str) -> None:
    """Raise NotFound with the ids that were not found."""
    if missing := sorted(set(wanted).difference(found)):
        numbers = ", ".join(map(str, missing))
        raise NotFound(_("There is no {kind} {number}.", kind=name_of(kind), number=numbers))
