"""Cells of the table of a trend. A function, and no template: they name hundreds of trials."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import pgettext

register = template.Library()


class Cell(Protocol):
    """A point of a line: its median, how many trials it is made of, and (number, address, words) of the first."""

    @property
    def median(self) -> str: ...
    @property
    def n(self) -> int: ...
    @property
    def trials(self) -> tuple[tuple[int, str, str], ...]: ...


@register.simple_tag
def level_cells(cells: Iterable[Cell | None]) -> SafeString:
    """The cells of a level, one a line, None where the line has no point."""
    return mark_safe("".join(_cell(cell) if cell else '<td class="faint">–</td>' for cell in cells))  # noqa: S308


def _cell(cell: Cell) -> str:
    trials = [
        f'<a href="{escape(address)}" title="{escape(words)}">{number}</a>' for number, address, words in cell.trials
    ]
    if cell.n > len(trials):
        text = escape(pgettext("a shortened list", "of %(n)s") % {"n": cell.n})
        trials.append(f'<span class="faint">{text}</span>')
    return f'<td><b>{escape(cell.median)}</b> <span class="trials-of">{" ".join(trials)}</span></td>'
