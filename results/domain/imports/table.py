"""A CSV file with a mapping of its columns → trials. Pure."""

from __future__ import annotations

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice

from results.domain.errors import ImportedFileError
from results.domain.imports.values import ImportedTrial, TextFile
from results.domain.measurement.metrics import Better, Metric
from results.domain.measurement.parsed_trial import Measurement, Part
from results.domain.messages import Message
from results.domain.messages import gettext_lazy as _
from results.domain.units import to_base

PROGRAM = "CSV"  # which an import of a table is said to come from
DELIMITERS = {",": _("comma"), ";": _("semicolon"), "\t": _("tab"), "|": _("bar")}
MOST_ROWS = 20_000
MOST_COLUMNS = 200
MOST_CELLS = 400_000
_TELLING_ROWS = 500  # of which the roles of columns are suggested
_TELLING_CELLS = 1_000  # with a decimal mark, of which it is suggested which one it is
_NAME = re.compile(r"[a-z][a-z0-9_.]{0,62}")
_PLAIN = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_MICROSECONDS = 1e6
_BETTER = {  # in the warehouse
    Better.HIGHER: _("Of {metric}, higher is better in this warehouse."),
    Better.LOWER: _("Of {metric}, lower is better in this warehouse."),
    Better.NEITHER: _("Of {metric}, neither is better in this warehouse."),
}


class Role(StrEnum):
    """What a column is."""

    FACTOR = "factor"
    METRIC = "metric"
    REPLICATE = "replicate"
    IGNORED = "ignored"


@dataclass(frozen=True)
class Column:
    """What one column is, and what its values are called.

    name: of the factor or the metric.
    unit: of a metric, as in the file ('ms'); stored in base units.
    better: of a metric."""

    role: Role = Role.IGNORED
    name: str = ""
    unit: str = ""
    better: Better = Better.NEITHER


@dataclass(frozen=True)
class CsvOptions:
    """What a table's cells mean.

    decimal: '.' or ','; the other one may separate thousands.
    columns: heading → what it is; a heading without an entry is ignored."""

    decimal: str = "."
    columns: Mapping[str, Column] = field(default_factory=dict)


@dataclass(frozen=True)
class CsvRow:
    """line: in the file, from 1."""

    line: int
    cells: Mapping[str, str]


def suggested_delimiter(text: str) -> str:
    """Return the delimiter that the first lines have most often and alike."""
    lines = [line for line in text.splitlines()[:10] if line.strip()]
    least = {one: min((line.count(one) for line in lines), default=0) for one in DELIMITERS}
    return max(DELIMITERS, key=lambda one: least[one])


def suggested_decimal(rows: Sequence[CsvRow]) -> str:
    """Return the decimal mark; '' where a cell is one number with '.' and another with ',', as 1,198, and no other cell
    decides, or others contradict each other. Versions are no numbers."""
    readings = Counter(_reading(cell) for cell in islice(_marked_cells(rows), _TELLING_CELLS))
    if readings[_EITHER] and bool(readings["."]) == bool(readings[","]):
        return ""
    return "," if readings[","] > readings["."] else "."


def ambiguous_cell(rows: Sequence[CsvRow]) -> str:
    """Return the first cell that is a number with either decimal mark, and not the same; '' where there is none."""
    return next((cell.strip() for cell in _marked_cells(rows) if _reading(cell) == _EITHER), "")


def _marked_cells(rows: Sequence[CsvRow]) -> Iterator[str]:
    """Give the cells with a mark that may be a decimal one."""
    headings = [heading for heading in rows[0].cells if identifier(heading) not in _FACTORS] if rows else []
    for row in rows:
        for heading in headings:
            cell = row.cells[heading]
            if "." in cell or "," in cell:
                yield cell


_EITHER = "either"


def _reading(cell: str) -> str:
    """Return the decimal mark with which the cell is a number, 'either' where both make one, '' where neither does."""
    marks = [mark for mark in ".," if _number(cell, mark) is not None]
    return _EITHER if len(marks) > 1 else "".join(marks)


