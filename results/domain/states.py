"""States of runs, trials and attempts, with the one table of allowed transitions, and what a run counts for. Pure."""

from __future__ import annotations

from enum import StrEnum

from results.domain.messages import gettext_lazy as _


class RunState(StrEnum):
    SCHEDULED = "scheduled"  # waits for its time
    RUNNING = "running"  # has trials that wait or run
    FINISHED = "finished"  # every trial has ended, and some are done
    FAILED = "failed"  # every trial has ended, none is done, and some failed
    CANCELLED = "cancelled"  # every trial has ended; the run was cancelled and some of its trials still are, or all are


class Standing(StrEnum):
    """What a run counts for. Views of what is known are made of kept runs; verdicts hang on no choice between
    exploratory and kept (docs/method.md)."""

    EXPLORATORY = "exploratory"  # tried out: on its own pages, and in comparisons that name it
    KEPT = "kept"  # stands for what is known: versions, access methods, topologies, trends, alerts
    EXCLUDED = "excluded"  # not to be relied on: in no view, and lends other runs nothing

    @property
    def action(self) -> str:
        """What a user does who gives a run this standing."""
        return _ACTIONS[self]


_ACTIONS = {
    Standing.EXPLORATORY: _("Make exploratory"),
    Standing.KEPT: _("Keep"),
    Standing.EXCLUDED: _("Exclude"),
}
ENDED_RUNS = (RunState.FINISHED, RunState.FAILED, RunState.CANCELLED)


class TrialState(StrEnum):
    WAITING = "waiting"
    RUNNING = "running"  # an attempt holds the leases
    DONE = "done"  # an attempt's numbers are stored and counted
    FAILED = "failed"  # the last attempt failed; kept, shown, out of every aggregate
    CANCELLED = "cancelled"


class AttemptState(StrEnum):
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    LOST = "lost"  # its lease expired: the worker or the agent vanished
    CANCELLED = "cancelled"


RUN_TRANSITIONS: dict[RunState, frozenset[RunState]] = {
    RunState.SCHEDULED: frozenset({RunState.RUNNING, RunState.CANCELLED}),
    RunState.RUNNING: frozenset(ENDED_RUNS),
    RunState.FINISHED: frozenset({RunState.RUNNING, RunState.FAILED}),  # a retry, or blocks added; a bundle read again
    RunState.FAILED: frozenset({RunState.RUNNING, RunState.FINISHED}),
    RunState.CANCELLED: frozenset({RunState.RUNNING}),
}

TRIAL_TRANSITIONS: dict[TrialState, frozenset[TrialState]] = {
    TrialState.WAITING: frozenset({TrialState.RUNNING, TrialState.CANCELLED}),
    TrialState.RUNNING: frozenset(
        {TrialState.DONE, TrialState.FAILED, TrialState.CANCELLED, TrialState.WAITING}
    ),  # WAITING: the attempt was lost and the trial is queued again
    TrialState.DONE: frozenset({TrialState.FAILED}),  # only where its bundle, read again, says that it failed
    TrialState.FAILED: frozenset({TrialState.WAITING, TrialState.DONE}),  # DONE: likewise
    TrialState.CANCELLED: frozenset({TrialState.WAITING}),
}


def sources(table: dict[TrialState, frozenset[TrialState]], target: TrialState) -> list[TrialState]:
    """Every state from which `target` may be entered: the WHERE of the one UPDATE that makes the transition."""
    return [state for state, targets in table.items() if target in targets]
