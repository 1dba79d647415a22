"""What to compare, and its default choices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from results.domain.errors import TeitenError
from results.domain.messages import gettext_lazy as _
from results.domain.nearest import suggestion
from results.queries.shared.composites import Parts
from results.queries.shared.configurations import ConfigurationRow
from results.queries.shared.facets import Facet, MetricChoice
from results.queries.shared.words import name_of

LABEL, NODE = "label", "node"  # of a measurement: dimensions beside those of configurations
PUBLISHED = "published"  # the dimension that every configuration of a publication has: its slug
IMPORTED = "imported"  # the same of results that another program measured
STATISTICS = ("median", "mean", "min", "max")
PER = ("client", "core", "transaction")
JOINT = " · "  # between the parts of a level of several dimensions

HEAP = "heap"  # the access method that others are compared with

# follow from other dimensions, or are no subject of an experiment: never a first choice
DERIVED = ("run", "threads", "version", "major", "initdb", "collectors", PUBLISHED, IMPORTED)
_FIRST_SERIES = ("installation", "version", "access_method", "topology")
_BUILD = ("access_method", "installation")  # of a factor that sets both, the series: each build's own heap beside it
_CONSTANT_X = ("clients", "scale", "workload")  # what x is where nothing is left to vary over it


@dataclass(frozen=True)
class Selection:
    """What to compare.

    filters: dimension → the values let through, as text.
    x, series, panel: a dimension, or several with commas between them, whose levels are then read together; `label`
        and `node` are the measurement's own.
    x: '' for the default choice.
    series: None for the default choice, '' for a single line.
    panel: '' for one figure.
    metric, statistic: '' for the default choice.
    node, label: which of the metric's, '' for its first; they say nothing where x, series or panel is that dimension.
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


def first_choice(
    runs: tuple[int, ...],
    known: Sequence[Facet],
    choices: Sequence[MetricChoice],
    rows: Sequence[ConfigurationRow],
    parts: Parts,
) -> Selection:
    """Return the default choices. metric: that of the parts of the runs' first (queries, steps, operations) where it
    has some, and these are x; else x is the factor with the most numbers. series: the installation, or else a factor
    that is not x. A factor that sets several things at once is one thing: it, or the builds that it makes, never what
    it sets beside it.

    rows: the configurations.
    parts: of composite factors, what each sets."""
    facets = _things(known, parts)
    varying = [facet for facet in facets if facet.name not in DERIVED]
    factors = [facet for facet in varying if facet.factor] or varying
    metric = by_part(choices)
    numeric = _by_numbers(factors)
    builds = _builds(rows, parts)
    series = builds or _first_series(facets, factors, [] if metric else numeric[:1])
    free = _without_builds([*numeric, *factors], parts) if builds else [*numeric, *factors]
    x = LABEL if metric else _first_x(free, known, series)
    first = metric.name if metric else next((choice.name for choice in choices), "")
    return Selection(runs=runs, x=x, series=series, metric=first, statistic=STATISTICS[0])


def _first_x(free: Sequence[Facet], known: Sequence[Facet], series: str) -> str:
    """Return the first of these that the series is not, or else a dimension that is the same everywhere."""
    names = [facet.name for facet in known]
    constant = next((name for name in (*_CONSTANT_X, *names) if name in names and name != series), series)
    return next((facet.name for facet in free if facet.name != series), constant)


def _things(known: Sequence[Facet], parts: Parts) -> list[Facet]:
    """Return what varies, without what a factor sets beside itself."""
    hidden = set[str]().union(*parts.values())
    return [facet for facet in known if facet.varies and facet.name not in hidden]


def by_part(choices: Sequence[MetricChoice]) -> MetricChoice | None:
    """Return the metric that has the parts of the first, where there are several."""
    parts = next((choice.parts for choice in choices), "")
    metric = next((choice for choice in choices if parts and choice.name == parts), None)
    return metric if metric and len(metric.labels) > 1 else None


def default_baseline(cells_of: Mapping[str, int], names: str) -> str:
    """Return what ratios refer to: the heap, else the first series that was measured in half as many cells as any.

    cells_of: the levels in reading order, of each the number of its cells; a saved reference is none of them.
    names: the dimensions that they are of."""
    levels = [text.split(JOINT) for text in cells_of]
    if "access_method" in dimensions(names) and any(HEAP in parts for parts in levels):
        return HEAP
    most = max(cells_of.values(), default=0)
    return next((text for text, count in cells_of.items() if 2 * count >= most), "")


