"""Figures of the ready views: ratios around 1, totals over nodes. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from django.utils.translation import gettext, pgettext

from results.domain.messages import localized
from results.domain.units import format_quantity, scale_for
from results.queries.presets.access_method_summary import Summary, SummaryCell
from results.queries.presets.topologies import TopologyLine, TopologyTable
from results.queries.presets.version_rows import VersionRow
from results.queries.presets.versions import Versions
from webapp.charts.style import Figure, axis, colour, escape, json_numbers, layout, mark, or_words, with_unit
from webapp.language import joined, within_a_line

MOST_ROWS = 60
_BREAK = "<br>"
_ROW_PX = 26
_LINE_PX = 16
_ROW_LETTERS = 30  # in a line of a row's name


@dataclass(frozen=True)
class Dot:
    """A ratio of one series.

    url: where it leads.
    low, high: its interval; None where it has none."""

    series: int
    ratio: float
    text: str
    url: str
    low: float | None = None
    high: float | None = None


def ratios_figure(rows: Sequence[tuple[str, Sequence[Dot]]], names: Sequence[str], title: str) -> Figure:
    """A row each, a dot a series, on a logarithmic axis with a line at 1."""
    shown = rows[:MOST_ROWS]
    data: list[dict[str, Any]] = []
    for series, name in enumerate(names):
        dots: list[tuple[int, Dot]] = []
        for index, (_, of_row) in enumerate(shown):
            dots += [(index, dot) for dot in of_row if dot.series == series]
        data.append(_ratios_trace(series, name, dots))
    texts = [_wrapped(name, _ROW_LETTERS) for name, _ in shown]
    y_axis = axis(
        tickvals=list(range(len(shown))),
        ticktext=texts,
        range=[len(shown) - 0.5, -0.5],
        automargin=True,
        zeroline=False,
    )
    one = {"type": "line", "x0": 1, "x1": 1, "yref": "paper", "y0": 0, "y1": 1, "line": {"color": "var(--faint)"}}
    x_axis = axis(title, type="log", tickformat=",.2~f", nticks=8, zeroline=False)
    lines = max((text.count(_BREAK) for text in texts), default=0)
    height = 90 + (_ROW_PX + _LINE_PX * lines) * max(len(shown), 3)
    figure = {"data": data, "layout": layout(height, xaxis=x_axis, yaxis=y_axis, shapes=[one], hovermode="closest")}
    return or_words(figure, gettext("There is no ratio to draw."))


def _ratios_trace(series: int, name: str, dots: Sequence[tuple[int, Dot]]) -> dict[str, Any]:
    """Return the trace of the ratios of one version.

    dots: with the index of their row."""
    return {
        "type": "scatter",
        "mode": "markers",
        "name": escape(name),
        "x": json_numbers([dot.ratio for _, dot in dots]),
        "y": [row for row, _ in dots],
        "text": [escape(dot.text) for _, dot in dots],
        "customdata": [dot.url for _, dot in dots],
        "hovertemplate": "%{text}<extra></extra>",
        "marker": {"symbol": mark(series), "size": 10, "color": colour(series)},
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": json_numbers([(dot.high or dot.ratio) - dot.ratio for _, dot in dots]),
            "arrayminus": json_numbers([dot.ratio - (dot.low or dot.ratio) for _, dot in dots]),
            "thickness": 1.5,
            "width": 4,
        },
    }


def _wrapped(name: str, letters: int) -> str:
    return _BREAK.join(escape(line) for line in wrap(name, letters))


def versions_figure(versions: Versions, urls: Sequence[Sequence[str]]) -> Figure:
    """Return the figure of all workloads over the versions.

    urls: of each row's cells."""
    rows = []
    for row, addresses in zip(versions.rows, urls, strict=True):
        dots: list[Dot] = []
        for index, (cell, url) in enumerate(zip(row.cells, addresses, strict=True)):
            if cell is not None and cell.ratio and cell.version != row.base:
                text = gettext("{row}, {version}: ×{ratio:.3f} of {base}")
                text = text.format(row=localized(row.name), version=cell.version, ratio=cell.ratio, base=row.base)
                dots.append(Dot(index, cell.ratio, text, url, cell.low, cell.high))
        rows.append((localized(row.name) if versions.workload else _named(row), dots))
    title = gettext("ratio, 1 = the baseline") if versions.metric else gettext("speed, 1 = the baseline")
    return ratios_figure(rows, versions.versions, title)


