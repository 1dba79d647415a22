"""One trial's arrangement: servers and clients as rows, wires between them, and what each machine and each stream did
over the measured window. Pure.

Every row is a node, clients first. Wires run in a gutter left of the rows: each source has a lane of its own, from its
row to that of the last node that it reaches. Places are pixels, but '100%' is a row's height, whatever its text needs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from results.matrix import ONE_LOAD, Load, is_client
from results.series import Series
from results.specs import role_of
from results.units import format_quantity
from webapp.charts import events as happened
from webapp.charts.lines import thin

CPU, DISK, LAG = "cpu.busy", "disk.utilisation", "replication.lag_bytes"
NAMES = (CPU, DISK, LAG)
WIDTH, HEIGHT = 600, 36  # of a track, in its own units
_MOST_POINTS = 300
_MOST_TICKS = 6
_LANE, _EDGE, _HEAD = 14, 8, 6  # px: between lanes, before the first, of an arrow
_LOAD_Y, _STREAM_Y, _OUT_Y = 14, 30, 44
_WHOLE = "100%"
_FROM = re.compile(r"(\w+) from (\S+)")  # a check of this name says where a node gets its data or its queries from
_SYNC_STATE = "synchronous state"
LOAD = "load"
_QUERIES = "queries"
_WAITED_FOR = ("sync", "quorum", "potential")


@dataclass(frozen=True)
class Edge:
    """Something that flows. look: load, queries, async, sync, or broken. text: of the arrow, for the row that it leads
    to."""

    source: str
    target: str
    look: str
    text: str


@dataclass(frozen=True)
class Wire:
    """A piece of a wire within a row: from (x1, y1) to (x2, y2). tip: the points of its arrow, '' without one."""

    look: str
    x1: float
    y1: str
    x2: float
    y2: str
    tip: str = ""


@dataclass(frozen=True)
class Track:
    """A quantity over the window: line and area as SVG paths in WIDTH × HEIGHT. said: mean and maximum over the
    window, in words."""

    kind: str
    title: str
    said: str
    line: str
    area: str


@dataclass(frozen=True)
class Row:
    """One node. program: with its version, '' for a client. machine: the row with this machine's CPU and disk, where
    not this."""

    name: str
    program: str
    agent: str
    received: tuple[Edge, ...]
    wires: tuple[Wire, ...]
    tracks: tuple[Track, ...]
    machine: str


@dataclass(frozen=True)
class Tick:
    x: str
    text: str
    anchor: str


@dataclass(frozen=True)
class Mark:
    """An event in all tracks. width: of a span, 0 for a moment. colour: place in the palette."""

    x: float
    width: float
    colour: int


@dataclass(frozen=True)
class Drawing:
    """gutter: its width in px. ticks: of the time axis below all tracks, empty without tracks. marks: the trial's
    events. looks: of the wires there are. scale: what a full height means for lag, '' without lag. end_x:
    where the load ended, None where the axis ends there."""

    rows: tuple[Row, ...]
    gutter: int
    ticks: tuple[Tick, ...]
    marks: tuple[Mark, ...]
    looks: tuple[str, ...]
    scale: str
    end_x: float | None

    @property
    def shared(self) -> bool:
        """Whether one machine plays several roles."""
        return any(row.machine for row in self.rows)


def draw(
    spec: Mapping[str, Any],
    checks: Sequence[Mapping[str, Any]],
    series: Sequence[Series],
    events: Sequence[Mapping[str, Any]],
    duration_s: float | None,
) -> Drawing | None:
    """spec: a `TrialSpec` as JSON. checks: {name, node, actual, passed}; events: {at_s, kind, node, text}. series: any;
    those of NAMES are drawn. duration_s: length of the measured window. None where the trial names no agents."""
    agents: Mapping[str, str] = spec.get("agents") or {}
    if not agents:
        return None
    edges = [*_loads(spec), *_streams(checks, agents)]
    names = _ordered(agents, edges)
    lanes = _lanes(edges, names)
    gutter = _EDGE + _LANE * max((lane for lane, _ in lanes.values()), default=0) + _LANE + _HEAD
    watched = {agents[one.node]: one.node for one in series if one.name in (CPU, DISK) and one.node in agents}
    first = {agents[name]: name for name in reversed(names)} | {
        agents[name]: name for name in reversed(names) if not is_client(name)
    }
    axis = _Axis.over(series, duration_s)
    rows = tuple(
        Row(
            name=name,
            program=_program(spec, name),
            agent=agents[name],
            received=tuple(edge for edge in edges if edge.target == name),
            wires=tuple(_wires(place, names, edges, lanes, gutter)),
            tracks=tuple(
                _tracks(name, watched.get(agents[name], "") if first[agents[name]] == name else "", series, axis)
            )
            if axis
            else (),
            machine=first[agents[name]] if agents[name] in watched and first[agents[name]] != name else "",
        )
        for place, name in enumerate(names)
    )
    colours = {kind: colour for colour, _, kind in happened.event_key(events)}
    return Drawing(
        rows=rows,
        gutter=gutter,
        ticks=axis.ticks() if axis else (),
        marks=tuple(axis.mark(event, colours[event.kind]) for event in happened.marks(events) if axis.holds(event.at_s))
        if axis
        else (),
        looks=tuple(dict.fromkeys(edge.look for edge in edges)),
        scale=format_quantity(axis.most_lag, "B") if axis and axis.most_lag else "",
        end_x=axis.x(axis.window_s) if axis and axis.end_s > axis.window_s else None,
    )


def _ordered(agents: Iterable[str], edges: Sequence[Edge]) -> list[str]:
    """Clients, then the servers: whoever gets data from another behind it, `standby2` before `standby10`."""
    by_name = sorted(agents, key=_natural)
    found = [name for name in by_name if is_client(name)]
    below = {name: [e.target for e in edges if e.source == name and e.look != LOAD] for name in by_name}
    fed = {target for targets in below.values() for target in targets}

    def add(name: str) -> None:
        if name not in found:
            found.append(name)
            for target in sorted(below[name], key=_natural):
                add(target)

    servers = [name for name in by_name if not is_client(name)]
    for name in (*(name for name in servers if name not in fed), *servers):
        add(name)
    return found


def _natural(name: str) -> tuple[bool, str, int]:
    role = role_of(name)
    return role != "primary", role, int(name.removeprefix(role) or 0)


def _program(spec: Mapping[str, Any], node: str) -> str:
    if is_client(node):
        return ""
    if node in (spec.get("poolers") or ()):
        return "pgpool-II"
    installation = (spec.get("installations") or {}).get(node) or spec.get("installation") or {}
    return f"PostgreSQL {installation.get('version', '')}".strip()


def _loads(spec: Mapping[str, Any]) -> Iterator[Edge]:
    loads = [Load(**load) for load in spec.get("loads") or ()] or ONE_LOAD
    for load in loads:
        count = load.clients or (spec.get("parameters") or {}).get("clients", 0)
        many = f"{count} client{'' if count == 1 else 's'}" if count else ""
        more = ", ".join(word for word in (many, "" if load.workload else "select-only") if word)
        if load.server in spec["agents"] and load.client in spec["agents"]:
            text = f"{'load' if load.workload else 'reads'} from {load.client}"
            yield Edge(load.client, load.server, LOAD, f"{text} ({more})" if more else text)


def _streams(checks: Sequence[Mapping[str, Any]], names: Container[str]) -> Iterator[Edge]:
    states = {str(check["node"]): str(check["actual"]) for check in checks if check["name"] == _SYNC_STATE}
    for check in checks:
        node, match = str(check["node"]), _FROM.fullmatch(str(check["name"]))
        if match is None or match[2] not in names or node not in names:
            continue
        state = states.get(node, "")
        flows = _QUERIES if match[1] == _QUERIES else "sync" if state in _WAITED_FOR else "async"
        look = flows if check["passed"] else "broken"
        text = f"{check['name']}: {check['actual']}"
        yield Edge(match[2], node, look, f"{text}, {state}" if state else text)


_Lane = tuple[int, tuple[int, int]]  # which, and the first and the last row that it touches


def _lanes(edges: Sequence[Edge], names: Sequence[str]) -> dict[str, _Lane]:
    """A lane for each source; one that has ended is used again by a source in or below the row where it did."""
    free: list[tuple[int, bool]] = []  # where each lane ends, and whether its next may begin in that very row
    found: dict[str, _Lane] = {}
    for place, name in enumerate(names):
        reached = [names.index(edge.target) for edge in edges if edge.source == name]
        if not reached:
            continue
        first, last = min(place, *reached), max(place, *reached)
        fits = [i for i, (end, _) in enumerate(free) if end < first or (end == first == place)]
        lane = fits[0] if fits else len(free)
        free[lane : lane + 1] = [(last, True)]
        found[name] = lane, (first, last)
    return found


def _wires(
    place: int, names: Sequence[str], edges: Sequence[Edge], lanes: Mapping[str, _Lane], gutter: int
) -> Iterator[Wire]:
    """All that crosses one row's gutter, the lanes before what branches off them."""
    ends: list[Wire] = []
    for source, (lane, (first, last)) in lanes.items():
        if not first <= place <= last:
            continue
        x = _EDGE + _LANE * lane
        own = [edge for edge in edges if edge.source == source]
        here = [edge for edge in own if edge.target == names[place]]
        look = own[0].look
        if names[place] == source:
            ends.append(Wire(look, x, str(_OUT_Y), gutter, str(_OUT_Y)))
            levels = [_OUT_Y]
        else:
            levels = [_LOAD_Y if edge.look == LOAD else _STREAM_Y for edge in here]
            for edge, y in zip(here, levels, strict=True):
                tip = f"{gutter - _HEAD},{y - 4} {gutter},{y} {gutter - _HEAD},{y + 4}"
                ends.append(Wire(edge.look, x, str(y), gutter - _HEAD, str(y), tip))
        top = "0" if place > first else str(min(levels))
        bottom = _WHOLE if place < last else str(max(levels))
        yield Wire(look, x, top, x, bottom)
    yield from ends


