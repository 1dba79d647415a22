"""A run in the terminal: a progress bar while it lasts, a table at its end."""

from __future__ import annotations

import time
from collections.abc import Sequence

from django.utils import timezone
from django.utils.translation import gettext, pgettext
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from results import warehouse
from results.domain.messages import SEMICOLON, localized
from results.domain.states import ENDED_RUNS
from results.domain.statistics.verdict import Verdict
from results.domain.units import format_number, format_quantity
from results.queries.comparison.compare import Comparison, compare
from results.queries.runs.runs import Cell, ConfigurationRow, RunDetail, run_detail
from results.queries.shared.selection import Selection
from webapp.compare.trust import trust_text
from webapp.compare.words import rule
from webapp.templatetags.teiten import phase_words, state_words

POLL_S = 0.5
INSTALLATION = "installation"


def follow(run_id: int, console: Console) -> RunDetail:
    """Show progress until the run has ended, and return it. Waits for a warehouse that is away."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task(gettext("Run {run}").format(run=run_id), total=None)
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
    text = gettext("{configuration}: {phase}")
    running = [
        text.format(configuration=row.name, phase=phase_words(cell.phase))
        for row, cell in _cells(detail)
        if cell.state == "running"
    ]
    if running:
        return localized(SEMICOLON).join(running)
    return gettext("Run {run}: {state}").format(run=detail.run.id, state=state_words(detail.run.state))


def _report_ended(detail: RunDetail, reported: set[int], console: Console) -> None:
    """Print a line for each ended trial that is not in `reported`, and add it there."""
    for row, cell in sorted(_cells(detail), key=lambda item: item[1].position):
        if cell.state not in ("done", "failed", "cancelled") or cell.trial_id in reported:
            continue
        reported.add(cell.trial_id)
        if cell.state == "done":
            value = format_quantity(cell.value, detail.metric.unit)
        else:
            value = f"{state_words(cell.state)} {localized(cell.error)}"
        text = gettext("trial {trial}  {configuration}, replicate {replicate}: {value}").format(
            trial=cell.trial_id, configuration=row.name, replicate=cell.block, value=value
        )
        console.print(f"  {text}", markup=False, highlight=False)


def table(detail: RunDetail) -> Table:
    """Return a table of the configurations; where installations are a factor, with the ratio and the verdict that the
    comparison gives them."""
    names = [factor["name"] for factor in detail.factors]
    comparison = _comparison(detail, names)
    verdicts = _verdicts(comparison) if comparison else {}
    title = gettext("{run}: {metric} ({unit})").format(
        run=detail.run.name, metric=localized(detail.metric.label), unit=detail.metric.unit
    )
    result = Table(title=title, title_justify="left")
    for name in names:
        result.add_column(name, no_wrap=True)
    for heading in (pgettext("statistic", "median"), pgettext("statistic", "min"), pgettext("statistic", "max"), "n"):
        result.add_column(heading, justify="right")
    if comparison:
        result.add_column(gettext("ratio"), justify="right")
        result.add_column(gettext("verdict"))
    for row in detail.configurations:
        answer = _answer(verdicts.get(row.id)) if comparison else ()
        result.add_row(*map(row.levels.__getitem__, names), *_numbers(row), *answer)
    if comparison:
        ratios = gettext("Ratios of geometric means to {baseline}. {rule}")
        rest = gettext("They rest on: {facts}.").format(facts=trust_text(comparison))
        first = ratios.format(baseline=comparison.selection.baseline, rule=rule(comparison))
        result.caption = f"{first}\n{rest}"
        result.caption_justify = "left"
    return result


def _comparison(detail: RunDetail, names: Sequence[str]) -> Comparison | None:
    """Return the comparison of installations, a cell for each configuration; None where nothing was measured, or
    installations are no factor."""
    if INSTALLATION not in names or not any(row.n for row in detail.configurations):
        return None
    others = [name for name in names if name != INSTALLATION]
    return compare(
        Selection((detail.run.id,), x=",".join(others) or "workload", series=INSTALLATION, metric=detail.metric.name)
    )


def _verdicts(comparison: Comparison) -> dict[int, Verdict]:
    """Return the verdict of each configuration that is compared with another."""
    return {
        replicate.configuration_id: point.verdict
        for point in comparison.points
        if point.verdict
        for replicate in point.values
    }


def _numbers(row: ConfigurationRow) -> list[str]:
    values = (row.median, row.minimum, row.maximum)
    return [*(format_number(value) if value is not None else "–" for value in values), str(row.n)]


def _answer(verdict: Verdict | None) -> tuple[str, str]:
    if verdict is None:
        return "", ""
    return (f"×{verdict.ratio:.3f}" if verdict.ratio is not None else "–"), localized(verdict.words)
