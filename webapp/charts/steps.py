"""Where the time goes: steps or queries that add up, in the order in which they ran. Pure.

Of a comparison a bar a configuration, its steps stacked; of a trial a row a step, each from where the one before it
ended."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from django.utils.translation import gettext

from results.domain.measurement.metrics import TOTAL
from results.domain.messages import localized
from results.domain.units import format_quantity, scale_for
from results.queries.comparison.compare import Comparison, Point
from results.queries.runs import steps as measured
from results.queries.shared.selection import JOINT, LABEL
from webapp.charts.rows import TOP, left_px, name_axis, row_px, wrapped
from webapp.charts.style import PALETTE, Figure, axis, colour, escape, json_numbers, layout, with_unit

_BAR_PX, _BOTTOM = 40, 48
_TOTAL_PX = 76
_NOUN_PX = 22  # of an axis that says what its rows are


def add_up(comparison: Comparison) -> bool:
    """Whether the labels along x are parts of a whole: their metric has a total, or is what another one is made of."""
    metric, chosen = comparison.metric, comparison.selection
    made_of = {choice.parts for choice in comparison.metrics if choice.name != metric.name}
    parts = metric.whole == TOTAL or metric.name in made_of
    return chosen.x == LABEL and not chosen.per and metric.unit == "s" and parts


@dataclass(frozen=True)
class Steps:
    """key: (colour, name) of each step, or of each group of queries, for the list above the figure."""

    figure: Figure
    key: tuple[tuple[int, str], ...]


def steps_figure(comparison: Comparison, steps: Sequence[str]) -> Steps:
    """Return a bar for each configuration, its steps in their order, and at its end the total that was measured.

    steps: the labels that add up, one or more."""
    bars = list(dict.fromkeys((point.panel, point.series) for point in comparison.points))
    by_key = {point.key: point for point in comparison.points}
    columns = {step: [by_key.get((panel, step, series)) for panel, series in bars] for step in steps}
    totals = [by_key.get((panel, TOTAL, series)) for panel, series in bars]
    divisor, unit = scale_for(_longest(columns.values()), comparison.metric.unit)
    colours = _colours(steps, len(comparison.series))
    data = [_segment(step, points, divisor, comparison.metric.unit, colours) for step, points in columns.items()]
    if any(totals):
        data.append(_totals(totals, divisor, comparison.metric.unit))
    names = [wrapped(JOINT.join(filter(None, bar)) or localized(comparison.metric.label)) for bar in bars]
    title = with_unit(comparison.metric.label, unit)
    reach = max(_longest(columns.values()), _largest(totals)) / divisor
    figure = {"data": data, "layout": _layout(title, reach, names, _total_notes(totals, divisor))}
    return Steps(figure, tuple((index, group) for group, index in colours.items()))


def steps_of_trial(steps: measured.Steps) -> Figure:
    """Return a row for each step of one trial, with its time beside it, and the total that was measured below them."""
    values = [step.value for step in steps.parts]
    ends = list(accumulate(values))
    divisor, unit = scale_for(max(ends), steps.unit)
    names = [wrapped(step.label) for step in steps.parts]
    data = [_one_after_the_other(values, ends, divisor)]
    notes = [
        _note(end / divisor, row, format_quantity(value, steps.unit))
        for row, (end, value) in enumerate(zip(ends, values, strict=True))
    ]
    if steps.total is not None:
        names.append(f"<b>{gettext('total')}</b>")
        data.append(_strokes([(len(values), steps.total)], divisor, steps.unit))
        notes.append(_note(steps.total / divisor, len(values), f"<b>{format_quantity(steps.total, steps.unit)}</b>"))
    reach = max(*ends, steps.total or 0.0) / divisor
    shape = _layout(with_unit(steps.metric, unit), reach, names, notes)
    shape["height"] = TOP + row_px(names, 1) * len(names) + _BOTTOM
    shape["margin"]["l"] += _NOUN_PX
    shape["yaxis"] |= {"title": axis(localized(steps.noun))["title"]}
    return {"data": data, "layout": shape}


def _one_after_the_other(values: Sequence[float], ends: Sequence[float], divisor: float) -> dict[str, Any]:
    """Return a bar a row, each from where the one before it ended."""
    starts = [0.0, *ends[:-1]]
    return {
        "type": "bar",
        "orientation": "h",
        "y": list(range(len(values))),
        "base": json_numbers([start / divisor for start in starts]),
        "x": json_numbers([value / divisor for value in values]),
        "hoverinfo": "skip",
        "marker": {"color": colour(2, 78)},
    }


def _time_axis(title: str, reach: float) -> dict[str, Any]:
    """From zero to so far: numbers beside the bars reach into the margin, and do not make the bars smaller."""
    return axis(title, range=[0, 1.02 * reach], nticks=7, tickformat=",~r")


def _layout(title: str, reach: float, names: Sequence[str], notes: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the layout.

    reach: the end of the longest bar.
    names: of the bars.
    notes: that stand behind the bars."""
    return layout(
        TOP + _BAR_PX * len(names) + _BOTTOM,
        barmode="stack",
        bargap=0.35,
        margin={"l": left_px(names), "r": _TOTAL_PX if notes else 20, "t": TOP, "b": _BOTTOM},
        xaxis=_time_axis(title, reach),
        yaxis=name_axis(names),
        annotations=list(notes),
        meta={"rows": True, "at": []},
    )


