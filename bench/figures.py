"""One figure of the bench: the median of its rounds against its limit."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Figure:
    """at_least: the limit is a floor, else a ceiling."""

    name: str
    unit: str
    limit: float
    rounds: tuple[float, ...]
    at_least: bool = False

    @property
    def value(self) -> float:
        return median(self.rounds)

    @property
    def reached(self) -> bool:
        return self.value >= self.limit if self.at_least else self.value <= self.limit
