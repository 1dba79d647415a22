"""Plotly's traces → matplotlib's artists. What is not known here is refused, never left out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.markers import MarkerStyle

from webapp.drawing.style import PX_PER_INCH, Shape, colour, dash

_MARKERS = {
    "circle": "o",
    "square": "s",
    "triangle-up": "^",
    "diamond": "D",
    "cross": "P",
    "x": "X",
    "triangle-down": "v",
    "star": "*",
    "line-ew-open": "_",
    "line-ns-open": "|",
}
_STROKES = ("_", "|")
_OUTLIER = "-open-dot"
_POINTS = 72 / PX_PER_INCH  # in a px
_BAR = 0.65  # of the room of a row: Plotly's bargap of 0.35
_Trace = Mapping[str, Any]
Link = Callable[[Any], str]


def draw_trace(axes: Axes, trace: _Trace, shape: Shape, link: Link | None) -> None:
    """Draw a trace. Raises ValueError for a kind that is not drawn here.

    link: what a mark's customdata leads to"""
    if trace["type"] == "bar" and trace.get("orientation") == "h":
        _bars(axes, trace)
    elif trace["type"] == "scatter" and trace.get("fill") == "toself":
        _area(axes, trace)
    elif trace["type"] == "scatter" and "fill" not in trace:
        _scatter(axes, trace, shape, link)
    else:
        raise ValueError(f"A figure has a trace that is not drawn: {trace['type']} {trace.get('fill', '')}.")


def marker_of(symbol: str) -> str:
    return _MARKERS[symbol.removesuffix(_OUTLIER)]


def _numbers(values: Sequence[float | None]) -> list[float]:
    return [math.nan if value is None else value for value in values]


def _area(axes: Axes, trace: _Trace) -> None:
    """Fill each piece between the gaps."""
    face, opacity = colour(trace["fillcolor"])
    piece: list[tuple[float, float]] = []
    for x, y in [*zip(trace["x"], trace["y"], strict=True), (None, None)]:
        if x is not None and y is not None:
            piece.append((x, y))
        elif piece:
            axes.fill(*zip(*piece, strict=True), color=face, alpha=opacity, linewidth=0, zorder=1)
            piece = []


def _scatter(axes: Axes, trace: _Trace, shape: Shape, link: Link | None) -> None:
    modes = trace["mode"].split("+")
    if "lines" in modes:
        _line(axes, trace, shape)
    if "markers" in modes:
        _marks(axes, trace, shape, link)
    for name in ("error_x", "error_y"):
        if name in trace:
            _intervals(axes, trace, name, shape)


def _line(axes: Axes, trace: _Trace, shape: Shape) -> None:
    stroke, opacity = colour(trace["line"]["color"])
    style = "--" if trace["line"].get("dash") else dash((trace.get("meta") or {}).get("series", 0), shape)
    width = trace["line"]["width"] * _POINTS * shape.scale
    xs, ys = _numbers(trace["x"]), _numbers(trace["y"])
    axes.plot(xs, ys, color=stroke, alpha=opacity, linestyle=style, linewidth=width, zorder=2)


def _marks(axes: Axes, trace: _Trace, shape: Shape, link: Link | None) -> None:
    marker = trace["marker"]
    symbol = marker["symbol"]
    face, opacity = colour(marker["color"])
    glyph, size = marker_of(symbol), marker["size"] * _POINTS * shape.scale
    xs, ys = _numbers(trace["x"]), _numbers(trace["y"])
    look: dict[str, Any] = {"color": face, "alpha": opacity, "linewidths": 0}
    if glyph in _STROKES:
        width = (marker.get("line") or {}).get("width", 2) * _POINTS * shape.scale
        look = {"color": colour((marker.get("line") or {}).get("color", marker["color"]))[0], "linewidths": width}
    elif symbol.endswith(_OUTLIER):
        axes.scatter(xs, ys, s=(size / 3) ** 2, marker="o", color=face, linewidths=0, zorder=3)
        look = {"facecolors": "none", "edgecolors": face, "linewidths": 1.2 * _POINTS * shape.scale}
    drawn = axes.scatter(xs, ys, s=size**2, marker=MarkerStyle(glyph), zorder=3, **look)
    if link and trace.get("customdata"):
        drawn.set_urls([link(data) for data in trace["customdata"]])


def _intervals(axes: Axes, trace: _Trace, name: str, shape: Shape) -> None:
    ends = trace[name]
    both = [_numbers(ends["arrayminus"]), _numbers(ends["array"])]
    stroke, _ = colour(ends["color"])
    width = ends["thickness"] * _POINTS * shape.scale
    axes.errorbar(
        _numbers(trace["x"]),
        _numbers(trace["y"]),
        xerr=both if name == "error_x" else None,
        yerr=both if name == "error_y" else None,
        fmt="none",
        ecolor=stroke,
        elinewidth=width,
        capsize=3,
    )


def _bars(axes: Axes, trace: _Trace) -> None:
    """Stack a segment upon what the row has, or stand it where its base says."""
    face, opacity = colour(trace["marker"]["color"])
    edge = trace["marker"].get("line") or {"color": "var(--paper)", "width": 0}
    reached: dict[float, float] = axes.__dict__.setdefault("_teiten_stacked", {})
    for place, (row, value) in enumerate(zip(trace["y"], trace["x"], strict=True)):
        if value is None:
            continue
        left = trace["base"][place] if "base" in trace else reached.get(row, 0.0)
        reached[row] = left + value
        axes.barh(
            row,
            value,
            left=left,
            height=_BAR,
            color=face,
            alpha=opacity,
            edgecolor=colour(edge["color"])[0],
            linewidth=edge["width"] * _POINTS,
            zorder=2,
        )
