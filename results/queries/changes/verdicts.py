"""Every metric of every configuration against the one that it is compared with."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from results.domain.statistics.metric_changes import Trials
from results.domain.statistics.verdict import Verdict
from results.queries.changes.changes import base_of, by_configuration
from results.queries.comparison.cells import Comparison, Point
from results.queries.comparison.compare import compare
from results.queries.shared.selection import Selection
from results.queries.why.families import JudgedCells

Measured = tuple[int, str, str, str]  # id of a configuration, metric, node, label


@dataclass(frozen=True)
class Judged:
    """What the values of one configuration are against those of another.

    base_id: of that configuration."""

    base_id: int
    verdict: Verdict


def verdicts(selection: Selection, metrics: Collection[str] = ()) -> tuple[Comparison, Mapping[Measured, Judged]]:
    """Return the comparison with a cell for each configuration, and what is judged of each metric in each: what the
    metric's own comparison says. Sixteen queries at most. Raises TeitenError as `compare` does.

    metrics: only these; all where there are none."""
    comparison = compare(by_configuration(selection))
    cells = {str(index): point for index, point in enumerate(comparison.points)}
    bases = base_of(cells)
    if not bases:
        return comparison, {}
    judged = JudgedCells(comparison, cells, bases)
    quantities = Trials((), (), judged.every_trial, judged.metrics).stored
    answers: dict[Measured, Judged] = {}
    for metric, quantity in quantities.items():
        if metrics and metric not in metrics:
            continue
        for (node, label, name), answer in judged.judged(quantity).items():
            own, base = configuration_of(cells[name]), configuration_of(cells[bases[name]])
            if own is not None and base is not None:
                answers[own, metric, node, label] = Judged(base, answer.verdict)
    return comparison, answers


def configuration_of(point: Point) -> int | None:
    """Return the id of the one configuration in a cell; None of a mixture, whose verdict is not that of any of them."""
    ids = {replicate.configuration_id for replicate in point.values}
    return ids.pop() if len(ids) == 1 else None
