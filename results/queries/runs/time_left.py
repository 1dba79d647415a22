"""How long a run will still take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from statistics import median

from results import sql


@dataclass(frozen=True)
class _Trials:
    """Those of a configuration that use the same agents.

    waiting: how many.
    running: when each of those began; None where it has no attempt yet.
    took: seconds of each that is done."""

    configuration: int
    agents: tuple[int, ...]
    waiting: int
    running: tuple[datetime | None, ...]
    took: tuple[float, ...]


def time_left(run_id: int, planned_s: Mapping[int, float | None], now: datetime) -> float | None:
    """Return the seconds until the busiest agent has done its trials; None when there is none left, or nobody can know.
    One query. A trial is taken to last what its configuration's done trials lasted, else what was planned and the run's
    median overhead.

    planned_s: configuration's index → seconds; None where the trials last until their work is done."""
    trials = sql.rows(_Trials, sql.load(__file__), {"run_id": run_id})
    expected_s = _expected(trials, planned_s)
    busy: dict[int, float] = {}
    for some in trials:
        if not some.waiting and not some.running:
            continue
        each = expected_s.get(some.configuration)
        if each is None:
            return None
        rest = some.waiting * each + sum(_rest(each, began, now) for began in some.running)
        for agent in some.agents:
            busy[agent] = busy.get(agent, 0.0) + rest
    return max(busy.values(), default=None)


def _rest(expected_s: float, began: datetime | None, now: datetime) -> float:
    return expected_s if began is None else max(0.0, expected_s - (now - began).total_seconds())


def _expected(trials: Sequence[_Trials], planned_s: Mapping[int, float | None]) -> dict[int, float]:
    """Configuration → seconds that a trial of it takes, for those of which that can be known."""
    took: dict[int, list[float]] = {}
    for some in trials:
        if some.took:
            took.setdefault(some.configuration, []).extend(some.took)
    planned = {configuration: seconds for configuration, seconds in planned_s.items() if seconds is not None}
    known = took.keys() & planned.keys()
    overheads = list(chain.from_iterable([one - planned[index] for one in took[index]] for index in known))
    overhead = max(0.0, median(overheads)) if overheads else 0.0
    by_plan = {configuration: seconds + overhead for configuration, seconds in planned.items()}
    return by_plan | {configuration: median(several) for configuration, several in took.items()}
