"""What happened while a trial was measured, as marks and spans over its time axis. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext

from results.domain.messages import gettext_lazy as _
from results.domain.messages import localized
from webapp.charts.style import colour, escape

_BEGINNING = re.compile(r"\bstarting\b")
_END = re.compile(r"\bcomplete\b")
_ELAPSED = re.compile(r"\belapsed: ([\d.]+) s\b")
_TITLE_PX, _LANE_PX = 18, 15  # marks stand above the title of the first row, each kind in a lane of its own


@dataclass(frozen=True)
class _Look:
    """How marks of one kind are drawn.

    colour: place in the palette.
    dash: Plotly's name of the line's style."""

    colour: int
    glyph: str
    dash: str


_LOOKS = {
    "checkpoint": _Look(3, "◆", "solid"),
    "autovacuum": _Look(4, "▲", "dash"),
    "background": _Look(7, "■", "longdashdot"),
    "failover": _Look(5, "▼", "solid"),
    "promoted": _Look(2, "★", "longdash"),
    "service": _Look(6, "✚", "dashdot"),
    "error": _Look(1, "✖", "dot"),
    "fatal": _Look(1, "✖", "dot"),
    "panic": _Look(1, "✖", "dot"),
}
_OTHER = _Look(0, "●", "dot")
_WORDS = {
    "checkpoint": _("checkpoint"),
    "autovacuum": _("autovacuum"),
    "background": _("background"),
    "failover": _("failover"),
    "promoted": _("promoted"),
    "service": _("service"),
    "step": _("step"),
    "server": _("server"),
    "error": _("error"),
}


@dataclass(frozen=True)
class Mark:
    """An event on the time axis.

    until_s: its end, None for a moment or where the end is not known."""

    at_s: float
    until_s: float | None
    kind: str
    node: str
    text: str


def marks(events: Sequence[Mapping[str, Any]]) -> list[Mark]:
    """Return the marks of the events. A text that says `starting` and the next one of the same kind and node that says
    `complete` are one span; a text with `elapsed: … s` ends a span of that length.

    events: {at_s, kind, node, text}, in any order."""
    placed: list[Mark] = []
    open_at: dict[tuple[str, str], int] = {}
    for event in sorted(events, key=lambda one: float(one["at_s"])):
        at_s, kind, node, text = float(event["at_s"]), str(event["kind"]), str(event["node"]), event["text"]
        begun = open_at.pop((kind, node), None) if _END.search(text) else None
        if begun is not None:
            placed[begun] = Mark(placed[begun].at_s, at_s, kind, node, text)
        elif elapsed := _ELAPSED.search(text):
            placed.append(Mark(at_s - float(elapsed[1]), at_s, kind, node, text))
        else:
            if _BEGINNING.search(text):
                open_at[kind, node] = len(placed)
            placed.append(Mark(at_s, None, kind, node, text))
    return placed


def event_marks(events: Sequence[Mapping[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]], int]:
    """(shapes, annotations, px) for a layout with the time as its x axis: a line at each beginning, a shade over each
    span, a glyph above that says more when pointed at; how much the margin above must grow for the glyphs."""
    all_marks = marks(events)
    lanes = {kind: lane for lane, kind in enumerate(reversed(_kinds(events)))}
    shapes = [shape for mark in all_marks for shape in _shapes(mark)]
    return shapes, [_glyph(mark, lanes[mark.kind]) for mark in all_marks], len(lanes) * _LANE_PX


def event_key(events: Sequence[Mapping[str, Any]]) -> list[tuple[int, str, str]]:
    """(colour, glyph, kind) of each kind that comes, as `webapp.charts.style.key` has it for series."""
    return [(_look(kind).colour, _look(kind).glyph, event_words(kind)) for kind in _kinds(events)]


def event_words(kind: str) -> str:
    """What a reader calls the kind; those that no one has named here are as they were recorded."""
    return _WORDS.get(kind, kind)


def _kinds(events: Sequence[Mapping[str, Any]]) -> list[str]:
    known = [*_LOOKS]
    kinds = {str(event["kind"]) for event in events}
    return sorted(kinds, key=lambda kind: (known.index(kind) if kind in known else len(known), kind))


def _look(kind: str) -> _Look:
    return _LOOKS.get(kind, _OTHER)


def _shapes(mark: Mark) -> list[dict[str, Any]]:
    look = _look(mark.kind)
    whole = {"yref": "paper", "y0": 0, "y1": 1, "layer": "below"}
    line = {
        **whole,
        "type": "line",
        "x0": mark.at_s,
        "x1": mark.at_s,
        "line": {"color": colour(look.colour), "width": 1.2, "dash": look.dash},
    }
    if mark.until_s is None:
        return [line]
    shade = {
        **whole,
        "type": "rect",
        "x0": mark.at_s,
        "x1": mark.until_s,
        "fillcolor": colour(look.colour, 14),
        "line": {"width": 0},
    }
    return [shade, line]


def _glyph(mark: Mark, lane: int) -> dict[str, Any]:
    look = _look(mark.kind)
    words = gettext("{kind} on {node}, {at:.2f} s")
    if mark.until_s is not None:
        words = gettext("{kind} on {node}, {at:.2f} s to {until:.2f} s")
    kind = localized(event_words(mark.kind))
    hover = words.format(kind=escape(kind), node=escape(mark.node), at=mark.at_s, until=mark.until_s)
    return {
        "text": look.glyph,
        "hovertext": f"{hover}<br>{escape(mark.text)}",
        "x": mark.at_s,
        "y": 1,
        "xref": "x",
        "yref": "paper",
        "xanchor": "center",
        "yanchor": "bottom",
        "yshift": _TITLE_PX + lane * _LANE_PX,
        "showarrow": False,
        "font": {"color": colour(look.colour), "size": 12},
    }