def suggested_columns(rows: Sequence[CsvRow], decimal: str, known: Mapping[str, Metric]) -> dict[str, Column]:
    """Return a first mapping: columns named as a metric that is known are that metric, and other columns of numbers
    stay ignored until somebody says what they are; 'replicate' and the like; text columns are factors."""
    headings = rows[0].cells if rows else {}
    return {heading: _suggested(heading, rows[:_TELLING_ROWS], decimal, known) for heading in headings}


_FACTORS = ("version", "clients", "threads", "scale", "access_method", "topology")
_REPLICATES = ("replicate", "repetition", "rep", "run", "trial", "iteration", "block")


def _suggested(heading: str, rows: Sequence[CsvRow], decimal: str, known: Mapping[str, Metric]) -> Column:
    name = identifier(heading)
    if name in known:
        return Column(Role.METRIC, name, known[name].unit, known[name].better)
    if name in _REPLICATES:
        return Column(Role.REPLICATE)
    numbers = all(_is_number(row.cells[heading], decimal) for row in rows)
    complete = all(row.cells[heading].strip() for row in rows)
    is_factor = name in _FACTORS or (not numbers and complete and _NAME.fullmatch(name) is not None)
    return Column(Role.FACTOR, name) if is_factor else Column(name=name)


def identifier(heading: str) -> str:
    """'Avg. latency (ms)' → 'avg_latency_ms': a name that a factor or metric may have; '' where nothing is left."""
    return re.sub(r"[^a-z0-9.]+", "_", heading.lower().replace(". ", " ")).strip("_.")[:63]


def read_rows(file: TextFile, delimiter: str) -> list[CsvRow]:
    """Return the rows below the heading. Raises ImportedFileError."""
    reader = csv.reader(io.StringIO(file.text), delimiter=delimiter, strict=True)
    try:
        headings = [heading.strip() for heading in next(reader, [])]
        _require_headings(file.name, headings, delimiter)
        rows = []
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            rows.append(_row(file.name, reader.line_num, headings, cells))
            _require_size(file.name, len(rows), len(headings))
    except csv.Error as error:
        raise ImportedFileError(
            _("The file is not CSV."),
            where=f"{file.name}:{reader.line_num}",
            why=str(error),
            todo=_("Close every quotation mark, or choose another delimiter."),
        ) from None
    if not rows:
        raise ImportedFileError(_("The table has a heading and no rows."), where=file.name, todo=_("Add its rows."))
    return rows


def _require_size(file: str, rows: int, columns: int) -> None:
    what = ""
    if rows > MOST_ROWS:
        what = _("The table has more than {most:,} rows.", most=MOST_ROWS)
    elif rows * columns > MOST_CELLS:
        what = _("The table has more than {most:,} cells.", most=MOST_CELLS)
    if what:
        raise ImportedFileError(
            what,
            where=file,
            todo=_("Import one row a measured run, not one a transaction, and only the columns that are needed."),
        )


def _require_headings(file: str, headings: Sequence[str], delimiter: str) -> None:
    where, todo = f"{file}:1", _("The first line must name each column once.")
    if len(headings) > MOST_COLUMNS:
        what = _("{count} columns are too many.", count=len(headings))
        raise ImportedFileError(what, where=where, todo=_("{most} at most.", most=MOST_COLUMNS))
    twice = next((heading for heading, count in Counter(headings).items() if count > 1), None)
    if twice is not None:
        what = _("Two columns have no heading.")
        if twice:
            what = _("Two columns are called {heading!r}.", heading=twice)
        raise ImportedFileError(what, where=where, todo=todo)
    if len(headings) < 2:
        why = _("The delimiter is {delimiter}.", delimiter=DELIMITERS[delimiter])
        raise ImportedFileError(
            _("The table has one column."), where=where, why=why, todo=_("Choose another delimiter.")
        )


