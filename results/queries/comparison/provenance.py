"""Where numbers are from: the trials, their raw output, what they ran in, and by what they were judged."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from results import VERSION, sql
from results.domain.statistics.verdict import RULE
from results.models import Run, RunImport

FORMAT = 1


def provenance_of(attempts: Collection[int], rules: Collection[int] = (RULE,)) -> dict[str, Any]:
    """Return what leads from these attempts back to their raw output, as JSON. Three queries, none without attempts.

    `trials`: each with its attempt, its run, when it was measured, the SHA-256 of its bundle ('' where figures were
    published by others) and the hash of its environment. `environments`: that hash → its layers. `runs`: each with the
    hash of its plan. `teiten`: its version, and the versions of the rule that the verdicts are by.

    rules: those versions
    """
    parameters = {"attempts": sql.array(sorted(attempts))}
    trials = sql.rows(_Trial, sql.load(__file__), parameters) if attempts else []
    layers = sql.rows(_Layer, sql.load(__file__, "provenance_layers"), parameters) if attempts else []
    environments: dict[str, list[dict[str, str]]] = {}
    for one in layers:
        environments.setdefault(one.environment, []).append({"node": one.node, "kind": one.kind, "sha256": one.hash})
    return {
        "format": FORMAT,
        "teiten": {"version": VERSION, "rules": sorted(set(rules))},
        "runs": _runs({trial.run_id for trial in trials}) if trials else [],
        "trials": [trial.as_json() for trial in trials],
        "environments": environments,
    }


def _runs(wanted: Collection[int]) -> list[dict[str, Any]]:
    runs = Run.objects.filter(pk__in=wanted).select_related("publication", "imported").order_by("pk")
    return [
        {
            "run": run.pk,
            "name": run.name,
            "plan_sha256": run.plan_hash,
            "created_at": run.created_at.isoformat(),
            "not_measured_here": run.publication.title if run.publication else "",
            "program": run.publication.program if run.publication else "",
            "from_teiten": _elsewhere(getattr(run, "imported", None)),
        }
        for run in runs
    ]


def _elsewhere(source: RunImport | None) -> dict[str, Any] | None:
    """Return which Teiten measured a run, where it was another one."""
    if source is None:
        return None
    return {"address": source.address, "run": source.source_run, "archive_sha256": source.archive_sha256}


@dataclass(frozen=True)
class _Trial:
    attempt_id: int
    trial_id: int
    run_id: int
    measured_from: datetime | None
    bundle_sha256: str
    environment: str

    def as_json(self) -> dict[str, Any]:
        return {
            "trial": self.trial_id,
            "attempt": self.attempt_id,
            "run": self.run_id,
            "measured_from": self.measured_from.isoformat() if self.measured_from else None,
            "bundle_sha256": self.bundle_sha256,
            "environment": self.environment,
        }


@dataclass(frozen=True)
class _Layer:
    environment: str
    node: str
    kind: str
    hash: str
