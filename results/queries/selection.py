"""What to compare, and its default choices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from results.domain.errors import TeitenError
from results.queries.facets import Facet, MetricChoice

LABEL, NODE = "label", "node"  # of a measurement: dimensions beside those of configurations
PUBLISHED = "published"  # the dimension that every configuration of a publication has: its slug
STATISTICS = ("median", "mean", "min", "max")
PER = ("client", "core", "transaction")
JOINT = " · "  # between the parts of a level of several dimensions

# follow from other dimensions, or are no subject of an experiment: never a first choice
_DERIVED = ("run", "threads", "version", "major", "initdb", "collectors", PUBLISHED)
_FIRST_SERIES = ("installation", "version", "access_method", "topology")


@dataclass(frozen=True)
class Selection:
    """What to compare. filters: dimension → the values let through, as text.

    x, series, panel: a dimension, or several with commas between them, whose levels are then read together; `label`
    and `node` are the measurement's own. x, metric, statistic: '' for the default choice. series: None for the default
    choice, '' for a single line. panel: '' for one figure. node, label: which of the metric's, '' for its first; they
    say nothing where x, series or panel is that dimension.
    per: divide by the number of clients, cores or transactions of each trial; '' for the value as it is.
    baseline: what ratios refer to: a series; a level of one of the series' dimensions (each series then refers to the
    one that differs from it by this level only: zheap of a build to heap of the same build); `SERIES at X` for one
    cell; `@name` for a stored reference; '' for the first series.
    without: levels of x that summaries leave out."""

    runs: tuple[int, ...]
    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    x: str = ""
    series: str | None = None
    panel: str = ""
    metric: str = ""
    statistic: str = ""
    node: str = ""
    label: str = ""
    per: str = ""
    baseline: str = ""
    without: tuple[str, ...] = ()

    @property
    def axes(self) -> tuple[str, ...]:
        """Every dimension that tells cells apart."""
        return tuple(name for text in (self.x, self.series or "", self.panel) for name in dimensions(text))


def dimensions(text: str) -> list[str]:
    """'access_method,version' → both names."""
    return [name for name in text.split(",") if name]


def first_choice(runs: tuple[int, ...], known: Sequence[Facet], choices: Sequence[MetricChoice]) -> Selection:
    """x: the factor with the most numbers; series: the installation, or else a factor that is not x."""
    varying = [facet for facet in known if facet.varies and facet.name not in _DERIVED]
    factors = [facet for facet in varying if facet.factor] or varying
    by_name = {facet.name: facet for facet in varying}
    numeric = sorted((f for f in factors if f.numeric), key=lambda facet: (-len(facet.values), facet.name))
    preferred = [by_name[name] for name in _FIRST_SERIES if name in by_name]
    series = next(iter([*preferred, *(f for f in factors if not numeric or f != numeric[0])]), None)
    rest = [facet for facet in factors if facet != series]
    x = next(iter([*numeric, *rest, *([series] if series else [])]), None)
    if x == series:
        series = None
    if x is None and known:
        x = next((facet for facet in known if facet.name == "installation"), known[0])
    return Selection(
        runs=runs,
        x=x.name if x else "",
        series=series.name if series else "",
        metric=choices[0].name if choices else "",
        statistic=STATISTICS[0],
    )


def complete(
    selection: Selection, first: Selection, known: Sequence[Facet], choices: Sequence[MetricChoice]
) -> Selection:
    """With the default choices filled in. Raises TeitenError for what the runs do not have."""
    names = {facet.name for facet in known}
    for where, text in _texts(selection):
        if "\x00" in text:
            raise TeitenError("A NUL byte is nothing that can be chosen.", where=where, todo="Leave it out.")
    chosen = replace(
        selection,
        x=selection.x or first.x,
        series=first.series if selection.series is None else selection.series,
        metric=selection.metric or first.metric,
        statistic=selection.statistic or STATISTICS[0],
    )
    for where, name, possible in (("statistic", chosen.statistic, STATISTICS), ("per", chosen.per, PER)):
        if name and name not in possible:
            raise unknown_choice(where, where, name, possible)
    if not names:
        return chosen
    for where, name in (
        *((axis, name) for axis in ("x", "series", "panel") for name in dimensions(getattr(chosen, axis) or "")),
        *((f"filter.{name}", name) for name in chosen.filters),
    ):
        if name not in names | {LABEL, NODE}:
            raise unknown_choice(where, "dimension", name, sorted(names))
    metrics = {choice.name: choice for choice in choices}
    if chosen.metric and metrics and chosen.metric not in metrics:
        raise unknown_choice("metric", "metric", chosen.metric, sorted(metrics))
    return _which(chosen, metrics.get(chosen.metric))


def unknown_choice(where: str, kind: str, name: str, known: Sequence[str]) -> TeitenError:
    return TeitenError(
        f"There is no {kind} {name!r} in these runs.", where=where, todo=f"There are {', '.join(known)}."
    )


def _texts(selection: Selection) -> Iterator[tuple[str, str]]:
    yield from (("node", selection.node), ("label", selection.label))
    yield from (("without", text) for text in selection.without)
    yield from ((f"filter.{name}", text) for name, texts in selection.filters.items() for text in texts)


def _which(chosen: Selection, metric: MetricChoice | None) -> Selection:
    """Node and label that the metric has, where the selection leaves them open."""
    if metric is None:
        return chosen
    return replace(
        chosen,
        node=chosen.node if chosen.node in metric.nodes or chosen.node else metric.nodes[0],
        label=chosen.label if chosen.label in metric.labels or chosen.label else metric.labels[0],
    )
