"""Every published table that comes with Teiten. Pure, but that it reads the files beside it."""

from __future__ import annotations

from pathlib import Path

from results.domain.errors import ParseError
from results.domain.messages import gettext_lazy as _
from results.published.build import build
from results.published.description import ReportTables, read_description, read_reports
from results.published.tables import FOLDER, Report, Table, read_rows

REPORTS = "reports.toml"


def read_tables(folder: Path) -> tuple[Table, ...]:
    """The tables of the folder's reports, in their order. Raises ParseError that names the file and the line."""
    reports = read_reports(REPORTS, _text(folder, REPORTS))
    return tuple(_table(folder, report, slug) for report in reports for slug in report.tables)


def _table(folder: Path, tables: ReportTables, slug: str) -> Table:
    report = Report(tables.title, tables.publisher, tables.year, tables.licence)
    rows = read_rows(f"{slug}.csv", _bytes(folder, f"{slug}.csv"))
    if not rows:
        raise ParseError(_("The table has no row."), file=f"{slug}.csv", line=1)
    file = f"{slug}.toml"
    return build(slug, report, read_description(file, _text(folder, file), frozenset(rows[0].cells)), rows)


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
