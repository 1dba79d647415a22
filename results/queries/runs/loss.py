"""What is lost when runs are archived or deleted, and what keeps them from it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from results import sql
from results.domain.states import ENDED_RUNS
from results.queries.shared.ids import known_ids, require_found


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
            return "It holds published figures, which always stay on the lists."
        return "" if self.state in ENDED_RUNS else f"It is {self.state}: cancel it first, or wait for its end."

    @property
    def keeps_it(self) -> str:
        """Why it cannot be deleted; '' where it can."""
        if self.published:
            return "It holds published figures, which are never deleted."
        if self.state not in ENDED_RUNS:
            return self.keeps_on_lists
        if self.stopping:
            return "It was cancelled, and a trial of it is being stopped: try again in a minute."
        rests = []
        if self.citations:
            rests.append(f"cited in {', '.join(self.citations)}")
        if self.references:
            rests.append(f"compared with as {', '.join(f'@{name}' for name in self.references)}")
        if self.reports:
            rests.append(f"published in {'; '.join(self.reports)}")
        if not rests:
            return ""
        words = " and ".join(rests)
        return f"{words[0].upper()}{words[1:]}: who reads that must find the trials behind its numbers and verdicts."


def run_losses(run_ids: Iterable[int]) -> tuple[RunLoss, ...]:
    """Return what would be lost of each run, the newest first. One query. Raises NotFound."""
    wanted = known_ids(run_ids, "run")
    losses = tuple(sql.rows(RunLoss, sql.load(__file__), {"runs": wanted}))
    require_found(wanted, [one.id for one in losses], "run")
    return losses
