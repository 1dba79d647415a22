"""Figures whose names stand in rows: whole, beside a plot that is as high as its rows need. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

from webapp.charts.style import Figure, escape

LETTERS = 26  # in a line of a row's name
TOP, BOTTOM = 12, 48
_LETTER_PX = 7.0
_LINE_PX = 15
_ROW_PX, _MARK_PX = 14, 11  # of a row, and of each series in it
_BREAK = "<br>"
_OF_X = {"x": "y", "y": "x", "xref": "yref", "yref": "xref", "x0": "y0", "x1": "y1", "y0": "x0", "y1": "x1"}


def wrapped(name: str, letters: int = LETTERS) -> str:
    """A name in as many lines as it needs, no letter of it left out."""
    return _BREAK.join(escape(line) for line in wrap(name, letters) or [""])


def left_px(names: Sequence[str]) -> int:
    """The margin that holds the longest line of these wrapped names."""
    return round(24 + _LETTER_PX * max((len(line) for name in names for line in name.split(_BREAK)), default=0))


def row_px(names: Sequence[str], marks: int) -> int:
    """How high each row is that has so many marks, or lines of its name, one below the other."""
    lines = max((name.count(_BREAK) + 1 for name in names), default=1)
    return max(_ROW_PX + _MARK_PX * marks, 8 + _LINE_PX * lines)


def name_axis(names: Sequence[str]) -> dict[str, Any]:
    """Names from the top, one a row."""
    return {
        "tickvals": list(range(len(names))),
        "ticktext": list(names),
        "range": [len(names) - 0.5, -0.5],
        "showgrid": False,
        "zeroline": False,
        "ticks": "outside",  # unseen: names stand a little apart from what begins at zero
        "ticklen": 6,
        "tickcolor": "rgba(0,0,0,0)",
        "tickfont": {"color": "var(--soft)"},
        "fixedrange": True,
    }


def are_long(names: Sequence[str]) -> bool:
    """Whether names below a figure would have to be turned and cut off."""
    return any(len(name) > LETTERS for name in names)


def as_rows(figure: Figure, xs: Sequence[str], series: int) -> Figure:
    """Return a figure over named levels turned on its side: a row a level, its values along the horizontal axis.

    figure: of `medians_figure`, whose levels are no numbers.
    series: how many stand beside each other at a level."""
    names = [wrapped(x) for x in xs]
    layout = figure["layout"]
    values = {key: value for key, value in layout["yaxis"].items() if key != "automargin"}
    turned = layout | {
        "height": TOP + BOTTOM + row_px(names, series) * max(len(names), 1),
        "margin": {"l": left_px(names), "r": 20, "t": TOP, "b": BOTTOM},
        "xaxis": values | {"showgrid": True},
        "yaxis": name_axis(names),
        "shapes": [_swapped(shape) for shape in layout.get("shapes", ())],
        "meta": layout.get("meta", {}) | {"rows": True},
    }
    return {"data": [_trace(trace, series) for trace in figure["data"]], "layout": turned}


def _trace(trace: Mapping[str, Any], series: int) -> dict[str, Any]:
    """Return a trace with its values along the horizontal axis, its marks apart by what a row leaves them."""
    turned = _swapped(trace)
    turned["y"] = [_spread(at, series) for at in turned["y"]]
    if "error_y" in turned:
        turned["error_x"] = turned.pop("error_y")
    if "hovertemplate" in turned:
        turned["hovertemplate"] = turned["hovertemplate"].replace("%{y:", "%{x:")
    if turned["marker"]["symbol"] == "line-ew-open":
        turned["marker"] = turned["marker"] | {"symbol": "line-ns-open", "size": _MARK_PX}
    return turned


def _spread(at: float, series: int) -> float:
    row = round(at)
    usual = min(0.16, 0.7 / max(series, 1))  # between two series at a level, in `medians_figure`
    return row + (at - row) * (0.8 / max(series, 1)) / usual


def _swapped(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return a trace or shape with what it says of x said of y."""
    return {_OF_X.get(key, key): value for key, value in part.items()}
