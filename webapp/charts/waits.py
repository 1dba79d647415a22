"""What sessions wait for over a trial's time, as an area beside the CPU. Pure.

An event has the colour of its type in every trial; several of a type differ in shade, the commonest the deepest.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from results.domain.measurement.series import Series
from results.domain.messages import gettext_lazy as _
from results.domain.messages import localized
from webapp.charts.lines import line
from webapp.charts.style import escape

NAME = "waits"
MOST_EVENTS = 8
OTHERS = _("others")
_COLOURS = {"CPU": 3, "Lock": 1, "LWLock": 4, "IO": 2, "Client": 6, "IPC": 5, "Timeout": 7, "BufferPin": 7}
_OTHER_COLOUR = 0
_SHADES = (85, 55, 30)  # percent; static/css/figures.css has the same for the key


@dataclass(frozen=True)
class Paint:
    """How one wait event is drawn.

    colour: number of the palette's colour.
    shade: 0 is the deepest."""

    colour: int
    shade: int

    @property
    def fill(self) -> str:
        return f"var(--s{self.colour}) {_SHADES[self.shade]}%"


def traces(series: Sequence[Series], node: str) -> list[dict[str, Any]]:
    """The stacked areas of one node, running sessions at the bottom, then the commonest waits. [] where none was
    sampled."""
    paints = paints_of(_sums(series))
    mine = [one for one in series if one.name == NAME and one.node == node]
    known = {one.label: one for one in mine if one.label in paints}
    rest = [one for one in mine if one.label not in paints]
    if rest:
        known[OTHERS] = _together(rest)
    order = [label for label in (*paints, OTHERS) if label in known]
    return [_area(known[label], label, paints.get(label, Paint(_OTHER_COLOUR, 1)), node) for label in order]


def key(series: Sequence[Series]) -> list[tuple[int, int, str]]:
    """(colour, shade, event) of each area, for the list beside the figure."""
    paints = paints_of(_sums(series))
    entries = [(paint.colour, paint.shade, label) for label, paint in paints.items()]
    left_out = {one.label for one in series if one.name == NAME} - paints.keys()
    return [*entries, (_OTHER_COLOUR, 1, OTHERS)] if left_out else entries


def paints_of(sums: Mapping[str, float]) -> dict[str, Paint]:
    """What is drawn by itself, of events and how often they were seen: commonest first but running sessions before all,
    at most MOST_EVENTS, and of a type as many as there are shades."""
    taken: defaultdict[int, int] = defaultdict(int)
    paints: dict[str, Paint] = {}
    for label in sorted(sums, key=lambda label: (not label.startswith("CPU"), -sums[label], label)):
        colour = _COLOURS.get(label.partition(":")[0], _OTHER_COLOUR)
        if len(paints) < MOST_EVENTS and taken[colour] < len(_SHADES):
            paints[label] = Paint(colour, taken[colour])
            taken[colour] += 1
    return paints


def _sums(series: Sequence[Series]) -> dict[str, float]:
    sums: defaultdict[str, float] = defaultdict(float)
    for one in series:
        if one.name == NAME:
            sums[one.label] += math.fsum(value for value in one.values if value == value)
    return sums


def _together(series: Sequence[Series]) -> Series:
    return replace(series[0], values=tuple(map(math.fsum, zip(*(one.values for one in series), strict=True))))


def _area(series: Series, label: str, paint: Paint, node: str) -> dict[str, Any]:
    return line(series, f"var(--s{paint.colour})", "") | {
        "stackgroup": f"waits {node}",
        "name": escape(localized(label)),
        "fillcolor": paint.fill,
        "line": {"color": f"var(--s{paint.colour})", "width": 0.5, "shape": "hv"},
        "hovertemplate": "%{y:,.3~g}",
    }
