"""A run's matrix as rows of a table: a heading for each factor, a cell for each block. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext

from results.domain.kinds.parameter_names import parameter_level, parameter_name
from results.domain.messages import localized
from results.domain.states import ENDED_RUNS, TrialState
from results.domain.units import format_number, format_quantity, scale_for
from results.queries.runs.runs import Cell, ConfigurationRow, RunDetail
from results.queries.shared.ordering import DEFAULT
from results.queries.shared.words import level_text
from webapp.templatetags.teiten import duration, phase_words, state_words

MOST_CELLS = 1000  # of a page, which sends itself again every few seconds: some 250 kB
MOST_COLUMNS = 20


@dataclass(frozen=True)
class Part:
    """The rows or columns that are shown, the first and the last counted from 1.

    size: how many at most"""

    first: int
    last: int
    total: int
    size: int

    @property
    def is_whole(self) -> bool:
        return self.total == self.last - self.first + 1

    @property
    def before(self) -> int | None:
        """Where the part before it begins; None for the first."""
        return max(1, self.first - self.size) if self.first > 1 else None

    @property
    def after(self) -> int | None:
        """Where the part after it begins; None for the last."""
        return self.last + 1 if self.last < self.total else None

    @property
    def slice(self) -> slice:
        return slice(self.first - 1, self.last)


@dataclass(frozen=True)
class Shown:
    """The part of a matrix that is shown."""

    rows: Part
    columns: Part


@dataclass(frozen=True)
class Head:
    """A level's heading that spans the rows which share it."""

    text: str
    span: int


@dataclass(frozen=True)
class MatrixCell:
    """One trial in the matrix.

    text: the number, or the state in short.
    share: how much of the trial is over, in percent; None = unknown."""

    trial_id: int
    block: int
    state: str
    text: str
    title: str
    share: int | None


@dataclass(frozen=True)
class MatrixRow:
    """One configuration.

    index: in the run."""

    index: int
    heads: tuple[Head, ...]
    opens_group: bool
    cells: tuple[MatrixCell, ...]
    median: str
    spread: str
    n: int


@dataclass(frozen=True)
class RunMatrix:
    """A run's matrix as rows of a table.

    factors: those that have more than one level.
    blocks: the replicates that are shown.
    shown: which part of a large matrix this is.
    constant: 'factor level' of the others.
    unit: of the numbers."""

    factors: tuple[str, ...]
    constant: tuple[str, ...]
    blocks: tuple[int, ...]
    rows: tuple[MatrixRow, ...]
    unit: str
    shown: Shown


