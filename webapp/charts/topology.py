"""One trial's arrangement: servers, what stands beside them, and clients as rows, wires between them, and what each
machine and each stream did over the measured window. Pure. Every row is a node, clients first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from results.domain.kinds.specs import Role, role_of
from results.domain.matrix import is_client
from results.domain.measurement.series import Series
from results.domain.units import format_quantity
from webapp.charts import events as happened
from webapp.charts.tracks import CPU, DISK, HEIGHT, NAMES, WIDTH, Axis, Mark, Tick, Track, tracks
from webapp.charts.wires import LOAD, Edge, Wire, gutter_width, lanes, loads, streams, wires

__all__ = ["HEIGHT", "NAMES", "WIDTH", "Drawing", "NodeRow", "draw"]


@dataclass(frozen=True)
class NodeRow:
    """One node.

    program: with its version, '' for a client.
    machine: the row with this machine's CPU and disk, where not this."""

    name: str
    program: str
    agent: str
    received: tuple[Edge, ...]
    wires: tuple[Wire, ...]
    tracks: tuple[Track, ...]
    machine: str


@dataclass(frozen=True)
class Drawing:
    """A topology as boxes and lines.

    gutter: its width in px.
    ticks: of the time axis below all tracks, empty without tracks.
    marks: the trial's events.
    looks: of the wires there are.
    scale: what a full height means for lag, '' without lag.
    end_x: where the load ended, None where the axis ends there.
    end_s: seconds at the axis' end."""

    rows: tuple[NodeRow, ...]
    gutter: int
    ticks: tuple[Tick, ...]
    marks: tuple[Mark, ...]
    looks: tuple[str, ...]
    scale: str
    end_x: float | None
    end_s: float

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
    roles: Sequence[Role] = (),
) -> Drawing | None:
    """Return the drawing of a topology. None where the trial names no agents.

    spec: a `TrialSpec` as JSON.
    checks: {name, node, actual, passed}.
    events: {at_s, kind, node, text}.
    series: any; those of NAMES are drawn.
    duration_s: length of the measured window.
    roles: of the topology, as far as this Teiten knows it."""
    agents: Mapping[str, str] = spec.get("agents") or {}
    if not agents:
        return None
    edges = [*loads(spec), *streams(checks, agents, spec.get("services") or ())]
    names = _ordered(agents, edges)
    lane_of = lanes(edges, names)
    gutter = gutter_width(lane_of)
    machines = _Machines.of(agents, names, series)
    axis = Axis.over(series, duration_s)
    rows = tuple(
        NodeRow(
            name=name,
            program=_program(spec, name, roles),
            agent=agents[name],
            received=tuple(edge for edge in edges if edge.target == name),
            wires=tuple(wires(index, names, edges, lane_of, gutter)),
            tracks=tuple(tracks(name, machines.numbers_of(name), series, axis)) if axis else (),
            machine=machines.shown_at(name),
        )
        for index, name in enumerate(names)
    )
    looks = tuple(dict.fromkeys(edge.look for edge in edges))
    if axis is None:
        return Drawing(rows, gutter, (), (), looks, "", None, 0.0)
    return Drawing(
        rows=rows,
        gutter=gutter,
        ticks=axis.ticks(),
        marks=_marks(events, axis),
        looks=looks,
        scale=format_quantity(axis.most_lag, "B") if axis.most_lag else "",
        end_x=axis.x(axis.window_s) if axis.end_s > axis.window_s else None,
        end_s=axis.end_s,
    )


def _marks(events: Sequence[Mapping[str, Any]], axis: Axis) -> tuple[Mark, ...]:
    colours = {kind: colour for colour, _, kind in happened.event_key(events)}
    return tuple(axis.mark(event, colours[event.kind]) for event in happened.marks(events) if axis.holds(event.at_s))


@dataclass(frozen=True)
class _Machines:
    """Several nodes may be one machine, whose numbers one row shows: that of its first server, else of its client.

    agents: node → agent.
    first: agent → the node whose row shows the machine.
    filed: agent → the node under which the machine's numbers are filed, of those that were watched."""

    agents: Mapping[str, str]
    first: Mapping[str, str]
    filed: Mapping[str, str]

    @classmethod
    def of(cls, agents: Mapping[str, str], names: Sequence[str], series: Sequence[Series]) -> _Machines:
        clients_last = [*(name for name in names if not is_client(name)), *(name for name in names if is_client(name))]
        first = {agents[name]: name for name in reversed(clients_last)}
        filed = {agents[one.node]: one.node for one in series if one.name in (CPU, DISK) and one.node in agents}
        return cls(agents, first, filed)

    def numbers_of(self, node: str) -> str:
        """The node under which the numbers are filed that this one's row shows; '' for none."""
        agent = self.agents[node]
        return self.filed.get(agent, "") if self.first[agent] == node else ""

    def shown_at(self, node: str) -> str:
        """The node whose row shows the machine of this one; '' where its own does, or nothing is known."""
        agent = self.agents[node]
        return self.first[agent] if agent in self.filed and self.first[agent] != node else ""


def _ordered(agents: Iterable[str], edges: Sequence[Edge]) -> list[str]:
    """Clients, then the servers: whoever gets data from another behind it, `standby2` before `standby10`."""
    by_name = sorted(agents, key=_natural)
    ordered = [name for name in by_name if is_client(name)]
    servers = [name for name in by_name if not is_client(name)]
    below = {name: _fed_by(name, edges) for name in by_name}
    fed = {target for targets in below.values() for target in targets}

    def add(name: str) -> None:
        if name not in ordered:
            ordered.append(name)
            for target in below[name]:
                add(target)

    for name in (*(name for name in servers if name not in fed), *servers):
        add(name)
    return ordered


def _fed_by(name: str, edges: Sequence[Edge]) -> list[str]:
    return sorted((edge.target for edge in edges if edge.source == name and edge.look != LOAD), key=_natural)


def _natural(name: str) -> tuple[bool, str, int]:
    role = role_of(name)
    return role != "primary", role, int(name.removeprefix(role) or 0)


def _program(spec: Mapping[str, Any], node: str, roles: Sequence[Role]) -> str:
    """What runs there: by the title of its role, by its name where it is no PostgreSQL, else PostgreSQL's version."""
    if is_client(node):
        return ""
    title = next((role.title for role in roles if role.name == role_of(node)), "")
    if title or node in (*(spec.get("poolers") or ()), *(spec.get("services") or ())):
        return title or role_of(node)
    installation = (spec.get("installations") or {}).get(node) or spec.get("installation") or {}
    return f"PostgreSQL {installation.get('version', '')}".strip()
