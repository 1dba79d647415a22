"""What is lost when runs are archived or deleted, and what keeps them from it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from results import sql
from results.domain.messages import Message, pgettext_lazy
from results.domain.messages import gettext_lazy as _
from results.domain.states import ENDED_RUNS, RunState
from results.queries.shared.ids import known_ids, require_found

_GOES_ON: dict[str, Message] = {
    RunState.SCHEDULED: _("It is scheduled: cancel it first, or wait for its end."),
    RunState.RUNNING: _("It is running: cancel it first, or wait for its end."),
}


@dataclass(frozen=True)
class RunLoss:
    """One run: what is deleted with it, and what rests on it.

    created_by_id: of its author, who is the plan's where a schedule started it; None where the user is gone.
    published: whether it holds published figures; imported: those, or results of another program.
    trials: of any state.
    measurements: values of metrics, of failed attempts too; series: quantities over time.
    noise: spreads that it measured as an A/A run; alerts: judgements of it.
    ids: of its attempts.
    bundles: paths of the archives of raw files, relative to the bundle folder; bundle_bytes: of all together.
    stopping: attempts that hold an agent, or did not report their end yet.
    citations: hashes of those with a number of it, or whose verdicts borrow its spread, the newest first.
    references: names of those made of such a citation.
    reports: published ones with a number of it, the newest first."""

    id: int
    name: str
    workload: str
    state: str
    standing: str
    archived: bool
    created_by_id: int | None
    published: bool
    imported: bool
    trials: int
    trials_done: int
    measurements: int
    series: int
    noise: int
    alerts: int
    ids: tuple[int, ...]
    bundles: tuple[str, ...]
    bundle_bytes: int
    stopping: int
    citations: tuple[str, ...]
    references: tuple[str, ...]
    reports: tuple[str, ...] = ()

    @property
    def keeps_on_lists(self) -> str:
        """Why it cannot be archived; '' where it can."""
        if self.published:
            return _("It holds published figures, which always stay on the lists.")
        return _GOES_ON.get(self.state, "")

    @property
    def keeps_it(self) -> str:
        """Why it cannot be deleted; '' where it can."""
        if self.published:
            return _("It holds published figures, which are never deleted.")
        if self.state not in ENDED_RUNS:
            return self.keeps_on_lists
        if self.stopping:
            return _("It was cancelled, and a trial of it is being stopped: try again in a minute.")
        rests = self._rests()
        if not rests:
            return ""
        uses = rests[0]
        for use in rests[1:]:
            uses = pgettext_lazy("between two uses of a run", "{uses} and {use}", uses=uses, use=use)
        return _("{uses}: who reads that must find the trials behind its numbers and verdicts.", uses=uses)

    def _rests(self) -> list[Message]:
        """Return what rests on it; the first begins a sentence."""
        rests = []
        if self.citations:
            rests.append(_("Cited in {citations}", citations=", ".join(self.citations)))
        if self.references:
            names = ", ".join(f"@{name}" for name in self.references)
            lower, upper = _("compared with as {names}", names=names), _("Compared with as {names}", names=names)
            rests.append(lower if rests else upper)
        if self.reports:
            names = "; ".join(self.reports)
            lower, upper = _("published in {names}", names=names), _("Published in {names}", names=names)
            rests.append(lower if rests else upper)
        return rests


def run_losses(run_ids: Iterable[int]) -> tuple[RunLoss, ...]:
    """Return what would be lost of each run, the newest first. One query. Raises NotFound."""
    wanted = known_ids(run_ids, "run")
    losses = tuple(sql.rows(RunLoss, sql.load(__file__), {"runs": wanted}))
    require_found(wanted, [one.id for one in losses], "run")
    return losses
