"""Plotly's axes, shapes and notes → matplotlib's."""

from __future__ import annotations

import html
import math
import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator

from webapp.drawing.style import PX_PER_INCH, Shape, colour

TILT = 60  # degrees
_BOLD = re.compile(r"</?b>")
_HEADROOM = 1.06  # over the largest value of an axis that begins at zero
_LETTER = 0.58  # of a size of text: the width of a letter, roughly
_FEWEST_LETTERS = 8  # in a line of a wrapped name
_Name = Literal["x", "y"]
_Layout = Mapping[str, Any]
_Tick = tuple[float, str]


def plain(text: str) -> str:
    """The little HTML that Plotly reads → text with its line ends."""
    return html.unescape(_BOLD.sub("", text.replace("<br>", "\n")))


def draw_axes(axes: Axes, layout: _Layout, shape: Shape, width: float) -> None:
    """Set both axes, the shapes behind the traces, and the notes, after the traces are drawn.

    width: of the plot in px, roughly"""
    if layout["xaxis"].get("visible", True) is False:
        axes.set_axis_off()
    both: tuple[tuple[_Name, _Layout], ...] = (("x", layout["xaxis"]), ("y", layout["yaxis"]))
    for name, described in both:
        _scale(axes, name, described)
        _ticks(axes, name, described, shape, width)
        _look(axes, name, described, shape)
    for one in layout.get("shapes", ()):
        _shape(axes, one)
    for note in layout.get("annotations", ()):
        _note(axes, note, shape)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left", "bottom"):
        axes.spines[side].set_visible(side == "bottom" and not layout.get("meta", {}).get("rows"))
        axes.spines[side].set_color(colour("var(--line)")[0])


def _scale(axes: Axes, name: _Name, described: _Layout) -> None:
    limit = axes.set_xlim if name == "x" else axes.set_ylim
    log = described.get("type") == "log"
    if log:
        (axes.set_xscale if name == "x" else axes.set_yscale)("log")
    if "range" in described:
        ends = described["range"]
        limit(*(10**end if log else end for end in ends))
    elif described.get("rangemode") == "tozero" and not log:
        low, high = (axes.dataLim.x0, axes.dataLim.x1) if name == "x" else (axes.dataLim.y0, axes.dataLim.y1)
        limit(min(low * 1.05, 0.0), max(high * _HEADROOM, 0.0) if math.isfinite(high) and high else 1.0)


def _ticks(axes: Axes, name: _Name, described: _Layout, shape: Shape, width: float) -> None:
    axis: Axis = axes.xaxis if name == "x" else axes.yaxis
    if "tickvals" in described:
        _named_ticks(axis, name, described, shape, width)
    elif described.get("type") == "log":
        subs = (1.0, 2.0, 5.0) if described.get("dtick") == "D2" else (1.0,)
        axis.set_major_locator(LogLocator(subs=subs))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(FuncFormatter(_number))
    else:
        axis.set_major_locator(MaxNLocator(described.get("nticks", 7), steps=[1, 2, 2.5, 5, 10]))
        axis.set_major_formatter(FuncFormatter(_number))


def _named_ticks(axis: Axis, name: str, described: _Layout, shape: Shape, width: float) -> None:
    """Below a figure, names that have no room beside each other are wrapped or tilted, and numbers left out."""
    ticks = list(zip(described["tickvals"], map(plain, described["ticktext"]), strict=True))
    letter_px = shape.text / 72 * PX_PER_INCH * _LETTER
    letters = int(width / max(len(ticks), 1) / letter_px) - 1  # that each has room for
    if name == "y" or not ticks:
        _set_ticks(axis, ticks)
    elif described.get("tickangle") == 0:
        _set_ticks(axis, _that_fit(ticks, described.get("type") == "log", letter_px, width))
    elif letters >= min(_FEWEST_LETTERS, max(len(text) for _, text in ticks)):
        _set_ticks(axis, [(place, textwrap.fill(text, letters)) for place, text in ticks])
    else:
        _set_ticks(axis, ticks)
        for label in axis.get_ticklabels():
            label.set(rotation=TILT, horizontalalignment="right", rotation_mode="anchor")


def _set_ticks(axis: Axis, ticks: Sequence[_Tick]) -> None:
    axis.set_major_locator(FixedLocator([place for place, _ in ticks]))
    axis.set_major_formatter(FixedFormatter([text for _, text in ticks]))
    axis.set_minor_locator(NullLocator())


def _that_fit(ticks: list[_Tick], log: bool, letter_px: float, width: float) -> list[_Tick]:
    """Return the last tick, and before it those that leave room to the next."""
    at = [math.log10(place) if log else place for place, _ in ticks]
    px = width / (((at[-1] - at[0]) * 1.1) or 1)
    kept = [len(at) - 1]
    for index in range(len(at) - 2, -1, -1):
        letters = 2 + (len(ticks[index][1]) + len(ticks[kept[-1]][1])) / 2
        if (at[kept[-1]] - at[index]) * px > letter_px * letters:
            kept.append(index)
    return [ticks[index] for index in reversed(kept)]


def _number(value: float, _position: int = 0) -> str:
    """'12,000', '0.25': as many digits as it has."""
    return f"{value:,.0f}" if value == round(value) else f"{value:,.6g}"


def _look(axes: Axes, name: _Name, described: _Layout, shape: Shape) -> None:
    axes.tick_params(axis=name, length=0, labelsize=shape.text, labelcolor=colour("var(--soft)")[0], pad=4)
    if described.get("showgrid", True):
        axes.grid(True, axis=name, color=colour("var(--line)")[0], linewidth=0.7)
    else:
        axes.grid(False, axis=name)
    if title := described.get("title"):
        label = axes.set_xlabel if name == "x" else axes.set_ylabel
        label(plain(title["text"]), fontsize=shape.text, color=colour("var(--soft)")[0])


def _shape(axes: Axes, one: _Layout) -> None:
    face = colour(one.get("fillcolor", "rgba(0,0,0,0)"))[0]
    line = colour(one["line"].get("color", "rgba(0,0,0,0)"))[0]
    across = one.get("xref") == "paper"
    low, high = (one["y0"], one["y1"]) if across else (one["x0"], one["x1"])
    if one["type"] == "rect":
        (axes.axhspan if across else axes.axvspan)(low, high, facecolor=face, linewidth=0, zorder=0)
    elif low == high:
        (axes.axhline if across else axes.axvline)(low, color=line, linewidth=one["line"]["width"], zorder=0.5)
    else:
        raise ValueError(f"A figure has a shape that is not drawn: {one}.")


def _note(axes: Axes, note: _Layout, shape: Shape) -> None:
    font = note.get("font", {})
    look: dict[str, Any] = {
        "color": colour(font.get("color", "var(--soft)"))[0],
        "fontsize": shape.text * (font.get("size", 12) / 12),
        "fontweight": "bold" if "<b>" in note["text"] else "normal",
        "va": "center",
        "ha": {"left": "left", "right": "right"}.get(note.get("xanchor", ""), "center"),
    }
    if note.get("xref") == "paper":
        axes.text(note["x"], note["y"], plain(note["text"]), transform=axes.transAxes, **look)
        return
    offset = (note.get("xshift", 0) * 72 / PX_PER_INCH, 0)
    axes.annotate(
        plain(note["text"]), (note["x"], note["y"]), offset, textcoords="offset points", annotation_clip=False, **look
    )
