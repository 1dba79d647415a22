"""What the figures of a comparison show, and what they leave out: the same sentences on the page and in its files.
Pure."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext, pgettext_lazy

from results.domain.messages import gettext_lazy as _
from results.domain.messages import localized
from results.queries.comparison.cells import Comparison
from webapp.charts.comparison import AGAINST, MOST_PANELS, RATIO, SPEEDUP, possible_views
from webapp.charts.many import are_too_many
from webapp.charts.medians import stand_at_numbers
from webapp.labels import axis_title
from webapp.language import joined
from webapp.urlstate import View

SHARED = "shared"  # one scale for all panels
STATISTIC_NAMES = {
    "median": pgettext_lazy("statistic", "median"),
    "mean": pgettext_lazy("statistic", "mean"),
    "min": pgettext_lazy("statistic", "min"),
    "max": pgettext_lazy("statistic", "max"),
}
_EXCLUDED = {
    "without": _("{n} done without a value of this metric"),
    "failed": _("{n} failed"),
    "cancelled": _("{n} cancelled"),
    "waiting": _("{n} waiting"),
    "running": _("{n} running"),
}


def drawn_as(comparison: Comparison, view: View) -> str:
    """Return the view that is drawn: one that says nothing of this comparison is drawn as its values."""
    return view.view if view.view in possible_views(comparison) else ""


def how_drawn(comparison: Comparison, view: View) -> list[str]:
    """Return what the marks of the figures mean, a sentence each."""
    return [
        *_panels(comparison, view),
        _marks(comparison, view),
        _replicates(comparison, view),
    ]


def _panels(comparison: Comparison, view: View) -> Iterator[str]:
    if len(comparison.panels) < 2:
        return
    if view.scale == SHARED:
        yield gettext("All panels have one scale.")
    else:
        yield gettext("Each panel has a scale of its own: read its numbers, not heights across panels.")


def _marks(comparison: Comparison, view: View) -> str:
    statistic, x = statistic_name(comparison), axis_title(comparison.selection.x, comparison.metric)
    shown = drawn_as(comparison, view)
    if shown == RATIO:
        return gettext(
            # xgettext:no-python-format
            "Ratio of geometric means to the baseline's, with its 95 % interval; where there is no interval, the ratio "
            "of the {statistic}s. A wide interval may reach beyond the figure. Grey: what counts as the same."
        ).format(statistic=statistic)
    if shown == SPEEDUP:
        return gettext("Each value relative to its line’s value at the first {x}. Dashed: the ideal.").format(x=x)
    if shown == AGAINST:
        return gettext(
            "Throughput from left to right, latency from bottom to top: right and low is better. Lines join the "
            "{statistic}s in the order of {x}."
        ).format(statistic=statistic, x=x)
    if stand_at_numbers(comparison.xs, comparison.selection.x):
        text = gettext("Line: {statistic}. Band: from the smallest to the largest replicate.")
    else:
        text = gettext("Stroke: {statistic}.")
    return text.format(statistic=statistic)


def _replicates(comparison: Comparison, view: View) -> str:
    if not are_too_many(comparison):
        return gettext("Each mark is a replicate; an open mark is an outlier.")
    if drawn_as(comparison, view) == AGAINST:
        text = gettext("The {n:,} trials are not drawn one by one.")
    else:
        text = gettext(
            "Of each cell the smallest and the largest replicate are drawn, and the outliers, as open marks: there are "
            "{n:,} replicates."
        )
    return text.format(n=sum(point.n for point in comparison.points))


def statistic_name(comparison: Comparison) -> str:
    """Return what the cells' values are of their replicates, in words."""
    return str(STATISTIC_NAMES[comparison.selection.statistic])


def left_out_of_figure(comparison: Comparison) -> list[str]:
    """Return what is in no figure: panels beyond those that are drawn, and trials that are in no cell."""
    sentences = []
    if len(comparison.panels) > MOST_PANELS:
        text = gettext("{n} of {panels} panels are drawn; the table has all of them.")
        sentences.append(text.format(n=MOST_PANELS, panels=len(comparison.panels)))
    counts = [localized(_EXCLUDED[state]).format(n=count) for state, count in comparison.excluded.items() if count]
    return [*sentences, gettext("Not included: {counts}.").format(counts=joined(counts))] if counts else sentences
