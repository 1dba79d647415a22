"""The explorer's chips and lists of choices. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from results.domain.measurement.metrics import percentile_name
from results.queries.comparison.baselines import CELL, REFERENCE
from results.queries.comparison.compare import Comparison
from results.queries.shared.facets import Facet, MetricChoice
from results.queries.shared.ordering import sorted_levels
from results.queries.shared.selection import JOINT, LABEL, NODE, PER, STATISTICS, dimensions
from webapp.charts.style import PALETTE
from webapp.urlstate import FILTER, NO_SERIES

MOST_CHIPS = 40  # values of a dimension; more of them stand in a list
PERCENTILE = percentile_name(0).removesuffix("0")  # of latency: 'latency.p'
MOST_CELLS = 60  # among which one can be chosen as the baseline


@dataclass(frozen=True)
class Chip:
    """One value.

    trials: that have it; None of a node or label, which are several in one trial.
    index: colour of its series, None where it is none."""

    text: str
    trials: int | None
    chosen: bool
    index: int | None


@dataclass(frozen=True)
class Chips:
    """Every value of a dimension.

    axis: x or series where it is that alone.
    many: too many for chips."""

    field: str
    title: str
    chips: tuple[Chip, ...]
    axis: str
    many: bool


@dataclass(frozen=True)
class Option:
    """One entry of a list of choices.

    group: heading under which it stands."""

    value: str
    text: str
    chosen: bool
    group: str = ""


@dataclass(frozen=True)
class Choice:
    """A list of which one is chosen.

    id: also of the control; several choices may have one name."""

    name: str
    id: str
    label: str
    options: tuple[Option, ...]


@dataclass(frozen=True)
class Controls:
    """Everything by which the page chooses what is compared.

    chips: of factors, axes and whatever is or should be filtered.
    more: of what follows from those.
    percentiles: whether any percentile of latency can be asked for."""

    chips: tuple[Chips, ...]
    more: tuple[Chips, ...]
    choices: tuple[Choice, ...]
    percentiles: bool


def controls(comparison: Comparison) -> Controls:
    chosen = comparison.selection
    varying = [facet for facet in comparison.facets if facet.varies or facet.name in chosen.filters]
    near = _near(comparison, varying)
    rest = [facet for facet in varying if facet not in near and facet.name != "run"]
    return Controls(
        chips=tuple(_chips(facet.name, facet.values, comparison) for facet in near) + tuple(_own_chips(comparison)),
        more=tuple(_chips(facet.name, facet.values, comparison) for facet in rest),
        choices=tuple(choice for choice in _choices(comparison) if len(choice.options) > 1),
        percentiles=any(choice.name.startswith(PERCENTILE) for choice in comparison.metrics),
    )


def _near(comparison: Comparison, varying: Sequence[Facet]) -> list[Facet]:
    """Return the facets that stand first: the axes in their order, then what is or should be filtered, and factors."""
    axes = comparison.selection.axes
    own = (*axes, *comparison.selection.filters, *comparison.mixed)
    near = [facet for facet in varying if facet.name in own or (facet.factor and len(facet.values) <= MOST_CHIPS)]
    return sorted(near, key=lambda facet: axes.index(facet.name) if facet.name in axes else len(axes))


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
    chips = tuple(Chip(text, trials, text in through, colours.get(text)) for text, trials in values)
    return Chips(FILTER + name, title(name), chips, axis, len(chips) > MOST_CHIPS)


def title(dimension: str) -> str:
    """Name of one or several dimensions, for reading: 'setting.work_mem,access_method' → 'work_mem · access method'."""
    return JOINT.join(
        name.removeprefix("setting.") if name.startswith("setting.") else name.replace("_", " ")
        for name in dimensions(dimension)
    )


def _choices(comparison: Comparison) -> Iterable[Choice]:
    chosen = comparison.selection
    yield from _axes(comparison)
    yield Choice("metric", "metric", "metric", tuple(_metrics(comparison)))
    yield from _of_metric(comparison)
    yield _texts("statistic", "statistic", STATISTICS, chosen.statistic)
    yield Choice("baseline", "baseline", "baseline", tuple(_baselines(comparison)))
    yield _texts("per", "per", ("", *PER), chosen.per, "trial")


def _axes(comparison: Comparison) -> Iterable[Choice]:
    chosen = comparison.selection
    names = [facet.name for facet in comparison.facets if facet.varies]
    if metric := _metric(comparison):
        names += [name for name, own in ((LABEL, metric.labels), (NODE, metric.nodes)) if len(own) > 1]
    first, *others = dimensions(chosen.series or "") or [""]
    yield _dimension("x", "x", "x", chosen.x, names)
    yield _dimension("series", "series", "series", first, names, NO_SERIES, "none")
    if first:
        free = [name for name in names if name not in (first, *dimensions(chosen.x))]
        yield _dimension("series", "series-2", "and", ",".join(others), free, "", "–")
    yield _dimension("panel", "panel", "panels", chosen.panel, names, "", "one")


def _of_metric(comparison: Comparison) -> Iterable[Choice]:
    """Give the lists of nodes and labels, where these neither tell cells apart nor filter."""
    chosen = comparison.selection
    metric = _metric(comparison)
    if metric and NODE not in (*chosen.axes, *chosen.filters):
        yield _texts("node", "of", metric.nodes, chosen.node, "whole trial")
    if metric and LABEL not in (*chosen.axes, *chosen.filters):
        yield _texts("label", "which", metric.labels, chosen.label, "total")


def _dimension(
    name: str, identity: str, label: str, chosen: str, names: Sequence[str], value: str | None = None, text: str = ""
) -> Choice:
    """Return the list of dimensions from which an axis is chosen.

    value, text: of the choice of no dimension, where that is one."""
    options = [Option(value, text, not chosen)] if value is not None else []
    options += [Option(n, title(n), n == chosen) for n in names]
    if chosen and chosen not in names:
        options.append(Option(chosen, title(chosen), chosen=True))
    return Choice(name, identity, label, tuple(options))


def _texts(name: str, label: str, texts: Sequence[str], chosen: str, empty: str = "") -> Choice:
    return Choice(name, name, label, tuple(Option(text, text or empty, text == chosen) for text in texts))


def _metrics(comparison: Comparison) -> Iterable[Option]:
    """By the first part of their names, as they are sorted."""
    families = [choice.name.partition(".")[0] for choice in comparison.metrics]
    for choice, family in zip(comparison.metrics, families, strict=True):
        group = family if families.count(family) > 1 else ""
        yield Option(choice.name, choice.label, choice.name == comparison.metric.name, group)


def _baselines(comparison: Comparison) -> Iterable[Option]:
    chosen = comparison.selection
    own = [series for series in comparison.series if series and not series.startswith(REFERENCE)]
    several = len(dimensions(chosen.series or "")) > 1
    levels = [part for series in own for part in series.split(JOINT)] if several else []
    groups = {
        "": own,
        "else the same": levels,
        "one cell": _cells(comparison),
        "saved reference": [REFERENCE + name for name in comparison.references],
    }
    for group, texts in groups.items():
        for text in dict.fromkeys(texts):
            yield Option(text, text, text == chosen.baseline, group)


def _cells(comparison: Comparison) -> list[str]:
    """Return the cells, where they are few enough to choose one as the baseline."""
    few = len(comparison.points) <= MOST_CELLS and len(comparison.xs) > 1
    return [point.series + CELL + point.x for point in comparison.points] if few and comparison.selection.series else []
