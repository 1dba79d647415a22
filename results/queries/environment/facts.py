"""What numbers rest on, each fact once: the runs, the trials, and what these ran in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from results import sql
from results.domain.environment.layers import LayerKind
from results.queries.environment.environments import environments_of


@dataclass(frozen=True)
class TrialFacts:
    """A trial that counts.

    configuration: index in its run.
    version: of the servers, exact.
    agents: role → name.
    measured_from, measured_to: the measured window.
    environment: hash of all that it ran in; '' where nothing is recorded.
    bundle_sha256: of the archive of its raw output; '' where there is none."""

    id: int
    run_id: int
    attempt_id: int
    configuration: int
    block: int
    version: str
    agents: Mapping[str, str]
    measured_from: datetime | None
    measured_to: datetime | None
    environment: str
    bundle_sha256: str


@dataclass(frozen=True)
class Facts:
    """What the numbers of some trials rest on.

    runs: id → its plan's hash, seed, dates, standing, and who measured it: `source` is measured (here), another-teiten,
        published (in a report) or imported (from the files of another `program`).
    trials: id → its facts.
    environments: hash → role → layer → content, without the defaults of builds."""

    runs: Mapping[int, Mapping[str, Any]]
    trials: Mapping[int, TrialFacts]
    environments: Mapping[str, Mapping[str, Mapping[str, Any]]]


def facts_of(trial_ids: Iterable[int]) -> Facts:
    """Return what these trials rest on. Two queries, none without trials."""
    ids = sorted(set(trial_ids))
    rows = sql.rows(_Row, sql.load(__file__), {"trials": sql.array(ids)}) if ids else []
    example = {row.environment: row.attempt_id for row in rows if row.environment}
    ran_in = environments_of(list(example.values()))
    return Facts(
        runs={row.run_id: row.run for row in rows},
        trials={row.id: row.facts() for row in rows},
        environments={
            digest: _by_role(ran_in[attempt].environment) for digest, attempt in example.items() if attempt in ran_in
        },
    )


def _by_role(environment: Mapping[tuple[str, str], Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    roles: dict[str, dict[str, Any]] = {}
    for (node, kind), content in sorted(environment.items()):
        if kind != LayerKind.DEFAULTS:
            roles.setdefault(node, {})[kind] = content
    return roles


@dataclass(frozen=True)
class _Row(TrialFacts):
    run: Mapping[str, Any]

    def facts(self) -> TrialFacts:
        return TrialFacts(**{name: value for name, value in vars(self).items() if name != "run"})
