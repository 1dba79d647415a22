"""Cells of the table of versions. Functions, and no template: home and the page of versions have dozens of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import template
from django.utils.html import conditional_escape, escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext, ngettext

from results.domain.units import format_quantity
from results.queries.presets.version_rows import VersionRow

register = template.Library()
_NOTHING = '<td class="faint">–</td>'


@register.simple_tag
def version_cells(row: VersionRow, cells: Iterable[tuple[Any, str, str]]) -> SafeString:
    """The cells of a row: of each what is shown (`webapp.versions.words.ShownCell`; None where there is nothing), the
    address of its comparison and that of Why, '' where it has none."""
    return mark_safe("".join(_cell(row, shown, url, why) if shown else _NOTHING for shown, url, why in cells))  # noqa: S308


def _cell(row: VersionRow, shown: Any, url: str, why: str) -> str:
    if shown.cell.version == row.base:
        return f'<td class="base">{_linked(url, _baseline(row, shown))}</td>'
    if not shown.number:
        return f'<td class="faint">{_linked(url, _without_ratio(shown))}</td>'
    differs = _why(row, shown, why) if why else ""
    return f'<td class="{shown.heat}">{_linked(url, _ratio(row, shown))}{differs}</td>'


def _linked(url: str, html: str) -> str:
    return f'<a href="{escape(url)}">{html}</a>'


def _baseline(row: VersionRow, shown: Any) -> str:
    value = shown.cell.value
    text = gettext("baseline")
    if value is not None:
        text = gettext("baseline, %(value)s") % {"value": format_quantity(value, row.metric.unit)}
    return f"{escape(shown.number)} <small>{escape(text)}</small> <small>n = {shown.cell.n}</small>"


def _without_ratio(shown: Any) -> str:
    if shown.kinds:
        return f"– <small>{conditional_escape(shown.kinds)}</small>"
    text, missing = gettext("no pair"), gettext("%(n)s in one version only") % {"n": shown.cell.missing}
    return f"{escape(text)} <small>{escape(missing)}</small>"


def _ratio(row: VersionRow, shown: Any) -> str:
    mark = f'<span aria-hidden="true">{shown.mark}</span> ' if shown.mark else ""
    interval = f" <small>{escape(shown.interval)}</small>" if shown.interval else ""
    kinds = f"<small>{conditional_escape(shown.kinds)}</small>"
    return f'<b>{mark}{shown.number}</b>{interval} {kinds} <small class="soft">{escape(_of_what(row, shown))}</small>'


def _of_what(row: VersionRow, shown: Any) -> str:
    """Return what a ratio is made of: the value of the one cell, or how many cells there are."""
    cell = shown.cell
    if cell.value is not None:
        value = format_quantity(cell.value, row.metric.unit)
        return gettext("%(value)s, n = %(n)s") % {"value": value, "n": cell.n}
    if cell.missing:
        text = ngettext("%(n)s cell, %(missing)s missing", "%(n)s cells, %(missing)s missing", cell.cells)
        return text % {"n": cell.cells, "missing": cell.missing}
    return ngettext("%(n)s cell", "%(n)s cells", cell.cells) % {"n": cell.cells}


def _why(row: VersionRow, shown: Any, why: str) -> str:
    text = gettext('why<span class="hidden-label"> %(name)s differs in %(version)s </span>')
    words = {"name": conditional_escape(row.name), "version": escape(shown.cell.version)}
    return f' <a class="why" href="{escape(why)}">{text % words}</a>'
