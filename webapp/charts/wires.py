"""Wires of an arrangement's drawing: who is driven, fed or told by whom, and their places in the gutter. Pure.

Wires run in a gutter left of the rows: each source has a lane of its own, from its row to that of the last node that it
reaches. Places are pixels, but '100%' is a row's height, whatever its text needs.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext, ngettext

from results.domain.matrix import ONE_LOAD, Load
from results.domain.messages import COMMA, linked
from results.domain.messages import gettext_lazy as _
from webapp.language import joined

_LANE, _EDGE, _HEAD = 14, 8, 6  # px: between lanes, before the first, of an arrow
_LOAD_Y, _STREAM_Y, _OUT_Y = 14, 30, 44
_WHOLE = "100%"
_FROM = re.compile(r"(\w+) from (\S+)")  # a check of this name says where a node gets its data or its queries from
_SYNC_STATE = "synchronous state"
LOAD, CONTROL = "load", "control"
_QUERIES = "queries"
_WAITED_FOR = ("sync", "quorum", "potential")


@dataclass(frozen=True)
class Edge:
    """Something that flows.

    look: load, queries, async, sync, control, or broken.
    text: of the arrow, for the row that it leads to."""

    source: str
    target: str
    look: str
    text: str


@dataclass(frozen=True)
class Wire:
    """A piece of a wire within a row: from (x1, y1) to (x2, y2).

    tip: the points of its arrow, '' without one."""

    look: str
    x1: float
    y1: str
    x2: float
    y2: str
    tip: str = ""


@dataclass(frozen=True)
class Lane:
    """The place of a source's wire.

    number: from the left, 0 first.
    first, last: the rows between which it runs."""

    number: int
    first: int
    last: int


def loads(spec: Mapping[str, Any]) -> Iterator[Edge]:
    """The load that each client puts on a server or pooler."""
    for load in [Load(**load) for load in spec.get("loads") or ()] or ONE_LOAD:
        if load.server not in spec["agents"] or load.client not in spec["agents"]:
            continue
        count = load.clients or (spec.get("parameters") or {}).get("clients", 0)
        yield Edge(load.client, load.server, LOAD, _load_text(load, count))


def _load_text(load: Load, count: int) -> str:
    details = [ngettext("{n:,} client", "{n:,} clients", count).format(n=count)] if count else []
    if not load.workload:
        details.append("select-only")
    text = gettext("load from {client}") if load.workload else gettext("reads from {client}")
    text = text.format(client=load.client)
    return gettext("{load} ({details})").format(load=text, details=joined(details)) if details else text


def streams(checks: Sequence[Mapping[str, Any]], names: Container[str], services: Container[str]) -> Iterator[Edge]:
    """What each node has from another, as checks of the trial say.

    services: nodes that are neither servers nor poolers."""
    states = {str(check["node"]): check["actual"] for check in checks if check["name"] == _SYNC_STATE}
    for check in checks:
        node, match = str(check["node"]), _FROM.fullmatch(str(check["name"]))
        if match is None or match[2] not in names or node not in names:
            continue
        what, source = match.groups()
        state = "" if source in services else states.get(node, "")
        look = _look(what, state, source in services) if check["passed"] else "broken"
        text = _("{where}: {what}", where=check["name"], what=linked(COMMA, filter(None, (check["actual"], state))))
        yield Edge(source, node, look, text)


def _look(what: str, state: str, by_service: bool) -> str:
    if by_service:
        return CONTROL
    if what == _QUERIES:
        return _QUERIES
    return "sync" if state in _WAITED_FOR else "async"


def lanes(edges: Sequence[Edge], names: Sequence[str]) -> dict[str, Lane]:
    """A lane for each source; one that has ended is used again by a source in or below the row where it did."""
    ends: list[int] = []  # where each lane ends
    lanes: dict[str, Lane] = {}
    for index, name in enumerate(names):
        reached = [names.index(edge.target) for edge in edges if edge.source == name]
        if not reached:
            continue
        first, last = min(index, *reached), max(index, *reached)
        number = _free_lane(ends, first, index)
        ends[number : number + 1] = [last]
        lanes[name] = Lane(number, first, last)
    return lanes


def _free_lane(ends: Sequence[int], first: int, index: int) -> int:
    """The first lane that ended above row `first`, or in it where the source itself stands there; else a new one."""
    for number, end in enumerate(ends):
        if end < first or end == first == index:
            return number
    return len(ends)


def gutter_width(lanes: Mapping[str, Lane]) -> int:
    return _EDGE + _LANE * max((lane.number for lane in lanes.values()), default=0) + _LANE + _HEAD


def wires(
    index: int, names: Sequence[str], edges: Sequence[Edge], lanes: Mapping[str, Lane], gutter: int
) -> Iterator[Wire]:
    """All that crosses one row's gutter, the lanes before what branches off them."""
    branches: list[Wire] = []
    for source, lane in lanes.items():
        if not lane.first <= index <= lane.last:
            continue
        x = _EDGE + _LANE * lane.number
        own = [edge for edge in edges if edge.source == source]
        off = [Wire(own[0].look, x, str(_OUT_Y), gutter, str(_OUT_Y))] if names[index] == source else []
        off = off or [_arrow(edge, x, gutter) for edge in own if edge.target == names[index]]
        branches += off
        levels = [int(wire.y1) for wire in off]
        top = "0" if index > lane.first else str(min(levels))
        bottom = _WHOLE if index < lane.last else str(max(levels))
        yield Wire(own[0].look, x, top, x, bottom)
    yield from branches


def _arrow(edge: Edge, x: float, gutter: int) -> Wire:
    y = _LOAD_Y if edge.look == LOAD else _STREAM_Y
    tip = f"{gutter - _HEAD},{y - 4} {gutter},{y} {gutter - _HEAD},{y + 4}"
    return Wire(edge.look, x, str(y), gutter - _HEAD, str(y), tip)
