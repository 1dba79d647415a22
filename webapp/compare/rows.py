"""The rows of the comparison's table as HTML.

A page begins with some and adds others as they are asked for. No template: it has hundreds of cells, and a template
takes three times as long for each."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext

from webapp.compare.table import Cell, Section, Table, TableRow

AT_ONCE = 400  # cells of the table that a page begins with, or that are added: some 250 kB
_DRAWING = 'viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true"'


class _Around(NamedTuple):
    """What all rows have in common, as HTML.

    label: of the box that counts a row, with a place for the row's name; '' where nothing is counted.
    address: of the trials behind a cell, but for its place.
    margin: the field of what counts as the same."""

    label: str
    address: str
    margin: str
    mixed: SafeString
    comma: str


class Part(NamedTuple):
    """Rows of one section.

    begins, ends: whether its first and its last are among them."""

    section: Section
    rows: SafeString
    begins: bool
    ends: bool


class Rows(NamedTuple):
    """Rows of the table that come at once.

    shown: how many of all there are up to the last of them."""

    parts: tuple[Part, ...]
    shown: int
    all: int


def rows_after(table: Table, query: str, after: int = 0, cells: str = "cell/") -> Rows:
    """Return the rows that follow so many.

    query: the comparison's.
    cells: address of the trials behind a cell, as seen from the page."""
    last = after + max(AT_ONCE // max(len(table.series), 1), 1)
    parts, passed = [], 0
    for number, section in enumerate(table.sections, 1):
        chosen = slice(max(after - passed, 0), max(last - passed, 0))
        if rows := section.rows[chosen]:
            text = rows_in_html(rows, table, number, query, cells)
            parts.append(Part(section, text, chosen.start == 0, chosen.stop >= len(section.rows)))
        passed += len(section.rows)
    return Rows(tuple(parts), min(last, passed), passed)


def rows_in_html(rows: Sequence[TableRow], table: Table, section: int, query: str, cells: str = "cell/") -> SafeString:
    """Return the rows of a section.

    section: its number.
    query, cells: as of `rows_after`."""
    around = _Around(
        label=escape(gettext("Count {name} in the summary")) if table.compared else "",
        address=f"{cells}?{escape(query)}&amp;",
        margin=f'<rect class="margin" x="{table.margin_at}" y="1" width="{table.margin_width}" height="10"/>',
        mixed=format_html(
            '<span class="warn" title="{}">{}</span>', gettext("Different configurations in one cell"), gettext("mixed")
        ),
        comma=escape(gettext(", ")),
    )
    return mark_safe("".join(_row(row, section, around) for row in rows))  # noqa: S308


def _row(row: TableRow, section: int, around: _Around) -> str:
    left_out = ' class="left-out"' if row.countable and not row.counted else ""
    cells = "".join(_cell(cell, number, around) for number, cell in enumerate(row.cells))
    box, name = _box(row, section, around) if around.label else "", escape(row.name)
    return f'<tr data-x="{row.index}"{left_out}><th scope="row">{box}{name}</th>{cells}</tr>'


def _box(row: TableRow, section: int, around: _Around) -> str:
    """Return what says whether the summary counts the row."""
    ticked = " checked" if row.counted else ""
    fixed = "" if row.countable else " disabled"
    label = around.label.format(name=escape(row.name))
    return (
        f'<input type="checkbox" data-count="{escape(row.x)}" id="count-{section}-{row.index}"'
        f' aria-label="{label}"{ticked}{fixed}> '
    )


def _cell(cell: Cell | None, number: int, around: _Around) -> str:
    if cell is None:
        return '<td class="faint">–</td>'
    base = "" if cell.ratio else " base"
    ratio = f'<span class="ratio">{escape(cell.ratio)}</span>' if cell.ratio else ""
    return (
        f'<td class="cell{base}" data-s="{number}">'
        f'<span><a href="{around.address}{escape(cell.place)}" data-cell><b>{escape(cell.value)}</b></a>{ratio}</span>'
        f"<span>{_verdict(cell, around)}</span>"
        f'<span class="n">{_replicates(cell, around)}</span></td>'
    )


def _verdict(cell: Cell, around: _Around) -> str:
    kind, bar = escape(cell.kind), cell.bar
    drawn = bar and (
        f'<svg class="ci {kind}" {_DRAWING}>{around.margin}'
        f'<rect x="{bar.low}" y="4" width="{bar.width}" height="4"/><path d="M{bar.middle} 1v10"/></svg>'
    )
    words = f'<span class="verdict {kind}" title="{escape(cell.interval)}">{escape(cell.words)}</span>' if kind else ""
    return (drawn or "") + words


def _replicates(cell: Cell, around: _Around) -> str:
    dots = f'<svg class="dots" {_DRAWING}><path d="{cell.dots}"/></svg>' if cell.dots else ""
    mixed = around.mixed if cell.mixed else ""
    compared = f'<span class="warn" title="{escape(cell.left_out)}">{escape(cell.compared)}</span>'
    lacks = f"{around.comma}<small>{escape(cell.lacks)}</small>" if cell.lacks else ""
    parts = (dots, mixed, compared if cell.compared else "", escape(cell.count) + lacks)
    return " ".join(part for part in parts if part)
