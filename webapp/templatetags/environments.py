"""How differences of environments are written on pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlencode

from django import template
from django.urls import reverse
from django.utils.html import conditional_escape as escaped
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext, ngettext, pgettext, pgettext_lazy

from results.domain.environment.difference import KeyJudgement
from results.domain.environment.layers import LayerKind
from results.domain.environment.rules import AGENT, PLAN, Cause
from results.domain.kinds.parameter_names import parameter_name
from results.domain.messages import gettext_lazy as _
from results.domain.messages import localized
from results.domain.units import format_quantity
from results.queries.environment.differences import Subject
from results.queries.environment.environments import NotableDifference, SeriesEnvironment
from webapp.templatetags.teiten import breakable, configuration, shown, spaced

register = template.Library()
_MOST_NOTABLE = 3
_NAMES = {
    Cause.CONFOUNDER: _("matters"),
    Cause.NOTED: _("noted"),
    Cause.UNRECORDED: _("not recorded"),
    Cause.ALIKE: _("varies alike"),
    Cause.INTENDED: _("as intended"),
    Cause.DEFAULT: _("default changed"),
    Cause.EQUIVALENT: _("same value"),
    Cause.HARMLESS: _("harmless"),
}
_LAYERS = {
    LayerKind.HARDWARE: pgettext_lazy("layer", "hardware"),
    LayerKind.KERNEL: pgettext_lazy("layer", "kernel"),
    LayerKind.BUILD: pgettext_lazy("layer", "build"),
    LayerKind.SETTINGS: pgettext_lazy("layer", "settings"),
    LayerKind.DEFAULTS: pgettext_lazy("layer", "defaults"),
    LayerKind.ACCESS_METHOD: pgettext_lazy("layer", "access method"),
    LayerKind.TOPOLOGY: pgettext_lazy("layer", "topology"),
    LayerKind.STORAGE: pgettext_lazy("layer", "storage"),
    LayerKind.HOST: pgettext_lazy("layer", "host"),
    LayerKind.CLIENT: pgettext_lazy("layer", "client"),
    LayerKind.DATA: pgettext_lazy("layer", "data"),
    LayerKind.TOOL: pgettext_lazy("layer", "tool"),
    AGENT: pgettext_lazy("layer", "agent"),
    PLAN: pgettext_lazy("layer", "plan"),
}
_OF_A_DISK = {
    "total_bytes": pgettext_lazy("of a disk", "total"),
    "free_bytes": pgettext_lazy("of a disk", "free"),
    "mount": pgettext_lazy("of a disk", "mount"),
    "filesystem": pgettext_lazy("of a disk", "filesystem"),
    "options": pgettext_lazy("of a disk", "options"),
    "device": pgettext_lazy("of a disk", "device"),
}


@register.filter
def linked_subject(side: Subject) -> SafeString:
    """One side of a difference, as a link to its page."""
    match side.kind:
        case "agent":
            address, name = reverse("agents:detail", args=[side.name]), gettext("agent {agent}").format(agent=side.name)
        case "run":
            address, name = reverse("runs:detail", args=[side.id]), gettext("run {run}").format(run=side.id)
        case _:
            address, name = reverse("trials:detail", args=[side.id]), gettext("trial {trial}").format(trial=side.id)
    return format_html('<a href="{}">{}</a>', address, name)


@register.filter
def about_subject(side: Subject) -> str:
    """What one side of a difference is: the configuration of a trial, the name of a run."""
    match side.kind:
        case "agent":
            return gettext("as of the last contact")
        case "run":
            text = ngettext("{name}, {n} trial", "{name}, {n} trials", side.trials)
            return text.format(name=localized(side.name), n=side.trials)
    text = gettext("{configuration}, run {run} {name}")
    return text.format(configuration=configuration(side.levels), run=side.run_id, name=localized(side.run_name))


@register.filter
def disk_fact(key: str) -> str:
    """What is known of an agent's disk, in words: 'free_bytes' → 'free'."""
    return str(_OF_A_DISK[key]) if key in _OF_A_DISK else spaced(key)


@register.filter
def cause_name(cause: str) -> str:
    if cause == Cause.SAME:
        return pgettext("values of a key", "same")
    return localized(_NAMES[Cause(cause)])


@register.filter
def layer_name(kind: str) -> str:
    """A layer in words, in the reader's language: 'access_method' → 'access method'."""
    return str(_LAYERS[kind]) if kind in _LAYERS else spaced(kind)


@register.filter
def told_name(row: NotableDifference) -> str:
    """What differs, on a line that has no column for the layer: 'kernel', 'shared_buffers', 'data scale'."""
    if (row.kind, row.key) == (LayerKind.KERNEL, "release"):
        return gettext("kernel")
    if row.kind in (LayerKind.SETTINGS, LayerKind.HARDWARE, LayerKind.KERNEL):
        return row.key.removeprefix("sysctl.")
    key = localized(parameter_name(row.key)) if row.kind == LayerKind.DATA else row.key
    return f"{layer_name(row.kind)} {key}"


@register.filter
def one_side(judgement: KeyJudgement | NotableDifference, side: str) -> str:
    """The values of 'left' or 'right' on one line; of a list only what the other side lacks."""
    values, other_values = judgement.left, judgement.right
    if side == "right":
        values, other_values = other_values, values
    return " / ".join(dict.fromkeys(_value(judgement.key, value, other_values) for value in values)) or "–"


