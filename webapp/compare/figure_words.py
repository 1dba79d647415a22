"""What the figures of a comparison show, and what they leave out: the same sentences on the page and in its files.
Pure."""

from __future__ import annotations

from collections.abc import Iterator

from results.queries.comparison.cells import Comparison
from webapp.charts.comparison import AGAINST, MOST_PANELS, RATIO, SPEEDUP, possible_views
from webapp.charts.medians import stand_at_numbers
from webapp.labels import axis_title
from webapp.urlstate import View

SHARED = "shared"  # one scale for all panels


def drawn_as(comparison: Comparison, view: View) -> str:
    """Return the view that is drawn: one that says nothing of this comparison is drawn as its values."""
    return view.view if view.view in possible_views(comparison) else ""


def how_drawn(comparison: Comparison, view: View) -> list[str]:
    """Return what the marks of the figures mean, a sentence each."""
    return [
        *_panels(comparison, view),
        _marks(comparison, view),
        "Each mark is a replicate; an open mark is an outlier.",
    ]


def _panels(comparison: Comparison, view: View) -> Iterator[str]:
    if len(comparison.panels) < 2:
        return
    if view.scale == SHARED:
        yield "All panels have one scale."
    else:
        yield "Each panel has a scale of its own: read its numbers, not heights across panels."


def _marks(comparison: Comparison, view: View) -> str:
    statistic, x = comparison.selection.statistic, axis_title(comparison.selection.x, comparison.metric)
    shown = drawn_as(comparison, view)
    if shown == RATIO:
        return (
            "Ratio of geometric means to the baseline's, with its 95 % interval; where there is no interval, the ratio "
            f"of the {statistic}s. A wide interval may reach beyond the figure. Grey: what counts as the same."
        )
    if shown == SPEEDUP:
        return f"Each value relative to its line’s value at the first {x}. Dashed: the ideal."
    if shown == AGAINST:
        return (
            "Throughput from left to right, latency from bottom to top: right and low is better. Lines join the "
            f"{statistic}s in the order of {x}."
        )
    if stand_at_numbers(comparison.xs, comparison.selection.x):
        return f"Line: {statistic}. Band: from the smallest to the largest replicate."
    return f"Stroke: {statistic}."


def left_out_of_figure(comparison: Comparison) -> list[str]:
    """Return what is in no figure: panels beyond those that are drawn, and trials that are in no cell."""
    sentences = []
    if len(comparison.panels) > MOST_PANELS:
        sentences.append(f"{MOST_PANELS} of {len(comparison.panels)} panels are drawn; the table has all of them.")
    counts = [_count(state, count) for state, count in comparison.excluded.items() if count]
    return [*sentences, f"Not included: {', '.join(counts)}."] if counts else sentences


def _count(state: str, count: int) -> str:
    return f"{count} done without a value of this metric" if state == "without" else f"{count} {state}"
