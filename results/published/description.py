"""What the columns of a published table are: the TOML file beside its CSV file, as a value. Pure."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from results.domain import toml_text
from results.domain.dataclass_json import ShapeError, from_json
from results.domain.errors import ParseError
from results.domain.kinds.parameters import Scalar
from results.domain.messages import gettext_lazy as _
from results.published.toml_lines import line_of

T = TypeVar("T")


@dataclass(frozen=True)
class Cell:
    """What one cell of a row says.

    column: of the CSV file.
    type: what its text is read as.
    values: text → what it stands for; without them the text stands for itself.
    """

    column: str
    type: Literal["text", "integer"] = "text"
    values: Mapping[str, Scalar] = field(default_factory=dict)


@dataclass(frozen=True)
class FigureColumn:
    """A column whose numbers are values of a metric.

    unit, base_unit: as printed, and the metric's; without them the numbers are in the metric's unit.
    node, label: as of a measurement; in the label `{name}` is the cell of a column.
    where: column → text that a row must have there to be read.
    optional: an empty cell is no figure.
    """

    metric: str
    column: str
    unit: str = ""
    base_unit: str = ""
    node: str = ""
    label: str = ""
    where: Mapping[str, str] = field(default_factory=dict)
    optional: bool = False


@dataclass(frozen=True)
class AnswerColumn:
    """A column with the answers to `Description.capabilities`.

    outcomes: text of a cell → outcome.
    exceptions: capability → outcome where the report's word is not ours.
    message_column: what the report adds.
    same_column: whose message is meant where that says 'same'.
    """

    column: str
    outcomes: Mapping[str, str]
    message_column: str
    same_column: str = ""
    exceptions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class TrialColumns:
    """What a row, or a group of rows, says of one trial.

    levels, more: as of `PublishedTrial`."""

    levels: Mapping[str, Scalar | Cell] = field(default_factory=dict)
    more: Mapping[str, Scalar | Cell] = field(default_factory=dict)
    figures: tuple[FigureColumn, ...] = ()
    answers: AnswerColumn | None = None


@dataclass(frozen=True)
class Capability:
    """One capability that a report states.

    row: what the first column calls it.
    name, title, group: as of `Answer`."""

    name: str
    title: str
    group: str
    row: str


@dataclass(frozen=True)
class Quotient:
    """A column with a figure that the report computed in each row: a sum, or a sum divided by a number.

    column: where the report has it.
    words: how it was computed, with `{name}` for a cell.
    numerator: columns, of which those without a number are left out.
    denominator: column; '' for the sum itself.
    slack: what rounding may have changed in each number of the sum.
    cells: names in words that are no columns.
    """

    column: str
    words: str
    numerator: tuple[str, ...]
    denominator: str = ""
    slack: float = 0.0
    cells: Mapping[str, Cell] = field(default_factory=dict)


@dataclass(frozen=True)
class Change:
    """A difference between two rows, in percent, that the report's text gives.

    printed: the figure.
    of, against: column → text that only this row has.
    """

    column: str
    words: str
    printed: str
    of: Mapping[str, str]
    against: Mapping[str, str]


@dataclass(frozen=True)
class Average:
    """Averages of a column over rows that agree in two others, which the report's text gives.

    words: with `{name}` for the texts of the two.
    by, then_by: the two columns.
    printed: text of the first → text of the second → figure.
    """

    column: str
    words: str
    statistic: Literal["mean", "median"]
    by: str
    then_by: str
    printed: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Note:
    """As `Remark`."""

    text: str
    lines: tuple[int, ...] = ()


@dataclass(frozen=True)
class Translation:
    """What a table is called in another language.

    notes: one of each note, in their order.
    words: English → translation, of the words of derived figures, the texts in them, and what answers add.
    """

    place: str
    caption: str
    notes: tuple[str, ...] = ()
    words: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Description:
    """A table but for its figures.

    place: where in the report it stands.
    headline: the metric that stands for a trial in lists.
    conditions: dimensions that are the same for all trials.
    group_by: rows that agree in these columns are one trial; none at all: all rows; None: each row is a trial.
    trials: what is read of each group of rows, a trial each.
    quotients, changes, averages: figures that the report derived, to be recomputed.
    ja: in Japanese.
    """

    place: str
    caption: str
    workload: str
    headline: str
    conditions: Mapping[str, Scalar]
    trials: tuple[TrialColumns, ...]
    group_by: tuple[str, ...] | None = None
    capabilities: tuple[Capability, ...] = ()
    quotients: tuple[Quotient, ...] = ()
    changes: tuple[Change, ...] = ()
    averages: tuple[Average, ...] = ()
    notes: tuple[Note, ...] = ()
    ja: Translation | None = None


@dataclass(frozen=True)
class ReportTranslation:
    """What a report, its publisher and its licence are called in another language."""

    title: str
    publisher: str
    licence: str


@dataclass(frozen=True)
class ReportTables:
    """A report, and its tables in their order: names of files without their ending.

    ja: in Japanese."""

    title: str
    publisher: str
    year: int
    licence: str
    tables: tuple[str, ...]
    ja: ReportTranslation | None = None


@dataclass(frozen=True)
class _Reports:
    reports: tuple[ReportTables, ...]


def read_reports(file: str, text: str) -> tuple[ReportTables, ...]:
    """The reports that the file lists. Raises ParseError."""
    return _structured(_Reports, file, text, _loads(file, text)).reports


def read_description(file: str, text: str, columns: frozenset[str]) -> Description:
    """The description in the file. Raises ParseError.

    columns: what the table has."""
    data = _loads(file, text)
    description = _structured(Description, file, text, data)
    for path, column in _columns_named(data):
        if column not in columns:
            known = ", ".join(sorted(columns))
            what = _("{path}: the table has no column {column!r}, but {known}.", path=path, column=column, known=known)
            raise ParseError(what, file=file, line=line_of(path, text))
    return description


def _loads(file: str, text: str) -> dict[str, Any]:
    try:
        return toml_text.loads(text)
    except tomllib.TOMLDecodeError as error:
        match = re.search(r"at line (\d+)", str(error))
        line = int(match[1]) if match else len(text.splitlines())
        raise ParseError(_("The file is not TOML: {error}.", error=error.args[0]), file=file, line=line) from None


def _structured(kind: type[T], file: str, text: str, data: dict[str, Any]) -> T:
    try:
        return from_json(kind, data)
    except ShapeError as error:
        raise ParseError(_("{why}.", why=error.args[0]), file=file, line=line_of(error.path, text)) from None


_ONE = ("column", "denominator", "message_column", "same_column", "by", "then_by")
_SEVERAL = ("group_by", "numerator", "where", "of", "against")  # lists of columns, or column → text


def _columns_named(data: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """(where, column) for every column that a description names."""
    entries = data.items() if isinstance(data, dict) else ()
    for name, value in entries:
        location = f"{path}.{name}".removeprefix(".")
        if name in _ONE and isinstance(value, str):
            yield location, value
        elif name in _SEVERAL:
            yield from ((location, column) for column in value)
        else:
            yield from _columns_named(value, location)
    if isinstance(data, list):
        for index, item in enumerate(data):
            yield from _columns_named(item, f"{path}[{index}]")