def _row(file: str, line: int, headings: Sequence[str], cells: Sequence[str]) -> CsvRow:
    if len(cells) != len(headings):
        raise ImportedFileError(
            _("The row has {cells} cells, the heading {headings}.", cells=len(cells), headings=len(headings)),
            where=f"{file}:{line}",
            why=repr(",".join(cells)[:200]),
            todo=_(
                "Put quotation marks around a cell with the delimiter in it; decimal commas need another delimiter."
            ),
        )
    return CsvRow(line, dict(zip(headings, cells, strict=True)))


def read_trials(
    file: str, rows: Sequence[CsvRow], options: CsvOptions, known: Mapping[str, Metric]
) -> list[ImportedTrial]:
    """Return a trial a row. Raises ImportedFileError for a mapping without a metric, and for a cell that is no number,
    naming row and column.

    file: its name.
    known: metrics by name; of these the file must have the unit and direction."""
    metrics = _metrics(file, options, known)
    missing = [heading for heading in options.columns if heading not in rows[0].cells]
    if missing:
        raise ImportedFileError(
            _("The table has no column {heading!r}.", heading=missing[0]),
            where=f"{file}:1",
            todo=_("It has {headings}.", headings=", ".join(rows[0].cells)),
        )
    _require_other_replicates(file, rows, options)
    return [_trial(file, row, options, metrics) for row in rows]


def _metrics(file: str, options: CsvOptions, known: Mapping[str, Metric]) -> dict[str, Metric]:
    """Return heading → metric. Raises ImportedFileError."""
    metrics: dict[str, Metric] = {}
    names: set[str] = set()
    for heading, column in options.columns.items():
        if column.role not in (Role.METRIC, Role.FACTOR):
            continue
        if not _NAME.fullmatch(column.name):
            raise ImportedFileError(
                _("{name!r} is no name.", name=column.name),
                where=_of_column(file, heading),
                todo=_("Use small letters, digits, '_' and '.', beginning with a letter, as latency.p99."),
            )
        if column.name in names:
            raise ImportedFileError(_("Two columns are {name}.", name=column.name), where=_of_column(file, heading))
        names.add(column.name)
        if column.role is Role.METRIC:
            metrics[heading] = _metric(_of_column(file, heading), heading, column, known)
    if not metrics:
        raise ImportedFileError(
            _("No column is a metric."),
            where=file,
            todo=_("Say which columns hold what was measured, and in which unit."),
        )
    return metrics


def _of_column(place: str, heading: str) -> Message:
    return _("{place}, column {heading}", place=place, heading=heading)


def _metric(where: str, heading: str, column: Column, known: Mapping[str, Metric]) -> Metric:
    metric = known.get(column.name)
    if metric is None:
        return Metric(
            column.name,
            _base_unit(column.unit),
            column.better,
            heading[:100],
            _("Imported from a table."),
            0.05,
            signed=True,
        )
    if _factor(column.unit, metric.unit) is None:
        raise ImportedFileError(
            _(
                "{metric} is in {unit} in this warehouse, and in {other} here.",
                metric=column.name,
                unit=metric.unit,
                other=column.unit or "1",
            ),
            where=where,
            todo=_("Correct the unit, or give the metric a name of its own."),
        )
    if column.better is not metric.better:
        raise ImportedFileError(
            Message(_BETTER[metric.better], values={"metric": column.name}),
            where=where,
            todo=_("Correct the direction, or give the metric a name of its own."),
        )
    return metric


def _base_unit(unit: str) -> str:
    return to_base(1.0, unit)[1]


def _factor(unit: str, base: str) -> float | None:
    """Return what a value in `unit` is multiplied by to be in `base`; None where it cannot be."""
    if (unit or "1") == base:
        return 1.0
    factor, of_unit = to_base(1.0, unit)
    if of_unit == "s" and base == "us":
        return factor * _MICROSECONDS
    return factor if of_unit == base else None


