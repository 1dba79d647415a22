"""A trend → its figure: every replicate, medians, levels between changes, and marks on the axis. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from statistics import median
from typing import Any

from django.utils.translation import gettext

from results.domain.messages import localized
from results.domain.units import format_quantity, scale_for
from results.queries.trends.annotations import AnnotationRow
from results.queries.trends.families import COMMIT, DATE, VERSION
from results.queries.trends.trends import Shift, Trend, TrendLine, TrendPoint
from webapp.charts.style import Figure, axis, colour, dates, escape, json_numbers, layout, mark, with_unit
from webapp.language import joined

LOG_FROM = 5  # lines whose levels are further apart read better on a logarithmic axis
MOST_LABELS = 30  # levels that are named on the axis
Position = float | str  # on the axis: a date as ISO text, or the index of a level


def trends_figure(
    trend: Trend,
    annotations: Sequence[AnnotationRow],
    *,
    trial_url: Callable[[int], str],
    difference_url: Callable[[int, int], str],
    height: int = 420,
) -> Figure:
    """Return the figure; annotations are drawn where x is a date."""
    values = [value.value for line in trend.lines for point in line.points for value in point.values]
    divisor, shown = scale_for(max(values, default=1.0), trend.metric.unit)
    by_date = trend.selection.x == DATE
    index = {level: float(number) for number, level in enumerate(trend.levels)}

    def position(point: TrendPoint) -> Position:
        return _iso(point.at) if by_date else index[point.level]

    data: list[dict[str, Any]] = []
    shapes: list[dict[str, Any]] = []
    for number, line in enumerate(trend.lines):
        data += _line(line, number, divisor, trend, position, trial_url)
        shapes += [_shift_shape(shift, line, position) for shift in line.shifts]
    data += _environments(trend, index, difference_url)
    data += _annotations(annotations) if by_date else []
    title = with_unit(trend.metric.label, shown)
    scale = "log" if logarithmic(trend) else "linear"
    return {
        "data": data,
        "layout": layout(
            height,
            xaxis=_x_axis(trend),
            yaxis=axis(title, nticks=7, tickformat=",~r", type=scale),
            yaxis2={"overlaying": "y", "range": [0, 1], "visible": False, "fixedrange": True},
            hovermode="closest",
            shapes=shapes,
        ),
    }


def axis_words(x: str) -> str:
    """Return what people call x, of AXES."""
    return {DATE: gettext("date"), VERSION: gettext("version"), COMMIT: gettext("commit")}.get(x, x)


def _x_axis(trend: Trend) -> dict[str, Any]:
    if trend.selection.x == DATE:
        return axis("", type="date", showgrid=False, **dates())
    texts = [escape(level) for level in trend.levels]
    labels = {"tickvals": list(range(len(texts))), "ticktext": texts}
    if len(texts) > MOST_LABELS:
        labels = {"showticklabels": False}
    return axis(axis_words(trend.selection.x), showgrid=False, range=[-0.5, max(len(texts), 1) - 0.5], **labels)


def logarithmic(trend: Trend) -> bool:
    """Return whether the lines lie far apart, and none reaches zero."""
    levels = [median(point.median for point in line.points) for line in trend.lines]
    above = all(value.value > 0 for line in trend.lines for point in line.points for value in point.values)
    return above and len(levels) > 1 and max(levels) >= LOG_FROM * min(levels)


def _line(
    line: TrendLine,
    number: int,
    divisor: float,
    trend: Trend,
    position: Callable[[TrendPoint], Position],
    trial_url: Callable[[int], str],
) -> list[dict[str, Any]]:
    name = escape(line.name or localized(trend.metric.label))
    by_date = trend.selection.x == DATE
    values = [value for point in line.points for value in point.values]
    times = [_iso(value.at) for value in values]
    replicates = {
        "type": "scatter",
        "name": name,
        "mode": "markers",
        "x": times if by_date else [position(point) for point in line.points for _ in point.values],
        "y": json_numbers([value.value / divisor for value in values]),
        "text": _texts(line, name, times, trend.metric.unit),
        "customdata": [trial_url(value.trial_id) for value in values],
        "hovertemplate": "%{text}<extra></extra>",
        "marker": {"symbol": mark(number), "size": 6, "color": colour(number, 50)},
    }
    medians = {
        "type": "scatter",
        "name": name,
        "mode": "lines",
        "x": [position(point) for point in line.points],
        "y": json_numbers([point.median / divisor for point in line.points]),
        "line": {"color": colour(number, 70), "width": 1.4},
        "hoverinfo": "skip",
    }
    return [replicates, medians, *_levels(line, number, divisor, position)]


def _texts(line: TrendLine, name: str, times: Sequence[str], unit: str) -> list[str]:
    """Return what is said of each value of a line.

    times: of its values."""
    replicate = gettext("run {run}, replicate {replicate}")
    texts: list[str] = []
    for point in line.points:
        version = escape(joined(point.versions))
        for value in point.values:
            which = replicate.format(run=value.run_id, replicate=value.block)
            quantity, time = format_quantity(value.value, unit), times[len(texts)][:-3]
            texts.append(f"{name}<br><b>{quantity}</b><br>{which} · {version} · {time}")
    return texts


def _levels(
    line: TrendLine, number: int, divisor: float, position: Callable[[TrendPoint], Position]
) -> list[dict[str, Any]]:
    """A flat line at the median of each level, where the line has changes."""
    if not line.shifts:
        return []
    edges = [0, *(shift.first for shift in line.shifts), len(line.points)]
    heights = [line.shifts[0].before, *(shift.after for shift in line.shifts)]
    x: list[Position | None] = []
    y: list[float | None] = []
    for start, end, height in zip(edges, edges[1:], heights, strict=False):
        x += [position(line.points[start]), position(line.points[end - 1]), None]
        y += [*json_numbers([height / divisor] * 2), None]
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "x": x,
            "y": y,
            "hoverinfo": "skip",
            "line": {"color": colour(number), "width": 3},
            "opacity": 0.9,
        }
    ]


def _shift_shape(shift: Shift, line: TrendLine, position: Callable[[TrendPoint], Position]) -> dict[str, Any]:
    at = position(line.points[shift.first])
    return {
        "type": "line",
        "xref": "x",
        "yref": "paper",
        "x0": at,
        "x1": at,
        "y0": 0,
        "y1": 1,
        "line": {"color": f"var(--{_COLOURS.get(shift.kind, 'soft')})", "width": 1.5, "dash": "dash"},
        "layer": "below",
    }


_COLOURS = {"better": "better", "worse": "worse"}


def _environments(
    trend: Trend, index: dict[str, float], difference_url: Callable[[int, int], str]
) -> list[dict[str, Any]]:
    if not trend.environments:
        return []
    by_date = trend.selection.x == DATE
    return [
        {
            "type": "scatter",
            "name": "environment",
            "mode": "markers",
            "yaxis": "y2",
            "cliponaxis": False,
            "x": [_iso(one.at) if by_date else index[one.right] for one in trend.environments],
            "y": [0.02] * len(trend.environments),
            "text": [
                "<br>".join([*(escape(key.text) for key in one.keys[:6]), *_and_more(len(one.keys) - 6)])
                for one in trend.environments
            ],
            "customdata": [difference_url(one.left_trial, one.right_trial) for one in trend.environments],
            "hovertemplate": "%{text}<extra></extra>",
            "marker": {"symbol": "triangle-up", "size": 11, "color": "var(--warn)"},
        }
    ]


def _annotations(annotations: Sequence[AnnotationRow]) -> list[dict[str, Any]]:
    if not annotations:
        return []
    return [
        {
            "type": "scatter",
            "name": "annotations",
            "mode": "markers",
            "yaxis": "y2",
            "cliponaxis": False,
            "x": [_iso(one.at) for one in annotations],
            "y": [0.98] * len(annotations),
            "text": [f"{escape(one.text)}<br>{one.at:%Y-%m-%d %H:%M}, {escape(one.created_by)}" for one in annotations],
            "hovertemplate": "%{text}<extra></extra>",
            "marker": {"symbol": "triangle-down", "size": 11, "color": "var(--accent)"},
        }
    ]


def _and_more(count: int) -> list[str]:
    return [gettext("and {n} more").format(n=count)] if count > 0 else []


def _iso(moment: datetime) -> str:
    return moment.isoformat(" ", "seconds")[:19]
