"""Every published table that comes with Teiten. Pure, but that it reads the files beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from results.domain.errors import ParseError
from results.domain.messages import gettext_lazy as _
from results.published.build import build
from results.published.description import Description, ReportTables, ReportTranslation, read_description, read_reports
from results.published.tables import FOLDER, PublishedRow, Report, Table, read_rows
from results.published.translations import check, pairs, translated, translation_of

REPORTS = "reports.toml"


def read_tables(folder: Path) -> tuple[Table, ...]:
    """The tables of the folder's reports, in their order. Raises ParseError that names the file and the line."""
    return tuple(source.table() for source in _sources(folder))


def translations(folder: Path, language: str) -> dict[str, str]:
    """Return English → translation of what is shown of the folder's tables and their reports, as far as there is one.
    Raises ParseError."""
    texts: dict[str, str] = {}
    for source in _sources(folder):
        report: ReportTranslation | None = getattr(source.report, language, None)
        if report:
            english = source.report
            texts |= {
                english.title: report.title,
                english.publisher: report.publisher,
                english.licence: report.licence,
            }
        if translation := translation_of(source.description, language):
            other = source._replace(description=translated(source.description, translation))
            texts |= dict(pairs(source.table(), other.table(), translation.words))
    return texts


class _Source(NamedTuple):
    """What one table is read of."""

    report: ReportTables
    slug: str
    description: Description
    rows: Sequence[PublishedRow]

    def table(self) -> Table:
        report = Report(self.report.title, self.report.publisher, self.report.year, self.report.licence)
        return build(self.slug, report, self.description, self.rows)


def _sources(folder: Path) -> Iterator[_Source]:
    for report in read_reports(REPORTS, _text(folder, REPORTS)):
        for slug in report.tables:
            yield _source(folder, report, slug)


def _source(folder: Path, report: ReportTables, slug: str) -> _Source:
    rows = read_rows(f"{slug}.csv", _bytes(folder, f"{slug}.csv"))
    if not rows:
        raise ParseError(_("The table has no row."), file=f"{slug}.csv", line=1)
    file = f"{slug}.toml"
    text = _text(folder, file)
    description = read_description(file, text, frozenset(rows[0].cells))
    check(description, rows, file, text)
    return _Source(report, slug, description, rows)


def _text(folder: Path, file: str) -> str:
    data = _bytes(folder, file)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ParseError(_("The file is not UTF-8."), file=file, line=line) from None


def _bytes(folder: Path, file: str) -> bytes:
    try:
        return (folder / file).read_bytes()
    except FileNotFoundError:
        raise ParseError(_("There is no such file, though {list} lists it.", list=REPORTS), file=file) from None


TABLES: tuple[Table, ...] = read_tables(FOLDER)
