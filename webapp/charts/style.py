"""What all figures share: colours by name (static/js/charts.js turns them into the theme's), marks, axes. Pure.

A figure is a plain dictionary {"data": [...], "layout": {...}} as Plotly reads it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from django.utils.translation import pgettext

from results.domain.messages import localized
from webapp.language import in_english

Figure = dict[str, Any]

MARKS = ("circle", "square", "triangle-up", "diamond", "cross", "x", "triangle-down", "star")
GLYPHS = ("●", "■", "▲", "◆", "✚", "✖", "▼", "★")
PALETTE = len(MARKS)
_WORDS_PX = 110


def colour(index: int, percent: int = 100) -> str:
    """The colour of the index-th series, in the style sheet's words."""
    name = f"var(--s{index % PALETTE})"
    return name if percent == 100 else f"{name} {percent}%"


def mark(index: int) -> str:
    return MARKS[index % PALETTE]


def glyph(index: int) -> str:
    return GLYPHS[index % PALETTE]


def key(names: Sequence[str]) -> list[tuple[int, str, str]]:
    """(colour, glyph, name) of each series for the list beside a figure; past the palette both begin anew."""
    return [(index % PALETTE, glyph(index), name) for index, name in enumerate(names)]


def axis(title: str = "", **more: Any) -> dict[str, Any]:
    base: dict[str, Any] = {
        "gridcolor": "var(--line)",
        "linecolor": "var(--line)",
        "zerolinecolor": "var(--line)",
        "tickfont": {"color": "var(--soft)"},
        "separatethousands": True,
        "fixedrange": False,
    }
    if title:
        base["title"] = {"text": escape(title), "font": {"color": "var(--faint)", "size": 12}, "standoff": 8}
    return base | more


def with_unit(label: str, unit: str) -> str:
    """Return an axis' title: what it shows and its unit, in the reader's language; without a unit the label alone."""
    label = localized(label)
    return pgettext("axis", "{label} ({unit})").format(label=label, unit=unit) if unit and unit != label else label


def dates() -> dict[str, Any]:
    """Return how an axis of dates writes them: as pages do, but for English, which has Plotly's own words of months."""
    if in_english():
        return {}
    day = 24 * 60 * 60 * 1000
    stops = ([None, day - 1], "%H:%M\n%Y-%m-%d"), (["M1", None], "%Y-%m"), ([day, None], "%m-%d\n%Y")
    return {"tickformatstops": [{"dtickrange": reach, "value": form} for reach, form in stops]}


def layout(height: int, largest: float = 0.0, **more: Any) -> dict[str, Any]:
    """Return a figure's layout.

    largest: number on the vertical axis. Its label gets the room that it needs from the start: Plotly draws a figure
        anew, every mark of it, for each margin that it has to widen."""
    return {
        "height": height,
        "margin": {"l": max(64, 38 + 7 * len(f"{largest:,.0f}")), "r": 14, "t": 12, "b": 44},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": "var(--soft)", "size": 12},
        "showlegend": False,
        "hoverlabel": {
            "bgcolor": "var(--paper)",
            "bordercolor": "var(--line)",
            "font": {"color": "var(--ink)"},
            "align": "left",
        },
        "dragmode": "zoom",
    } | more


def or_words(figure: Figure, words: str) -> Figure:
    """Return the figure, or where none of its traces has a value, these words in its place, without axes."""
    if any(trace.get("x") for trace in figure["data"]):
        return figure
    middle = {"x": 0.5, "y": 0.5, "xref": "paper", "yref": "paper", "showarrow": False}
    note = middle | {"text": escape(words), "font": {"color": "var(--soft)", "size": 14}}
    hidden = {"visible": False, "fixedrange": True}
    return {"data": [], "layout": layout(_WORDS_PX, xaxis=hidden, yaxis=hidden, annotations=[note])}


def escape(text: str) -> str:
    """Plotly reads a little HTML in texts; names of users must not become markup. Messages are in the reader's
    language."""
    return localized(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def json_numbers(values: Sequence[float]) -> list[float | None]:
    """JSON has no NaN: gaps become null. Seven digits, as many as a stored sample has."""
    return [float(f"{value:.7g}") if math.isfinite(value) else None for value in values]
