"""The output of the consistency queries → conditions that hold or not. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from results.domain import json_text
from results.domain.errors import ParseError

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
        if not self.compared:
            return f"Consistency condition {self.number}: there are no rows to compare."
        if self.holds:
            return f"Consistency condition {self.number} holds ({self.compared} comparisons)."
        more = f"; {self.violated} differ in all" if self.violated > _SHOWN else ""
        return f"Consistency condition {self.number} is violated: {'; '.join(self.first[:_SHOWN])}{more}."


def read_conditions(text: str, file: str) -> tuple[Condition, ...]:
    """Read one line of JSON for each condition. Raises ParseError where one is missing or damaged."""
    conditions: list[Condition] = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            conditions.append(_condition(json_text.loads(line)))
        except (ValueError, KeyError, TypeError):
            raise ParseError(
                "not the answer about a consistency condition", file=file, line=number, text=line
            ) from None
    if tuple(condition.number for condition in conditions) != CONDITIONS:
        raise ParseError("not the four consistency conditions", file=file, text=text)
    return tuple(conditions)


def _condition(row: dict[str, Any]) -> Condition:
    return Condition(
        int(row["condition"]),
        int(row["compared"]),
        int(row["violated"]),
        tuple(_difference(row) for row in row["first"]),
    )


def _difference(row: dict[str, Any]) -> str:
    district = f"warehouse {row['warehouse']}"
    if row["district"] is not None:
        district += f", district {row['district']}"
    left, right = row["one"] or "missing", row["other"] or "missing"
    return f"{district}: {row['one_name']} is {left}, {row['other_name']} is {right}"
