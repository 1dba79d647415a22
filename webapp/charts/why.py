"""Two configurations laid over each other: over time, by latency, by what the processors and the sessions did. Pure."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import fmean, median
from typing import Any

from django.utils.translation import gettext

from results.domain.measurement.histogram import Histogram, bucket_bounds_us, bucket_of
from results.domain.measurement.series import Series
from results.domain.messages import localized
from results.domain.statistics.metric_changes import WAITS, MetricChange
from results.domain.units import format_quantity, scale_for
from results.queries.why.why import MEAN, RATE, Side
from webapp.charts.style import Figure, axis, colour, escape, glyph, json_numbers, layout, mark
from webapp.charts.trial import CPU
from webapp.charts.waits import OTHERS, Paint, paints_of
from webapp.language import joined

MOST_POINTS = 300  # of one line
MOST_REPLICATES = 12  # drawn by themselves, of one configuration; medians are over all
MARKED = (50.0, 90.0, 99.0, 99.9)
ROW, GAP, TOP, BOTTOM = 170, 44, 24, 44
_BAR_PX, _COST_PX = 62, 92
_OTHER_PAINT = Paint(0, 1)


@dataclass(frozen=True)
class Look:
    """How a configuration is called and coloured in every figure.

    index: of its colour and mark."""

    name: str
    index: int
    side: Side

    @property
    def glyph(self) -> str:
        return glyph(self.index)


def over_time(looks: Sequence[Look]) -> Figure | None:
    """Rate and mean latency of each second: every replicate thin, their median thick."""
    rows: list[tuple[str, list[dict[str, Any]]]] = []
    for title, name, divisor, unit in (
        (gettext("transactions per second"), RATE, 1.0, "tps"),
        (gettext("mean latency, ms"), MEAN, 1e3, "ms"),
    ):
        lines: list[dict[str, Any]] = []
        for look in looks:
            lines += _lines(look, name, divisor, unit, width_s(looks))
        if lines:
            rows.append((title, lines))
    if not rows:
        return None
    inner = len(rows) * ROW + (len(rows) - 1) * GAP
    data: list[dict[str, Any]] = []
    axes: dict[str, Any] = {}
    notes = []
    for index, (title, traces) in enumerate(rows):
        top, number = 1 - index * (ROW + GAP) / inner, str(index + 1) if index else ""
        domain = [max(0.0, top - ROW / inner), top]
        axes[f"yaxis{number}"] = axis(domain=domain, rangemode="tozero", nticks=5, tickformat=",~r")
        data += [trace | {"yaxis": f"y{number}"} for trace in traces]
        notes.append(_title(title, 0, top))
    last = str(len(rows)) if len(rows) > 1 else ""
    axes["xaxis"] = axis(gettext("seconds since the start of the measured window"), anchor=f"y{last}", showgrid=False)
    margin = {"l": 64, "r": 14, "t": TOP, "b": BOTTOM}
    more = {"hovermode": "closest", "annotations": notes, **axes}
    return {"data": data, "layout": layout(inner + TOP + BOTTOM, margin=margin, **more)}


def width_s(looks: Sequence[Look]) -> int:
    """Seconds that one point of a line stands for."""
    longest = max((one.times()[-1] for one in _series(looks, RATE, MEAN) if one.values), default=1.0)
    return max(1, math.ceil(longest / MOST_POINTS))


def has_both(looks: Sequence[Look]) -> bool:
    """Whether the figure over time has both the rate and the mean latency."""
    return all(_series(looks, name) for name in (RATE, MEAN))


def _series(looks: Sequence[Look], *names: str) -> list[Series]:
    series: list[Series] = []
    for look in looks:
        for _, several in look.side.series:
            series += [one for one in several if one.name in names]
    return series


def _lines(look: Look, name: str, divisor: float, unit: str, width: int) -> list[dict[str, Any]]:
    """Every replicate's line and that of their medians, where most replicates have a value."""
    lines: list[tuple[int, dict[int, float]]] = []  # trial, its values
    for attempt, several in look.side.series:
        lines += [(attempt.trial_id, _binned(one, width)) for one in several if one.name == name]
    if not lines:
        return []
    thin = {"color": colour(look.index, 38), "width": 1}
    traces = [
        _line(_of_trial(escape(look.name), trial), values, divisor, unit, thin)
        for trial, values in lines[:MOST_REPLICATES]
    ]
    middle = _medians([values for _, values in lines])
    whole = _line(_of_median(escape(look.name)), middle, divisor, unit, {"color": colour(look.index), "width": 2.4})
    return [*traces, whole]


