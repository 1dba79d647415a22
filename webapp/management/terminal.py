"""A run in the terminal: a progress bar while it lasts, a table at its end."""

from __future__ import annotations

import time

from django.utils import timezone
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from results import warehouse
from results.domain.states import ENDED_RUNS
from results.domain.units import format_number, format_quantity
from results.queries.runs.runs import Cell, ConfigurationRow, RunDetail, run_detail

POLL_S = 0.5


def follow(run_id: int, console: Console) -> RunDetail:
    """Show progress until the run has ended, and return it. Waits for a warehouse that is away."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task(f"Run {run_id}", total=None)
        reported: set[int] = set()
        while True:
            detail = warehouse.retry(run_detail, run_id, timezone.now())
            _report_ended(detail, reported, progress.console)
            ended = detail.run.trials_done + detail.run.trials_failed + detail.run.trials_cancelled
            progress.update(task, total=detail.run.trials_total, completed=ended, description=_description(detail))
            if detail.run.state in ENDED_RUNS:
                return detail
            time.sleep(POLL_S)


def _cells(detail: RunDetail) -> list[tuple[ConfigurationRow, Cell]]:
    return [(row, cell) for row in detail.configurations for cell in row.cells]


def _description(detail: RunDetail) -> str:
    running = [f"{row.name}: {cell.phase}" for row, cell in _cells(detail) if cell.state == "running"]
    return "; ".join(running) or f"Run {detail.run.id}: {detail.run.state}"


def _report_ended(detail: RunDetail, reported: set[int], console: Console) -> None:
    """Print a line for each ended trial that is not in `reported`, and add it there."""
    for row, cell in sorted(_cells(detail), key=lambda item: item[1].position):
        if cell.state not in ("done", "failed", "cancelled") or cell.trial_id in reported:
            continue
        reported.add(cell.trial_id)
        value = (
            format_quantity(cell.value, detail.metric.unit) if cell.state == "done" else f"{cell.state} {cell.error}"
        )
        console.print(
            f"  trial {cell.trial_id}  {row.name}, replicate {cell.block}: {value}", markup=False, highlight=False
        )


def table(detail: RunDetail) -> Table:
    """Return a table of the configurations, with ratios to the first installation where that is a factor."""
    names = [factor["name"] for factor in detail.factors]
    has_ratio = "installation" in names
    result = Table(title=f"{detail.run.name}: {detail.metric.label} ({detail.metric.unit})", title_justify="left")
    for name in names:
        result.add_column(name, no_wrap=True)
    for heading in ("median", "min", "max", "n", *(["ratio"] if has_ratio else [])):
        result.add_column(heading, justify="right")
    for row in detail.configurations:
        values = (row.median, row.minimum, row.maximum)
        texts = [format_number(value) if value is not None else "–" for value in values]
        ratio = [_ratio(detail, row)] if has_ratio else []
        result.add_row(*(row.levels[name] for name in names), *texts, str(row.n), *ratio)
    return result


def _ratio(detail: RunDetail, row: ConfigurationRow) -> str:
    """Return the ratio to the same configuration on the factor's first installation."""
    first = next(factor["levels"][0] for factor in detail.factors if factor["name"] == "installation")
    base_levels = dict(row.levels) | {"installation": first}
    base = next((other for other in detail.configurations if other.levels == base_levels), None)
    if base is None or base.median is None or row.median is None or not base.median:
        return "–"
    return f"{row.median / base.median:.3f}"
