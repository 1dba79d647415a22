"""A table's description and its rows → the table in the warehouse's terms. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from statistics import fmean, median

from results.domain.errors import ParseError
from results.domain.kinds.parameters import Scalar
from results.domain.messages import AND, COMMA, linked
from results.domain.messages import gettext_lazy as _
from results.published.description import (
    AnswerColumn,
    Average,
    Capability,
    Cell,
    Change,
    Description,
    FigureColumn,
    Quotient,
    TrialColumns,
)
from results.published.tables import Answer, Derived, Figure, PublishedRow, PublishedTrial, Remark, Report, Table

_UNITS = (
    {"us": 1, "ms": 1000, "s": 1_000_000},
    {"B": 1, "pages of 8 kB": 8192, "MB": 1024**2},
)
_STATISTICS: Mapping[str, Callable[[Sequence[float]], float]] = {"mean": fmean, "median": median}


def build(slug: str, report: Report, description: Description, rows: Sequence[PublishedRow]) -> Table:
    """Return the table with its trials. Raises ParseError for a cell that is not what the description says."""
    return Table(
        slug=slug,
        report=report,
        place=description.place,
        caption=description.caption,
        workload=description.workload,
        headline=description.headline,
        dimensions=description.conditions,
        trials=tuple(_trials(description, rows)),
        derived=tuple(_derived(description, rows)),
        notes=tuple(Remark(note.text, note.lines) for note in description.notes),
    )


def _trials(description: Description, rows: Sequence[PublishedRow]) -> Iterator[PublishedTrial]:
    for group in _groups(rows, description.group_by):
        for columns in description.trials:
            yield _trial(columns, group, description.capabilities)


def _groups(rows: Sequence[PublishedRow], columns: Sequence[str] | None) -> list[list[PublishedRow]]:
    """Rows that agree in these columns, in the order of the file."""
    if columns is None:
        return [[row] for row in rows]
    groups: dict[tuple[str, ...], list[PublishedRow]] = {}
    for row in rows:
        groups.setdefault(tuple(row[column] for column in columns), []).append(row)
    return list(groups.values())


def _trial(columns: TrialColumns, rows: Sequence[PublishedRow], capabilities: Sequence[Capability]) -> PublishedTrial:
    return PublishedTrial(
        levels=_dimensions(columns.levels, rows[0]),
        figures=tuple(_figures(columns.figures, rows)),
        answers=tuple(_answers(columns.answers, capabilities, rows)) if columns.answers else (),
        more=_dimensions(columns.more, rows[0]),
    )


def _dimensions(sources: Mapping[str, Scalar | Cell], row: PublishedRow) -> dict[str, Scalar]:
    return {name: _read(source, row) if isinstance(source, Cell) else source for name, source in sources.items()}


def _read(cell: Cell, row: PublishedRow) -> Scalar:
    text = row[cell.column]
    if cell.values and text not in cell.values:
        raise row.error(
            _("Column {column} is none of {values}.", column=cell.column, values=linked(COMMA, cell.values)), text
        )
    if cell.values:
        return cell.values[text]
    return row.integer(cell.column) if cell.type == "integer" else text


def _figures(columns: Sequence[FigureColumn], rows: Sequence[PublishedRow]) -> Iterator[Figure]:
    for row in rows:
        for column in columns:
            wanted = all(row[name] == text for name, text in column.where.items())
            if wanted and not (column.optional and row[column.column] == ""):
                yield _figure(column, row)


def _figure(column: FigureColumn, row: PublishedRow) -> Figure:
    value = row.number(column.column)
    if column.unit:
        factor = _factor(column, row)
        value = value * factor.numerator / factor.denominator
    return Figure(column.metric, value, row.line, column.column, column.node, _words(column.label, row.cells, row))


def _factor(column: FigureColumn, row: PublishedRow) -> Fraction:
    for sizes in _UNITS:
        if column.unit in sizes and column.base_unit in sizes:
            return Fraction(sizes[column.unit], sizes[column.base_unit])
    raise row.error(
        _(
            "Column {column} is in {unit}, which is not a multiple of {base_unit!r}.",
            column=column.column,
            unit=column.unit,
            base_unit=column.base_unit,
        )
    )


def _answers(
    columns: AnswerColumn, capabilities: Sequence[Capability], rows: Sequence[PublishedRow]
) -> Iterator[Answer]:
    by_name = {next(iter(row.cells.values())): row for row in rows}
    for capability in capabilities:
        row = by_name.get(capability.row)
        if row is None:
            raise rows[0].error(_("There is no row for {name!r}.", name=capability.row))
        outcome = _read(Cell(columns.column, values=columns.outcomes), row)
        message = row[columns.message_column]
        yield Answer(
            capability=capability.name,
            title=capability.title,
            group=capability.group,
            outcome=columns.exceptions.get(capability.name, str(outcome)),
            message=row[columns.same_column] if columns.same_column and message == "same" else message,
            line=row.line,
            column=columns.column,
        )


def _derived(description: Description, rows: Sequence[PublishedRow]) -> Iterator[Derived]:
    for row in rows:
        for quotient in description.quotients:
            yield _quotient(quotient, row)
    for change in description.changes:
        yield _change(change, rows)
    for average in description.averages:
        yield from _averages(average, rows)


def _quotient(quotient: Quotient, row: PublishedRow) -> Derived:
    values = [row.number(column) for column in quotient.numerator if row[column]]
    divisor = row.number(quotient.denominator) if quotient.denominator else 1.0
    if not values or not divisor:
        raise row.error(_("Column {column} cannot be recomputed: a number is missing or zero.", column=quotient.column))
    named = {**row.cells, **{name: _read(cell, row) for name, cell in quotient.cells.items()}}
    words = _words(quotient.words, named, row)
    slack = quotient.slack * len(values) / divisor
    return Derived(row.line, quotient.column, words, row[quotient.column], sum(values) / divisor, slack)


def _change(change: Change, rows: Sequence[PublishedRow]) -> Derived:
    row, base = _only_row(rows, change.of), _only_row(rows, change.against)
    percent = 100 * (row.number(change.column) / base.number(change.column) - 1)
    return Derived(row.line, change.column, change.words, change.printed, percent)


def _only_row(rows: Sequence[PublishedRow], texts: Mapping[str, str]) -> PublishedRow:
    matching = _rows_with(rows, texts)
    if len(matching) != 1:
        raise ParseError(
            _("{count} rows have {cells}, not one.", count=len(matching), cells=_listed(texts)), file=rows[0].file
        )
    return matching[0]


def _averages(average: Average, rows: Sequence[PublishedRow]) -> Iterator[Derived]:
    for text, figures in average.printed.items():
        for then_text, printed in figures.items():
            texts = {average.by: text, average.then_by: then_text}
            matching = _rows_with(rows, texts)
            if not matching:
                raise ParseError(_("No row has {cells}.", cells=_listed(texts)), file=rows[0].file)
            recomputed = _STATISTICS[average.statistic]([row.number(average.column) for row in matching])
            yield Derived(0, average.column, _words(average.words, texts, matching[0]), printed, recomputed)


def _words(template: str, named: Mapping[str, object], row: PublishedRow) -> str:
    try:
        return template.format_map(named)
    except (KeyError, ValueError) as error:
        raise row.error(
            _("The words {words!r} cannot be filled in: {error}.", words=template, error=str(error))
        ) from None


def _rows_with(rows: Sequence[PublishedRow], texts: Mapping[str, str]) -> list[PublishedRow]:
    return [row for row in rows if all(row[column] == text for column, text in texts.items())]


def _listed(texts: Mapping[str, str]) -> str:
    cells = [f"{column} {text}" for column, text in texts.items()]
    return linked(AND, cells)