def shown_part(detail: RunDetail, row: int | None = None, block: int | None = None) -> Shown:
    """Return the part of the matrix that begins at a row and at a column of it, counted from 1; without, at the first
    row and where the run is just now."""
    blocks = max((one.trials for one in detail.configurations), default=0)
    columns = _part(blocks, MOST_COLUMNS, block or _latest_column(detail))
    rows = _part(len(detail.configurations), MOST_CELLS // max(1, min(blocks, MOST_COLUMNS)), row or 1)
    return Shown(rows, columns)


def run_matrix(detail: RunDetail, shown: Shown, largest: float | None = None) -> RunMatrix:
    """Return a part of the matrix; `detail` must have its cells.

    largest: a value that its unit is to suit, besides those of `detail`."""
    configurations = detail.configurations[shown.rows.slice]
    varied = [str(factor["name"]) for factor in detail.factors if len(factor["levels"]) > 1]
    divisor, unit = scale_for(largest_value(detail, largest) or 1.0, detail.metric.unit)
    headings = _headings([[row.levels.get(name, "") for name in varied] for row in configurations])
    return RunMatrix(
        factors=tuple(parameter_name(name.removeprefix("setting.")) for name in varied) or (gettext("configuration"),),
        constant=_constants(detail),
        blocks=tuple(range(shown.columns.first, shown.columns.last + 1)),
        rows=tuple(
            _row(configuration, heads, len(varied), detail.metric.unit, divisor, shown.columns)
            for configuration, heads in zip(configurations, headings, strict=True)
        ),
        unit=unit,
        shown=shown,
    )


def _part(total: int, size: int, begin: int) -> Part:
    """Return the part that begins there, or the last one where there is nothing."""
    first = begin if begin <= total else max(1, total - size + 1)
    return Part(first, min(total, first + size - 1), total, size)


def _latest_column(detail: RunDetail) -> int:
    """Return where the part of the columns begins in which the newest trial of a run that goes on is; 1 of others."""
    if detail.run.state in ENDED_RUNS or detail.latest_block is None:
        return 1
    return (detail.latest_block - 1) // MOST_COLUMNS * MOST_COLUMNS + 1


def _constants(detail: RunDetail) -> tuple[str, ...]:
    constants = []
    for factor in detail.factors:
        if len(factor["levels"]) == 1:
            constants.append(parameter_level(factor["name"], level_text(factor["levels"][0] or DEFAULT)))
    return tuple(constants)


def largest_value(detail: RunDetail, known: float | None = None) -> float | None:
    """Return the largest value of a run, by which the unit is chosen; None before the first.

    known: one that was seen before."""
    values = [row.maximum for row in detail.configurations if row.maximum is not None]
    return max(values if known is None else [known, *values], default=None)


def _row(
    configuration: ConfigurationRow, heads: tuple[Head, ...], factors: int, unit: str, divisor: float, shown: Part
) -> MatrixRow:
    """Return the row of one configuration.

    factors: how many are varied.
    unit: the metric's own.
    shown: which of its cells."""
    return MatrixRow(
        index=configuration.index,
        heads=heads,
        opens_group=factors > 1 and len(heads) == factors,
        cells=tuple(
            _cell(cell, unit, divisor) for cell in configuration.cells if shown.first <= cell.column <= shown.last
        ),
        median=_number(configuration.median, divisor),
        spread=_spread(configuration),
        n=configuration.n,
    )


def _spread(configuration: ConfigurationRow) -> str:
    if configuration.spread is None or configuration.n < 2:
        return ""
    return f"{configuration.spread * 100:.1f} %"


def _headings(levels: Sequence[Sequence[str]]) -> list[tuple[Head, ...]]:
    """For each row the headings that begin there.

    levels: of each row, those of the factors that are varied."""
    if levels and not levels[0]:
        return [(Head(gettext("the only one"), 1),) for _ in levels]
    headings = []
    for index, row in enumerate(levels):
        start = _first_change(levels, index)
        heads = [
            Head(level_text(row[factor] or DEFAULT), _span(levels, index, factor)) for factor in range(start, len(row))
        ]
        headings.append(tuple(heads))
    return headings


def _first_change(levels: Sequence[Sequence[str]], index: int) -> int:
    """The first factor whose level is not that of the row above; the last one where all are."""
    if index == 0:
        return 0
    row, above = levels[index], levels[index - 1]
    for factor, level in enumerate(row):
        if level != above[factor]:
            return factor
    return len(row) - 1


def _span(levels: Sequence[Sequence[str]], index: int, factor: int) -> int:
    prefix = levels[index][: factor + 1]
    end = index
    while end < len(levels) and levels[end][: factor + 1] == prefix:
        end += 1
    return 1 if factor == len(levels[index]) - 1 else end - index


def _number(value: float | None, divisor: float) -> str:
    return "" if value is None else format_number(value / divisor)


def _cell(cell: Cell, unit: str, divisor: float) -> MatrixCell:
    state, share = str(cell.state), None
    text = what = state_words(state)
    match state:
        case TrialState.DONE:
            text, what = _number(cell.value, divisor) or text, format_quantity(cell.value, unit)
        case TrialState.RUNNING:
            text, share = _progress(cell), _share(cell)
            what = gettext("{phase}, attempt {n}").format(phase=phase_words(cell.phase), n=cell.attempts)
        case TrialState.FAILED:
            what = localized(cell.error)
        case TrialState.WAITING:
            text = gettext("again") if cell.attempts else "·"
    title = gettext("replicate {block}: {what}").format(block=cell.block, what=what)
    return MatrixCell(cell.trial_id, cell.block, state, text, title, share)


def _progress(cell: Cell) -> str:
    """Return the phase of a trial that runs, and how long it has still to go or that nothing moves."""
    phase = phase_words(cell.phase) if cell.phase else gettext("starting")
    if cell.look and cell.look.still_since_s is not None:
        return gettext("{phase}: no progress").format(phase=phase)
    return phase if cell.left_s is None else f"{phase} {duration(round(cell.left_s))}"


def _share(cell: Cell) -> int | None:
    if not cell.expected_s or cell.left_s is None:
        return None
    return min(100, max(0, round(100 * (1 - cell.left_s / cell.expected_s))))
