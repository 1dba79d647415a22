"""Watches of a plan, each with what it last told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from results import models
from results.domain.states import Standing
from results.domain.statistics import verdict
from results.domain.statistics.verdict import Kind
from results.models.comparisons import AlertState
from results.queries.shared.words import stored

_ALERTS_OF_A_RUN = 4  # that are read for each run: one for each watch


@dataclass(frozen=True)
class WatchRow:
    """One watch of a plan.

    state: of its newest alert, '' before the first.
    run_id, decided_at: the run that it was of, and when that was judged.
    next_at: when it is sent, or tried again.
    error: why the last try failed."""

    id: int
    channel: str
    target: str
    created_by: str
    state: str
    label: str
    run_id: int | None
    decided_at: datetime | None
    next_at: datetime | None
    sent_at: datetime | None
    tries: int
    error: str

    @property
    def host(self) -> str:
        """What everybody may see of the address of a webhook, which is a password: '' of an e-mail's."""
        return urlsplit(self.target).hostname or ""


@dataclass(frozen=True)
class WorseCell:
    """A configuration that is worse, as alerts name it; fields as of `progress.CellProgress`."""

    name: str
    kind: str
    words: str
    ratio: float | None
    low: float | None
    high: float | None
    since: int | None


@dataclass(frozen=True)
class Newest:
    """The newest run that was judged for the plan's watches: counts of its configurations by (kind of verdict, its
    words), those that are worse, what withheld verdicts, and the rest as in `progress.Progress`.

    lost: (name, failed trials).
    against: how many runs before it the run was held against, the most of all configurations.
    judged: False where an error kept it from being so."""

    run_id: int
    before_id: int | None
    counts: Mapping[tuple[str, str], int]
    worse: tuple[WorseCell, ...]
    environment: tuple[str, ...]
    lost: tuple[tuple[str, int], ...]
    unmatched: tuple[str, ...]
    failed: int
    trials: int
    comparison: str
    judged: bool = True
    against: int = 1


def plan_watches(plan_id: int) -> tuple[list[WatchRow], Newest | None]:
    """In the order in which they were set. Two queries."""
    watches = list(models.Watch.objects.filter(plan_id=plan_id).select_related("created_by"))
    newest_alerts = (
        models.Alert.objects.filter(watch__plan_id=plan_id).order_by("watch_id", "-run_id").distinct("watch_id")
    )
    alerts = {alert.watch_id: alert for alert in newest_alerts} if watches else {}
    newest = max(alerts.values(), key=lambda alert: alert.run_id, default=None)
    return [_row(watch, alerts.get(watch.pk)) for watch in watches], _newest(newest) if newest else None


@dataclass(frozen=True)
class WorsePlan:
    """A run in which configurations of its plan became worse, as its alerts say."""

    plan_id: int
    plan: str
    run_id: int
    decided_at: datetime
    worse: tuple[WorseCell, ...]


def latest_worse(most: int) -> list[WorsePlan]:
    """Return the newest kept runs whose alerts name something that is worse, among the newest alerts. One query."""
    of_kept_runs = models.Alert.objects.filter(run__archived=False, run__standing=Standing.KEPT)
    alerts = of_kept_runs.exclude(state__in=[AlertState.QUIET, AlertState.UNJUDGED])
    newest_alerts = alerts.select_related("watch__plan").order_by("-run_id", "id")[: most * _ALERTS_OF_A_RUN]
    of_runs: dict[int, WorsePlan] = {}
    for alert in newest_alerts:
        outcome = _newest(alert)
        if outcome.worse and alert.run_id not in of_runs:
            plan = alert.watch.plan
            of_runs[alert.run_id] = WorsePlan(plan.pk, plan.name, alert.run_id, alert.decided_at, outcome.worse)
    return list(of_runs.values())[:most]


def _row(watch: models.Watch, alert: models.Alert | None) -> WatchRow:
    return WatchRow(
        id=watch.pk,
        channel=watch.channel,
        target=watch.target,
        created_by=watch.created_by.username if watch.created_by else "",
        state=alert.state if alert else "",
        label=alert.get_state_display() if alert else "",
        run_id=alert.run_id if alert else None,
        decided_at=alert.decided_at if alert else None,
        next_at=alert.next_at if alert else None,
        sent_at=alert.sent_at if alert else None,
        tries=alert.tries if alert else 0,
        error=alert.error if alert else "",
    )


def _newest(alert: models.Alert) -> Newest:
    if alert.state == AlertState.UNJUDGED:
        return Newest(alert.run_id, None, {}, (), (), (), (), 0, 0, "", judged=False)
    cells: list[dict[str, Any]] = alert.content["cells"]
    return Newest(
        run_id=alert.run_id,
        before_id=alert.content["before"],
        counts=dict(sorted(Counter((cell["kind"], words_of(cell)) for cell in cells).items())),
        worse=tuple(_worse(cell) for cell in cells if cell["kind"] == "worse" or cell["since"] is not None),
        environment=tuple(dict.fromkeys(key for cell in cells for key in cell["environment"])),
        lost=tuple((one["name"], one["failed"]) for one in alert.content["lost"]),
        unmatched=tuple(alert.content["unmatched"]),
        failed=alert.content["failed"],
        trials=alert.content["trials"],
        comparison=alert.content["comparison"],
        against=max((len(cell.get("against", ())) for cell in cells), default=1),
    )


def _worse(cell: Mapping[str, Any]) -> WorseCell:
    kept = {name: cell[name] for name in ("kind", "ratio", "low", "high", "since")}
    return WorseCell(name=stored(cell["name"]), words=words_of(cell), **kept)


def words_of(cell: Mapping[str, Any]) -> str:
    """Return those of the verdict; of an alert from before they were kept what they would have been."""
    kind, alone = Kind(cell["kind"]), not cell.get("runs")
    likely, other = (verdict.words_of(kind, of_these_runs=one) for one in (alone, not alone))
    kept = str(cell.get("words") or likely)
    return next((words for words in (likely, other) if words == kept), kept)