@dataclass(frozen=True)
class _Axis:
    """Seconds → a track's units. window_s: length of the measured window. most_lag: bytes at full height, of all
    nodes."""

    window_s: float
    end_s: float
    most_lag: float

    @classmethod
    def over(cls, series: Sequence[Series], duration_s: float | None) -> _Axis | None:
        """The window, and after it as long as somebody was watched catching up; None without anything to draw."""
        shown = [one for one in series if one.name in NAMES and one.values]
        lags = [one for one in shown if one.name == LAG and not one.label]
        window_s = duration_s or max((one.times()[-1] for one in shown), default=0.0)
        end_s = max([window_s, *(one.times()[-1] for one in lags)])
        if not shown or end_s <= 0:
            return None
        return cls(window_s, end_s, max((value for one in lags for value in one.within(0, math.inf)), default=0.0))

    def holds(self, at_s: float) -> bool:
        return 0 <= at_s <= self.end_s

    def x(self, at_s: float) -> float:
        return round(WIDTH * at_s / self.end_s, 1)

    def mark(self, event: happened.Mark, colour: int) -> Mark:
        until_s = event.at_s if event.until_s is None else min(event.until_s, self.end_s)
        return Mark(self.x(event.at_s), round(self.x(until_s) - self.x(event.at_s), 1), colour)

    def ticks(self) -> tuple[Tick, ...]:
        power = 10.0 ** math.floor(math.log10(self.end_s / _MOST_TICKS))
        step = next(power * m for m in (1, 2, 5, 10) if self.end_s / (power * m) < _MOST_TICKS)
        count = int(self.end_s / step)
        return tuple(
            Tick(
                f"{100 * number * step / self.end_s:.2f}%",
                f"{number * step:g} s",
                "start" if number == 0 else "end" if number * step > 0.96 * self.end_s else "middle",
            )
            for number in range(count + 1)
        )