def _value(key: str, value: Any, other_values: Sequence[Any]) -> str:
    if isinstance(value, list | tuple):
        return _list(value, other_values)
    if key.endswith("_bytes") and isinstance(value, int):
        return _size(value, other_values)
    return shown(value) or "''"


def _list(items: Sequence[Any], other_values: Sequence[Any]) -> str:
    """The items that the other side lacks, and how many both have: 'avx2 sha_ni (12 alike)'."""
    other_items = _items(other_values)
    missing = [str(item) for item in items if str(item) not in other_items]
    shared = len(items) - len(missing)
    if missing and shared:
        return gettext("{items} ({n} alike)").format(items=" ".join(missing), n=shared)
    if shared:
        return gettext("{n} alike").format(n=shared)
    return " ".join(missing) or "–"


def _items(values: Sequence[Any]) -> set[str]:
    items: set[str] = set()
    for value in values:
        if isinstance(value, list | tuple):
            items.update(map(str, value))
    return items


def _size(size_bytes: int, other_values: Sequence[Any]) -> str:
    """With its unit; to the byte where another size of the other side would read the same."""
    text = format_quantity(size_bytes, "B")
    for other in other_values:
        if isinstance(other, int) and other != size_bytes and format_quantity(other, "B") == text:
            return f"{size_bytes:,} B"
    return text


class Judged(Protocol):
    """What a KeyJudgement is, and a row of the page of differences."""

    @property
    def key(self) -> str: ...
    @property
    def node(self) -> str: ...
    @property
    def cause(self) -> Cause: ...
    @property
    def why(self) -> str: ...
    @property
    def warn(self) -> bool: ...


@register.simple_tag
def key_row(row: Judged, left: str, right: str, layer: str = "") -> SafeString:
    """What differs, or is the same, as the row of a table. A function, and no template: there may be hundreds.

    left, right: its values, in words.
    layer: '' in a table of one layer."""
    name = f'<td class="layer">{escaped(layer_name(layer))}</td>' if layer else ""
    key = breakable(row.key or gettext("all keys"))
    node = f' <span class="node">{escaped(row.node)}</span>' if row.node not in ("", "primary") else ""
    value: str = escaped(right)
    if row.cause == Cause.SAME:
        value = f'<span class="faint">{value}</span>'
    return mark_safe(  # noqa: S308
        f'<tr class="{row.cause}">{name}<th scope="row" class="mono">{key}{node}</th>'
        f'<td class="value">{escaped(left)}</td><td class="value">{value}</td><td class="why">{_why(row)}</td></tr>'
    )


def _why(row: Judged) -> str:
    """Return why a key differs, with its cause as a badge."""
    if row.cause == Cause.SAME:
        return f'<span class="faint">{escaped(cause_name(row.cause))}</span>'
    told, mark = (" told", " (!)") if row.warn else ("", "")
    badge = f'<span class="badge cause{told}">{escaped(cause_name(row.cause))}{mark}</span>'
    return f'{badge} <span class="soft">{escaped(row.why)}</span>'


@dataclass(frozen=True)
class Head:
    """The line above a comparison.

    notable: what a reader must see, and of which series.
    more: what is left out there."""

    intended: tuple[tuple[str, str, tuple[str, ...]], ...]
    same: int
    notable: tuple[tuple[str, NotableDifference], ...]
    more: int
    withheld: int
    cells: int
    unrecorded: bool


@register.simple_tag
def environment_head(environment: Sequence[SeriesEnvironment]) -> Head:
    levels: dict[tuple[str, str], list[str]] = {}
    notable: dict[tuple[str, str, str], tuple[str, NotableDifference]] = {}
    for one in environment:
        for name, left, right in one.intended:
            levels.setdefault((name, left), []).append(right)
        for row in one.notable:
            notable.setdefault((row.kind, row.key, repr(row.right)), (one.series, row))
    rows = sorted(notable.values(), key=lambda pair: not pair[1].matters)
    return Head(
        intended=tuple((name, left, tuple(dict.fromkeys(rights))) for (name, left), rights in levels.items()),
        same=min((one.difference.same for one in environment), default=0),
        notable=tuple(rows[:_MOST_NOTABLE]),
        more=max(0, len(rows) - _MOST_NOTABLE),
        withheld=sum(one.withheld for one in environment),
        cells=sum(one.cells for one in environment),
        unrecorded=not any(any(one.difference.recorded) for one in environment),
    )


@register.filter
def listed(environment: SeriesEnvironment) -> list[KeyJudgement]:
    """The judgements that the page of a comparison lists; the rest it counts."""
    return [
        judgement
        for judgement in environment.difference.judgements
        if judgement.warn or judgement.cause in (Cause.NOTED, Cause.UNRECORDED, Cause.ALIKE, Cause.INTENDED)
    ]


@register.filter
def diff_address(environment: SeriesEnvironment) -> str:
    """The page with every key of one trial of each side."""
    pair = {"left": f"trial:{environment.left_trial}", "right": f"trial:{environment.right_trial}"}
    return f"{reverse('diff')}?{urlencode(pair, safe=':')}"