def _builds(rows: Sequence[ConfigurationRow], parts: Parts) -> str:
    """Return the series of runs in which one factor sets installation and access method, where some installation's heap
    was measured beside another access method of it; '' elsewhere."""
    if not any(_sets_builds(factor, parts) for factor in parts):
        return ""
    methods_of: dict[str, set[str]] = {}
    for row in rows:
        methods_of.setdefault(row.level("installation"), set()).add(row.level("access_method"))
    paired = any(HEAP in methods and len(methods) > 1 for methods in methods_of.values())
    return ",".join(_BUILD) if paired else ""


def _without_builds(factors: Sequence[Facet], parts: Parts) -> list[Facet]:
    """Return those that can be x beside a series of builds, of which each has one level of a factor of builds."""
    return [facet for facet in factors if not _sets_builds(facet.name, parts)]


def _sets_builds(factor: str, parts: Parts) -> bool:
    return set(_BUILD) <= parts.get(factor, frozenset())


def _by_numbers(factors: Sequence[Facet]) -> list[Facet]:
    """Return the factors whose levels are numbers, those with the most first."""
    return sorted((f for f in factors if f.numeric), key=lambda facet: (-len(facet.values), facet.name))


def _first_series(facets: Sequence[Facet], factors: Sequence[Facet], x: Sequence[Facet]) -> str:
    """Return a preferred dimension, or else a factor that x is not."""
    varying = {facet.name for facet in facets}
    preferred = [name for name in _FIRST_SERIES if name in varying]
    return next(iter((*preferred, *(facet.name for facet in factors if facet not in x))), "")


def complete(
    selection: Selection, first: Selection, known: Sequence[Facet], choices: Sequence[MetricChoice]
) -> Selection:
    """Fill in the default choices. Raises TeitenError for what the runs do not have."""
    _require_no_nul(selection)
    chosen = replace(
        selection,
        x=selection.x or first.x,
        series=first.series if selection.series is None else selection.series,
        metric=selection.metric or first.metric,
        statistic=selection.statistic or STATISTICS[0],
    )
    _require("statistic", "statistic", chosen.statistic, STATISTICS)
    _require("per", "per", chosen.per, PER)
    if not known:
        return chosen
    names = sorted(facet.name for facet in known)
    for where, name in _dimensions(chosen):
        if name not in (LABEL, NODE):
            _require(where, "dimension", name, names)
    metrics = {choice.name: choice for choice in choices}
    if metrics:
        _require("metric", "metric", chosen.metric, sorted(metrics))
    return _of_metric(chosen, metrics.get(chosen.metric))


def _require_no_nul(selection: Selection) -> None:
    for where, text in _texts(selection):
        if "\x00" in text:
            what = _("A NUL byte is nothing that can be chosen.")
            raise TeitenError(what, where=where, todo=_("Leave it out."))


def _require(where: str, kind: str, name: str, known: Sequence[str]) -> None:
    if name and name not in known:
        raise unknown_choice(where, kind, name, known)


def unknown_choice(where: str, kind: str, name: str, known: Sequence[str]) -> TeitenError:
    what = _("There is no {kind} {name!r} in these runs.", kind=name_of(kind), name=name)
    return TeitenError(what, where=where, todo=suggestion(name, known))


def _texts(selection: Selection) -> Iterator[tuple[str, str]]:
    yield from (("node", selection.node), ("label", selection.label))
    yield from (("without", text) for text in selection.without)
    for name, texts in selection.filters.items():
        yield from ((f"filter.{name}", text) for text in texts)


def _dimensions(chosen: Selection) -> Iterator[tuple[str, str]]:
    """Give each dimension that is named, and where it is."""
    for axis in ("x", "series", "panel"):
        yield from ((axis, name) for name in dimensions(getattr(chosen, axis) or ""))
    yield from ((f"filter.{name}", name) for name in chosen.filters)


def _of_metric(chosen: Selection, metric: MetricChoice | None) -> Selection:
    """Fill in node and label that the metric has, where the selection leaves them open."""
    if metric is None:
        return chosen
    return replace(
        chosen,
        node=chosen.node if chosen.node in metric.nodes or chosen.node else metric.nodes[0],
        label=chosen.label if chosen.label in metric.labels or chosen.label else metric.labels[0],
    )
