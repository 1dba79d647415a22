"""How long trials took before: what a plan's estimate rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from results import sql


@dataclass(frozen=True)
class PastTimings:
    """How long past trials of a workload took.

    trials: how many the numbers rest on, the latest 500 at most.
    seconds: median that an attempt took beyond warm-up and duration.
    phases: the same of each phase."""

    trials: int
    seconds: float
    phases: Mapping[str, float]


def past_seconds(workload: str) -> PastTimings:
    """Zero trials and seconds where none has been done. One query."""
    return sql.rows(PastTimings, sql.load(__file__), {"workload": workload})[0]


@dataclass(frozen=True)
class PastWindow:
    """How long the measured windows of past trials of the same work were.

    seconds: median length of the measured window of the latest trials that had these parameters.
    part_s: how long the part of their work ran that runs for the plan's duration; None without such a part."""

    parameters: Mapping[str, Any]
    part_s: float | None
    trials: int
    seconds: float


def past_windows(workload: str, timed_part: str = "") -> list[PastWindow]:
    """How long the work took in the workload's latest 500 trials that count, by what the work was. One query.

    timed_part: of the workload's spec."""
    names = {"workload": workload, "part": f"{timed_part}.duration_s"}
    return sql.rows(PastWindow, sql.load(__file__, "windows"), names)


def past_window(past: Sequence[PastWindow], parameters: Mapping[str, Any], part_s: float | None = None) -> float | None:
    """The window of trials that did exactly this work; None where there is none."""
    wanted = (dict(parameters), part_s)
    return next((window.seconds for window in past if (window.parameters, window.part_s) == wanted), None)
