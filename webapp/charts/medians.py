"""Medians over a factor, with every replicate drawn: the figure of comparisons and of runs. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from results.queries.ordering import all_numbers
from results.units import format_quantity, scale_for
from webapp.charts.style import Figure, axis, colour, escape, layout, mark, numbers

LOG_FROM = 16  # a factor whose levels span more than this reads better on a logarithmic axis


@dataclass(frozen=True)
class Replicate:
    value: float
    trial_id: int
    block: int


@dataclass(frozen=True)
class Spot:
    """One configuration (or cell) on the figure. x: index into the x levels."""

    x: int
    median: float
    replicates: tuple[Replicate, ...]


@dataclass(frozen=True)
class Line:
    """index: which colour and mark. banded: shade from the smallest to the largest replicate."""

    name: str
    index: int
    spots: tuple[Spot, ...]
    banded: bool = True


def medians_figure(
    xs: Sequence[str],
    lines: Sequence[Line],
    *,
    x_title: str,
    unit: str,
    y_title: str,
    trial_url: Callable[[int], str],
    height: int = 360,
) -> Figure:
    """xs: the levels in order, of the dimension x_title. Lines join medians only where the levels are numbers; versions
    are none."""
    positions, x_axis = _x_axis(xs, x_title)
    joined = positions is not None
    largest = max((r.value for line in lines for s in line.spots for r in s.replicates), default=1.0)
    divisor, shown = scale_for(largest, unit)
    data: list[dict[str, Any]] = []
    for place, line in enumerate(lines):
        shift = 0.0 if joined else _dodge(place, len(lines))
        at = positions or [float(index) for index in range(len(xs))]
        data += _traces(line, [at[spot.x] + shift for spot in line.spots], divisor, unit, joined, trial_url)
    label = f"{y_title} ({shown})" if shown and shown != y_title else y_title
    y_axis = axis(label, rangemode="tozero", nticks=7, tickformat=",~r")
    return {"data": data, "layout": layout(height, xaxis=x_axis, yaxis=y_axis, hovermode="closest")}


def _x_axis(xs: Sequence[str], title: str) -> tuple[list[float] | None, dict[str, Any]]:
    values = [float(x) for x in xs] if all_numbers(xs, title) else []
    text = [escape(x) for x in xs]
    if not values or len(set(values)) < 2:
        ticks = list(range(len(xs)))
        return None, axis(title, tickvals=ticks, ticktext=text, range=[-0.5, max(len(xs), 1) - 0.5], showgrid=False)
    log = min(values) > 0 and max(values) / min(values) >= LOG_FROM
    return values, axis(title, tickvals=values, ticktext=text, type="log" if log else "linear", showgrid=False)


def _dodge(place: int, count: int) -> float:
    return (place - (count - 1) / 2) * min(0.16, 0.7 / max(count, 1))


def _traces(
    line: Line, at: Sequence[float], divisor: float, unit: str, joined: bool, trial_url: Callable[[int], str]
) -> list[dict[str, Any]]:
    name = escape(line.name)
    medians = {
        "type": "scatter",
        "name": name,
        "mode": "lines+markers" if joined else "markers",
        "x": list(at),
        "y": numbers([spot.median / divisor for spot in line.spots]),
        "line": {"color": colour(line.index), "width": 2},
        "marker": {
            "symbol": "line-ew-open", "size": 8 if joined else 22, "color": colour(line.index),
            "line": {"width": 2.4, "color": colour(line.index)},
        },
        "hoverinfo": "skip",
    }  # fmt: skip
    flat = [(x, replicate) for x, spot in zip(at, line.spots, strict=True) for replicate in spot.replicates]
    replicates = {
        "type": "scatter",
        "name": name,
        "mode": "markers",
        "x": [x for x, _ in flat],
        "y": numbers([replicate.value / divisor for _, replicate in flat]),
        "text": [f"{name}<br><b>{format_quantity(r.value, unit)}</b> · block {r.block}" for _, r in flat],
        "customdata": [trial_url(replicate.trial_id) for _, replicate in flat],
        "hovertemplate": "%{text}<extra></extra>",
        "marker": {"symbol": mark(line.index), "size": 8, "color": colour(line.index, 62)},
    }
    return [*_band(line, at, divisor, joined), medians, replicates]


def _band(line: Line, at: Sequence[float], divisor: float, joined: bool) -> list[dict[str, Any]]:
    if not joined or not line.banded or not any(len(spot.replicates) > 1 for spot in line.spots):
        return []
    low = [min((r.value for r in s.replicates), default=s.median) / divisor for s in line.spots]
    high = [max((r.value for r in s.replicates), default=s.median) / divisor for s in line.spots]
    return [
        {
            "type": "scatter", "mode": "none", "fill": "toself", "fillcolor": colour(line.index, 14),
            "x": [*at, *reversed(at)], "y": numbers([*high, *reversed(low)]), "hoverinfo": "skip",
        }
    ]  # fmt: skip