def _tracks(node: str, machine: str, series: Sequence[Series], axis: _Axis) -> Iterator[Track]:
    """machine: the node under which its machine's numbers are filed; '' where another row shows them."""
    shown = [one for one in series if one.values]
    for one in shown:
        if one.name == CPU and one.node == machine and not one.label:
            yield _track("cpu", "CPU busy", one.times(), one.values, "%", 100.0, axis)
    if disks := [one for one in shown if one.name == DISK and one.node == machine]:
        yield _track("disk", _disk_title(disks), disks[0].times(), _busiest(disks), "%", 100.0, axis)
    for one in shown:
        if one.name == LAG and one.node == node and not one.label:
            yield _track("lag", "lag", one.times(), one.values, "B", axis.most_lag, axis)


def _disk_title(disks: Sequence[Series]) -> str:
    return f"disk {disks[0].label} busy" if len(disks) == 1 else f"busiest of {len(disks)} disks"


def _busiest(disks: Sequence[Series]) -> tuple[float, ...]:
    """At each moment the largest value of all; all are sampled together."""
    return tuple(
        max((value for value in values if value == value), default=math.nan)
        for values in zip(*(disk.values for disk in disks), strict=True)
    )


def _track(
    kind: str, title: str, times: Sequence[float], values: Sequence[float], unit: str, full: float, axis: _Axis
) -> Track:
    inside = [(t, v) for t, v in zip(times, values, strict=False) if axis.holds(t)]
    known = [value for at_s, value in inside if value == value and at_s < axis.window_s]
    said = "not known"
    if known:
        said = f"mean {_said(sum(known) / len(known), unit)}, at most {_said(max(known), unit)}"
    xs, ys = thin([t for t, _ in inside], [v for _, v in inside], _MOST_POINTS)
    runs = _runs([(axis.x(x), _y(y, full)) for x, y in zip(xs, ys, strict=True)])
    line = "".join("M" + "L".join(f"{x:g} {y:g}" for x, y in run) for run in runs)
    area = "".join(
        f"M{run[0][0]:g} {HEIGHT}L" + "L".join(f"{x:g} {y:g}" for x, y in run) + f"L{run[-1][0]:g} {HEIGHT}Z"
        for run in runs
    )
    return Track(kind, title, said, line, area)


def _said(value: float, unit: str) -> str:
    return f"{value:.0f} %" if unit == "%" else format_quantity(value, unit)


def _y(value: float, full: float) -> float:
    """From the top; a gap stays one."""
    if value != value:
        return math.nan
    return round(HEIGHT - (HEIGHT - 2) * min(1.0, value / full), 1) if full else HEIGHT


def _runs(points: Sequence[tuple[float, float]]) -> list[list[tuple[float, float]]]:
    """What lies between gaps."""
    found: list[list[tuple[float, float]]] = [[]]
    for x, y in points:
        if y == y:
            found[-1].append((x, y))
        elif found[-1]:
            found.append([])
    return [run for run in found if run]
