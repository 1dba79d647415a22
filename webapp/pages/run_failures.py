"""The failed trials of a run, together by what they failed of. Pure."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from results.domain.failure_cause import same_cause
from results.domain.states import TrialState
from results.queries.runs.runs import Cell, ConfigurationRow
from webapp.templatetags.teiten import configuration

MOST_FAILED = 2000  # whose causes are looked at
MOST_CAUSES = 6
MOST_TRIALS = 5  # of one cause


@dataclass(frozen=True)
class Failures:
    """Trials that failed of the same.

    cause: of the first of them; the others' may differ from it in numbers.
    trials: (configuration in words, cell) of the first few.
    count: of all."""

    cause: str
    trials: tuple[tuple[str, Cell], ...]
    count: int

    @property
    def more(self) -> int:
        return self.count - len(self.trials)


def failures(rows: Sequence[ConfigurationRow]) -> list[Failures]:
    """Return the causes of the first MOST_FAILED failures, the commonest first."""
    every = [(row, cell) for row in rows for cell in row.cells if cell.state == TrialState.FAILED]
    first = heapq.nsmallest(MOST_FAILED, every, key=lambda one: one[1].position)
    failed: dict[str, list[tuple[ConfigurationRow, Cell]]] = {}
    for row, cell in sorted(first, key=lambda one: (one[0].index, one[1].column)):
        failed.setdefault(same_cause(cell.error), []).append((row, cell))
    groups = [_together(trials) for trials in failed.values()]
    return sorted(groups, key=lambda group: -group.count)


def _together(trials: Sequence[tuple[ConfigurationRow, Cell]]) -> Failures:
    some = tuple((configuration(row.levels), cell) for row, cell in trials[:MOST_TRIALS])
    return Failures(some[0][1].error, some, len(trials))
