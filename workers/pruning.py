"""The clusters on an agent: looked at, and removed where nothing needs them, while no trial uses the machine."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta

from django.db.models import Q
from django.utils import timezone

from results import pruning
from results.domain.errors import AgentError, CommandError, StateError
from results.domain.matrix.clusters import FoundCluster
from results.models import Agent, Cluster, Trial
from results.models.agents import AgentState
from results.queries.agents import list_agents
from results.queries.clusters import AgentClusters, ClusterRow, Pruned, agent_clusters, machine
from workers import lease, registry
from workers.orders import address_of, agents_idle
from workers.postgres import cluster_inventory
from workers.remote.connection import connected

LIMITS = "limits of the agent"  # who removed it, in the agent's history
LIMIT_S = 150.0  # of all removals at one time: no trial can start meanwhile
_LOOK_AGE = timedelta(seconds=60)
_RETRY_AFTER = timedelta(minutes=10)


@contextmanager
def alone(agent_id: int) -> Iterator[Callable[[], bool]]:
    """Holds every agent that is this machine; gives what tells whether one was lost. Raises StateError when one is in
    use."""
    with ExitStack() as leases:
        lost = [
            leases.enter_context(lease.contact(pk, timezone.now, purpose="Removing files there"))
            for pk, _ in machine(agent_id)
        ]
        yield lambda: any(one() for one in lost)


def look(agent: Agent) -> None:
    """Stores which clusters lie on the agent. Nothing else may use it meanwhile. Raises AgentError, which is stored
    too."""

    async def asked() -> list[FoundCluster]:
        async with connected(address_of(agent)) as remote:
            return await cluster_inventory.inventory(remote)

    try:
        found = asyncio.run(asked())
    except AgentError as error:
        lease.keep(pruning.record_no_inventory, agent.pk, error.as_dict())
        raise
    lease.keep(pruning.record_inventory, agent.pk, found, timezone.now())


def prune(
    agent_id: int, lost: Callable[[], bool], chosen: Collection[str] | None = None, actor: str = LIMITS
) -> Pruned:
    """Looks at the clusters on the agent, then removes those that are due, or the chosen ones, by their directories:
    each only if it still may be. The machine must be held (`alone`, which gives `lost`). Raises AgentError where it
    cannot be reached, StateError where one of the chosen may not be removed, before any is."""
    agent = Agent.objects.select_related("jump").get(pk=agent_id)
    look(agent)
    now = timezone.now()
    found = _clusters(agent_id, now)
    rows = _due(found, now) if chosen is None else _chosen(found, chosen)
    until = time.monotonic() + LIMIT_S
    done = Pruned()
    for row in rows:
        left_s = until - time.monotonic()
        if left_s <= 0 or lost() or _needed_by_now(agent_id, row):
            done.left.append(row)
        else:
            _remove(agent, row, left_s, actor, done)
    return done


def _needed_by_now(agent_id: int, row: ClusterRow) -> bool:
    """Whether a run was started meanwhile that could use it: the removals before took their time."""
    return any(now.directory == row.directory and now.kept for now in _clusters(agent_id, timezone.now()).clusters)


def agents_due(now: datetime) -> list[int]:
    """Agents that nothing uses and on which something is to be removed now, as last seen."""
    idle = Agent.objects.filter(enabled=True, state=AgentState.READY, lease=None, clusters_error__isnull=True)
    rows = list_agents(list(idle.exclude(clusters=None).values_list("pk", flat=True)))
    return [row.id for row in rows if _due(agent_clusters(row, registry.kinds(), now), now)]


def agents_to_look_at(attempt_id: int, now: datetime) -> list[int]:
    """Those of the ended attempt's agents that no other trial waits for, or that were not looked at for a while: a look
    that failed, perhaps as it took too long, is not repeated between the trials of a queue."""
    agents = Trial.objects.filter(attempts=attempt_id).values_list("agents", flat=True).get()
    ready = Agent.objects.filter(pk__in=agents, state=AgentState.READY, clusters_at__isnull=False)
    stale = Q(clusters_at__lt=now - _LOOK_AGE, clusters_error__isnull=True)
    chosen = ready.filter(Q(name__in=agents_idle(attempt_id)) | stale)
    return list(chosen.values_list("pk", flat=True))


def _clusters(agent_id: int, now: datetime) -> AgentClusters:
    [row] = list_agents([agent_id])
    return agent_clusters(row, registry.kinds(), now)


def _due(found: AgentClusters, now: datetime) -> list[ClusterRow]:
    """Without those that could not be removed a moment ago."""
    return [row for row in found.due(now) if row.tried_at is None or row.tried_at < now - _RETRY_AFTER]


def _chosen(found: AgentClusters, chosen: Collection[str]) -> list[ClusterRow]:
    there = {row.directory: row for row in found.clusters}
    for directory in chosen:
        row = there.get(directory)
        if row is None or row.kept:
            raise StateError(
                f"{directory} cannot be removed.",
                where=f"agent {found.agent}",
                why=_kept_for(row) if row else "There is no such cluster, or no more.",
                todo="Nothing was removed. Choose again among what is there now.",
            )
    return [there[directory] for directory in dict.fromkeys(chosen)]


def _kept_for(row: ClusterRow) -> str:
    trials = ", ".join(f"trial {use.trial_id} of run {use.run_id}" for use in row.needed_by)
    return f"{row.why} ({trials})" if trials else row.why


def _remove(agent: Agent, row: ClusterRow, limit_s: float, actor: str, done: Pruned) -> None:
    async def removed() -> bool:
        async with connected(address_of(agent)) as remote:
            return await cluster_inventory.remove(remote, row.directory, row.parts, limit_s)

    stored = Cluster.objects.select_related("agent").get(pk=row.id)
    try:
        finished = asyncio.run(removed())
    except AgentError as error:
        begun = isinstance(error, CommandError)  # else it was refused before
        lease.keep(pruning.record_failed_removal, stored, error.as_dict(), timezone.now(), begun=begun)
        done.failed.append(row)
        return
    lease.keep(pruning.record_removal, stored, row.why, actor, finished=finished)
    (done.removed if finished else done.begun).append(row)
