"""One published table: its rows, what each figure is in the warehouse's terms, and what the report derived from it.
Pure, but that it reads the CSV files beside it."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path

from results.domain.errors import ParseError
from results.domain.kinds.parameters import Scalar
from results.domain.measurement.metrics import Better, Metric
from results.domain.messages import gettext_lazy as _
from results.queries.shared.words import disagreement, table_name

FOLDER = Path(__file__).parent

# names that no workload or collector of Teiten measures
METRICS = (
    Metric("cpu.busy", "%", Better.NEITHER, _("CPU busy"), _("As published."), 0.05),
    Metric("table.rows", "1", Better.NEITHER, _("Rows of a table"), _("As published. Label: the table.")),
)


@dataclass(frozen=True)
class Report:
    """A published report.

    licence: as its authors state it."""

    title: str
    publisher: str
    year: int
    licence: str


@dataclass(frozen=True)
class PublishedRow:
    """One row of a CSV file.

    file: its name.
    line: in the file, from 1, the heading being the first.
    cells: column → text.
    """

    file: str
    line: int
    cells: Mapping[str, str]

    def __getitem__(self, column: str) -> str:
        return self.cells[column]

    def number(self, column: str) -> float:
        """Read a number. Raises ParseError."""
        try:
            return float(self.cells[column])
        except ValueError:
            raise self.error(_("Column {column} is not a number.", column=column), self.cells[column]) from None

    def integer(self, column: str) -> int:
        """Read a whole number. Raises ParseError."""
        try:
            return int(self.cells[column])
        except ValueError:
            raise self.error(_("Column {column} is not a whole number.", column=column), self.cells[column]) from None

    def error(self, what: str, text: str = "") -> ParseError:
        """An error about this row.

        text: the part of it that is wrong."""
        return ParseError(what, file=self.file, line=self.line, text=text)


@dataclass(frozen=True)
class Figure:
    """One published number.

    value: in the metric's base unit.
    line, column: where it stands in the file."""

    metric: str
    value: float
    line: int
    column: str
    node: str = ""
    label: str = ""


@dataclass(frozen=True)
class Answer:
    """What the report says of one capability of an access method; fields as of
    `results.queries.agents.capabilities`, of whose outcomes it is one."""

    capability: str
    title: str
    group: str
    outcome: str
    message: str
    line: int
    column: str


@dataclass(frozen=True)
class PublishedTrial:
    """Figures of one configuration.

    levels: what tells it apart within the table.
    more: dimensions that follow."""

    levels: Mapping[str, Scalar]
    figures: tuple[Figure, ...] = ()
    answers: tuple[Answer, ...] = ()
    more: Mapping[str, Scalar] = field(default_factory=dict)


@dataclass(frozen=True)
class Derived:
    """A figure that the report computed from others.

    published: as printed.
    slack: what rounding of the figures that it rests on may change.
    line: 0 where it stands in the report's text."""

    line: int
    column: str
    words: str
    published: str
    recomputed: float
    slack: float = 0.0

    @property
    def digits(self) -> int:
        """Behind the point, as printed."""
        return len(self.published.partition(".")[2])

    @property
    def agrees(self) -> bool:
        allowed = 0.5 * 10**-self.digits + self.slack
        return abs(float(self.published) - self.recomputed) <= allowed * (1 + 1e-9)


@dataclass(frozen=True)
class Remark:
    """Where the report is in doubt.

    lines: the rows of the file that it is about; none for the whole table."""

    text: str
    lines: tuple[int, ...] = ()


@dataclass(frozen=True)
class Table:
    """A table of a report.

    dimensions: the same for all trials.
    notes: remarks written by hand; `remarks` has also what does not agree."""

    slug: str
    report: Report
    place: str
    caption: str
    workload: str
    headline: str
    dimensions: Mapping[str, Scalar]
    trials: tuple[PublishedTrial, ...]
    derived: tuple[Derived, ...] = ()
    notes: tuple[Remark, ...] = ()

    @property
    def file(self) -> str:
        return f"{self.slug}.csv"

    @property
    def name(self) -> str:
        return table_name(self.place, self.caption)

    @property
    def remarks(self) -> tuple[Remark, ...]:
        wrong = (
            Remark(disagreement(d.words, d.column, d.published, d.recomputed), (d.line,) if d.line else ())
            for d in self.derived
            if not d.agrees
        )
        return (*wrong, *self.notes)

    @cached_property
    def sha256(self) -> str:
        return hashlib.sha256(content(self.file)).hexdigest()

    @cached_property
    def fingerprint(self) -> str:
        """Changes with the file and with how it is read. SHA-256, hex."""
        return hashlib.sha256(f"{self.sha256} {asdict(self)!r}".encode()).hexdigest()


def content(file: str) -> bytes:
    """The CSV file as it is."""
    return (FOLDER / file).read_bytes()


def rows(slug: str) -> tuple[PublishedRow, ...]:
    """The rows of the table's file, without its heading. Raises ParseError."""
    return read_rows(f"{slug}.csv", content(f"{slug}.csv"))


def read_rows(file: str, data: bytes) -> tuple[PublishedRow, ...]:
    """The rows of a CSV file, without its heading. Raises ParseError for a row with too few or too many cells."""
    try:
        reader = csv.reader(io.StringIO(data.decode()), strict=True)
        heading = next(reader, [])
        return tuple(_row(file, reader.line_num, heading, cells) for cells in reader)
    except UnicodeDecodeError as error:
        raise ParseError(_("The file is not UTF-8."), file=file, line=data[: error.start].count(b"\n") + 1) from None
    except csv.Error as error:
        raise ParseError(
            _("The file is not CSV: {error}.", error=str(error)), file=file, line=reader.line_num
        ) from None


def _row(file: str, line: int, heading: Sequence[str], cells: Sequence[str]) -> PublishedRow:
    if len(cells) != len(heading):
        what = _("The row has {count} cells, the heading {wanted}.", count=len(cells), wanted=len(heading))
        raise ParseError(what, file=file, line=line, text=",".join(cells))
    return PublishedRow(file, line, dict(zip(heading, cells, strict=True)))