def _of_trial(name: str, trial: int) -> str:
    return gettext("{name}, trial {trial}").format(name=name, trial=trial)


def _of_median(name: str) -> str:
    return gettext("{name}, median").format(name=name)


def _medians(replicates: Sequence[Mapping[int, float]]) -> dict[int, float]:
    """Second → the median of the replicates, where most of them have a value."""
    by_second: defaultdict[int, list[float]] = defaultdict(list)
    for values in replicates:
        for at, value in values.items():
            by_second[at].append(value)
    return {at: median(values) for at, values in sorted(by_second.items()) if 2 * len(values) > len(replicates)}


def _binned(series: Series, width: int) -> dict[int, float]:
    """Second → mean of the values around it."""
    bins: defaultdict[int, list[float]] = defaultdict(list)
    for at, value in zip(series.times(), series.values, strict=True):
        if value == value:
            bins[round(at / width) * width].append(value)
    return {at: fmean(values) for at, values in bins.items()}


def _line(name: str, values: dict[int, float], divisor: float, unit: str, line: dict[str, Any]) -> dict[str, Any]:
    ordered = sorted(values)
    second = gettext("second {n}").format(n="%{x}")
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": ordered,
        "y": json_numbers([values[at] / divisor for at in ordered]),
        "line": line,
        "hovertemplate": f"{name}<br>{second}: <b>%{{y:,.4~g}}</b> {unit}<extra></extra>",
    }


def density(looks: Sequence[Look]) -> Figure | None:
    """How many of all transactions took how long, in quarter-octaves; percentiles marked."""
    data = [trace for look in looks if look.side.latencies for trace in _density(look, look.side.latencies)]
    if not data:
        return None
    x_axis = axis(gettext("latency, ms"), type="log", showgrid=False, tickformat="~r", nticks=6)
    y_axis = axis(gettext("{percent} of transactions").format(percent="%"), rangemode="tozero", nticks=5)
    return {"data": data, "layout": layout(280, xaxis=x_axis, yaxis=y_axis, hovermode="closest")}


def _density(look: Look, latencies: Histogram) -> list[dict[str, Any]]:
    counts: defaultdict[int, int] = defaultdict(int)
    for latency, count in zip(latencies.latencies_us, latencies.counts, strict=True):
        counts[bucket_of(latency)] += count
    buckets = range(min(counts) - 1, max(counts) + 2)
    shares = {bucket: 100 * counts.get(bucket, 0) / latencies.total for bucket in buckets}
    bounds = [bucket_bounds_us(bucket) for bucket in buckets]
    name = escape(look.name)
    marks = [(percent, latencies.percentile_us(percent)) for percent in MARKED]
    paint = colour(look.index)
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "name": name,
            "fill": "tozeroy",
            "fillcolor": colour(look.index, 16),
            "x": json_numbers([math.sqrt(low * high) / 1e3 for low, high in bounds]),
            "y": json_numbers(list(shares.values())),
            "line": {"color": paint, "width": 2, "shape": "hvh"},
            "text": [_reach(low, high) for low, high in bounds],
            "hovertemplate": f"{name}<br>%{{text}}: <b>%{{y:.3~g}} %</b><extra></extra>",
        },
        {
            "type": "scatter",
            "mode": "markers",
            "name": name,
            "x": json_numbers([us / 1e3 for _, us in marks]),
            "y": json_numbers([shares[bucket_of(us)] for _, us in marks]),
            "text": _within([(f"{percent:g} %", us) for percent, us in marks]),
            "hovertemplate": f"{name}<br>%{{text}}<extra></extra>",
            "marker": {"symbol": mark(look.index), "size": 9, "color": paint},
        },
    ]


def _reach(low_us: float, high_us: float) -> str:
    return gettext("{low} to {high}").format(low=format_quantity(low_us, "us"), high=format_quantity(high_us, "us"))


def _within(shares: Iterable[tuple[str, float]]) -> list[str]:
    """Return what is said of shares of the transactions, each with the latency in µs within which it was."""
    text = gettext("{percent} within <b>{latency}</b>")
    return [text.format(percent=percent, latency=format_quantity(us, "us")) for percent, us in shares]


