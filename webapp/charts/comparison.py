"""A comparison → its figures, one a panel. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext

from results.domain.measurement.metrics import Better
from results.domain.messages import gettext_lazy as _
from results.domain.messages import localized
from results.queries.comparison.compare import Comparison, Point
from results.queries.comparison.summaries import summed_up
from results.queries.shared.ordering import all_numbers
from results.queries.shared.selection import LABEL, dimensions
from webapp.charts.against import latency_beside
from webapp.charts.many import are_too_many, extremes
from webapp.charts.medians import Line, Marker, Replicate, medians_figure
from webapp.charts.rows import are_long, as_rows
from webapp.charts.steps import Steps, add_up, steps_figure
from webapp.charts.style import Figure, or_words
from webapp.labels import axis_title, short_levels
from webapp.urlstate import View

RATIO, SPEEDUP, AGAINST = "ratio", "speedup", "latency"
MOST_PANELS = 25
FURTHEST = 1.25  # how much further than the values the intervals of ratios may stretch the figure
SCALED = ("clients", "threads", "cores", "nodes")  # what a speed-up is over; and any setting of parallel workers
_TIMES = "×"
PER_NAMES: dict[str, str] = {"client": _("client"), "core": _("core"), "transaction": _("transaction")}
_NO_VALUE = {
    "": _("No trial has a value."),
    RATIO: _("No cell here has a ratio to the baseline."),
    SPEEDUP: _("There is no first value to compare with."),
}
_Y_TITLES = {RATIO: _("Ratio to the baseline"), SPEEDUP: _("Speed-up")}


@dataclass(frozen=True)
class Panel:
    """One figure of the page.

    id: of its data on the page."""

    id: str
    title: str
    figure: Figure


def possible_views(comparison: Comparison) -> tuple[str, ...]:
    """Of the views besides the values themselves, those that say something of this comparison."""
    ratio = any(point.ratio is not None for point in comparison.points if point.base != point.key)
    against = bool(latency_beside(comparison)) and bool(comparison.points)
    views = ((RATIO, ratio), (SPEEDUP, _can_speed_up(comparison)), (AGAINST, against))
    return tuple(name for name, possible in views if possible)


def _can_speed_up(comparison: Comparison) -> bool:
    x = comparison.selection.x
    scaled = x in SCALED or x.removeprefix("setting.").startswith("max_parallel_workers")
    numeric = all_numbers(comparison.xs, x) and len(comparison.xs) > 1 and float(comparison.xs[0]) > 0
    return scaled and numeric and Better(comparison.metric.better) is not Better.NEITHER


def comparison_figures(comparison: Comparison, view: View, link: str) -> list[Panel]:
    """Return the figures of the first panels, each on its own scale unless all are to share one. A view that says
    nothing of this comparison, or that is of another metric as well (AGAINST), is drawn as the values.

    link: a trial's address with {} for its number.
    """
    shown = view.view if view.view in possible_views(comparison) and view.view != AGAINST else ""
    panels = comparison.panels[:MOST_PANELS]
    lines = {panel: _lines(comparison, panel, shown) for panel in panels}
    every = [line for several in lines.values() for line in several]
    x = comparison.selection.x
    xs = tuple(short_levels(x, comparison.xs).values())
    drawn = []
    for number, panel in enumerate(panels, 1):
        reach = _reach(every if view.scale else lines[panel], comparison)
        options = _options(comparison, shown, view.axes, reach, len(panels))
        figure = medians_figure(xs, lines[panel], x_dimension=x, trial_url=int, link=link, **options)
        if LABEL in dimensions(x) or are_long(xs):
            figure = as_rows(figure, xs, len(lines[panel]))
        drawn.append(Panel(f"figure-{number}", panel, or_words(figure, _NO_VALUE[shown])))
    return drawn


def stacked_steps(comparison: Comparison, view: View) -> Steps | None:
    """Return the steps of each configuration one upon the other, where they add up and their values are shown; None
    where a filter leaves none of them."""
    if view.view or not add_up(comparison):
        return None
    steps = summed_up(comparison.xs, comparison.selection, comparison.metric)
    return steps_figure(comparison, steps) if steps and comparison.points else None


def _lines(comparison: Comparison, panel: str, view: str) -> list[Line]:
    index_of = {x: index for index, x in enumerate(comparison.xs)}
    points_of: dict[str, list[Point]] = {series: [] for series in comparison.series}
    for point in comparison.points:  # in the order of x
        if point.panel == panel:
            points_of[point.series].append(point)
    lines, every = [], not are_too_many(comparison)
    for number, (series, points) in enumerate(points_of.items()):
        divisors = _divisors(comparison, points, view)
        divisible = [point for point in points if divisors.get(point.x)]
        markers = tuple(
            _marker(point, index_of[point.x], comparison, view, divisors[point.x], every) for point in divisible
        )
        lines.append(Line(series, number, markers, banded=not comparison.mixed and view != RATIO))
    if view == SPEEDUP:
        lines.append(_ideal(comparison))
    return lines


def _ideal(comparison: Comparison) -> Line:
    """Return the speed-up that is as large as what x is of."""
    first = float(comparison.xs[0])
    markers = tuple(Marker(index, float(x) / first, ()) for index, x in enumerate(comparison.xs))
    return Line(gettext("ideal"), len(comparison.series), markers, bare=True)


def _divisors(comparison: Comparison, points: Sequence[Point], view: str) -> Mapping[str, float]:
    """Return x → by what a cell's values are divided; without an entry where there is nothing to divide by."""
    if view == RATIO:
        return _bases(comparison, points)
    if view == SPEEDUP:
        first = next((_middle(point) for point in points if point.x == comparison.xs[0]), 0.0)
        return {point.x: first for point in points}
    return {point.x: 1.0 for point in points}


