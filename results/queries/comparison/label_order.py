"""The order in which a workload reports its queries, steps or operations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from results import sql
from results.domain.measurement.metrics import TOTAL
from results.queries.comparison.units import Unit
from results.queries.shared.metrics import MetricRow
from results.queries.shared.selection import LABEL, Selection


@dataclass(frozen=True)
class _LabelRow:
    label: str


def label_order(chosen: Selection, metric: MetricRow, units: Sequence[Unit]) -> tuple[str, ...]:
    """Return the labels in the order in which trials report them, a total last. One query, none where the label is no
    axis by itself."""
    if LABEL not in (chosen.x, chosen.series, chosen.panel) or not units:
        return ()
    of_runs = {replicate.run_id: replicate.attempt_id for unit in units for replicate in unit.replicates[:1]}
    rows = sql.rows(_LabelRow, sql.load(__file__), {"attempts": list(of_runs.values()), "metric": metric.name})
    labels = [row.label or metric.whole for row in rows if row.label or metric.whole]
    return tuple(sorted(labels, key=lambda label: label == TOTAL))
