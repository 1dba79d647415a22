"""What each machine and each stream did over the measured window, as lines beside an arrangement's rows. Pure."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext

from results.domain.measurement.series import Series
from results.domain.units import format_quantity
from webapp.charts import events as happened
from webapp.charts.lines import thin
from webapp.charts.style import json_numbers

CPU, DISK, LAG = "cpu.busy", "disk.utilisation", "replication.lag_bytes"
NAMES = (CPU, DISK, LAG)
WIDTH, HEIGHT = 600, 36  # of a track, in its own units
_MOST_POINTS = 300
_MOST_TICKS = 6


@dataclass(frozen=True)
class Track:
    """A quantity over the window: line and area as SVG paths in WIDTH × HEIGHT.

    summary: mean and maximum over the window, in words.
    points: JSON of [seconds, values], for what points at it.
    unit: of the values."""

    kind: str
    title: str
    summary: str
    line: str
    area: str
    points: str
    unit: str


@dataclass(frozen=True)
class Tick:
    x: str
    text: str
    anchor: str


@dataclass(frozen=True)
class Mark:
    """An event in all tracks.

    width: of a span, 0 for a moment.
    colour: place in the palette."""

    x: float
    width: float
    colour: int


@dataclass(frozen=True)
class Axis:
    """Seconds → a track's units.

    window_s: length of the measured window.
    most_lag: bytes at full height, of all nodes."""

    window_s: float
    end_s: float
    most_lag: float

    @classmethod
    def over(cls, series: Sequence[Series], duration_s: float | None) -> Axis | None:
        """The window, and after it as long as somebody was watched catching up; None without anything to draw."""
        shown = [one for one in series if one.name in NAMES and one.values]
        lags = [one for one in shown if one.name == LAG and not one.label]
        window_s = duration_s or _last_s(shown)
        end_s = max(window_s, _last_s(lags))
        if not shown or end_s <= 0:
            return None
        return cls(window_s, end_s, max((value for one in lags for value in one.within(0, math.inf)), default=0.0))

    def holds(self, at_s: float) -> bool:
        return 0 <= at_s <= self.end_s

    def x(self, at_s: float) -> float:
        return round(WIDTH * at_s / self.end_s, 1)

    def mark(self, event: happened.Mark, colour: int) -> Mark:
        until_s = event.at_s if event.until_s is None else min(event.until_s, self.end_s)
        return Mark(self.x(event.at_s), round(self.x(until_s) - self.x(event.at_s), 1), colour)

    def ticks(self) -> tuple[Tick, ...]:
        power = 10.0 ** math.floor(math.log10(self.end_s / _MOST_TICKS))
        step = next(power * m for m in (1, 2, 5, 10) if self.end_s / (power * m) < _MOST_TICKS)
        count = int(self.end_s / step)
        return tuple(
            Tick(
                f"{100 * number * step / self.end_s:.2f}%",
                f"{number * step:g} s",
                "start" if number == 0 else "end" if number * step > 0.96 * self.end_s else "middle",
            )
            for number in range(count + 1)
        )


def _last_s(series: Sequence[Series]) -> float:
    return max((one.times()[-1] for one in series), default=0.0)


def tracks(node: str, machine: str, series: Sequence[Series], axis: Axis) -> Iterator[Track]:
    """Return the tracks of every node.

    machine: the node under which its machine's numbers are filed; '' where another row shows them."""
    for one in _of(series, CPU, machine):
        if not one.label:
            yield _track("cpu", gettext("CPU busy"), one.times(), one.values, "%", 100.0, axis)
    if disks := _of(series, DISK, machine):
        yield _track("disk", _disk_title(disks), disks[0].times(), _busiest(disks), "%", 100.0, axis)
    for one in _of(series, LAG, node):
        if not one.label:
            yield _track("lag", gettext("lag"), one.times(), one.values, "B", axis.most_lag, axis)


def _of(series: Sequence[Series], name: str, node: str) -> list[Series]:
    return [one for one in series if one.values and one.name == name and one.node == node]


def _disk_title(disks: Sequence[Series]) -> str:
    if len(disks) == 1:
        return gettext("disk {device} busy").format(device=disks[0].label)
    return gettext("busiest of {n} disks").format(n=len(disks))


def _busiest(disks: Sequence[Series]) -> tuple[float, ...]:
    """At each moment the largest value of all; all are sampled together."""
    return tuple(
        max((value for value in values if value == value), default=math.nan)
        for values in zip(*(disk.values for disk in disks), strict=True)
    )


def _track(
    kind: str, title: str, times: Sequence[float], values: Sequence[float], unit: str, full: float, axis: Axis
) -> Track:
    inside = [(t, v) for t, v in zip(times, values, strict=False) if axis.holds(t)]
    xs, ys = thin([t for t, _ in inside], [v for _, v in inside], _MOST_POINTS)
    runs = _runs([(axis.x(x), _y(y, full)) for x, y in zip(xs, ys, strict=True)])
    line = "".join(f"M{_points(run)}" for run in runs)
    area = "".join(f"M{run[0][0]:g} {HEIGHT}L{_points(run)}L{run[-1][0]:g} {HEIGHT}Z" for run in runs)
    points = json.dumps([json_numbers(xs), json_numbers(ys)], separators=(",", ":"))
    return Track(kind, title, _mean_and_maximum(inside, axis.window_s, unit), line, area, points, unit)


def _points(run: Sequence[tuple[float, float]]) -> str:
    return "L".join(f"{x:g} {y:g}" for x, y in run)


def _mean_and_maximum(points: Sequence[tuple[float, float]], window_s: float, unit: str) -> str:
    """Of what is known within the measured window, in words."""
    known = [value for at_s, value in points if value == value and at_s < window_s]
    if not known:
        return gettext("not known")
    mean, most = _rounded(sum(known) / len(known), unit), _rounded(max(known), unit)
    return gettext("mean {mean}, at most {most}").format(mean=mean, most=most)


def _rounded(value: float, unit: str) -> str:
    return f"{value:.0f} %" if unit == "%" else format_quantity(value, unit)


def _y(value: float, full: float) -> float:
    """From the top; a gap stays one."""
    if value != value:
        return math.nan
    return round(HEIGHT - (HEIGHT - 2) * min(1.0, value / full), 1) if full else HEIGHT


def _runs(points: Sequence[tuple[float, float]]) -> list[list[tuple[float, float]]]:
    """What lies between gaps."""
    runs: list[list[tuple[float, float]]] = [[]]
    for x, y in points:
        if y == y:
            runs[-1].append((x, y))
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]
