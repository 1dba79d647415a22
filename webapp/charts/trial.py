"""One attempt over its time: rate, latency and CPU of every node above one axis. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from results.domain.measurement.histogram import BUCKETS_PER_OCTAVE, HeatMap
from results.domain.measurement.parsed_trial import Latencies
from results.domain.measurement.series import Series
from webapp.charts import waits
from webapp.charts.events import event_marks
from webapp.charts.lines import MOST_POINTS, line, thin
from webapp.charts.style import Figure, axis, colour, escape, json_numbers, layout

CPU = (
    ("cpu.user", "var(--s2)"),
    ("cpu.system", "var(--s5)"),
    ("cpu.iowait", "var(--s1)"),
    ("cpu.steal", "var(--s7)"),
)
RATE, MEAN = "tps", "latency.mean"
NAMES = (RATE, MEAN, *(name for name, _ in CPU), waits.NAME)
ROW, GAP, BOTTOM, TOP = 150, 44, 44, 26


class _Panel(NamedTuple):
    """One row of the figure.

    y_axis: what its axis has beside the usual."""

    title: str
    traces: list[dict[str, Any]]
    y_axis: dict[str, Any]


def timeline(
    series: Sequence[Series],
    latencies: Sequence[Latencies],
    events: Sequence[Mapping[str, Any]],
    duration_s: float | None,
    nodes: Mapping[str, str] | None = None,
) -> Figure | None:
    """Return the figure of a trial over time. None when there is nothing to draw.

    series: any; those of NAMES without a label are drawn, and all waits.
    events: {at_s, kind, node, text}.
    nodes: role → agent."""
    plain = [one for one in series if not one.label]
    panels = [*_rate_panel(plain), *_latency_panel(plain, latencies)]
    for node in sorted({one.node for one in series if one.name.startswith(("cpu.", waits.NAME))}):
        agent = (nodes or {}).get(node, "")
        panels += _node_panels(series, plain, node, node + (f" ({agent})" if agent else ""))
    return _stack(panels, events, duration_s) if panels else None


def _rate_panel(plain: Sequence[Series]) -> Iterator[_Panel]:
    rates = [one for one in plain if one.name == RATE]
    if rates:
        yield _Panel(_rates_title(rates), _rates(rates), {})


def _latency_panel(plain: Sequence[Series], latencies: Sequence[Latencies]) -> Iterator[_Panel]:
    """The heat map where there is one, else the means."""
    means = [one for one in plain if one.name == MEAN]
    total = next((one for one in latencies if not one.label), next(iter(latencies), None))
    if total is not None and total.heat.seconds:
        yield _heat_panel(total.heat, means)
    elif means:
        yield _Panel("mean latency, ms", [line(one, "var(--s2)", "ms", 1e3) for one in means], {})


def _node_panels(series: Sequence[Series], plain: Sequence[Series], node: str, where: str) -> Iterator[_Panel]:
    if traces := _cpu(plain, node):
        yield _Panel(f"CPU of {where}, %", traces, {"range": [0, 100], "tickvals": [0, 50, 100]})
    if traces := waits.traces(series, node):
        yield _Panel(f"sessions of {where} by what they wait for", traces, {})


def _rates_title(rates: Sequence[Series]) -> str:
    several = f" of {len(rates)} nodes" if len(rates) > 1 else ""
    return f"transactions per second{several}"


def _rates(rates: Sequence[Series]) -> list[dict[str, Any]]:
    """A line each; several are told apart by colour, and by name where they are pointed at."""
    if len(rates) == 1:
        return [line(rates[0], "var(--s2)", "tps")]
    return [line(one, colour(index + 1), "tps") | {"name": escape(one.node)} for index, one in enumerate(rates)]


def _stack(panels: Sequence[_Panel], events: Sequence[Mapping[str, Any]], duration_s: float | None) -> Figure:
    inner = len(panels) * ROW + (len(panels) - 1) * GAP
    shapes, marks, marks_px = event_marks(events)
    height = inner + TOP + marks_px + BOTTOM
    data: list[dict[str, Any]] = []
    axes: dict[str, Any] = {}
    notes: list[dict[str, Any]] = []
    for index, panel in enumerate(panels):
        top = 1 - index * (ROW + GAP) / inner
        number = "" if index == 0 else str(index + 1)
        axes[f"yaxis{number}"] = (
            axis(domain=[max(0.0, top - ROW / inner), top], rangemode="tozero", nticks=4, tickformat=",~r")
            | panel.y_axis
        )
        data += [trace | {"yaxis": f"y{number}"} for trace in panel.traces]
        notes.append(_note(escape(panel.title), 0, top, "left"))
    span = {"range": [0, duration_s]} if duration_s else {}
    last = "" if len(panels) == 1 else str(len(panels))
    axes["xaxis"] = axis("seconds since the start of the measured window", anchor=f"y{last}", showgrid=False) | span
    more_layout = {"hovermode": "x unified", "shapes": shapes, "annotations": [*notes, *marks], **axes}
    return {
        "data": data,
        "layout": layout(height, margin={"l": 64, "r": 14, "t": TOP + marks_px, "b": BOTTOM}, **more_layout),
    }


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


def _heat_panel(heat: HeatMap, means: Sequence[Series]) -> _Panel:
    low, high = min(heat.buckets), max(heat.buckets)
    ticks = [us for us in (10**power for power in range(8)) if low - 2 <= _place(us) <= high + 2]
    y_axis = {
        "range": [low - 0.5, high + 0.5],
        "tickvals": [_place(us) for us in ticks],
        "ticktext": [_time(us) for us in ticks],
        "showgrid": False,
        "rangemode": "normal",
        "zeroline": False,
    }
    traces = [_heat_trace(heat, range(low, high + 1)), *(_mean_line(one) for one in means)]
    return _Panel("latency, how many at each second; line: mean", traces, y_axis)


def _heat_trace(heat: HeatMap, buckets: range) -> dict[str, Any]:
    step = max(1, math.ceil((max(heat.seconds) + 1) / MOST_POINTS))
    columns = range(min(heat.seconds) // step, max(heat.seconds) // step + 1)
    counts = [[0] * len(columns) for _ in buckets]
    for second, bucket, count in zip(heat.seconds, heat.buckets, heat.counts, strict=True):
        counts[bucket - buckets[0]][second // step - columns[0]] += count
    return {
        "type": "heatmap",
        "showscale": False,
        "hoverongaps": False,
        "name": "",
        "x": [(column + 0.5) * step for column in columns],
        "y": list(buckets),
        # the root of the counts: rare slow transactions must stay visible beside the crowd
        "z": [[round(math.sqrt(count), 3) if count else None for count in row] for row in counts],
        "colorscale": [[0, "var(--s2) 12%"], [1, "var(--s2)"]],
        "customdata": [[count or None for count in row] for row in counts],
        "text": [[_bucket_text(bucket)] * len(columns) for bucket in buckets],
        "hovertemplate": "%{customdata:,} at %{text}<extra></extra>",
    }


def _mean_line(series: Series) -> dict[str, Any]:
    times, values = thin(series.times(), series.values)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "mean latency",
        "x": json_numbers(times),
        "y": json_numbers([_place(value) if value > 0 else math.nan for value in values]),
        "text": [_time(value) if value == value else "" for value in values],
        "line": {"color": "var(--ink)", "width": 1.2},
        "hovertemplate": "%{text}",
    }


def _place(latency_us: float) -> float:
    """Where a latency lies on the axis of buckets, whose cells are centred on whole numbers."""
    return BUCKETS_PER_OCTAVE * math.log2(latency_us) - 0.5


def _time(us: float) -> str:
    for size, name in ((1e6, "s"), (1e3, "ms"), (1, "µs")):
        if us >= size:
            return f"{us / size:.3g} {name}"
    return f"{us:.2g} µs"


def _bucket_text(bucket: int) -> str:
    return f"{_time(2 ** (bucket / BUCKETS_PER_OCTAVE))} … {_time(2 ** ((bucket + 1) / BUCKETS_PER_OCTAVE))}"
