"""The output of the consistency queries → conditions that hold or not. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from results.domain import json_text
from results.domain.errors import ParseError
from results.domain.messages import SEMICOLON, linked
from results.domain.messages import gettext_lazy as _

CONDITIONS = (1, 2, 3, 4)
_SHOWN = 3


@dataclass(frozen=True)
class Condition:
    """One of the specification's consistency conditions (clause 3.3.2).

    compared: pairs of figures.
    violated: how many of them differ.
    first: some of those, in words."""

    number: int
    compared: int
    violated: int
    first: tuple[str, ...]

    @property
    def holds(self) -> bool:
        # without a single new order there is nothing to compare in the third
        return self.violated == 0 and (self.compared > 0 or self.number == 3)

    def __str__(self) -> str:
        number = self.number
        if not self.compared:
            return _("Consistency condition {number}: there are no rows to compare.", number=number)
        if self.holds:
            return _(
                "Consistency condition {number} holds ({compared} comparisons).", number=number, compared=self.compared
            )
        first = _together(self.first[:_SHOWN])
        if self.violated <= _SHOWN:
            return _("Consistency condition {number} is violated: {first}.", number=number, first=first)
        return _(
            "Consistency condition {number} is violated: {first}; {violated} differ in all.",
            number=number,
            first=first,
            violated=self.violated,
        )


def _together(parts: Sequence[str]) -> str:
    return linked(SEMICOLON, parts)


def read_conditions(text: str, file: str) -> tuple[Condition, ...]:
    """Read one line of JSON for each condition. Raises ParseError where one is missing or damaged."""
    conditions: list[Condition] = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            conditions.append(_condition(json_text.loads(line)))
        except (ValueError, KeyError, TypeError):
            what = _("not the answer about a consistency condition")
            raise ParseError(what, file=file, line=number, text=line) from None
    if tuple(condition.number for condition in conditions) != CONDITIONS:
        raise ParseError(_("not the four consistency conditions"), file=file, text=text)
    return tuple(conditions)


def _condition(row: dict[str, Any]) -> Condition:
    return Condition(
        int(row["condition"]),
        int(row["compared"]),
        int(row["violated"]),
        tuple(_difference(row) for row in row["first"]),
    )


def _difference(row: dict[str, Any]) -> str:
    names = {"warehouse": row["warehouse"], "one_name": row["one_name"], "other_name": row["other_name"]}
    values = {"one": row["one"] or _("missing"), "other": row["other"] or _("missing")}
    if row["district"] is None:
        return _("warehouse {warehouse}: {one_name} is {one}, {other_name} is {other}", **names, **values)
    return _(
        "warehouse {warehouse}, district {district}: {one_name} is {one}, {other_name} is {other}",
        district=row["district"],
        **names,
        **values,
    )