def tail(looks: Sequence[Look]) -> Figure | None:
    """The latency within which each share of the transactions was, each further nine as wide as the last."""
    data = [_tail(look, look.side.latencies) for look in looks if look.side.latencies]
    if not data:
        return None
    nines = range(1 + max(math.ceil(math.log10(trace["x"][-1])) for trace in data))
    x_axis = axis(
        gettext("{percent} of transactions within").format(percent="%"),
        type="log",
        showgrid=False,
        tickvals=[10**nine for nine in nines],
        ticktext=[f"{100 - 100 / 10**nine:.10g}" for nine in nines],
    )
    y_axis = axis(gettext("latency, ms"), type="log", tickformat="~r", nticks=6)
    return {"data": data, "layout": layout(280, xaxis=x_axis, yaxis=y_axis, hovermode="closest")}


def _tail(look: Look, latencies: Histogram) -> dict[str, Any]:
    total = latencies.total
    seen = list(accumulate(latencies.counts))
    steps = max(2, min(MOST_POINTS, total))
    beyond = sorted({max(1, round(total ** (1 - step / (steps - 1)))) for step in range(steps)}, reverse=True)
    values = [latencies.latencies_us[bisect_left(seen, total - more + 1)] for more in beyond]
    name = escape(look.name)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": json_numbers([total / more for more in beyond]),
        "y": json_numbers([max(value, 0.5) / 1e3 for value in values]),
        "line": {"color": colour(look.index), "width": 2, "shape": "vh"},
        "text": _within(
            (f"{100 * (total - more + 1) / total:.7g} %", value) for more, value in zip(beyond, values, strict=True)
        ),
        "hovertemplate": f"{name}<br>%{{text}}<extra></extra>",
    }


Share = tuple[str, float, str]  # what, percent, colour


def processors(looks: Sequence[Look]) -> Figure | None:
    """What the processors of every node did: means over the replicates."""
    rows: list[tuple[str, list[Share]]] = []
    for node in _nodes(looks, "cpu.busy"):
        for look in looks:
            states = [
                (name.removeprefix("cpu."), fmean(values), f"{paint} 72%")
                for name, paint in CPU
                if (values := _values(look.side, name, node))
            ]
            rows.append((joined([look.name, node]), states))
    return _shares(rows, gettext("{percent} of CPU time").format(percent="%")) if rows else None


def waiting(looks: Sequence[Look]) -> Figure | None:
    """What the sessions of every node did: means over the replicates, as shares of all that were sampled."""
    rows: list[tuple[str, list[Share]]] = []
    for node in _nodes(looks, WAITS):
        paints = event_paints(looks, node)
        for look in looks:
            means = _event_means(look.side, node)
            whole = sum(means.values())
            if not whole:
                continue
            shares = [(event, 100 * means.get(event, 0.0) / whole, paint.fill) for event, paint in paints.items()]
            left = 100 - sum(share for _, share, _ in shares)
            rows.append((joined([look.name, node]), [*shares, (localized(OTHERS), max(0.0, left), _OTHER_PAINT.fill)]))
    return _shares(rows, gettext("{percent} of the sessions sampled").format(percent="%")) if rows else None


def waits_key(looks: Sequence[Look]) -> list[tuple[int, int, str]]:
    """(colour, shade, event) of each bar's part, for the list beside the figure."""
    paint_of = {event: paint for node in _nodes(looks, WAITS) for event, paint in event_paints(looks, node).items()}
    return (
        [*((paint.colour, paint.shade, event) for event, paint in paint_of.items()), (0, 1, localized(OTHERS))]
        if paint_of
        else []
    )


def event_paints(looks: Sequence[Look], node: str) -> dict[str, Paint]:
    """The same for both configurations."""
    sums: defaultdict[str, float] = defaultdict(float)
    for look in looks:
        for event, value in _event_means(look.side, node).items():
            sums[event] += value
    return paints_of(sums)


def _nodes(looks: Iterable[Look], metric: str) -> list[str]:
    nodes: set[str] = set()
    for look in looks:
        for one in look.side.replicates:
            nodes.update(node for name, node, _ in one.values if name == metric)
    return sorted(nodes)


def _values(side: Side, metric: str, node: str) -> list[float]:
    return [one.values[metric, node, ""] for one in side.replicates if (metric, node, "") in one.values]


def _event_means(side: Side, node: str) -> dict[str, float]:
    """Event → sessions at it, mean over the replicates that sampled any; one that did not see an event saw it 0
    times."""
    sums: defaultdict[str, float] = defaultdict(float)
    for one in side.replicates:
        for (metric, at, event), value in one.values.items():
            if metric == WAITS and at == node:
                sums[event] += value
    sampled = sum(any(key[:2] == (WAITS, node) for key in one.values) for one in side.replicates)
    return {event: value / sampled for event, value in sums.items()}