def _require_other_replicates(file: str, rows: Sequence[CsvRow], options: CsvOptions) -> None:
    """Raise ImportedFileError where two rows are the same replicate of the same levels."""
    replicate = next((name for name, column in options.columns.items() if column.role is Role.REPLICATE), None)
    if replicate is None:
        return
    seen: dict[tuple[str, ...], int] = {}
    factors = [name for name, column in options.columns.items() if column.role is Role.FACTOR]
    for row in rows:
        key = tuple(row.cells[name].strip() for name in (*factors, replicate))
        if key in seen:
            raise ImportedFileError(
                _(
                    "The row is replicate {replicate!r} of the same levels as line {line}.",
                    replicate=row.cells[replicate],
                    line=seen[key],
                ),
                where=_of_column(f"{file}:{row.line}", replicate),
                todo=_("Map the column that tells them apart as a factor, or leave one of the rows out."),
            )
        seen[key] = row.line


def _trial(file: str, row: CsvRow, options: CsvOptions, metrics: Mapping[str, Metric]) -> ImportedTrial:
    measurements = tuple(_measurements(file, row, options, metrics))
    if not measurements:
        raise ImportedFileError(_("The row has no number."), where=f"{file}:{row.line}", todo=_("Leave the row out."))
    levels = {
        column.name: _level(file, row, heading)
        for heading, column in options.columns.items()
        if column.role is Role.FACTOR
    }
    return ImportedTrial(
        source=f"{file}:{row.line}",
        files=(file,),
        facts={},
        part=Part(measurements, metrics=tuple(metrics.values())),
        levels=levels,
        places={
            (metric.name, ""): _("line {line}, column {heading}", line=row.line, heading=heading)
            for heading, metric in metrics.items()
        },
    )


def _level(file: str, row: CsvRow, heading: str) -> str:
    text = row.cells[heading].strip()
    if not text:
        raise ImportedFileError(
            _("The factor has no level."),
            where=_of_column(f"{file}:{row.line}", heading),
            todo=_("Write the level into the cell, or ignore the column."),
        )
    return text


def _measurements(file: str, row: CsvRow, options: CsvOptions, metrics: Mapping[str, Metric]) -> Iterator[Measurement]:
    for heading, metric in metrics.items():
        text = row.cells[heading].strip()
        if not text:
            continue  # not measured in this row
        value = _number(text, options.decimal)
        if value is None:
            raise ImportedFileError(
                _("The cell is not a number."),
                where=_of_column(f"{file}:{row.line}", heading),
                why=repr(text[:100]),
                todo=_number_hint(text, options.decimal),
            )
        factor = _factor(options.columns[heading].unit, metric.unit)
        yield Measurement(metric.name, value * (1.0 if factor is None else factor))


def _is_number(text: str, decimal: str) -> bool:
    return not text.strip() or _number(text, decimal) is not None


def _number(text: str, decimal: str) -> float | None:
    """Return the number, None where it is none. Thousands may be separated by the other mark, a space or an apostrophe,
    in groups of three."""
    other = "," if decimal == "." else "."
    whole, mark, rest = text.strip().partition(decimal)
    for separator in (other, " ", "\u00a0", "\u202f", "'"):
        if separator in whole:
            if not re.fullmatch(rf"[-+]?[1-9][0-9]{{0,2}}(?:{re.escape(separator)}[0-9]{{3}})+", whole):
                return None
            whole = whole.replace(separator, "")
    plain = f"{whole}.{rest}" if mark else whole
    if not _PLAIN.fullmatch(plain):
        return None
    value = float(plain)
    return value if math.isfinite(value) else None


def _number_hint(text: str, decimal: str) -> str:
    other = "," if decimal == "." else "."
    if _number(text, other) is not None:
        return _(
            "With {mark!r} as decimal mark it would be {number:g}: choose that, or correct the cell.",
            mark=other,
            number=_number(text, other),
        )
    if text.lower() in ("nan", "inf", "-inf", "infinity", "-infinity"):
        return _("Leave the cell empty where nothing was measured.")
    return _("Correct the cell, leave it empty, or map the column otherwise.")
