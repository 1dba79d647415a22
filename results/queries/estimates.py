"""How long trials took before: what a plan's estimate rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from results import sql


@dataclass(frozen=True)
class PastTimings:
    """trials: how many the numbers rest on, the latest 500 at most. seconds: median that an attempt took beyond
    warm-up and duration; phases: the same of each phase."""

    trials: int
    seconds: float
    phases: Mapping[str, float]


def past_seconds(workload: str) -> PastTimings:
    """Zero trials and seconds where none has been done. One query."""
    return sql.rows(PastTimings, sql.load(__file__), {"workload": workload})[0]
