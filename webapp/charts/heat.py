"""Latencies of one attempt over its time: how many at each second, as a heat map. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext

from results.domain.measurement.histogram import BUCKETS_PER_OCTAVE, HeatMap
from results.domain.measurement.series import Series
from webapp.charts.lines import MOST_POINTS, thin
from webapp.charts.style import json_numbers


def traces_and_axis(heat: HeatMap, means: Sequence[Series]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The counts of every second by latency, under the line of the means; and their vertical axis."""
    low, high = min(heat.buckets), max(heat.buckets)
    ticks = [us for us in (10**power for power in range(8)) if low - 2 <= _place(us) <= high + 2]
    y_axis = {
        "range": [low - 0.5, high + 0.5],
        "tickvals": [_place(us) for us in ticks],
        "ticktext": [_time(us) for us in ticks],
        "showgrid": False,
        "rangemode": "normal",
        "zeroline": False,
    }
    traces = [_heat_trace(heat, range(low, high + 1)), *(_mean_line(one) for one in means)]
    return traces, y_axis


def _heat_trace(heat: HeatMap, buckets: range) -> dict[str, Any]:
    step = max(1, math.ceil((max(heat.seconds) + 1) / MOST_POINTS))
    columns = range(min(heat.seconds) // step, max(heat.seconds) // step + 1)
    counts = [[0] * len(columns) for _ in buckets]
    for second, bucket, count in zip(heat.seconds, heat.buckets, heat.counts, strict=True):
        counts[bucket - buckets[0]][second // step - columns[0]] += count
    return {
        "type": "heatmap",
        "showscale": False,
        "hoverongaps": False,
        "name": "",
        "x": [(column + 0.5) * step for column in columns],
        "y": list(buckets),
        # the root of the counts: rare slow transactions must stay visible beside the crowd
        "z": [[round(math.sqrt(count), 3) if count else None for count in row] for row in counts],
        "colorscale": [[0, "var(--s2) 12%"], [1, "var(--s2)"]],
        "customdata": [[count or None for count in row] for row in counts],
        "text": [[_bucket_text(bucket)] * len(columns) for bucket in buckets],
        "hovertemplate": gettext("%{customdata:,} at %{text}<extra></extra>"),
    }


def _mean_line(series: Series) -> dict[str, Any]:
    times, values = thin(series.times(), series.values)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": gettext("mean latency"),
        "x": json_numbers(times),
        "y": json_numbers([_place(value) if value > 0 else math.nan for value in values]),
        "text": [_time(value) if value == value else "" for value in values],
        "meta": "",
        "line": {"color": "var(--ink)", "width": 1.2},
        "hovertemplate": "%{text}",
    }


def _place(latency_us: float) -> float:
    """Where a latency lies on the axis of buckets, whose cells are centred on whole numbers."""
    return BUCKETS_PER_OCTAVE * math.log2(latency_us) - 0.5


def _time(us: float) -> str:
    for size, name in ((1e6, "s"), (1e3, "ms"), (1, "µs")):
        if us >= size:
            return f"{us / size:.3g} {name}"
    return f"{us:.2g} µs"


def _bucket_text(bucket: int) -> str:
    return f"{_time(2 ** (bucket / BUCKETS_PER_OCTAVE))} … {_time(2 ** ((bucket + 1) / BUCKETS_PER_OCTAVE))}"
