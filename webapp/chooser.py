"""Chips of values and lists of choices: what a form lets its reader choose (`parts/_chooser.html`). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from django.utils.translation import gettext, pgettext

from results.domain.kinds.parameter_names import parameter_name
from results.domain.messages import localized
from results.queries.shared.facets import MetricChoice
from results.queries.shared.selection import JOINT, LABEL, dimensions
from results.queries.shared.words import level_text
from webapp import metric_names
from webapp.text_order import by_text

MOST_CHIPS = 40  # values of a dimension; more of them stand in a list


class Dimension(Protocol):
    """What a Facet is, and a FamilyFacet."""

    @property
    def name(self) -> str: ...
    @property
    def varies(self) -> bool: ...
    @property
    def factor(self) -> bool: ...


D = TypeVar("D", bound=Dimension)


@dataclass(frozen=True)
class Chip:
    """One value.

    trials: that have it; None where they are not counted, as of a node or label, which are several in one trial.
    index: colour of its series, None where it is none.
    empty: whether choosing it would leave nothing.
    text: '' where the value itself is shown."""

    value: str
    chosen: bool
    trials: int | None = None
    index: int | None = None
    empty: bool = False
    text: str = ""

    @property
    def shown(self) -> str:
        return self.text or level_text(self.value)


@dataclass(frozen=True)
class Chips:
    """The values of a dimension.

    axis: x or series where it is that alone.
    many: too many for chips.
    single: whether only one can be chosen.
    note: behind the chips."""

    field: str
    title: str
    chips: tuple[Chip, ...]
    axis: str = ""
    many: bool = False
    single: bool = False
    note: str = ""


@dataclass(frozen=True)
class Option:
    """One entry of a list of choices.

    group: heading under which it stands.
    words: by which it is found, in small letters."""

    value: str
    text: str
    chosen: bool
    group: str = ""
    words: str = ""


@dataclass(frozen=True)
class Choice:
    """A list of which one is chosen.

    id: also of the control; several choices may have one name.
    searched: whether typing shortens it."""

    name: str
    id: str
    label: str
    options: tuple[Option, ...]
    searched: bool = False


@dataclass(frozen=True)
class Chooser:
    """Everything by which a page chooses what it shows.

    more: chips that stand behind "more filters".
    percentiles: whether any percentile of latency can be asked for.
    hidden: (field, value) that the form sends along."""

    chips: tuple[Chips, ...] = ()
    choices: tuple[Choice, ...] = ()
    more: tuple[Chips, ...] = ()
    percentiles: bool = False
    hidden: tuple[tuple[str, str], ...] = ()


def title(dimension: str, label_noun: str = "") -> str:
    """Name of one or several dimensions, for reading: 'setting.work_mem,access_method' → 'work_mem · access method'.

    label_noun: what the metric's labels are (`Metric.label_noun`), for the dimension of that name."""
    return JOINT.join(_title(name, label_noun) for name in dimensions(dimension))


def _title(name: str, label_noun: str) -> str:
    if name == LABEL and label_noun:
        return localized(label_noun)
    if name.startswith("setting."):
        return name.removeprefix("setting.")
    return localized(parameter_name(name)).replace("_", " ")


def by_title(facets: Iterable[D]) -> list[D]:
    """Return dimensions as people look for them: those that vary first, factors before the rest, then by title."""
    return by_text(facets, lambda one: title(one.name), rank=lambda one: (not one.varies, not one.factor))


def text_choice(name: str, label: str, texts: Sequence[str], chosen: str, empty: str = "") -> Choice:
    """A choice among texts.

    empty: what is shown for ''."""
    return Choice(name, name, label, tuple(Option(text, text or empty, text == chosen) for text in texts))


def metric_choice(metrics: Sequence[MetricChoice], chosen: str) -> Choice:
    """A choice among metrics: the first, then the others by what people call them. It is searched by typing."""
    return Choice("metric", "metric", gettext("metric"), tuple(_metric_options(metrics, chosen)), searched=True)


def node_choice(metric: MetricChoice, chosen: str) -> Choice:
    return text_choice("node", pgettext("node of a metric", "of"), metric.nodes, chosen, gettext("whole trial"))


def label_choice(metric: MetricChoice, chosen: str) -> Choice:
    return text_choice("label", pgettext("label of a metric", "which"), metric.labels, chosen, gettext("total"))


def dimension_options(names: Sequence[str], chosen: str, label_noun: str = "") -> tuple[Option, ...]:
    """One or several dimensions to choose from; the chosen one is among them.

    label_noun: as of `title`."""
    several = names if chosen in ("", *names) else (*names, chosen)
    return tuple(Option(name, title(name, label_noun), name == chosen) for name in several)


def _metric_options(metrics: Sequence[MetricChoice], chosen: str) -> Iterator[Option]:
    for metric in [*metrics[:1], *sorted(metrics[1:], key=lambda one: metric_names.position(one.name))]:
        group = metric_names.group(metric.name) if metric is not metrics[0] else ""
        yield Option(
            metric.name, localized(metric.label), metric.name == chosen, group, metric_names.search_words(metric)
        )
