"""The rows of the comparison's table as HTML. A page shows a thousand cells, for each of which a template, or Django's
format_html, would take longer than everything else: here every text goes through `escape` by itself. Pure."""

from __future__ import annotations

from html import escape

from django.utils.safestring import SafeString, mark_safe

from webapp.compare.table import Cell, Row, Table
from webapp.templatetags.teiten import interval, ratio

_MISSING = '<td class="faint">–</td>'
_MIXED = '<span class="warn" title="Different configurations in one cell">mixed</span> '


class Rows:
    """query: of the comparison."""

    def __init__(self, table: Table, query: str) -> None:
        self.compared = table.compared
        self.address = escape(f"cell/?{query}&")
        self.margin = f'<rect class="margin" x="{table.margin_at}" y="1" width="{table.margin_width}" height="10"/>'
        self.of_sections: list[SafeString] = [
            mark_safe("\n".join(self.row(row, number) for row in section.rows))
            for number, section in enumerate(table.sections, 1)
        ]

    def row(self, row: Row, section: int) -> str:
        left_out = "" if row.counted else ' class="left-out"'
        tick = self.tick(row, section) if self.compared else ""
        cells = "".join(self.cell(cell, index) if cell else _MISSING for index, cell in enumerate(row.cells))
        return f'<tr data-x="{row.index}"{left_out}><th scope="row">{tick}{escape(row.x)}</th>{cells}</tr>'

    def tick(self, row: Row, section: int) -> str:
        x = escape(row.x)
        return (
            f'<input type="checkbox" data-count="{x}" id="count-{section}-{row.index}" '
            f'aria-label="Count {x} in the summary"{" checked" if row.counted else ""}>'
        )

    def cell(self, cell: Cell, index: int) -> str:
        base = " base" if cell.ratio is None else ""
        quotient = f' <span class="ratio">{escape(ratio(cell.ratio))}</span>' if cell.ratio is not None else ""
        outliers = f", {cell.outliers} outlier{'' if cell.outliers == 1 else 's'}" if cell.outliers else ""
        lacks = f", <small>{escape(cell.lacks)}</small>" if cell.lacks else ""
        return (
            f'<td class="cell{base}" data-s="{index}"><span><a href="{self.address}{escape(cell.place)}" data-cell>'
            f"<b>{escape(cell.value)}</b></a>{quotient}</span> <span>{self.bar(cell)}{_verdict(cell)}</span> "
            f'<span class="n">{_dots(cell)}{_MIXED if cell.mixed else ""}n={cell.n}{outliers}{lacks}</span></td>'
        )

    def bar(self, cell: Cell) -> str:
        if not cell.bar or not cell.verdict:
            return ""
        return (
            f'<svg class="ci {cell.verdict.kind.value}" viewBox="0 0 100 12" preserveAspectRatio="none" '
            f'aria-hidden="true">{self.margin}<rect x="{cell.bar.low}" y="4" width="{cell.bar.width}" height="4"/>'
            f'<path d="M{cell.bar.middle} 1v10"/></svg>'
        )


def _verdict(cell: Cell) -> str:
    if not cell.verdict:
        return ""
    title = escape(interval(cell.verdict))
    return f'<span class="verdict {cell.verdict.kind.value}" title="{title}">{escape(cell.words)}</span>'


def _dots(cell: Cell) -> str:
    if cell.n < 2:
        return ""
    return (
        '<svg class="dots" viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true">'
        f'<path d="{cell.dots}"/></svg>'
    )
