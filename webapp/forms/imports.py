"""What a user asks to import, as fields and files of a form, an API request or a command → a draft."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import PurePath

from django.core.files.uploadedfile import UploadedFile

from results.domain.errors import ImportedFileError
from results.domain.imports.table import (
    DELIMITERS,
    PROGRAM,
    Column,
    CsvOptions,
    CsvRow,
    Role,
    ambiguous_cell,
    read_rows,
    read_trials,
    suggested_columns,
    suggested_decimal,
    suggested_delimiter,
)
from results.domain.imports.text import (
    ENCODINGS,
    LARGEST_FILE_BYTES,
    LARGEST_IMPORT_BYTES,
    possible_encodings,
    require_readable,
    require_size,
    suggested_encoding,
    to_text,
)
from results.domain.imports.values import ImportedTrial, SourceFile
from results.domain.measurement.metrics import Better, Metric
from results.domain.messages import COMMA, linked
from results.domain.messages import gettext_lazy as _
from results.foreign_results import Arranged, Draft, arrange, fingerprint, known_metrics, require_new
from results.models.audit import Scope
from webapp.bodies import MOST_BYTES, Upload
from workers.registry import import_formats, import_metrics, read_import

UPLOAD = Upload(LARGEST_IMPORT_BYTES + MOST_BYTES, Scope.RUN)  # the files, and the form's fields around them
CSV = "csv"
DECIMALS = {".": _("point"), ",": _("comma")}
_SHOWN_ROWS = 6
FIELDS = ("program", "name", "workload", "note", "measured_on", "delimiter", "decimal", "encoding", "previewed")
_COLUMN = ("role", "name", "unit", "better")
COLUMN_PREFIXES = tuple(f"{part}." for part in _COLUMN)
PREFIXES = ("levels.", *COLUMN_PREFIXES)


@dataclass(frozen=True)
class TableForm:
    """How a CSV file is read, to look at and to correct.

    decimal: '' where the table does not tell which it is."""

    encoding: str
    delimiter: str
    decimal: str
    columns: Mapping[str, Column]
    rows: Sequence[CsvRow]

    @property
    def first_rows(self) -> Sequence[CsvRow]:
        return self.rows[:_SHOWN_ROWS]


@dataclass(frozen=True)
class ImportForm:
    """What would be imported.

    program: name of the program, or 'csv'.
    fingerprint: of what was previewed."""

    program: str
    title: str
    draft: Draft
    arranged: Arranged
    fingerprint: str


def source_file(name: str, content: bytes) -> SourceFile:
    """Return the file under its name without folders."""
    base = PurePath(name.replace("\\", "/")).name
    clean = "".join(letter for letter in base if letter.isprintable())[-200:]
    return SourceFile(clean or "file", content)


def read_uploads(uploads: Sequence[UploadedFile]) -> list[SourceFile]:
    """Return the files. Raises ImportedFileError, before it reads any, for more than are read at once."""
    require_size([upload.size or 0 for upload in uploads])
    files = []
    for upload in uploads:
        upload.seek(0)  # a request's files may be asked for several times
        files.append(source_file(upload.name or "", upload.read(LARGEST_FILE_BYTES + 1)))
    return files


def program_of(fields: Mapping[str, str], files: Sequence[SourceFile]) -> str:
    """Return the program that was chosen; 'csv' where none was and the file is a table that no program is known to
    write; '' to recognise it."""
    if fields.get("program") or len(files) != 1 or PurePath(files[0].name).suffix.lower() not in (".csv", ".tsv"):
        return fields.get("program", "")
    text = files[0].content.decode("latin-1")
    return "" if any(one.recognises(text) for one in import_formats().values()) else CSV


def table_form(fields: Mapping[str, str], files: Sequence[SourceFile]) -> TableForm:
    """Return how the table is read: as the fields say, or as its content suggests. Raises ImportedFileError."""
    require_readable(files)
    if len(files) > 1:
        what, todo = _("These are several tables."), _("Import one CSV file at a time.")
        raise ImportedFileError(what, where="file", todo=todo)
    encoding = _choice(fields, "encoding", ENCODINGS) or suggested_encoding(files[0].content)
    text = to_text(files[0], encoding)
    delimiter = _choice(fields, "delimiter", DELIMITERS) or suggested_delimiter(text.text)
    rows = read_rows(text, delimiter)
    decimal = _choice(fields, "decimal", DECIMALS) or suggested_decimal(rows)
    suggested = suggested_columns(rows, decimal or ".", known_metrics(import_metrics()))
    columns = {heading: _column(fields, heading, suggested[heading]) for heading in rows[0].cells}
    _require_headings(fields, columns)
    return TableForm(encoding, delimiter, decimal, columns, rows)


def _choice(fields: Mapping[str, str], name: str, choices: Mapping[str, str]) -> str:
    chosen = {"\\t": "\t", "tab": "\t"}.get(fields.get(name, ""), fields.get(name, ""))
    if chosen and chosen not in choices:
        what = _("There is no {field} {value}.", field=name, value=repr(chosen[:40]))
        todo = _("There are {values}.", values=linked(COMMA, (repr(one) for one in choices)))
        raise ImportedFileError(what, where=name, todo=todo)
    return chosen


def _column(fields: Mapping[str, str], heading: str, suggested: Column) -> Column:
    role, name, unit, better = (fields.get(f"{part}.{heading}") for part in _COLUMN)
    if role is not None and role not in tuple(Role):
        raise ImportedFileError(
            _("A column is no {role}.", role=repr(role[:40])),
            where=f"role.{heading}",
            todo=_("It is {roles}.", roles=linked(COMMA, Role)),
        )
    if better is not None and better not in tuple(Better):
        raise ImportedFileError(
            _("There is no direction {direction}.", direction=repr(better[:40])),
            where=f"better.{heading}",
            todo=_("There are {values}.", values=linked(COMMA, Better)),
        )
    return Column(
        Role(role) if role is not None else suggested.role,
        (name if name is not None else suggested.name).strip(),
        (unit if unit is not None else suggested.unit).strip(),
        Better(better) if better is not None else suggested.better,
    )


def _require_headings(fields: Mapping[str, str], columns: Mapping[str, Column]) -> None:
    for field in fields:
        part, _dot, heading = field.partition(".")
        if part in _COLUMN and heading and heading not in columns:
            raise ImportedFileError(
                _("The table has no column {column}.", column=repr(heading[:80])),
                where=field[:120],
                todo=_("It has {columns}.", columns=linked(COMMA, columns)),
            )


def import_form(fields: Mapping[str, str], files: Sequence[SourceFile], table: TableForm | None = None) -> ImportForm:
    """Return what would be imported. Raises ImportedFileError, and StateError for a file that was imported before.

    table: how the table is read with these fields, where the user sees it; else its encoding must be beyond doubt."""
    require_readable(files)
    _require_known(fields)
    program = program_of(fields, files)
    if program == CSV:
        draft = _table_draft(fields, files, table or _unseen_table(fields, files))
    else:
        draft = _program_draft(fields, files, program)
    require_new(files)
    name = program if program == CSV else _program_name(draft.program)
    return ImportForm(name, draft.program, draft, arrange(draft), fingerprint(draft))


def _program_name(title: str) -> str:
    return next(one.name for one in import_formats().values() if one.title == title)


def _require_known(fields: Mapping[str, str]) -> None:
    for field in fields:
        if field not in FIELDS and not field.startswith(PREFIXES):
            raise ImportedFileError(
                _("There is no field {field}.", field=repr(field[:80])),
                where=field[:80],
                todo=_("There are {values}.", values=linked(COMMA, (*FIELDS, *PREFIXES))),
            )


def _program_draft(fields: Mapping[str, str], files: Sequence[SourceFile], program: str) -> Draft:
    chosen, trials = read_import(files, program)
    return _draft(fields, files, trials, chosen.title, chosen.headline)


def _unseen_table(fields: Mapping[str, str], files: Sequence[SourceFile]) -> TableForm:
    table = table_form(fields, files)
    possible = possible_encodings(files[0].content)
    if not fields.get("encoding") and len(possible) > 1:
        raise ImportedFileError(
            _("The encoding is not known."),
            where="encoding",
            why=_(
                "{file} may be {encodings}.",
                file=files[0].name,
                encodings=linked(COMMA, (ENCODINGS[one] for one in possible)),
            ),
            todo=_(
                "Say which it is, one of {encodings}, or convert the file to UTF-8.", encodings=linked(COMMA, possible)
            ),
        )
    return table


def _table_draft(fields: Mapping[str, str], files: Sequence[SourceFile], table: TableForm) -> Draft:
    _require_decimal(table)
    used = {heading: column for heading, column in table.columns.items() if column.role is not Role.IGNORED}
    known: Mapping[str, Metric] = known_metrics(import_metrics())
    trials = read_trials(files[0].name, table.rows, CsvOptions(table.decimal, used), known)
    first = next(column.name for column in used.values() if column.role is Role.METRIC)
    return _draft(fields, files, trials, PROGRAM, first)


def _require_decimal(table: TableForm) -> None:
    if not table.decimal:
        raise ImportedFileError(
            _("The decimal mark is not known."),
            where="decimal",
            why=_(
                "{cell} is one number with a decimal point and another with a decimal comma.",
                cell=repr(ambiguous_cell(table.rows)),
            ),
            todo=_("Say which it is: decimal '.' or ','."),
        )


def _draft(
    fields: Mapping[str, str], files: Sequence[SourceFile], trials: Sequence[ImportedTrial], title: str, headline: str
) -> Draft:
    levels = {
        field.removeprefix("levels."): read_levels(field, text)
        for field, text in fields.items()
        if field.startswith("levels.")
    }
    draft = Draft(
        name=fields.get("name", "").strip() or _suggested_name(files, title),
        program=title,
        headline=headline,
        files=tuple(files),
        trials=tuple(trials),
        levels={file: of_file for file, of_file in levels.items() if of_file},
        note=fields.get("note", "").replace("\r\n", "\n").strip(),
        measured_on=_day(fields.get("measured_on", "").strip()),
    )
    return replace(draft, workload=fields.get("workload", "").strip())


def _suggested_name(files: Sequence[SourceFile], title: str) -> str:
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    return f"{title}: {files[0].name[:80]}{more}"


def read_levels(where: str, text: str) -> dict[str, str]:
    """'version=16.4, clients=8' → both. Raises ImportedFileError."""
    levels: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, level = (piece.strip() for piece in part.partition("="))
        if not equals or not level or name in levels:
            raise ImportedFileError(
                _("{part} is no level of a factor, or one of two.", part=repr(part[:80])),
                where=where[:120],
                todo=_("Write factor=level, with commas between several: version=16.4, clients=8."),
            )
        levels[name] = level
    return levels


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise ImportedFileError(
            _("{text} is no date.", text=repr(text[:40])),
            where="measured_on",
            todo=_("Write it as 2026-11-25, or leave it out."),
        ) from None
