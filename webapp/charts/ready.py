"""Figures of the ready views: ratios around 1, totals over nodes, values side by side. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from results.queries.access_methods import AccessMethodTable
from results.queries.topologies import TopologyTable
from results.queries.versions import Versions
from results.units import format_quantity, scale_for
from webapp.charts.style import Figure, axis, colour, escape, layout, mark, numbers

MOST_ROWS = 60
_BREAK = "<br>"
_ROW_PX = 26
_LINE_PX = 16
_ROW_LETTERS = 30  # in a line of a row's name
_GROUP_LETTERS = 20  # in a line of the name of a group of bars


@dataclass(frozen=True)
class Dot:
    """A ratio of one series. url: where it leads."""

    series: int
    ratio: float
    text: str
    url: str


def ratios_figure(rows: Sequence[tuple[str, Sequence[Dot]]], names: Sequence[str], title: str) -> Figure:
    """A row each, a dot a series, on a logarithmic axis with a line at 1."""
    shown = rows[:MOST_ROWS]
    data: list[dict[str, Any]] = []
    for series, name in enumerate(names):
        dots = [(place, dot) for place, (_, dots) in enumerate(shown) for dot in dots if dot.series == series]
        data.append(
            {
                "type": "scatter", "mode": "markers", "name": escape(name),
                "x": numbers([dot.ratio for _, dot in dots]), "y": [place for place, _ in dots],
                "text": [escape(dot.text) for _, dot in dots], "customdata": [dot.url for _, dot in dots],
                "hovertemplate": "%{text}<extra></extra>",
                "marker": {"symbol": mark(series), "size": 10, "color": colour(series)},
            }
        )  # fmt: skip
    texts = [_wrapped(name, _ROW_LETTERS) for name, _ in shown]
    y_axis = axis(
        tickvals=list(range(len(shown))), ticktext=texts,
        range=[len(shown) - 0.5, -0.5], automargin=True, zeroline=False,
    )  # fmt: skip
    one = {"type": "line", "x0": 1, "x1": 1, "yref": "paper", "y0": 0, "y1": 1, "line": {"color": "var(--faint)"}}
    x_axis = axis(title, type="log", tickformat=",.2~f", nticks=8, zeroline=False)
    lines = max((text.count(_BREAK) for text in texts), default=0)
    height = 90 + (_ROW_PX + _LINE_PX * lines) * max(len(shown), 3)
    return {"data": data, "layout": layout(height, xaxis=x_axis, yaxis=y_axis, shapes=[one], hovermode="closest")}


def _wrapped(name: str, letters: int) -> str:
    return _BREAK.join(escape(line) for line in wrap(name, letters))


def versions_figure(found: Versions, urls: Sequence[Sequence[str]]) -> Figure:
    """urls: of each row's cells."""
    rows = []
    for row, addresses in zip(found.rows, urls, strict=True):
        dots = [
            Dot(place, cell.speed, f"{row.name}, {cell.version}: ×{cell.speed:.3f} of {row.base}", url)
            for place, (cell, url) in enumerate(zip(row.cells, addresses, strict=True))
            if cell is not None and cell.speed and cell.version != row.base
        ]
        named = f"{row.workload}, {row.metric.label.lower()}{', published' if row.published else ''}"
        rows.append((row.name if found.workload else named, dots))
    return ratios_figure(rows, found.versions, "speed, 1 = the baseline")


def topology_figure(table: TopologyTable, urls: dict[int, str]) -> Figure:
    """Totals over nodes, a line a kind, with the ideal from its first node. urls: trial → its address."""
    kinds = list(dict.fromkeys(line.kind for line in table.lines))
    divisor, unit = scale_for(max((line.total for line in table.lines), default=1.0), table.metric.unit)
    data: list[dict[str, Any]] = []
    for index, kind in enumerate(kinds):
        known = [line for line in table.lines if line.kind == kind and line.nodes]
        lines = sorted(known, key=lambda line: line.nodes or 0)
        data.append(
            {
                "type": "scatter", "mode": "lines+markers", "name": escape(kind),
                "x": [line.nodes for line in lines], "y": numbers([line.total / divisor for line in lines]),
                "text": [
                    f"{escape(kind)}, {line.nodes} nodes<br><b>{format_quantity(line.total, table.metric.unit)}</b>"
                    for line in lines
                ],
                "customdata": [urls[line.trial_ids[0]] for line in lines], "hovertemplate": "%{text}<extra></extra>",
                "line": {"color": colour(index), "width": 2},
                "marker": {"symbol": mark(index), "size": 9, "color": colour(index)},
            }
        )  # fmt: skip
        if len(lines) > 1 and lines[0].nodes == 1:
            most = lines[-1].nodes or 1
            data.append(
                {
                    "type": "scatter", "mode": "lines", "name": "ideal", "x": [1, most],
                    "y": numbers([lines[0].total / divisor, most * lines[0].total / divisor]), "hoverinfo": "skip",
                    "line": {"color": colour(index, 45), "width": 1, "dash": "dot"},
                }
            )  # fmt: skip
    x_axis = axis("nodes", dtick=1, showgrid=False)
    y_axis = axis(f"{table.metric.label} ({unit})", rangemode="tozero", nticks=6, tickformat=",~r")
    return {"data": data, "layout": layout(280, xaxis=x_axis, yaxis=y_axis, hovermode="closest")}


def values_figure(table: AccessMethodTable, columns: Sequence[tuple[str, str]], urls: dict[int, str]) -> Figure:
    """Bars: a group a line of the table, a bar a column. columns: of all tables of the page, a colour each."""
    cells = [cell for _, row in table.lines for cell in row if cell is not None]
    divisor, unit = scale_for(max((cell.value for cell in cells), default=1.0), table.metric.unit)
    groups = list(range(len(table.lines)))
    data = []
    for place, (method, build) in enumerate(table.columns):
        found = [row[place] for _, row in table.lines]
        data.append(
            {
                "type": "bar", "name": escape(f"{method}, {build}"), "x": groups,
                "y": [None if cell is None else float(f"{cell.value / divisor:.7g}") for cell in found],
                "text": [
                    "" if cell is None else f"{escape(method)}, {escape(build)}<br><b>"
                    f"{format_quantity(cell.value, table.metric.unit)}</b>" for cell in found
                ],
                "customdata": ["" if cell is None else urls[cell.trial_ids[0]] for cell in found],
                "hovertemplate": "%{text}<extra></extra>", "textposition": "none",
                "marker": {"color": colour(columns.index((method, build)))},
            }
        )  # fmt: skip
    names = [_wrapped(name, _GROUP_LETTERS) for name, _ in table.lines]
    x_axis = axis(showgrid=False, zeroline=False, automargin=True, tickvals=groups, ticktext=names)
    y_axis = axis(unit or table.metric.label, rangemode="tozero", nticks=6, tickformat=",~r")
    return {"data": data, "layout": layout(260, xaxis=x_axis, yaxis=y_axis, barmode="group", bargap=0.25)}
