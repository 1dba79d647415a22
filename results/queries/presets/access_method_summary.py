"""What each access method costs and saves against the heap of its build, a question a column. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from results.domain.messages import gettext_lazy as _
from results.domain.statistics.verdict import Kind
from results.queries.comparison.compare import Point
from results.queries.presets.access_methods import HEAP, AccessMethods, AccessMethodTable
from results.queries.shared.metrics import MetricRow

# what is asked of an access method → the metric that answers
QUESTIONS = {
    _("size"): "size.table",
    _("growth"): "tpcb.growth",
    _("loading"): "bulk_insert.seconds",
    _("sequential scan"): "scan.seconds",
    _("index scan"): "index_scan.latency",
    "UPDATE": "update.latency",
    _("maintenance"): "maintenance.seconds",
    _("TPC-B-like"): "tpcb.tps",
}


@dataclass(frozen=True)
class SummaryCell:
    """What one access method of a build answers to a question.

    points: one where a single number answers it, else one a table, column or command that was measured."""

    metric: MetricRow
    points: tuple[Point, ...]

    @property
    def only(self) -> Point | None:
        return self.points[0] if len(self.points) == 1 else None

    @property
    def compared(self) -> list[Point]:
        """Those that have a ratio to the heap."""
        return [point for point in self.points if point.verdict is not None and point.ratio is not None]

    @property
    def comparable(self) -> list[Point]:
        """Of these the ones that nothing else tells apart."""
        return [p for p in self.compared if p.verdict is not None and p.verdict.kind is not Kind.NOT_COMPARABLE]

    @property
    def reach(self) -> tuple[float, float] | None:
        """The smallest and the largest ratio of what is comparable."""
        ratios = [point.ratio for point in self.comparable if point.ratio is not None]
        return (min(ratios), max(ratios)) if ratios else None

    @property
    def kinds(self) -> Mapping[Kind, int]:
        """Verdict → how many of the points have it, the most frequent first."""
        return dict(Counter(point.verdict.kind for point in self.compared if point.verdict).most_common())


@dataclass(frozen=True)
class SummaryRow:
    """An access method of a build.

    cells: one a question, None where it was not measured.
    run_ids: of the runs compared."""

    access_method: str
    installation: str
    run_ids: tuple[int, ...]
    cells: tuple[SummaryCell | None, ...]

    @property
    def is_heap(self) -> bool:
        return self.access_method == HEAP


@dataclass(frozen=True)
class Summary:
    """questions: those that any run answers, each with its table of the first runs."""

    questions: tuple[tuple[str, AccessMethodTable], ...]
    rows: tuple[SummaryRow, ...]


def summary(methods: AccessMethods) -> Summary:
    """Return a row for each access method of a build, heap first, and a column for each question that has an answer."""
    tables: dict[tuple[int, ...], dict[str, AccessMethodTable]] = {}
    for table in methods.tables:
        tables.setdefault(table.run_ids, {})[table.metric.name] = table
    answered = [one for one in QUESTIONS if any(QUESTIONS[one] in of_runs for of_runs in tables.values())]
    first = [
        next(of_runs[QUESTIONS[one]] for of_runs in tables.values() if QUESTIONS[one] in of_runs) for one in answered
    ]
    rows = [row for run_ids, of_runs in tables.items() for row in _rows(run_ids, of_runs, answered)]
    return Summary(tuple(zip(answered, first, strict=True)), tuple(rows))


def _rows(
    run_ids: tuple[int, ...], tables: Mapping[str, AccessMethodTable], questions: Sequence[str]
) -> Iterator[SummaryRow]:
    columns = dict.fromkeys(column for table in tables.values() for column in table.columns)
    for method, build in sorted(columns, key=lambda column: (column[1], column[0] != HEAP, column[0])):
        cells = tuple(_cell(tables.get(QUESTIONS[question]), (method, build)) for question in questions)
        if any(cells):
            yield SummaryRow(method, build, run_ids, cells)


def _cell(table: AccessMethodTable | None, column: tuple[str, str]) -> SummaryCell | None:
    if table is None or column not in table.columns:
        return None
    index = table.columns.index(column)
    points = [table.lines[line][1][index] for line in table.wholes]
    known = tuple(point for point in points if point is not None)
    return SummaryCell(table.metric, known) if known else None
