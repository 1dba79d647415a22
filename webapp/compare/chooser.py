"""The chips and lists of choices of a comparison. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from django.utils.translation import gettext, ngettext, pgettext

from results.domain.measurement.metrics import percentile_name
from results.domain.messages import localized
from results.queries.comparison.baselines import CELL, REFERENCE
from results.queries.comparison.compare import Comparison
from results.queries.shared.facets import Facet, MetricChoice
from results.queries.shared.ordering import sorted_levels
from results.queries.shared.selection import JOINT, LABEL, NODE, Selection, dimensions
from webapp.charts.comparison import PER_NAMES
from webapp.charts.style import PALETTE
from webapp.chooser import (
    MOST_CHIPS,
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
from webapp.compare.confounders import listed
from webapp.compare.figure_words import STATISTIC_NAMES
from webapp.compare.mixtures import between_runs
from webapp.compare.state import AXES, WAS
from webapp.labels import LABELLED, axis_title, cell_name
from webapp.language import joined
from webapp.urlstate import FILTER, NO_SERIES, View

PERCENTILE = percentile_name(0).removesuffix("0")  # of latency: 'latency.p'
MOST_CELLS = 60  # among which one can be chosen as the baseline


def chooser(comparison: Comparison, view: View) -> Chooser:
    chosen = comparison.selection
    varying = by_title(facet for facet in comparison.facets if facet.varies or facet.name in chosen.filters)
    near = _near(comparison, varying)
    rest = [facet for facet in varying if facet not in near and _is_choice(facet)]
    return Chooser(
        chips=tuple(_chips(facet.name, facet.values, comparison) for facet in near) + tuple(_own_chips(comparison)),
        more=tuple(_chips(facet.name, facet.values, comparison) for facet in rest),
        choices=tuple(choice for choice in _choices(comparison) if len(choice.options) > 1),
        percentiles=any(choice.name.startswith(PERCENTILE) for choice in comparison.metrics),
        hidden=tuple(_hidden(chosen, view)),
    )


def _is_choice(facet: Facet) -> bool:
    """Whether it is for chips: no run, and nothing that only tells whole runs apart."""
    return facet.name != "run" and not facet.by_run


def _hidden(chosen: Selection, view: View) -> Iterable[tuple[str, str]]:
    """Give what the form was when it was made, and what the figure and the table choose."""
    yield from ((WAS + name, getattr(chosen, name) or "") for name in (*AXES, "metric"))
    yield from ((name, text) for name in ("axes", "view", "scale") if (text := getattr(view, name)))
    yield from (("without", text) for text in chosen.without)


def _near(comparison: Comparison, varying: Sequence[Facet]) -> list[Facet]:
    """Return the facets that stand first: the axes in their order, then what is or should be filtered, and factors."""
    axes = comparison.selection.axes
    own = {*axes, *comparison.selection.filters, *comparison.mixed} - _between_runs(comparison)
    near = [
        facet
        for facet in varying
        if facet.name in own or (facet.factor and not facet.by_run and len(facet.values) <= MOST_CHIPS)
    ]
    return sorted(near, key=lambda facet: axes.index(facet.name) if facet.name in axes else len(axes))


def run_differences(comparison: Comparison) -> list[tuple[str, str]]:
    """Return what only tells whole runs apart, and is neither an axis nor filtered: ('work_mem', 'default in run 3,
    64MB in run 5')."""
    chosen = comparison.selection
    shown = {*chosen.axes, *chosen.filters, *comparison.mixed} - _between_runs(comparison)
    return [
        (title(facet.name), _in_runs(facet)) for facet in comparison.facets if facet.by_run and facet.name not in shown
    ]


def _between_runs(comparison: Comparison) -> set[str]:
    """Return the names of what tells plans apart and is chosen by the run."""
    chosen = comparison.selection
    return {facet.name for facet in between_runs(comparison)}.difference(chosen.axes, chosen.filters)


def _in_runs(facet: Facet) -> str:
    runs_of: dict[str, list[str]] = {}
    for run, level in facet.by_run:
        runs_of.setdefault(level, []).append(run)
    return joined(
        ngettext("{level} in run {runs}", "{level} in runs {runs}", len(runs)).format(level=level, runs=listed(runs))
        for level, runs in runs_of.items()
    )


def _own_chips(comparison: Comparison) -> Iterable[Chips]:
    """Give the metric's nodes and labels, where these tell cells apart or filter; else one is chosen in a list."""
    chosen = comparison.selection
    metric = _metric(comparison)
    for name, texts in ((NODE, metric.nodes), (LABEL, metric.labels)) if metric else ():
        if len(texts) > 1 and name in (*chosen.axes, *chosen.filters):
            levels = sorted_levels([text for text in texts if text], name)
            yield _chips(name, [(text, None) for text in levels], comparison)


def _metric(comparison: Comparison) -> MetricChoice | None:
    return next((choice for choice in comparison.metrics if choice.name == comparison.metric.name), None)


def _chips(name: str, values: Sequence[tuple[str, int | None]], comparison: Comparison) -> Chips:
    through = comparison.selection.filters.get(name, ())
    axis = next((axis for axis in ("series", "x") if getattr(comparison.selection, axis) == name), "")
    colours = {text: index % PALETTE for index, text in enumerate(comparison.series)} if axis == "series" else {}
    chips = tuple(Chip(text, text in through, trials, colours.get(text), empty=trials == 0) for text, trials in values)
    return Chips(FILTER + name, axis_title(name, comparison.metric), chips, axis, many=len(chips) > MOST_CHIPS)


def _choices(comparison: Comparison) -> Iterable[Choice]:
    chosen = comparison.selection
    yield from _axes(comparison)
    yield metric_choice(comparison.metrics, comparison.metric.name)
    yield from _of_metric(comparison)
    statistics = {name: str(word) for name, word in STATISTIC_NAMES.items()}
    yield _word_choice("statistic", gettext("statistic"), statistics, chosen.statistic)
    yield Choice("baseline", "baseline", gettext("baseline"), tuple(_baselines(comparison)))
    per = {"": gettext("trial"), **PER_NAMES}
    yield _word_choice("per", pgettext("per client, per core", "per"), per, chosen.per)


def _word_choice(name: str, label: str, words: Mapping[str, str], chosen: str) -> Choice:
    """Return a choice among what has a word each."""
    options = (Option(value, localized(word), value == chosen) for value, word in words.items())
    return Choice(name, name, label, tuple(options))


def _axes(comparison: Comparison) -> Iterable[Choice]:
    chosen = comparison.selection
    names = [facet.name for facet in by_title(comparison.facets) if facet.varies]
    if metric := _metric(comparison):
        names += [name for name, own in ((LABEL, metric.labels), (NODE, metric.nodes)) if len(own) > 1]
    noun = comparison.metric.label_noun or LABELLED
    first, *others = dimensions(chosen.series or "") or [""]
    yield Choice("x", "x", pgettext("axis", "x"), dimension_options(names, chosen.x, noun))
    none = Option(NO_SERIES, gettext("none"), chosen=not first)
    yield Choice("series", "series", pgettext("of a figure", "series"), (none, *dimension_options(names, first, noun)))
    if first:
        second, free = ",".join(others), [name for name in names if name not in (first, *dimensions(chosen.x))]
        none = Option("", "–", chosen=not second)
        options = (none, *dimension_options(free, second, noun))
        yield Choice("series", "series-2", pgettext("a second dimension", "and"), options)
    none = Option("", pgettext("panel", "one"), chosen=not chosen.panel)
    yield Choice("panel", "panel", gettext("panels"), (none, *dimension_options(names, chosen.panel, noun)))


def _of_metric(comparison: Comparison) -> Iterable[Choice]:
    """Give the lists of nodes and labels, where these neither tell cells apart nor filter."""
    chosen = comparison.selection
    metric = _metric(comparison)
    if metric and NODE not in (*chosen.axes, *chosen.filters):
        yield node_choice(metric, chosen.node)
    if metric and LABEL not in (*chosen.axes, *chosen.filters):
        yield label_choice(metric, chosen.label)


def _baselines(comparison: Comparison) -> Iterable[Option]:
    chosen = comparison.selection
    own = [series for series in comparison.series if series and not series.startswith(REFERENCE)]
    several = len(dimensions(chosen.series or "")) > 1
    levels = [part for series in own for part in series.split(JOINT)] if several else []
    cells = _cells(comparison)
    groups: dict[str, Iterable[str]] = {
        "": own,
        gettext("else the same"): levels,
        gettext("one cell"): cells,
        gettext("saved reference"): [REFERENCE + name for name in comparison.references],
    }
    for group, texts in groups.items():
        for text in dict.fromkeys(texts):
            yield Option(text, cells.get(text, text), text == chosen.baseline, group)


def _cells(comparison: Comparison) -> dict[str, str]:
    """Return the cells, and what each is called, where they are few enough to choose one as the baseline."""
    few = len(comparison.points) <= MOST_CELLS and len(comparison.xs) > 1
    if not (few and comparison.selection.series):
        return {}
    return {point.series + CELL + point.x: cell_name(point.series, point.x) for point in comparison.points}
