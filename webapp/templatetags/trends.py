"""Rows of the table of a trend. Functions, and no template: they name hundreds of trials."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from django import template
from django.utils.html import conditional_escape, escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext, pgettext

from webapp.links import run_url
from webapp.templatetags.teiten import moment

register = template.Library()


class Cell(Protocol):
    """A point of a line: its median, how many trials it is made of, and (number, address, words) of the first."""

    @property
    def median(self) -> str: ...
    @property
    def n(self) -> int: ...
    @property
    def trials(self) -> tuple[tuple[int, str, str], ...]: ...


class Row(Protocol):
    """One level of x, and its cells, one a line, None where the line has no point."""

    @property
    def level(self) -> str: ...
    @property
    def run_id(self) -> int | None: ...
    @property
    def at(self) -> datetime: ...
    @property
    def versions(self) -> str: ...
    @property
    def cells(self) -> tuple[Cell | None, ...]: ...


@register.simple_tag
def level_row(row: Row, by_date: bool) -> SafeString:
    """The row of a level."""
    name = f"{moment(row.at)} {run_link(row.run_id)}" if row.run_id else conditional_escape(row.level)
    beside = conditional_escape(row.versions) if by_date else moment(row.at, "%Y-%m-%d")
    cells = "".join(_cell(cell) if cell else '<td class="faint">–</td>' for cell in row.cells)
    return mark_safe(  # noqa: S308
        f'<tr><th scope="row" class="nowrap">{name}</th><th class="nowrap">{beside}</th>{cells}</tr>'
    )


@register.simple_tag
def run_link(run_id: int) -> SafeString:
    """A run by its number, as a link."""
    text = gettext("run %(id)s") % {"id": run_id}
    return mark_safe(f'<a href="{run_url(run_id)}">{escape(text)}</a>')  # noqa: S308


def _cell(cell: Cell) -> str:
    trials = [
        f'<a href="{escape(address)}" title="{escape(words)}">{number}</a>' for number, address, words in cell.trials
    ]
    if cell.n > len(trials):
        text = escape(pgettext("a shortened list", "of %(n)s") % {"n": cell.n})
        trials.append(f'<span class="faint">{text}</span>')
    return f'<td><b>{escape(cell.median)}</b> <span class="trials-of">{" ".join(trials)}</span></td>'
