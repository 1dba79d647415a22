"""A quantity over the trial's time. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Series:
    """Values of one quantity over time.

    name: what (`cpu.user`).
    node: which role and number (`primary`, `client`), '' for the whole trial.
    label: which of several (a CPU, a disk, a script), '' for one.
    unit: base unit.
    start_s: time of the first value relative to the start of the measured window (may be negative).
    step_s: seconds between values, 0 where `times_s` gives each value's own time.
    values: NaN marks a gap."""

    name: str
    node: str
    unit: str
    start_s: float
    step_s: float
    values: tuple[float, ...]
    label: str = ""
    times_s: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if bool(self.times_s) == bool(self.step_s):
            raise ValueError(f"series {self.name} needs either a step or times")
        if self.times_s and len(self.times_s) != len(self.values):
            raise ValueError(f"series {self.name}: {len(self.times_s)} times, {len(self.values)} values")

    def times(self) -> list[float]:
        """Seconds since the start of the measured window, one per value."""
        if self.times_s:
            return list(self.times_s)
        return [self.start_s + index * self.step_s for index in range(len(self.values))]

    def within(self, start_s: float, end_s: float) -> list[float]:
        """The values with start_s <= time < end_s, gaps left out."""
        return [v for t, v in zip(self.times(), self.values, strict=True) if start_s <= t < end_s and v == v]
