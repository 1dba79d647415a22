"""A series as a line of a figure, thinned to what a screen can show. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from results.domain.measurement.series import Series
from webapp.charts.style import escape, json_numbers

MOST_POINTS = 1500  # more than the pixels of a screen


def thin(times: Sequence[float], values: Sequence[float], most: int = MOST_POINTS) -> tuple[list[float], list[float]]:
    """At most so many points: means of equal stretches. Gaps (NaN) stay gaps only where a stretch has no value."""
    size = math.ceil(len(values) / most)
    if size <= 1:
        return list(times), list(values)
    thinned: list[float] = []
    for start in range(0, len(values), size):
        known = [value for value in values[start : start + size] if value == value]
        thinned.append(sum(known) / len(known) if known else math.nan)
    return list(times[::size]), thinned


def line(series: Series, paint: str, unit: str, divisor: float = 1.0) -> dict[str, Any]:
    """One series as a line.

    divisor: from its base unit to the unit shown."""
    times, values = thin(series.times(), series.values)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": f"{escape(series.name)}",
        "x": json_numbers(times),
        "y": json_numbers([value / divisor for value in values]),
        "line": {"color": paint, "width": 1.6},
        "meta": unit,
        "hovertemplate": f"%{{y:,.4~g}} {unit}",
    }
