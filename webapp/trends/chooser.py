"""The chips and lists of choices of a trend. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from django.utils.translation import gettext, pgettext

from results.queries.trends.families import AXES, FamilyFacet
from results.queries.trends.trends import Trend
from webapp.charts.trends import axis_words
from webapp.chooser import (
    Chip,
    Chips,
    Choice,
    Chooser,
    Option,
    by_title,
    dimension_options,
    label_choice,
    metric_choice,
    node_choice,
    title,
)
from webapp.trends.state import HELD, METRIC_WAS
from webapp.urlstate import FILTER, NO_SERIES

MOST_FACETS = 6  # that all stand first


def chooser(trend: Trend) -> Chooser:
    facets = by_title(trend.facets)
    near = [facet for facet in facets if _is_near(facet, trend)]
    return Chooser(
        chips=tuple(map(_chips, near)),
        more=tuple(_chips(facet) for facet in facets if facet not in near),
        choices=tuple(_choices(trend)),
        hidden=tuple(_hidden(trend)),
    )


def _is_near(facet: FamilyFacet, trend: Trend) -> bool:
    """Whether it stands first: the lines, and what is chosen or held; where there are few, all."""
    of_lines = facet.name == (trend.selection.series or trend.first_series)
    return len(trend.facets) <= MOST_FACETS or of_lines or bool(facet.chosen)


def _chips(facet: FamilyFacet) -> Chips:
    chips = tuple(Chip(text, text in facet.chosen, trials, empty=not trials) for text, trials in facet.values)
    return Chips(FILTER + facet.name, title(facet.name), chips, single=not facet.several)


def _choices(trend: Trend) -> Iterable[Choice]:
    """Give the lists of choices; the default choice of each is the empty text, so that addresses stay short."""
    chosen = trend.selection
    if trend.metrics:
        yield _first_is_default(metric_choice(trend.metrics, trend.metric.name))
    for metric in (metric for metric in trend.metrics if metric.name == trend.metric.name):
        if len(metric.nodes) > 1:
            yield _first_is_default(node_choice(metric, chosen.node))
        if len(metric.labels) > 1:
            yield _first_is_default(label_choice(metric, chosen.label))
    axes = tuple(Option(name, axis_words(name), name == chosen.x) for name in AXES)
    yield _first_is_default(Choice("x", "x", pgettext("axis", "by"), axes))
    if trend.facets:
        yield Choice("series", "series", gettext("a line for each"), tuple(_series(trend)))


def _series(trend: Trend) -> Iterable[Option]:
    first, chosen = trend.first_series, trend.selection.series or ""
    yield Option("", title(first) or pgettext("a line for each", "nothing"), chosen == first)
    others = [facet.name for facet in by_title(trend.facets) if facet.name != first]
    yield from dimension_options(others, chosen if chosen != first else "")
    if first:
        yield Option(NO_SERIES, pgettext("a line for each", "nothing"), not chosen)


def _first_is_default(choice: Choice) -> Choice:
    first, *others = choice.options
    return replace(choice, options=(replace(first, value=""), *others))


def _hidden(trend: Trend) -> Iterable[tuple[str, str]]:
    chosen = trend.selection
    yield from ((name, text) for name in ("plan", "workload") if (text := getattr(chosen, name)))
    first = next((metric.name for metric in trend.metrics), "")
    yield METRIC_WAS, "" if chosen.metric == first else chosen.metric
    yield from ((HELD, facet.name) for facet in trend.facets if not facet.several)