def _shares(rows: Sequence[tuple[str, Sequence[Share]]], title: str) -> Figure:
    """A bar a row, from the top, its name above it."""
    count = len(rows)
    data: list[dict[str, Any]] = []
    notes: list[dict[str, Any]] = []
    for index, (row, shares) in enumerate(rows):
        data += [_share_trace(row, share, count - index) for share in shares]
        notes.append(_title(row, 0, count - index + 0.24) | {"xref": "x", "yref": "y"})
    return {
        "data": data,
        "layout": layout(
            count * _BAR_PX + 60,
            barmode="stack",
            annotations=notes,
            margin={"l": 14, "r": 14, "t": 6, "b": 44},
            xaxis=axis(title, range=[0, 100], nticks=6),
            yaxis=axis(range=[0.6, count + 0.75], showticklabels=False, showgrid=False, zeroline=False),
        ),
    }


def _share_trace(row: str, share: Share, y: float) -> dict[str, Any]:
    """One piece of a row's bar."""
    what, percent, paint = share
    return {
        "type": "bar",
        "orientation": "h",
        "name": escape(what),
        "y": [y],
        "x": json_numbers([percent]),
        "marker": {"color": paint, "line": {"color": "var(--paper)", "width": 1}},
        "width": 0.46,
        "hovertemplate": f"{escape(row)}<br>{escape(what)}: <b>%{{x:.3~g}} %</b><extra></extra>",
    }


def costs(changes: Sequence[MetricChange], looks: Sequence[Look], trial_url: Callable[[int], str]) -> Figure | None:
    """A row a quantity: the median of each configuration as a bar, every replicate as a dot that leads to its trial."""
    if not changes:
        return None
    inner = len(changes) * _COST_PX
    data: list[dict[str, Any]] = []
    axes: dict[str, Any] = {}
    notes = []
    for index, change in enumerate(changes):
        number = str(index + 1) if index else ""
        top = 1 - (index * _COST_PX + 20) / inner
        largest = max(value.value for value in (*change.base, *change.other))
        divisor, unit = scale_for(largest, change.unit)
        axes[f"xaxis{number}"] = axis(
            domain=[0, 1], anchor=f"y{number}", range=[0, 1.06 * largest / divisor], nticks=5, tickformat=",~r"
        )
        axes[f"yaxis{number}"] = axis(
            domain=[top - 48 / inner, top],
            anchor=f"x{number}",
            range=[-0.6, 1.6],
            showticklabels=False,
            showgrid=False,
            zeroline=False,
        )
        on = {"xaxis": f"x{number}", "yaxis": f"y{number}"}
        data += [trace | on for trace in _cost(change, looks, divisor, trial_url)]
        what = joined(text for text in (localized(change.label), unit) if text)
        notes.append(_title(" · ".join(text for text in (what, change.node, change.part) if text), 0, top))
    return {
        "data": data,
        "layout": layout(inner + 24, annotations=notes, margin={"l": 14, "r": 14, "t": 4, "b": 20}, **axes),
    }


def _cost(
    change: MetricChange, looks: Sequence[Look], divisor: float, trial_url: Callable[[int], str]
) -> list[dict[str, Any]]:
    traces: list[dict[str, Any]] = []
    for index, (look, values) in enumerate(zip(looks, (change.base, change.other), strict=True)):
        name, y = escape(look.name), 1 - index
        middle = median(value.value for value in values)
        texts = [f"{_of_trial(name, v.trial_id)}<br><b>{format_quantity(v.value, change.unit)}</b>" for v in values]
        traces += [
            {
                "type": "bar",
                "orientation": "h",
                "name": name,
                "y": [y],
                "x": json_numbers([middle / divisor]),
                "width": 0.7,
                "marker": {"color": colour(look.index, 34)},
                "hovertemplate": (
                    f"{_of_median(name)}<br><b>{format_quantity(middle, change.unit)}</b><extra></extra>"
                ),
            },
            {
                "type": "scatter",
                "mode": "markers",
                "name": name,
                "y": [y] * len(values),
                "text": texts,
                "x": json_numbers([value.value / divisor for value in values]),
                "hovertemplate": "%{text}<extra></extra>",
                "customdata": [trial_url(value.trial_id) for value in values],
                "marker": {"symbol": mark(look.index), "size": 8, "color": colour(look.index)},
            },
        ]
    return traces


def _title(text: str, x: float, y: float) -> dict[str, Any]:
    return {
        "text": escape(text),
        "x": x,
        "y": y,
        "xref": "paper",
        "yref": "paper",
        "xanchor": "left",
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"color": "var(--soft)", "size": 12},
        "align": "left",
    }
