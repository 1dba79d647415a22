"""The table of versions to be pasted elsewhere: as aligned text, as Markdown, as HTML; with the numbers that the page
shows, and a line that says where they are from. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape

from django.utils.translation import gettext, ngettext, pgettext

from results.domain.messages import gettext_lazy as _
from results.domain.messages import localized
from results.queries.presets.version_rows import VersionCell, VersionRow
from results.queries.presets.versions import Versions
from webapp.language import joined
from webapp.versions.words import shown_cell, shown_mean, subject

_MOST_RUNS = 20  # that are named one by one


@dataclass(frozen=True)
class Copied:
    """title: what the numbers are.
    heading, lines: of the table.
    provenance: runs, time and address."""

    title: str
    heading: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    provenance: str


@dataclass(frozen=True)
class Format:
    """label: of the button that copies it."""

    label: str
    content_type: str
    written: Callable[[Copied], str]


def copied(versions: Versions, address: str, now: datetime) -> Copied:
    """Return what is copied of the table.

    address: of the page."""
    lines = [(_row_name(row, versions), *(_cell_text(cell, row) for cell in row.cells)) for row in versions.rows]
    means = [shown_mean(mean) for mean in versions.intervals]
    if any(mean.number for mean in means):
        name = gettext("geometric mean of the rows against {base}").format(base=versions.base)
        lines.append((name, *(_with_interval(mean.number, mean.interval) or "–" for mean in means)))
    title = gettext("PostgreSQL versions. {subject}. In brackets: {percent} interval.")
    return Copied(
        title=title.format(subject=subject(versions), percent="95 %"),
        heading=(gettext("configuration") if versions.workload else gettext("workload"), *versions.versions),
        lines=tuple(lines),
        provenance=joined(("Teiten", _runs(versions), f"{now:%Y-%m-%d %H:%M} UTC", address)),
    )


def _row_name(row: VersionRow, versions: Versions) -> str:
    parts = [localized(row.name)] if versions.metric else [localized(row.name), localized(row.metric.label)]
    if row.published:
        parts.append(pgettext("figures", "published"))
    elif not row.measured:
        parts.append(gettext("not measured in these runs"))
    return joined(parts)


def _cell_text(cell: VersionCell | None, row: VersionRow) -> str:
    if cell is None:
        return "–"
    shown = shown_cell(cell, row.base)
    return " ".join(text for text in (_with_interval(shown.number, shown.interval), shown.kinds) if text) or "–"


def _with_interval(number: str, interval: str) -> str:
    return f"{number} ({interval})" if interval else number


def _runs(versions: Versions) -> str:
    runs = sorted({run for row in versions.rows for run in row.selection.runs})
    named = joined(map(str, runs[:_MOST_RUNS]))
    if len(runs) > _MOST_RUNS:
        return gettext("runs {runs} and {n} more").format(runs=named, n=len(runs) - _MOST_RUNS)
    return ngettext("run {runs}", "runs {runs}", len(runs)).format(runs=named)


def as_text(table: Copied) -> str:
    """Return the table with aligned columns."""
    lines = [table.heading, *table.lines]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    aligned = [_aligned(line, widths) for line in lines]
    rule = "  ".join("-" * width for width in widths)
    return "\n".join([table.title, "", aligned[0], rule, *aligned[1:], "", table.provenance]) + "\n"


def _aligned(line: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()


def as_markdown(table: Copied) -> str:
    rows = [_markdown_row(line) for line in table.lines]
    rule = "|".join(["", " --- ", *(" ---: " for _ in table.heading[1:]), ""])
    heading = _markdown_row(table.heading)
    return "\n".join([table.title, "", heading, rule, *rows, "", table.provenance]) + "\n"


def _markdown_row(line: Sequence[str]) -> str:
    return f"| {' | '.join(text.replace('|', chr(92) + '|') for text in line)} |"


def as_html(table: Copied) -> str:
    heading = "".join(f'<th scope="col">{escape(text)}</th>' for text in table.heading)
    rows = []
    for name, *cells in table.lines:
        columns = "".join(f"<td>{escape(text)}</td>" for text in cells)
        rows.append(f'<tr><th scope="row">{escape(name)}</th>{columns}</tr>')
    parts = [
        "<table>",
        f"<caption>{escape(table.title)}</caption>",
        f"<thead><tr>{heading}</tr></thead>",
        "<tbody>",
        *rows,
        "</tbody>",
        "</table>",
        f"<p>{escape(table.provenance)}</p>",
    ]
    return "\n".join(parts) + "\n"


FORMATS = {
    "txt": Format(_("text"), "text/plain", as_text),
    "md": Format("Markdown", "text/markdown", as_markdown),
    "html": Format("HTML", "text/html", as_html),
}