def _named(row: VersionRow) -> str:
    parts = [row.workload, within_a_line(row.metric.label)]
    if row.published:
        parts.append(pgettext("figures", "published"))
    return joined(parts)


def access_methods_figure(summary: Summary, columns: Sequence[tuple[str, str]], url: Callable[[int], str]) -> Figure:
    """Return the ratios to the heap, a row a question.

    columns: (access method, build) of the page, a colour each.
    url: of a trial."""
    rows = []
    for index, (question, _) in enumerate(summary.questions):
        name = localized(question)
        dots: list[Dot] = []
        for row in summary.rows:
            cell = row.cells[index]
            if cell and not row.is_heap:
                column = columns.index((row.access_method, row.installation))
                dots += _ratio_dots(cell, column, joined([name, row.access_method, row.installation]), url)
        rows.append((name, dots))
    return ratios_figure(rows, [joined([method, build]) for method, build in columns], gettext("ratio to heap"))


def _ratio_dots(cell: SummaryCell, column: int, name: str, url: Callable[[int], str]) -> list[Dot]:
    dots = []
    for point in cell.comparable:
        text = gettext("{name}: ×{ratio:.3f} of heap").format(name=name, ratio=point.ratio)
        dots.append(Dot(column, point.ratio or 1.0, text, url(point.values[0].trial_id)))
    return dots


def topology_figure(table: TopologyTable, url: Callable[[int], str]) -> Figure:
    """Totals over nodes, a line a kind, with the ideal from its first node.

    url: of a trial."""
    divisor, unit = scale_for(max((line.total for line in table.lines), default=1.0), table.metric.unit)
    data: list[dict[str, Any]] = []
    for index, kind in enumerate(dict.fromkeys(line.kind for line in table.lines)):
        known = [line for line in table.lines if line.kind == kind and line.nodes]
        lines = sorted(known, key=lambda line: line.nodes or 0)
        data.append(_totals_trace(kind, index, lines, table.metric.unit, divisor, url))
        if len(lines) > 1 and lines[0].nodes == 1:
            data.append(_ideal_trace(index, lines[-1].nodes or 1, lines[0].total, divisor))
    x_axis = axis(gettext("nodes"), dtick=1, showgrid=False)
    y_axis = axis(with_unit(table.metric.label, unit), rangemode="tozero", nticks=6, tickformat=",~r")
    figure = {"data": data, "layout": layout(280, xaxis=x_axis, yaxis=y_axis, hovermode="closest")}
    return or_words(figure, gettext("No number of nodes is known."))


def _totals_trace(
    kind: str, index: int, lines: Sequence[TopologyLine], unit: str, divisor: float, url: Callable[[int], str]
) -> dict[str, Any]:
    """Return the trace of the means over all workloads.

    index: of the kind, by which it has its colour.
    unit: of the totals.
    divisor: to the unit shown."""
    texts = []
    for line in lines:
        where = gettext("{kind}, {n} nodes").format(kind=escape(localized(kind)), n=line.nodes)
        texts.append(f"{where}<br><b>{format_quantity(line.total, unit)}</b>")
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": escape(localized(kind)),
        "x": [line.nodes for line in lines],
        "y": json_numbers([line.total / divisor for line in lines]),
        "text": texts,
        "customdata": [url(line.trial_ids[0]) for line in lines],
        "hovertemplate": "%{text}<extra></extra>",
        "line": {"color": colour(index), "width": 2},
        "marker": {"symbol": mark(index), "size": 9, "color": colour(index)},
    }


def _ideal_trace(index: int, nodes: int, of_one: float, divisor: float) -> dict[str, Any]:
    """What so many nodes would do if each did what one does."""
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "ideal",
        "x": [1, nodes],
        "y": json_numbers([of_one / divisor, nodes * of_one / divisor]),
        "hoverinfo": "skip",
        "line": {"color": colour(index, 45), "width": 1, "dash": "dot"},
    }
