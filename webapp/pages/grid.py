"""A run's matrix as rows of a table: a heading for each factor, a cell for each block. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from results.domain.states import TrialState
from results.domain.units import format_number, format_quantity, scale_for
from results.queries.ordering import DEFAULT
from results.queries.runs import Cell, RunDetail
from webapp.templatetags.teiten import duration


@dataclass(frozen=True)
class Head:
    """A level's heading that spans the rows which share it."""

    text: str
    span: int


@dataclass(frozen=True)
class GridCell:
    """text: the number, or the state in short. share: how much of the trial is over, in percent; None = unknown."""

    trial_id: int
    block: int
    state: str
    text: str
    title: str
    share: int | None


@dataclass(frozen=True)
class GridRow:
    heads: tuple[Head, ...]
    opens_group: bool
    cells: tuple[GridCell, ...]
    median: str
    spread: str
    n: int


@dataclass(frozen=True)
class Grid:
    """factors: those that have more than one level; constant: 'factor level' of the others. unit: of the numbers."""

    factors: tuple[str, ...]
    constant: tuple[str, ...]
    blocks: tuple[int, ...]
    rows: tuple[GridRow, ...]
    unit: str


def grid(detail: RunDetail) -> Grid:
    varied = [str(f["name"]) for f in detail.factors if len(f["levels"]) > 1]
    constant = [f"{f['name']} {f['levels'][0] or DEFAULT}" for f in detail.factors if len(f["levels"]) == 1]
    rows = detail.configurations
    values = [cell.value for row in rows for cell in row.cells if cell.value is not None]
    divisor, unit = scale_for(max(values, default=1.0), detail.metric.unit)
    heads = _heads([[row.levels.get(name, "") for name in varied] for row in rows])
    blocks = sorted({cell.block for row in rows for cell in row.cells})
    lines = tuple(
        GridRow(
            heads=heads[index],
            opens_group=len(varied) > 1 and bool(heads[index]) and len(heads[index]) == len(varied),
            cells=tuple(_cell(cell, detail, divisor) for cell in row.cells),
            median=_number(row.median, divisor),
            spread="" if row.spread is None or row.n < 2 else f"{row.spread * 100:.1f} %",
            n=row.n,
        )
        for index, row in enumerate(rows)
    )
    return Grid(
        tuple(name.removeprefix("setting.") for name in varied) or ("configuration",),
        tuple(constant),
        tuple(blocks),
        lines,
        unit,
    )


def _heads(levels: Sequence[Sequence[str]]) -> list[tuple[Head, ...]]:
    """For each row the headings that begin there."""
    if levels and not levels[0]:
        return [(Head("the only one", 1),) for _ in levels]
    found: list[tuple[Head, ...]] = []
    for index, row in enumerate(levels):
        begins = next((i for i in range(len(row)) if index == 0 or row[i] != levels[index - 1][i]), len(row) - 1)
        found.append(tuple(Head(row[i] or DEFAULT, _span(levels, index, i)) for i in range(begins, len(row))))
    return found


def _span(levels: Sequence[Sequence[str]], index: int, factor: int) -> int:
    prefix = levels[index][: factor + 1]
    end = index
    while end < len(levels) and levels[end][: factor + 1] == prefix:
        end += 1
    return 1 if factor == len(levels[index]) - 1 else end - index


def _number(value: float | None, divisor: float) -> str:
    return "" if value is None else format_number(value / divisor)


def _cell(cell: Cell, detail: RunDetail, divisor: float) -> GridCell:
    state, share, title = str(cell.state), None, f"block {cell.block}: {cell.state}"
    match state:
        case TrialState.DONE:
            text = _number(cell.value, divisor) or "done"
            title = f"block {cell.block}: {format_quantity(cell.value, detail.metric.unit)}"
        case TrialState.RUNNING:
            text = f"{cell.phase or 'starting'}{_left(cell)}"
            title = f"block {cell.block}: {cell.phase}, attempt {cell.attempts}"
            share = _share(cell)
        case TrialState.FAILED:
            text, title = "failed", f"block {cell.block}: {cell.error}"
        case TrialState.WAITING:
            text = "again" if cell.attempts else "·"
        case _:
            text = state
    return GridCell(cell.trial_id, cell.block, state, text, title, share)


def _left(cell: Cell) -> str:
    if cell.look and cell.look.still_since_s is not None:
        return ": no progress"
    return "" if cell.left_s is None else f" {duration(round(cell.left_s))}"


def _share(cell: Cell) -> int | None:
    if not cell.expected_s or cell.left_s is None:
        return None
    return min(100, max(0, round(100 * (1 - cell.left_s / cell.expected_s))))
