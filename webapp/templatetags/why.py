"""Trials of the page why, each a link. Functions, and no templates: it names hundreds of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext, pgettext

from results.domain.units import format_quantity
from results.queries.comparison.cells import Replicate
from webapp.links import trial_urls

register = template.Library()


class Look(Protocol):
    """How a side is drawn (`webapp.charts.why.Look`). index: of its colour."""

    @property
    def index(self) -> int: ...


@register.simple_tag
def linked_values(values: Sequence[Replicate], unit: str) -> SafeString:
    """The trials of a cell with their values, as a sentence lists them."""
    text, address = gettext('<a href="%(trial_url)s">trial %(trial)s</a>: %(shown)s'), trial_urls()
    comma = pgettext("behind an item of a sentence", ",")
    items = (
        text
        % {"trial_url": address(one.trial_id), "trial": one.trial_id, "shown": escape(format_quantity(one.value, unit))}
        for one in values
    )
    return mark_safe('<span class="nowrap">' + f'{comma}</span>\n<span class="nowrap">'.join(items) + "</span>")  # noqa: S308


@register.simple_tag
def dots(sides: Sequence[Sequence[tuple[float, int]]], looks: Sequence[Look]) -> SafeString:
    """The replicates of a row of changes: a circle each at (percent of the width, trial), the base above."""
    address = trial_urls()
    circles = (
        f'<a href="{address(trial)}" tabindex="-1"><circle class="s{look.index}" cx="{x}" cy="{y}" r="3.4" /></a>'
        for side, look, y in zip(sides, looks, (5, 15), strict=True)
        for x, trial in side
    )
    return mark_safe("".join(circles))  # noqa: S308
