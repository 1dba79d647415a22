"""Chips, and entries of lists of choices. Functions, and no templates: a page may have hundreds."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from operator import attrgetter
from typing import Any

from django import template
from django.utils.html import conditional_escape as escaped
from django.utils.safestring import SafeString, mark_safe

register = template.Library()


@register.simple_tag
def chip_options(chips: Iterable[Any]) -> SafeString:
    """The values of a dimension (`webapp.chooser.Chip`) as the entries of a list, each with the number of trials that
    have it."""
    return mark_safe("".join(map(_option, chips)))  # noqa: S308


def _option(chip: Any) -> str:
    trials = f" ({chip.trials})" if chip.trials is not None else ""
    chosen = _attribute(chip.chosen, "selected")
    return f'<option value="{escaped(chip.value)}"{chosen}>{escaped(chip.shown)}{trials}</option>'


@register.simple_tag
def chip_boxes(facet: Any) -> SafeString:
    """The values of a dimension (`webapp.chooser.Chips`) as chips."""
    field, kind = escaped(facet.field), "radio" if facet.single else "checkbox"
    return mark_safe(  # noqa: S308
        "\n".join(_box(chip, facet.axis, field, kind, number) for number, chip in enumerate(facet.chips, 1))
    )


def _box(chip: Any, axis: str, field: str, kind: str, number: int) -> str:
    value, chosen = escaped(chip.value), _attribute(chip.chosen, "checked")
    css = "chip" + (" none" if chip.empty else "") + (f" s{chip.index}" if chip.index is not None else "")
    light = f' data-light-{axis}="{value}"' if axis else ""
    off = ' aria-disabled="true"' if chip.empty else ""
    trials = f" <i>{chip.trials}</i>" if chip.trials is not None else ""
    return (
        f'<label class="{css}"{light}>'
        f'<input type="{kind}" name="{field}" value="{value}" id="{field}-{number}"{chosen}{off}> '
        f"{escaped(chip.shown)}{trials}</label>"
    )


@register.simple_tag
def list_options(options: Iterable[Any]) -> SafeString:
    """Choices (`webapp.chooser.Option`) as the entries of a list, those of a group under its heading."""
    return mark_safe("".join(_group(name, own) for name, own in groupby(options, attrgetter("group"))))  # noqa: S308


def _group(name: str, options: Iterable[Any]) -> str:
    entries = "".join(map(_entry, options))
    return f'<optgroup label="{escaped(name)}">{entries}</optgroup>' if name else entries


def _entry(option: Any) -> str:
    words = f' data-words="{escaped(option.words)}"' if option.words else ""
    chosen = _attribute(option.chosen, "selected")
    return f'<option value="{escaped(option.value)}"{words}{chosen}>{escaped(option.text)}</option>'


def _attribute(given: bool, name: str) -> str:
    return f" {name}" if given else ""
