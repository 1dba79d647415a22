"""Medians over a factor, with every replicate drawn: the figure of comparisons and of runs. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import Any, NamedTuple

from django.utils.translation import gettext

from results.domain.units import scale_for
from results.queries.shared.ordering import all_numbers
from results.queries.shared.selection import LABEL, dimensions
from webapp.charts.style import Figure, axis, colour, escape, json_numbers, layout, mark, with_unit
from webapp.chooser import title

LOG_FROM = 16  # a factor whose levels span more than this reads better on a logarithmic axis
MOST_TICKS = 30  # of levels that are no numbers
CROWDED_FROM = 9  # levels beside each other that leave less room for strokes
LINES_FROM = 40  # levels that are too many to tell marks apart
SMALL_FROM = 300  # replicates of a line


class Replicate(NamedTuple):
    value: float
    trial_id: int
    block: int
    outlier: bool = False


@dataclass(frozen=True)
class Marker:
    """One configuration (or cell) on the figure.

    x: index into the x levels.
    median: where the mark stands.
    low, high: ends of the interval around it, drawn where there is one."""

    x: int
    median: float
    replicates: tuple[Replicate, ...]
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Line:
    """One series of the figure.

    index: which colour and mark.
    banded: shade from the smallest to the largest replicate.
    bare: a dashed line without marks, for what was not measured.
    gaps: levels (indices) that were to be measured and have no value: no line is drawn across them."""

    name: str
    index: int
    markers: tuple[Marker, ...]
    banded: bool = True
    bare: bool = False
    gaps: tuple[int, ...] = ()

    @property
    def pieces(self) -> list[slice]:
        """The markers between the gaps."""
        xs = [marker.x for marker in self.markers]
        cuts = [place for place in range(1, len(xs)) if any(xs[place - 1] < gap < xs[place] for gap in self.gaps)]
        return [slice(*ends) for ends in pairwise((0, *cuts, len(xs)))]

    def interrupted(self, values: Sequence[float | None]) -> list[float | None]:
        """Return values of the markers with a null at each gap."""
        parts = [[*values[piece], None] for piece in self.pieces]
        return list(chain.from_iterable(parts))[:-1]


def medians_figure(
    xs: Sequence[str],
    lines: Sequence[Line],
    *,
    x_dimension: str,
    unit: str,
    y_title: str,
    trial_url: Callable[[int], str | int],
    height: int = 360,
    largest: float | None = None,
    axes: str = "",
    y_axis: Mapping[str, Any] | None = None,
    shapes: Sequence[Mapping[str, Any]] = (),
    link: str = "",
    x_title: str = "",
) -> Figure:
    """Return the figure. Lines join medians only where the levels are numbers; versions are none. layout.meta.at: where
    each level stands.

    xs: the levels in order, of x_dimension.
    x_title: of the axis, where its dimension's name is none.
    largest: value by which the unit is chosen, of this figure without.
    axes: log or linear for both, '' for a logarithmic x where its levels lie far apart.
    link: into which what trial_url makes is put in place of {}."""
    positions, x_axis = _x_axis(xs, x_dimension, axes, x_title or title(x_dimension))
    largest = _largest(lines) if largest is None else largest
    divisor, shown = scale_for(largest, unit)
    at = positions or [float(index) for index in range(len(xs))]
    data: list[dict[str, Any]] = []
    for number, line in enumerate(lines):
        shift = 0.0 if positions or len(xs) > LINES_FROM else _dodge(number, len(lines))
        markers_at = [at[marker.x] + shift for marker in line.markers]
        data += _traces(line, markers_at, divisor, shown, bool(positions), trial_url)
    meta = {"at": at, "link": link}
    vertical = _y_axis(with_unit(y_title, shown), divisor, axes, y_axis or {})
    axes_of_figure = {"xaxis": x_axis, "yaxis": vertical}
    more = {"hovermode": "closest", "meta": meta, "shapes": list(shapes)}
    return {"data": data, "layout": layout(height, largest=largest / divisor, **axes_of_figure, **more)}


def _largest(lines: Sequence[Line]) -> float:
    markers = [marker for line in lines for marker in line.markers]
    return max((replicate.value for marker in markers for replicate in marker.replicates), default=1.0)


def _y_axis(label: str, divisor: float, axes: str, changes: Mapping[str, Any]) -> dict[str, Any]:
    default: dict[str, Any] = {"type": "log", "dtick": 1} if axes == "log" else {"rangemode": "tozero", "nticks": 7}
    vertical = axis(label, tickformat=",~r", automargin=True, **(default | dict(changes)))
    if vertical.get("range"):
        vertical["range"] = [end / divisor for end in vertical["range"]]
    if vertical.get("type") == "log":
        vertical |= _decades(vertical.pop("range", None))
    return vertical


def _decades(values: Sequence[float] | None) -> dict[str, Any]:
    """A logarithmic axis from one value to another; less than two decades have more than their powers of ten named."""
    if not values:
        return {}
    low, high = (math.log10(value) for value in values)
    return {"range": [low, high], "dtick": 1 if high - low > 2 else "D2"}


def stand_at_numbers(xs: Sequence[str], dimension: str) -> bool:
    """Whether levels stand where their numbers are, and lines join them. Labels are names, also those of digits."""
    return LABEL not in dimensions(dimension) and all_numbers(xs, dimension)


def _x_axis(xs: Sequence[str], dimension: str, axes: str, name: str) -> tuple[list[float] | None, dict[str, Any]]:
    """Return where the levels stand, None where they are no numbers, and the axis."""
    values = [float(x) for x in xs] if stand_at_numbers(xs, dimension) else []
    texts = [escape(x) for x in xs]
    if not values or len(set(values)) < 2:
        return None, _axis_of_texts(texts, name)
    far = min(values) > 0 and (max(values) / min(values) >= LOG_FROM or axes == "log")
    kind = "log" if far and axes != "linear" else "linear"
    return values, axis(name, tickvals=values, ticktext=texts, tickangle=0, type=kind, showgrid=False)


def _axis_of_texts(texts: Sequence[str], name: str) -> dict[str, Any]:
    step = -(-len(texts) // MOST_TICKS) or 1
    ticks = {"tickvals": list(range(0, len(texts), step)), "ticktext": list(texts[::step])}
    reach = [-0.5, max(len(texts), 1) - 0.5]
    return axis(name, **ticks, range=reach, showgrid=False, zeroline=False, automargin=True)


def _dodge(number: int, count: int) -> float:
    return (number - (count - 1) / 2) * min(0.16, 0.7 / max(count, 1))


def _stroke(joined: bool, levels: int) -> int:
    if joined or levels > LINES_FROM:
        return 8
    return 14 if levels >= CROWDED_FROM else 22


def _traces(
    line: Line, at: Sequence[float], divisor: float, shown: str, joined: bool, trial_url: Callable[[int], str | int]
) -> list[dict[str, Any]]:
    if not joined:
        line = replace(line, gaps=())
    name = escape(line.name)
    medians: dict[str, Any] = {
        "type": "scatter",
        "name": name,
        "mode": "markers" if not joined else "lines+markers" if len(at) <= LINES_FROM else "lines",
        "x": line.interrupted(at),
        "y": line.interrupted(json_numbers([marker.median / divisor for marker in line.markers])),
        "line": {"color": colour(line.index), "width": 2},
        "marker": {
            "symbol": "line-ew-open",
            "size": _stroke(joined, len(at)),
            "color": colour(line.index),
            "line": {"width": 2.4, "color": colour(line.index)},
        },
        "hoverinfo": "skip",
    }
    if line.bare:
        return [medians | {"mode": "lines", "line": {"color": "var(--faint)", "width": 1.5, "dash": "dash"}}]
    medians["meta"] = {"series": line.index}
    if any(marker.low is not None for marker in line.markers):
        medians["error_y"] = _intervals(line, divisor)
    return [*_band(line, at, divisor, joined), medians, *_replicates(line, at, divisor, shown, trial_url)]


def _intervals(line: Line, divisor: float) -> dict[str, Any]:
    above = [0.0 if s.high is None else (s.high - s.median) / divisor for s in line.markers]
    below = [0.0 if s.low is None else (s.median - s.low) / divisor for s in line.markers]
    return {
        "type": "data",
        "symmetric": False,
        "array": line.interrupted(json_numbers(above)),
        "arrayminus": line.interrupted(json_numbers(below)),
        "color": colour(line.index),
        "thickness": 1.6,
        "width": 4,
    }


def _replicates(
    line: Line, at: Sequence[float], divisor: float, shown: str, trial_url: Callable[[int], str | int]
) -> list[dict[str, Any]]:
    """Return a trace of those that look alike, and one of the outliers, where there are any."""
    placed = [(x, replicate) for x, marker in zip(at, line.markers, strict=True) for replicate in marker.replicates]
    usual = [(x, replicate) for x, replicate in placed if not replicate.outlier]
    outliers = [(x, replicate) for x, replicate in placed if replicate.outlier]
    symbol, size = mark(line.index), 8 if len(placed) < SMALL_FROM else 5
    traces = [_replicate_trace(line, usual, symbol, size, divisor, shown, trial_url)]
    if outliers:
        traces.append(_replicate_trace(line, outliers, f"{symbol}-open-dot", 13, divisor, shown, trial_url))
    return traces


def _replicate_trace(
    line: Line,
    placed: Sequence[tuple[float, Replicate]],
    symbol: str,
    size: int,
    divisor: float,
    shown: str,
    trial_url: Callable[[int], str | int],
) -> dict[str, Any]:
    """Return the trace of replicates that look alike.

    placed: (x, replicate)."""
    replicates = [replicate for _, replicate in placed]
    outlier = gettext("{replicate}, an outlier")
    which = gettext("replicate {number}").format(number="%{text}")
    return {
        "type": "scatter",
        "name": escape(line.name),
        "meta": {"series": line.index},
        "mode": "markers",
        "x": [x for x, _ in placed],
        "y": json_numbers([replicate.value / divisor for replicate in replicates]),
        "text": [outlier.format(replicate=r.block) if r.outlier else r.block for r in replicates],
        "customdata": [trial_url(replicate.trial_id) for replicate in replicates],
        "hovertemplate": f"{escape(line.name)}<br><b>%{{y:,.4~r}} {shown}</b> · {which}<extra></extra>",
        "marker": {"symbol": symbol, "size": size, "color": colour(line.index, 62)},
    }


def _band(line: Line, at: Sequence[float], divisor: float, joined: bool) -> list[dict[str, Any]]:
    if not joined or not line.banded or not any(len(marker.replicates) > 1 for marker in line.markers):
        return []
    low = [min((r.value for r in s.replicates), default=s.median) / divisor for s in line.markers]
    high = [max((r.value for r in s.replicates), default=s.median) / divisor for s in line.markers]
    return [
        {
            "type": "scatter",
            "mode": "none",
            "fill": "toself",
            "fillcolor": colour(line.index, 14),
            "x": _outline(line, at, at),
            "y": _outline(line, json_numbers(high), json_numbers(low)),
            "hoverinfo": "skip",
            "meta": {"series": line.index},
        }
    ]


def _outline(line: Line, there: Sequence[float | None], back: Sequence[float | None]) -> list[float | None]:
    """Return coordinates around each piece of the line: along one side, and back along the other."""
    around = [[*there[piece], *reversed(back[piece]), None] for piece in line.pieces]
    return list(chain.from_iterable(around))[:-1]
