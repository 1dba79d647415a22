"""The clusters that lie on an agent: what they take, which trials could use them, what becomes of each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from posixpath import basename
from typing import Any

from django.db.models import Q

from results import models
from results.domain.errors import restored
from results.domain.matrix import TrialSpec
from results.domain.matrix.clusters import Candidate, ClusterState, Fate, Limits, Use, fates, folder_names
from results.domain.plan import Kinds
from results.domain.states import TrialState
from results.hostfactors import known_hosts
from results.pruning import REMOVE
from results.queries.agents.agents import AgentRow, InstallationRow
from results.queries.shared.words import stored

_GB = 1024**3
_LATEST = 10


@dataclass(frozen=True)
class ClusterRow:
    """One cluster; the fields of `matrix.clusters.AgentCluster`.

    installation: its name, '' where the agent has none there.
    needed_by: of each configuration that could use it, the first trial that waits or runs.
    kept: it may not be removed, by hand neither.
    due_at: when it is removed, None for never as things are.
    why: of both.
    error: why its removal failed at tried_at."""

    id: int
    directory: str
    parts: tuple[str, ...]
    installation: str
    bin_dir: str
    state: ClusterState
    size_bytes: int
    used_at: datetime
    running: bool
    needed_by: tuple[Use, ...]
    kept: bool
    due_at: datetime | None
    why: str
    error: Mapping[str, Any] | None
    tried_at: datetime | None


@dataclass(frozen=True)
class Removal:
    """A cluster that was removed.

    step: removed; begun, where it took so long that the rest was left for the next time; rest.
    size_bytes: what it took before that."""

    at: datetime
    actor: str
    directory: str
    size_bytes: int
    step: str
    why: str


@dataclass(frozen=True)
class AgentClusters:
    """The clusters on one agent, and what becomes of them.

    looked_at: when the agent was last asked.
    error: why that failed since.
    size_bytes: of all that Teiten made.
    clusters: the one that was used longest ago first.
    removals: the latest, latest first."""

    agent: str
    looked_at: datetime | None
    error: Mapping[str, Any] | None
    keep_days: int | None
    budget_bytes: int | None
    size_bytes: int
    clusters: tuple[ClusterRow, ...]
    removals: tuple[Removal, ...]

    def due(self, now: datetime) -> list[ClusterRow]:
        """What is to be removed now, in this order."""
        return [row for row in self.clusters if row.due_at is not None and row.due_at <= now]

    @property
    def over_bytes(self) -> int:
        """What they take beyond the budget."""
        return 0 if self.budget_bytes is None else max(0, self.size_bytes - self.budget_bytes)


@dataclass
class Pruned:
    """What became of clusters that were to be removed.

    begun: it took so long that the rest goes next time.
    left: not even begun.
    failed: why is stored with each."""

    removed: list[ClusterRow] = field(default_factory=list)
    begun: list[ClusterRow] = field(default_factory=list)
    left: list[ClusterRow] = field(default_factory=list)
    failed: list[ClusterRow] = field(default_factory=list)


def agent_clusters(agent: AgentRow, kinds: Kinds, now: datetime) -> AgentClusters:
    """What lies on an agent as last seen, and what becomes of it as things are now. No query for one that was never
    looked at; else two, two more where there are clusters, and two where trials that wait set host factors."""
    looked_at = agent.clusters_at is not None
    rows = list(models.Cluster.objects.filter(agent_id=agent.id)) if looked_at else []
    limits = Limits(agent.keep_days, None if agent.disk_budget_gb is None else agent.disk_budget_gb * _GB)
    uses = _uses(agent.id, kinds) if rows else {}
    candidates = [_candidate(row, agent, uses) for row in rows]
    decided = zip(rows, candidates, fates(candidates, limits, now), strict=True)
    return AgentClusters(
        agent=agent.name,
        looked_at=agent.clusters_at,
        error=agent.clusters_error,
        keep_days=limits.keep_days,
        budget_bytes=limits.budget_bytes,
        size_bytes=sum(row.size_bytes for row in rows if row.state != ClusterState.FOREIGN),
        clusters=tuple(_row(row, candidate, fate, agent) for row, candidate, fate in decided),
        removals=_removals(agent.name) if looked_at else (),
    )


def machine(agent_id: int, *, perhaps: bool = False) -> list[tuple[int, str]]:
    """(id, name) of the agents that are the same machine, itself among them: those with its host key or its address,
    as a key may have changed and not been accepted everywhere. One query.

    perhaps: with those of whose machine nothing is known (yet, or since their address was changed)."""
    own = models.Agent.objects.filter(pk=agent_id)
    same_key = Q(host_key__in=own.exclude(host_key="").values("host_key"))
    same_address = Q(host__in=own.values("host"))
    unknown = Q(host_key="") if perhaps else Q()
    agents = models.Agent.objects.filter(Q(pk=agent_id) | same_key | same_address | unknown)
    return list(agents.order_by("pk").values_list("pk", "name"))


def _uses(agent_id: int, kinds: Kinds) -> dict[str, tuple[Use, ...]]:
    """Name of a cluster's folder → trials that wait or run, on whatever agent of this machine, and could use it: the
    first of each configuration. Folders are told by their names alone: the same one may have several paths."""
    agents = machine(agent_id, perhaps=True)
    active = models.Trial._base_manager.filter(  # those of private runs too, which need their clusters as well
        state__in=(TrialState.WAITING, TrialState.RUNNING), agents__overlap=[pk for pk, _ in agents]
    )
    first = (
        active.order_by("configuration_id", "pk").distinct("configuration_id").select_related("configuration", "run")
    )
    specs = [(_use(trial), TrialSpec.from_json(trial.configuration.spec)) for trial in first]
    known = known_hosts() if any(spec.host for _, spec in specs) else {}
    uses_of: dict[str, list[Use]] = defaultdict(list)
    for use, spec in specs:
        for folder in {folder for _, name in agents for folder in folder_names(spec, name, kinds, known)}:
            uses_of[folder].append(use)
    return {folder: tuple(sorted(uses, key=lambda use: use.trial_id or 0)) for folder, uses in uses_of.items()}


def _use(trial: models.Trial) -> Use:
    return Use(None, None) if trial.run.private else Use(trial.run_id, trial.pk)


def _candidate(row: models.Cluster, agent: AgentRow, uses: Mapping[str, tuple[Use, ...]]) -> Candidate:
    return Candidate(
        directory=row.directory,
        state=ClusterState(row.state),
        size_bytes=row.size_bytes,
        used_at=row.used_at,
        running=row.running,
        gone_since=_gone_since(row, agent.installations),
        needed_by=uses.get(basename(row.directory), ()),
    )


def _gone_since(row: models.Cluster, installations: Iterable[InstallationRow]) -> datetime | None:
    """When the installation that last ran it was last on the agent, where it is there no more."""
    own = [one for one in installations if one.bin_dir == row.bin_dir]
    if not row.bin_dir or any(one.present for one in own):
        return None
    return max([row.used_at, *(one.found_at for one in own)])


def _row(row: models.Cluster, candidate: Candidate, fate: Fate, agent: AgentRow) -> ClusterRow:
    names = [one.name for one in agent.installations if one.present and one.bin_dir == row.bin_dir]
    return ClusterRow(
        id=row.pk,
        directory=row.directory,
        parts=tuple(row.parts),
        installation=names[0] if names else "",
        bin_dir=row.bin_dir,
        state=candidate.state,
        size_bytes=row.size_bytes,
        used_at=row.used_at,
        running=row.running,
        needed_by=candidate.needed_by,
        kept=fate.kept,
        due_at=fate.due_at,
        why=fate.why,
        error=restored(row.error) if row.error else row.error,
        tried_at=row.tried_at,
    )


def _removals(agent: str) -> tuple[Removal, ...]:
    entries = models.AuditEntry.objects.filter(object=f"agent {agent}", verb=REMOVE)[:_LATEST]
    return tuple(
        Removal(
            at=entry.at,
            actor=entry.actor,
            directory=entry.detail["directory"],
            why=stored(entry.detail["why"]),
            size_bytes=entry.detail["size_bytes"],
            step=entry.detail["step"],
        )
        for entry in entries
    )
