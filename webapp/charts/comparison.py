"""A comparison → its figure. Pure."""

from __future__ import annotations

from collections.abc import Callable

from results.queries.comparison import Comparison
from webapp.charts.medians import Line, Replicate, Spot, medians_figure
from webapp.charts.style import Figure


def comparison_figure(comparison: Comparison, trial_url: Callable[[int], str]) -> Figure:
    """One line a series, every replicate drawn."""
    place = {x: index for index, x in enumerate(comparison.xs)}
    lines = [
        Line(
            series,
            index,
            tuple(
                Spot(place[p.x], p.median, tuple(Replicate(v.value, v.trial_id, v.block) for v in p.values))
                for p in sorted((p for p in comparison.points if p.series == series), key=lambda p: place[p.x])
            ),
            banded=not comparison.mixed,
        )
        for index, series in enumerate(comparison.series)
    ]
    return medians_figure(
        comparison.xs,
        lines,
        x_title=comparison.selection.x,
        unit=comparison.metric.unit,
        y_title=comparison.metric.label,
        trial_url=trial_url,
    )
