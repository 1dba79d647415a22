"""A comparison → its figures, one a panel. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from results.domain.measurement.metrics import Better
from results.queries.comparison import Comparison, Point
from results.queries.ordering import all_numbers
from webapp.charts.medians import Line, Replicate, Spot, medians_figure
from webapp.charts.style import Figure
from webapp.urlstate import View

RATIO, SPEEDUP = "ratio", "speedup"
MOST_PANELS = 25
FURTHEST = 1.25  # how much further than the values the intervals of ratios may stretch the figure
SCALED = ("clients", "threads", "cores", "nodes")  # what a speed-up is over; and any setting of parallel workers
_TIMES = "×"


@dataclass(frozen=True)
class Panel:
    """id: of its data on the page."""

    id: str
    title: str
    figure: Figure


def possible_views(found: Comparison) -> tuple[str, ...]:
    """Of the views besides the values themselves, those that say something of this comparison."""
    ratio = any(point.ratio is not None for point in found.points if point.base != point.key)
    return tuple(name for name, possible in ((RATIO, ratio), (SPEEDUP, _can_speed_up(found))) if possible)


def _can_speed_up(found: Comparison) -> bool:
    x = found.selection.x
    scaled = x in SCALED or x.removeprefix("setting.").startswith("max_parallel_workers")
    numeric = all_numbers(found.xs, x) and len(found.xs) > 1 and float(found.xs[0]) > 0
    return scaled and numeric and Better(found.metric.better) is not Better.NEITHER


def comparison_figures(found: Comparison, view: View, link: str) -> list[Panel]:
    """The first panels, on one scale. link: a trial's address with {} for its number. A view that says nothing of this
    comparison is drawn as the values."""
    shown = view.view if view.view in possible_views(found) else ""
    panels = found.panels[:MOST_PANELS]
    lines = {panel: _lines(found, panel, shown) for panel in panels}
    reach = _reach([line for several in lines.values() for line in several if not line.bare], found)
    options = _options(found, shown, view.axes, reach, len(panels))
    return [
        Panel(
            f"figure-{number}",
            panel,
            medians_figure(found.xs, lines[panel], x_title=found.selection.x, trial_url=int, link=link, **options),
        )
        for number, panel in enumerate(panels, 1)
    ]


def _lines(found: Comparison, panel: str, view: str) -> list[Line]:
    place = {x: index for index, x in enumerate(found.xs)}
    lines = []
    for index, series in enumerate(found.series):
        points = sorted(
            (p for p in found.points if p.series == series and p.panel == panel), key=lambda point: place[point.x]
        )
        divisors = _divisors(found, points, view)
        spots = tuple(
            _spot(point, place[point.x], found, view, divisors[point.x]) for point in points if divisors.get(point.x)
        )
        lines.append(Line(series, index, spots, banded=not found.mixed and view != RATIO))
    if view == SPEEDUP:
        first = float(found.xs[0])
        ideal = tuple(Spot(index, float(x) / first, ()) for index, x in enumerate(found.xs))
        lines.append(Line("ideal", len(found.series), ideal, bare=True))
    return lines


def _divisors(found: Comparison, points: Sequence[Point], view: str) -> Mapping[str, float]:
    """x → by what a cell's values are divided; without an entry where there is nothing to divide by."""
    if view == RATIO:
        bases = {point.key: point for point in found.points}
        return {
            point.x: _middle(bases[point.base]) if _has_interval(point) else bases[point.base].value
            for point in points
            if point.base and point.base != point.key
        }
    if view == SPEEDUP:
        first = next((point.value for point in points if point.x == found.xs[0]), 0.0)
        return {point.x: first for point in points}
    return {point.x: 1.0 for point in points}


def _spot(point: Point, x: int, found: Comparison, view: str, divisor: float) -> Spot:
    turned = view == SPEEDUP and Better(found.metric.better) is Better.LOWER

    def shown(value: float) -> float:
        return (divisor / value if value else 0.0) if turned else value / divisor

    replicates = tuple(
        Replicate(shown(r.value), r.trial_id, r.block, r.trial_id in point.outliers) for r in point.values
    )
    verdict = point.verdict if view == RATIO and _has_interval(point) else None
    if verdict is None or verdict.ratio is None:
        return Spot(x, shown(point.value), replicates)
    return Spot(x, verdict.ratio, replicates, verdict.low, verdict.high)


def _has_interval(point: Point) -> bool:
    return point.verdict is not None and point.verdict.low is not None


def _middle(point: Point) -> float:
    """The geometric mean: what an interval's ratio is made of."""
    return math.exp(math.fsum(math.log(replicate.value) for replicate in point.values) / point.n)


def _reach(lines: Sequence[Line], found: Comparison) -> tuple[float, float]:
    """From the smallest to the largest value; of an interval that is much wider, as of three replicates that disagree,
    only so much that the values can still be read."""
    values = [r.value for line in lines for spot in line.spots for r in spot.replicates]
    ends = [end for line in lines for spot in line.spots for end in (spot.low, spot.high) if end is not None]
    if not ends or min(values) <= 0:
        return min([*values, *ends], default=0.0), max([*values, *ends], default=1.0)
    most = max(FURTHEST * max(abs(math.log(value)) for value in values), 2 * math.log1p(found.metric.minimum_effect))
    return min(*values, max(min(ends), math.exp(-most))), max(*values, min(max(ends), math.exp(most)))


def _label(found: Comparison) -> str:
    return f"{found.metric.label} per {found.selection.per}" if found.selection.per else found.metric.label


def _options(found: Comparison, view: str, axes: str, reach: tuple[float, float], panels: int) -> dict[str, Any]:
    low, high = reach
    log = low > 0 and (axes == "log" or (view == SPEEDUP and not axes))
    options: dict[str, Any] = {
        "unit": found.metric.unit if not view else _TIMES,
        "y_title": _label(found) if not view else {RATIO: "Ratio to the baseline", SPEEDUP: "Speed-up"}[view],
        "largest": high,
        "axes": "log" if log else axes if axes == "linear" else "",
        "height": 360 if panels == 1 else 260,
    }
    if log:
        options["y_axis"] = {"range": [low / 1.1, high * 1.1]}
    elif view == RATIO:
        pad = 0.08 * max(high - low, 0.02)
        options["y_axis"] = {"range": [max(min(low, 1) - pad, 0), max(high, 1) + pad], "rangemode": "normal"}
    elif panels > 1:
        options["y_axis"] = {"range": [min(low * 1.05, 0), high * 1.05]}
    if view == RATIO:
        margin = found.metric.minimum_effect
        across = {"xref": "paper", "x0": 0, "x1": 1, "layer": "below"}
        options["shapes"] = [
            {"type": "rect", "y0": 1 / (1 + margin), "y1": 1 + margin, "fillcolor": "var(--same-bg)",
             "line": {"width": 0}, **across},
            {"type": "line", "y0": 1, "y1": 1, "line": {"color": "var(--faint)", "width": 1}, **across},
        ]  # fmt: skip
    return options