def _longest(columns: Iterable[Sequence[Point | None]]) -> float:
    """Return the sum of the steps of the bar that is longest."""
    return max(sum(point.value for point in bar if point) for bar in zip(*columns, strict=True))


def _largest(totals: Sequence[Point | None]) -> float:
    return max((total.value for total in totals if total), default=0.0)


def _group(step: str) -> str:
    """'q2.1' → 'q2': queries of one flight have one colour."""
    return step.partition(".")[0]


def _colours(steps: Sequence[str], series: int) -> dict[str, int]:
    """Of each group of steps its colour, none of them a colour of the series as far as there are enough."""
    groups = list(dict.fromkeys(map(_group, steps)))
    first = series if series + len(groups) <= PALETTE else 0
    return {group: first + index for index, group in enumerate(groups)}


def _segment(
    step: str, points: Sequence[Point | None], divisor: float, unit: str, colours: Mapping[str, int]
) -> dict[str, Any]:
    group = _group(step)
    return {
        "type": "bar",
        "orientation": "h",
        "name": escape(group),
        "y": list(range(len(points))),
        "x": json_numbers([point.value / divisor if point else float("nan") for point in points]),
        "text": [f"{escape(step)}<br><b>{format_quantity(point.value, unit)}</b>" if point else "" for point in points],
        "textposition": "none",
        "hovertemplate": "%{text}<extra></extra>",
        "marker": {"color": colour(colours[group], 78), "line": {"color": "var(--paper)", "width": 1}},
    }


def _totals(totals: Sequence[Point | None], divisor: float, unit: str) -> dict[str, Any]:
    return _strokes([(index, total.value) for index, total in enumerate(totals) if total], divisor, unit)


def _strokes(totals: Sequence[tuple[int, float]], divisor: float, unit: str) -> dict[str, Any]:
    """A stroke at each total: what lies between it and the last step passed between the steps.

    totals: (row, value)."""
    words = gettext("total, with the time between the steps")
    return {
        "type": "scatter",
        "mode": "markers",
        "x": json_numbers([value / divisor for _, value in totals]),
        "y": [row for row, _ in totals],
        "text": [f"{words}<br><b>{format_quantity(value, unit)}</b>" for _, value in totals],
        "hovertemplate": "%{text}<extra></extra>",
        "marker": {"symbol": "line-ns-open", "size": 18, "color": "var(--ink)", "line": {"width": 2}},
    }


def _total_notes(totals: Sequence[Point | None], divisor: float) -> list[dict[str, Any]]:
    """The number beside each stroke."""
    shown = [(index, total.value) for index, total in enumerate(totals) if total]
    return [_note(value / divisor, row, f"<b>{format_quantity(value, 's')}</b>") for row, value in shown]


def _note(x: float, y: int, text: str) -> dict[str, Any]:
    return {
        "x": x,
        "y": y,
        "text": text,
        "xanchor": "left",
        "xshift": 6,
        "showarrow": False,
        "font": {"color": "var(--ink)", "size": 12},
    }
