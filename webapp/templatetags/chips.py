"""Entries of lists of values. A function, and no template: a filter of runs has dozens of plans and agents."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import template
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe

register = template.Library()


@register.simple_tag
def chip_options(chips: Iterable[Any]) -> SafeString:
    """The values of a dimension (`webapp.chooser.Chip`) as the entries of a list, each with the number of trials that
    have it."""
    return mark_safe("".join(map(_option, chips)))  # noqa: S308


def _option(chip: Any) -> str:
    value, shown = conditional_escape(chip.value), conditional_escape(chip.shown)
    selected = " selected" if chip.chosen else ""
    trials = f" ({chip.trials})" if chip.trials is not None else ""
    return f'<option value="{value}"{selected}>{shown}{trials}</option>'
