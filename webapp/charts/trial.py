"""One attempt over its time: rate, latency and CPU of every node above one axis. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.utils.translation import gettext

from results.domain.measurement.parsed_trial import Latencies
from results.domain.measurement.series import Series
from webapp.charts import heat, series_words, waits
from webapp.charts.events import event_marks
from webapp.charts.lines import line
from webapp.charts.style import Figure, axis, colour, escape, layout

CPU = (
    ("cpu.user", "var(--s2)"),
    ("cpu.system", "var(--s5)"),
    ("cpu.iowait", "var(--s1)"),
    ("cpu.steal", "var(--s7)"),
)
RATE, MEAN = "tps", "latency.mean"
NAMES = (RATE, MEAN, *(name for name, _ in CPU), waits.NAME)
USUAL_OF_NODES = (*(name for name, _ in CPU), waits.NAME)
ROW, GAP, BOTTOM, TOP = 150, 44, 44, 26


MOST_TOGETHER = 4
_SIDE_PX = 58  # of an axis beyond the first on the right
_PAINTS = (2, 1, 5, 7)  # of lines in one panel: colours of the palette that stay apart


@dataclass(frozen=True)
class TimeView:
    """What of a trial's time is drawn.

    tracks: keys of panels, empty for rate, latency, CPU and waits.
    together: keys of series drawn in one panel, each on an axis of its own.
    from_s, to_s: the range shown, None for the whole window."""

    tracks: tuple[str, ...] = ()
    together: tuple[str, ...] = ()
    from_s: float | None = None
    to_s: float | None = None


WHOLE = TimeView()


class _Panel(NamedTuple):
    """One row of the figure.

    key: as an address names it.
    y_axis: what its axis has beside the usual.
    beside: (traces, axis) of those that have a further axis."""

    key: str
    title: str
    traces: list[dict[str, Any]]
    y_axis: dict[str, Any]
    beside: Sequence[tuple[list[dict[str, Any]], dict[str, Any]]] = ()


def timeline(
    series: Sequence[Series],
    latencies: Sequence[Latencies],
    events: Sequence[Mapping[str, Any]],
    duration_s: float | None,
    nodes: Mapping[str, str] | None = None,
    view: TimeView = WHOLE,
) -> Figure | None:
    """Return the figure of a trial over time. None when there is nothing to draw.

    series: any; without a choice those of NAMES without a label are drawn, and all waits.
    events: {at_s, kind, node, text}.
    nodes: role → agent."""
    panels = usual_panels(series, latencies, nodes or {})
    if view.tracks:
        usual = {panel.key: panel for panel in panels}
        panels = [panel for key in view.tracks for panel in _chosen_panel(usual, series, key)]
    panels += _together_panel(series, view.together)
    return _stack(panels, events, duration_s, view) if panels else None


def usual_panels(series: Sequence[Series], latencies: Sequence[Latencies], nodes: Mapping[str, str]) -> list[_Panel]:
    """Return the panels that are drawn without a choice."""
    plain = [one for one in series if not one.label]
    panels = [*_rate_panel(plain), *_latency_panel(plain, latencies)]
    for node in sorted({one.node for one in series if one.name in USUAL_OF_NODES}):
        agent = nodes.get(node, "")
        panels += _node_panels(series, plain, node, node + (f" ({agent})" if agent else ""))
    return panels


def _chosen_panel(usual: Mapping[str, _Panel], series: Sequence[Series], key: str) -> Iterator[_Panel]:
    if key in usual:
        yield usual[key]
    elif lines := _lines(series, key):
        traces = [
            line(one, colour(_PAINTS[index % len(_PAINTS)]), *shown_unit(one.unit)) | _named(one)
            for index, one in enumerate(lines)
        ]
        yield _Panel(key, series_title(key, lines[0].unit), traces, {"tickformat": "~s"})


def _together_panel(series: Sequence[Series], keys: Sequence[str]) -> Iterator[_Panel]:
    """One panel of several quantities, each with an axis in the colour of its line."""
    groups: list[tuple[list[dict[str, Any]], dict[str, Any]]] = []
    titles: list[str] = []
    for key in keys:
        lines = _lines(series, key)
        if lines and len(groups) < MOST_TOGETHER:
            paint = colour(_PAINTS[len(groups)])
            traces = [line(one, paint, *shown_unit(one.unit)) | {"name": escape(series_title(key))} for one in lines]
            groups.append((traces, {"tickfont": {"color": paint}, "tickformat": "~s", "tickmode": "auto"}))
            titles.append(series_title(key, lines[0].unit))
    if groups:
        (traces, y_axis), *beside = groups
        yield _Panel("together", " · ".join(titles), traces, y_axis, beside)


def _lines(series: Sequence[Series], key: str) -> list[Series]:
    """The total of a quantity where there is one, else each of its parts."""
    name, _, node = key.partition("@")
    mine = [one for one in series if one.name == name and one.node == node]
    return [one for one in mine if not one.label] or mine


def _named(series: Series) -> dict[str, Any]:
    return {"name": escape(series.label or series_title(series_key(series)))}


def series_key(series: Series) -> str:
    return f"{series.name}@{series.node}"


def series_title(key: str, unit: str = "") -> str:
    """A series in words: 'wal bytes of primary, B/s'."""
    name, _, node = key.partition("@")
    words = series_words.of(name)
    if node:
        words = gettext("{series} of {node}").format(series=words, node=node)
    shown, _ = shown_unit(unit)
    if shown in ("", "1", "tps"):
        return words
    return gettext("{series}, {unit}").format(series=words, unit=shown)


def shown_unit(unit: str) -> tuple[str, float]:
    """(unit shown, divisor from the base unit)."""
    return ("ms", 1e3) if unit == "us" else (unit, 1.0)


def _rate_panel(plain: Sequence[Series]) -> Iterator[_Panel]:
    rates = [one for one in plain if one.name == RATE]
    if rates:
        yield _Panel("tps", _rates_title(rates), _rates(rates), {})


def _latency_panel(plain: Sequence[Series], latencies: Sequence[Latencies]) -> Iterator[_Panel]:
    """The heat map where there is one, else the means."""
    means = [one for one in plain if one.name == MEAN]
    total = next((one for one in latencies if not one.label), next(iter(latencies), None))
    if total is not None and total.heat.seconds:
        title = gettext("latency, how many at each second; line: mean")
        yield _Panel("latency", title, *heat.traces_and_axis(total.heat, means))
    elif means:
        traces = [line(one, "var(--s2)", "ms", 1e3) for one in means]
        yield _Panel("latency", gettext("mean latency, ms"), traces, {})


def _node_panels(series: Sequence[Series], plain: Sequence[Series], node: str, where: str) -> Iterator[_Panel]:
    if traces := _cpu(plain, node):
        title = gettext("CPU of {node}, %").format(node=where)
        yield _Panel(f"cpu@{node}", title, traces, {"range": [0, 100], "tickvals": [0, 50, 100]})
    if traces := waits.traces(series, node):
        title = gettext("sessions of {node} by what they wait for").format(node=where)
        yield _Panel(f"waits@{node}", title, traces, {})


def _rates_title(rates: Sequence[Series]) -> str:
    if len(rates) == 1:
        return gettext("transactions per second")
    return gettext("transactions per second of {n} nodes").format(n=len(rates))


def _rates(rates: Sequence[Series]) -> list[dict[str, Any]]:
    """A line each; several are told apart by colour, and by name where they are pointed at."""
    if len(rates) == 1:
        return [line(rates[0], "var(--s2)", "tps")]
    return [line(one, colour(index + 1), "tps") | {"name": escape(one.node)} for index, one in enumerate(rates)]


def _stack(
    panels: Sequence[_Panel], events: Sequence[Mapping[str, Any]], duration_s: float | None, view: TimeView
) -> Figure:
    inner = len(panels) * ROW + (len(panels) - 1) * GAP
    shapes, marks, marks_px = event_marks(events)
    height = inner + TOP + marks_px + BOTTOM
    data: list[dict[str, Any]] = []
    axes: dict[str, Any] = {}
    notes: list[dict[str, Any]] = []
    for index, panel in enumerate(panels):
        top = 1 - index * (ROW + GAP) / inner
        number = "" if index == 0 else str(index + 1)
        axes[f"yaxis{number}"] = _y_axis(domain=[max(0.0, top - ROW / inner), top]) | panel.y_axis
        data += [trace | {"yaxis": f"y{number}"} for trace in panel.traces]
        for place, (traces, look) in enumerate(panel.beside):
            own = str(len(panels) + place + 1)
            axes[f"yaxis{own}"] = _y_axis(overlaying=f"y{number}", showgrid=False, **_right(place)) | look
            data += [trace | {"yaxis": f"y{own}"} for trace in traces]
        notes.append(_note(escape(panel.title), 0, top, "left"))
        if not _has_line(panel):
            notes.append(_note(gettext("Too few samples for a line."), 0.5, top - ROW / inner / 2, "center"))
            axes[f"yaxis{number}"] |= {"showticklabels": False, "showgrid": False}
    last = "" if len(panels) == 1 else str(len(panels))
    axes["xaxis"] = axis(
        gettext("seconds since the start of the measured window"),
        anchor=f"y{last}",
        showgrid=False,
        showspikes=True,
        spikemode="across",
        spikesnap="hovered data",
        spikethickness=1,
        spikedash="solid",
        spikecolor="var(--soft)",
    ) | _range(view, duration_s)
    right_px = 14 + _SIDE_PX * max(len(panel.beside) for panel in panels)
    more_layout = {
        "hovermode": "x unified",
        "hoversubplots": "axis",  # what one track is pointed at, all say
        "meta": {"duration_s": duration_s},
        "shapes": shapes,
        "annotations": [*notes, *marks],
        **axes,
    }
    return {
        "data": data,
        "layout": layout(height, margin={"l": 64, "r": right_px, "t": TOP + marks_px, "b": BOTTOM}, **more_layout),
    }


def _y_axis(**more: Any) -> dict[str, Any]:
    return axis(rangemode="tozero", nticks=4, tickformat=",~r", **more) | {"fixedrange": True}  # a drag chooses time


def _right(place: int) -> dict[str, Any]:
    """Where an axis beyond the first stands."""
    if place == 0:
        return {"side": "right", "anchor": "x"}
    return {"side": "right", "anchor": "free", "position": 1, "shift": _SIDE_PX * place}


def _range(view: TimeView, duration_s: float | None) -> dict[str, Any]:
    start, end = view.from_s or 0.0, view.to_s or duration_s
    return {"range": [start, end]} if end else {}


def _has_line(panel: _Panel) -> bool:
    """Whether anything can be seen: a line needs two values, a heat map one."""
    traces = [*panel.traces, *(trace for more, _ in panel.beside for trace in more)]
    return any(trace["type"] == "heatmap" or sum(value is not None for value in trace["y"]) > 1 for trace in traces)


def _note(text: str, x: float, y: float, anchor: str, **more: Any) -> dict[str, Any]:
    return {
        "text": text,
        "x": x,
        "y": y,
        "xref": "paper",
        "yref": "paper",
        "xanchor": anchor,
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"color": "var(--faint)", "size": 12},
    } | more


def _cpu(series: Sequence[Series], node: str) -> list[dict[str, Any]]:
    mine = {one.name: one for one in series if one.node == node}
    return [_cpu_trace(mine[name], paint) for name, paint in CPU if name in mine]


def _cpu_trace(series: Series, paint: str) -> dict[str, Any]:
    return line(series, paint, "%") | {
        "stackgroup": series.node,
        "name": series.name.removeprefix("cpu."),
        "fillcolor": f"{paint} 72%",
        "line": {"color": paint, "width": 0.5},
    }
