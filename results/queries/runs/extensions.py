"""What more blocks of some runs would take: trials and time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median
from typing import Any

from results import models, sql
from results.domain.messages import gettext_lazy as _
from results.domain.messages import ngettext_lazy
from results.queries.runs.estimates import PastTimings, past_seconds
from results.queries.shared.ids import known_ids, require_found


@dataclass(frozen=True)
class Extension:
    """More blocks of one run.

    blocks: that it has.
    trials: of one block.
    waiting: trials of the run that have not ended.
    agents: seconds that one block keeps each busy (primary keys); None where nobody can know before.
    rests_on: what they are known from, or why they are not."""

    run_id: int
    name: str
    blocks: int
    trials: int
    waiting: int
    agents: Mapping[int, float] | None
    rests_on: str

    @property
    def seconds(self) -> float | None:
        """That one block takes: of the busiest agent."""
        return longest([self])


def longest(extensions: Iterable[Extension]) -> float | None:
    """Seconds until the busiest agent has done one block of each; None where nobody can know."""
    busy: dict[int, float] = {}
    for extension in extensions:
        if extension.agents is None:
            return None
        for agent, seconds in extension.agents.items():
            busy[agent] = busy.get(agent, 0.0) + seconds
    return max(busy.values(), default=None)


def extensions(run_ids: Sequence[int]) -> list[Extension]:
    """In the order of the runs' numbers. Raises NotFound. Two queries, and one for each workload of which a run has
    done nothing yet."""
    wanted = known_ids(run_ids, "run")
    runs = models.Run.objects.in_bulk(wanted)
    require_found(wanted, runs, "run")
    rows = sql.rows(_TimingRow, sql.load(__file__), {"runs": wanted})
    past = _Past()
    extended = []
    for run_id, several in groupby(rows, lambda row: row.run_id):
        run, configurations = runs[run_id], list(several)
        agents, rests_on = _busy(configurations, run.workload, past)
        extended.append(
            Extension(
                run_id=run_id,
                name=run.name,
                blocks=run.blocks,
                trials=len(configurations),
                waiting=sum(row.waiting for row in configurations),
                agents=agents,
                rests_on=rests_on,
            )
        )
    return extended


@dataclass(frozen=True)
class _TimingRow:
    """A configuration.

    seconds: median of its trials that are done."""

    run_id: int
    dimensions: Mapping[str, Any]
    agents: tuple[int, ...]
    waiting: int
    seconds: float | None

    @property
    def planned_s(self) -> float | None:
        """None where the trials last until their work is done."""
        duration_s = self.dimensions.get("duration_s")
        return None if duration_s is None else float(self.dimensions.get("warmup_s", 0)) + float(duration_s)

    @property
    def overhead_s(self) -> float | None:
        """What its trials took beside what was planned; None where either is not known."""
        return None if self.seconds is None or self.planned_s is None else self.seconds - self.planned_s

    def expected_s(self, overhead_s: float) -> float | None:
        """That a trial will last; None where nobody can know."""
        if self.seconds is not None:
            return self.seconds
        return None if self.planned_s is None else self.planned_s + overhead_s


class _Past:
    """Timings of each workload, asked for once."""

    def __init__(self) -> None:
        self._known: dict[str, PastTimings] = {}

    def of(self, workload: str) -> PastTimings:
        if workload not in self._known:
            self._known[workload] = past_seconds(workload)
        return self._known[workload]


def _busy(rows: Sequence[_TimingRow], workload: str, past: _Past) -> tuple[dict[int, float] | None, str]:
    """A trial is taken to last what its configuration's trials lasted, else what is planned and the overhead of the
    run's own trials, else of the workload's."""
    overhead, rests_on = _overhead(rows, workload, past)
    busy: dict[int, float] = {}
    for row in rows:
        seconds = row.expected_s(overhead)
        if seconds is None:
            return None, _("its trials last until their work is done, and not all of that has been done yet")
        for agent in row.agents:
            busy[agent] = busy.get(agent, 0.0) + seconds
    return busy, rests_on


def _overhead(rows: Sequence[_TimingRow], workload: str, past: _Past) -> tuple[float, str]:
    """(seconds that a trial takes beside what is planned, what that rests on)."""
    if any(row.seconds is not None for row in rows):
        overheads = [row.overhead_s for row in rows if row.overhead_s is not None]
        return max(0.0, median(overheads)) if overheads else 0.0, _("what the run's own trials took")
    timings = past.of(workload)
    if timings.trials:
        return timings.seconds, ngettext_lazy(
            "the plan's durations and the median overhead of {number:,} past trial",
            "the plan's durations and the median overhead of {number:,} past trials",
            timings.trials,
        )
    return 0.0, _("the plan's durations alone: no trial has run yet")
