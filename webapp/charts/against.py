"""Throughput against latency: a point a configuration, joined in the order of x. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext

from results.domain.units import scale_for
from results.queries.comparison.cells import Comparison, Point
from results.queries.comparison.cells import Key as CellKey
from results.queries.shared.selection import LABEL
from webapp.charts.many import are_too_many
from webapp.charts.style import Figure, axis, colour, escape, json_numbers, layout, mark, or_words, with_unit

LATENCIES = ("latency.p99", "latency.mean")  # drawn against throughput, the first that there is
_MOST_NAMED = 12  # levels of x that stand beside the points
_HEIGHT = 420


def latency_beside(comparison: Comparison) -> str:
    """Return the metric that a comparison of throughput is drawn against; '' for any other comparison, and where the
    throughput is that of one label that the latency does not have."""
    chosen = comparison.selection
    if comparison.metric.unit != "tps" or chosen.per:
        return ""
    label = "" if LABEL in chosen.axes else chosen.label
    known = {choice.name for choice in comparison.metrics if not label or label in choice.labels}
    return next((name for name in LATENCIES if name in known), "")


def against_figure(throughput: Comparison, latency: Comparison, panel: str, link: str) -> Figure:
    """Return a panel's figure.

    latency: of the same trials.
    link: a trial's address with {} for its number"""
    latency_of = {point.key: point for point in latency.points}
    pairs = [
        (point, latency_of[point.key])
        for point in throughput.points
        if point.panel == panel and point.key in latency_of
    ]
    divisors = _divisors(throughput, latency)
    data: list[dict[str, Any]] = []
    for index, series in enumerate(throughput.series):
        own = [(one, other) for one, other in pairs if one.series == series]
        line, marks = _traces(series, index, own, divisors)
        data += [line] if are_too_many(throughput) else [line, marks]
    xaxis = _axis(throughput, divisors[0])
    yaxis = _axis(latency, divisors[1])
    notes = _levels(pairs, divisors) if len(throughput.xs) <= _MOST_NAMED else []
    largest = max((other.maximum for _, other in pairs), default=1.0) / divisors[1]
    meta = {"at": [], "link": link}
    shape = layout(
        _HEIGHT, largest=largest, xaxis=xaxis, yaxis=yaxis, meta=meta, annotations=notes, hovermode="closest"
    )
    return or_words({"data": data, "layout": shape}, gettext("No trial has both values."))


def _divisors(*comparisons: Comparison) -> tuple[float, float]:
    one, other = (
        scale_for(max((point.maximum for point in comparison.points), default=1.0), comparison.metric.unit)[0]
        for comparison in comparisons
    )
    return one, other


def _axis(comparison: Comparison, divisor: float) -> dict[str, Any]:
    _, unit = scale_for(max((point.maximum for point in comparison.points), default=1.0), comparison.metric.unit)
    return axis(
        with_unit(comparison.metric.label, unit), rangemode="tozero", nticks=7, tickformat=",~r", automargin=True
    )


def _traces(
    series: str, index: int, pairs: list[tuple[Point, Point]], divisors: tuple[float, float]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the line through the values of the cells, and every trial that has both."""
    name = escape(series)
    line = {
        "type": "scatter",
        "name": name,
        "mode": "lines",
        "x": json_numbers([one.value / divisors[0] for one, _ in pairs]),
        "y": json_numbers([other.value / divisors[1] for _, other in pairs]),
        "line": {"color": colour(index), "width": 2},
        "hoverinfo": "skip",
        "meta": {"series": index},
    }
    trials = [
        (point.x, trial, value, latency)
        for point, other in pairs
        for trial, (value, latency) in _of_both(point, other).items()
    ]
    place = gettext("{series} at {x}").format(series=name, x="%{text}")
    marks = {
        "type": "scatter",
        "name": name,
        "mode": "markers",
        "x": json_numbers([value / divisors[0] for _, _, value, _ in trials]),
        "y": json_numbers([latency / divisors[1] for _, _, _, latency in trials]),
        "text": [escape(x) for x, *_ in trials],
        "customdata": [trial for _, trial, _, _ in trials],
        "hovertemplate": f"{place}<br><b>%{{x:,.4~r}}</b> · <b>%{{y:,.4~r}}</b><extra></extra>",
        "marker": {"symbol": mark(index), "size": 8, "color": colour(index, 62)},
        "meta": {"series": index},
    }
    return line, marks


def _of_both(one: Point, other: Point) -> Mapping[int, tuple[float, float]]:
    """Return trial → its two values."""
    latencies = {replicate.trial_id: replicate.value for replicate in other.values}
    return {r.trial_id: (r.value, latencies[r.trial_id]) for r in one.values if r.trial_id in latencies}


def _levels(pairs: list[tuple[Point, Point]], divisors: tuple[float, float]) -> list[dict[str, Any]]:
    """Name each level of x once, at its highest latency."""
    highest: dict[str, tuple[CellKey, float, float]] = {}
    for one, other in pairs:
        if one.x not in highest or other.value > highest[one.x][2]:
            highest[one.x] = (one.key, one.value, other.value)
    return [
        {
            "x": value / divisors[0],
            "y": latency / divisors[1],
            "text": escape(x),
            "xanchor": "right",
            "xshift": -9,
            "showarrow": False,
            "font": {"color": "var(--soft)", "size": 11},
        }
        for x, (_, value, latency) in highest.items()
    ]
