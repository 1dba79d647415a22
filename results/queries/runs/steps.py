"""What a trial's time is made of: the steps of a load, the queries of a pass."""

from __future__ import annotations

from dataclasses import dataclass

from results import sql
from results.domain.measurement.metrics import TOTAL
from results.domain.messages import gettext_lazy as _
from results.queries.shared.labels import parts_of_whole
from results.queries.shared.words import as_messages


@dataclass(frozen=True)
class Step:
    """One part of a time.

    value: in the unit of its `Steps`."""

    label: str
    value: float


@dataclass(frozen=True)
class Steps:
    """One metric of one node in parts that add up, in the order in which the trial reported them.

    metric: its label, for headings.
    noun: what a part is ('query', 'step').
    total: as it was measured, None where it was not."""

    metric: str
    unit: str
    noun: str
    node: str
    parts: tuple[Step, ...]
    total: float | None

    def __post_init__(self) -> None:
        as_messages(self, "metric", "noun")


@dataclass(frozen=True)
class _Row:
    metric: str
    label_of_metric: str
    unit: str
    noun: str
    node: str
    label: str
    value: float


def steps_of(attempt_id: int) -> list[Steps]:
    """Return the times of one attempt that have two parts or more. One query."""
    rows = sql.rows(_Row, sql.load(__file__), {"attempt_id": attempt_id, "total": TOTAL})
    by_metric: dict[tuple[str, str], list[_Row]] = {}
    for row in rows:
        by_metric.setdefault((row.metric, row.node), []).append(row)
    return [steps for steps in map(_steps, by_metric.values()) if len(steps.parts) > 1]


def _steps(rows: list[_Row]) -> Steps:
    """Return the steps of one metric and node."""
    first = rows[0]
    wanted = parts_of_whole([row.label for row in rows if row.label])
    parts = tuple(Step(row.label, row.value) for row in rows if row.label in wanted)
    total = next((row.value for row in rows if not row.label), None)
    return Steps(first.label_of_metric, first.unit, first.noun or _("part"), first.node, parts, total)