def _bases(comparison: Comparison, points: Sequence[Point]) -> dict[str, float]:
    by_key = {point.key: point for point in comparison.points}
    bases = {}
    for point in points:
        if point.base and point.base != point.key:
            bases[point.x] = _middle(by_key[point.base])
    return bases


def _marker(point: Point, x: int, comparison: Comparison, view: str, divisor: float, every: bool) -> Marker:
    """every: whether each replicate is drawn"""
    turned = view == SPEEDUP and Better(comparison.metric.better) is Better.LOWER

    def shown(value: float) -> float:
        return (divisor / value if value else 0.0) if turned else value / divisor

    replicates = tuple(
        Replicate(shown(r.value), r.trial_id, r.block, r.trial_id in point.outliers)
        for r in (point.values if every else extremes(point))
    )
    verdict = point.verdict if view == RATIO else None
    if verdict is None or verdict.ratio is None:
        return Marker(x, shown(_middle(point) if view else point.value), replicates)
    return Marker(x, verdict.ratio, replicates, verdict.low, verdict.high)


def _middle(point: Point) -> float:
    """Return the geometric mean, which ratios are made of; of values that have none their mean."""
    if point.minimum <= 0:
        return point.mean
    return math.exp(math.fsum(math.log(replicate.value) for replicate in point.values) / point.n)


def _reach(lines: Sequence[Line], comparison: Comparison) -> tuple[float, float]:
    """Return the smallest and the largest value; of an interval that is much wider, as of three replicates that
    disagree, only so much that the values can still be read."""
    markers = [marker for line in lines if not line.bare for marker in line.markers]
    values = [replicate.value for marker in markers for replicate in marker.replicates]
    ends = [end for marker in markers for end in (marker.low, marker.high) if end is not None]
    if not ends or min(values) <= 0:
        return min([*values, *ends], default=0.0), max([*values, *ends], default=1.0)
    margin = math.log1p(comparison.metric.minimum_effect)
    most = max(FURTHEST * max(abs(math.log(value)) for value in values), 2 * margin)
    return min(*values, max(min(ends), math.exp(-most))), max(*values, min(max(ends), math.exp(most)))


def _label(comparison: Comparison) -> str:
    label, per = localized(comparison.metric.label), per_name(comparison)
    return gettext("{metric} per {per}").format(metric=label, per=per) if per else label


def per_name(comparison: Comparison) -> str:
    """Return what the values are divided by, in words; '' where they are as measured."""
    per = comparison.selection.per
    return localized(PER_NAMES[per]) if per else ""


def _options(comparison: Comparison, view: str, axes: str, reach: tuple[float, float], panels: int) -> dict[str, Any]:
    low, high = reach
    log = low > 0 and (axes == "log" or (view == SPEEDUP and not axes))
    options: dict[str, Any] = {
        "unit": comparison.metric.unit if not view else _TIMES,
        "y_title": localized(_Y_TITLES[view]) if view else _label(comparison),
        "largest": high,
        "x_title": axis_title(comparison.selection.x, comparison.metric),
        "axes": "log" if log else axes if axes == "linear" else "",
        "height": 360 if panels == 1 else 260,
    }
    if y_axis := _y_axis(view, reach, log, panels):
        options["y_axis"] = y_axis
    if view == RATIO:
        options["shapes"] = _margin(comparison.metric.minimum_effect)
    return options


def _y_axis(view: str, reach: tuple[float, float], log: bool, panels: int) -> dict[str, Any]:
    low, high = reach
    if log:
        return {"range": [low / 1.1, high * 1.1]}
    if view == RATIO:
        pad = 0.08 * max(high - low, 0.02)
        return {"range": [max(min(low, 1) - pad, 0), max(high, 1) + pad], "rangemode": "normal"}
    return {"range": [min(low * 1.05, 0), high * 1.05]} if panels > 1 else {}


def _margin(minimum_effect: float) -> list[dict[str, Any]]:
    """Return the field of what counts as the same, and the line in its middle."""
    across = {"xref": "paper", "x0": 0, "x1": 1, "layer": "below"}
    field = {"y0": 1 / (1 + minimum_effect), "y1": 1 + minimum_effect, "fillcolor": "var(--same-bg)"}
    middle = {"y0": 1, "y1": 1, "line": {"color": "var(--faint)", "width": 1}}
    return [{"type": "rect", **field, "line": {"width": 0}, **across}, {"type": "line", **middle, **across}]
