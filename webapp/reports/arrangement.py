"""The servers and clients of one trial as a figure: boxes in the order in which data flows, and what flows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext

from results.domain.messages import SEMICOLON, localized
from results.queries.runs.trials import trial_detail
from webapp.charts.style import Figure, colour, escape, layout
from webapp.charts.topology import Drawing, NodeRow, draw
from webapp.charts.wires import LOAD, Edge
from webapp.documents.parts import Plate
from webapp.drawing.picture import Picture
from webapp.language import joined
from workers.registry import kinds

_ROW_PX = 74
_COLOURS = {LOAD: 2, "queries": 2, "sync": 3, "async": 1, "control": 0, "broken": 5}


def arrangement(trial_id: int, caption: str, site: str) -> Plate:
    """Return the figure of a trial's topology, as checked before it was measured. Six queries. Raises NotFound.

    caption: '' for the topology's name."""
    trial = trial_detail(trial_id)
    checks = trial.attempt.checks if trial.attempt else ()
    known = kinds().topologies.get(trial.spec.get("topology", ""))
    drawing = draw(trial.spec, checks, (), (), None, known.roles if known else ())
    if drawing is None:
        figure: Figure = {"data": [], "layout": layout(110)}
        return Plate("topology", Picture(caption or gettext("Topology: not recorded"), figure))
    name = localized(known.title) if known else trial.spec.get("topology", "")
    title = caption or gettext("Topology {name}").format(name=name)
    trial_of_run = gettext("trial {trial} of run {run}").format(trial=trial_id, run=trial.run_id)
    source = joined(("Teiten", trial_of_run, f"{site}/trials/{trial_id}/"))
    return Plate("topology", Picture(title, arrangement_figure(drawing), caption=_words(drawing), source=source))


def _words(drawing: Drawing) -> str:
    text = gettext("{node}: {received}")
    flows = [text.format(node=row.name, received=edge.text) for row in drawing.rows for edge in row.received]
    return gettext("{parts}.").format(parts=localized(SEMICOLON).join(flows)) if flows else ""


def arrangement_figure(drawing: Drawing) -> Figure:
    """Return one column for each step that data takes, from the clients on. Pure."""
    edges = [edge for row in drawing.rows for edge in row.received]
    columns = _columns([row.name for row in drawing.rows], edges)
    tallest = max((len(names) for names in columns), default=1)
    at = {
        name: (float(x), (tallest - 1) / 2 - (place - (len(names) - 1) / 2))
        for x, names in enumerate(columns)
        for place, name in enumerate(names)
    }
    data = [_flow(edge, at) for edge in edges]
    data += [_arrival(edge, at) for edge in edges]
    notes = [_name(row, at[row.name]) for row in drawing.rows]
    data.append(_boxes(list(at.values())))
    hidden = {"visible": False, "showgrid": False}
    reach: dict[str, Any] = {
        "xaxis": hidden | {"range": [-0.5, len(columns) - 0.5]},
        "yaxis": hidden | {"range": [-0.6, tallest - 0.2]},
    }
    return {"data": data, "layout": layout(40 + _ROW_PX * tallest, annotations=notes, **reach)}


def _name(row: NodeRow, place: tuple[float, float]) -> dict[str, object]:
    """Return the note above a node: its name, and what runs it where."""
    under = row.program or row.agent
    if row.program and row.agent:
        under = gettext("{program} on {agent}").format(program=row.program, agent=row.agent)
    text, font = f"<b>{escape(row.name)}</b><br>{escape(under)}", {"color": "var(--ink)", "size": 12}
    return {"x": place[0], "y": place[1] + 0.28, "text": text, "showarrow": False, "font": font}


def _columns(names: Sequence[str], edges: Sequence[Edge]) -> list[list[str]]:
    """Return the nodes by how many steps data takes to them; a circle is broken where it closes."""
    depth = dict.fromkeys(names, 0)
    for _ in names:
        for edge in edges:
            depth[edge.target] = min(max(depth[edge.target], depth[edge.source] + 1), len(names) - 1)
    used = sorted(set(depth.values()))
    return [[name for name in names if depth[name] == step] for step in used]


def _flow(edge: Edge, at: Mapping[str, tuple[float, float]]) -> dict[str, object]:
    (x1, y1), (x2, y2) = at[edge.source], at[edge.target]
    line = {"color": colour(_COLOURS.get(edge.look, 0)), "width": 2, **({"dash": "dash"} if edge.look != LOAD else {})}
    return {"type": "scatter", "mode": "lines", "x": [x1, x2], "y": [y1, y2], "line": line}


def _arrival(edge: Edge, at: Mapping[str, tuple[float, float]]) -> dict[str, object]:
    """A mark near the end of what flows, at its target."""
    (x1, y1), (x2, y2) = at[edge.source], at[edge.target]
    place = [x1 + 0.82 * (x2 - x1)], [y1 + 0.82 * (y2 - y1)]
    marker = {"symbol": "diamond", "size": 9, "color": colour(_COLOURS.get(edge.look, 0))}
    return {"type": "scatter", "mode": "markers", "x": place[0], "y": place[1], "marker": marker}


def _boxes(places: Sequence[tuple[float, float]]) -> dict[str, object]:
    marker = {"symbol": "square", "size": 22, "color": colour(0)}
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [x for x, _ in places],
        "y": [y for _, y in places],
        "marker": marker,
    }
