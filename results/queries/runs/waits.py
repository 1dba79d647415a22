"""Why the waiting trials of runs do not go on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from results import sql
from results.domain.messages import gettext_lazy as _
from results.domain.messages import pgettext_lazy
from results.models.agents import AgentState


@dataclass(frozen=True)
class Wait:
    """An agent for which trials of the run wait.

    why: in words.
    stuck: a person must do something about it; else a trial uses the agent: busy_trial_id of busy_run_id, None of a
        private run."""

    run_id: int
    agent: str
    why: str
    stuck: bool
    busy_trial_id: int | None
    busy_run_id: int | None


def waits(run_ids: Sequence[int]) -> list[Wait]:
    """By run and agent; nothing of agents that are free and ready. One query, none without runs."""
    if not run_ids:
        return []
    return [row.wait() for row in sql.rows(_WaitRow, sql.load(__file__), {"runs": list(run_ids)})]


@dataclass(frozen=True)
class _WaitRow:
    run_id: int
    agent: str
    enabled: bool
    state: str
    busy_trial_id: int | None
    busy_run_id: int | None

    def wait(self) -> Wait:
        stuck = not self.enabled or self.state != AgentState.READY
        return Wait(self.run_id, self.agent, self._why(), stuck, self.busy_trial_id, self.busy_run_id)

    def _why(self) -> str:
        if self.state != AgentState.READY:
            return AgentState(self.state).label
        if not self.enabled:
            return pgettext_lazy("an agent", "disabled")
        if self.busy_run_id:
            return _("busy with run {run}", run=self.busy_run_id)
        return _("busy with a private run")
