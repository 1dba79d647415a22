"""The figures of a benchmark, each with its limit."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Figure:
    """A figure: the median of its rounds against a limit.

    at_least: whether the limit is a floor; else it is a ceiling
    """

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
