"""The failed trials of a run, together by what they failed of. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from results.domain.failure_cause import same_cause
from results.domain.states import TrialState
from results.queries.runs.runs import Cell, ConfigurationRow
from webapp.templatetags.teiten import configuration

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
    """Return the causes of failure, the commonest first."""
    failed: dict[str, list[tuple[str, Cell]]] = {}
    for row in rows:
        for cell in row.cells:
            if cell.state == TrialState.FAILED:
                failed.setdefault(same_cause(cell.error), []).append((configuration(row.levels), cell))
    groups = [Failures(trials[0][1].error, tuple(trials[:MOST_TRIALS]), len(trials)) for trials in failed.values()]
    return sorted(groups, key=lambda group: -group.count)
