"""Prune agents: store which clusters there are, and remove those that nothing needs, while no trial runs there."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.db.models import Q
from django.utils import timezone

from results import pruning
from results.domain.errors import AgentError, CommandError, StateError
from results.domain.matrix.clusters import AgentCluster
from results.domain.messages import COMMA, linked
from results.domain.messages import gettext_lazy as _
from results.models import Agent, Cluster, Trial
from results.models.agents import AgentState
from results.queries.agents.agents import list_agents
from results.queries.agents.clusters import AgentClusters, ClusterRow, Pruned, agent_clusters, machine
from workers import lease, registry
from workers.orders import address_of, agents_idle
from workers.postgres import cluster_inventory
from workers.remote.connection import connected

LIMITS = _("limits of the agent")  # the actor of a removal, in the agent's history
LIMIT_S = 150.0  # of all removals together: no trial can start meanwhile
_INVENTORY_AGE = timedelta(seconds=60)
_RETRY_AFTER = timedelta(minutes=10)


@contextmanager
def machine_lease(agent_id: int) -> Iterator[Callable[[], bool]]:
    """Lease every agent on this agent's machine; gives a function that returns whether a lease is lost.

    Raises StateError when one of them is in use.
    """
    agents = [pk for pk, _name in machine(agent_id)]
    with lease.contact_leases(agents, timezone.now, 0, _("Removing files there")) as lost:
        yield lost


def record_clusters(agent: Agent) -> None:
    """Store which clusters there are on an agent, which nothing else may use meanwhile.

    Raises AgentError, and stores it with the agent.
    """

    async def inventory() -> list[AgentCluster]:
        async with connected(address_of(agent)) as remote:
            return await cluster_inventory.inventory(remote)

    try:
        clusters = asyncio.run(inventory())
    except AgentError as error:
        lease.retry(pruning.record_no_inventory, agent.pk, error.as_dict())
        raise
    lease.retry(pruning.record_inventory, agent.pk, clusters, timezone.now())


def prune(
    agent_id: int, lost: Callable[[], bool], chosen: Collection[str] | None = None, actor: str = LIMITS
) -> Pruned:
    """Remove clusters of an agent that are due or chosen, each if nothing needs it by then; return what became of each.

    Raises AgentError where the agent cannot be reached. Raises StateError, before any is removed, where a chosen one
    may not be.

    lost: given by `machine_lease`, which must be held
    chosen: directories of clusters; None for those that are due
    """
    agent = Agent.objects.select_related("jump").get(pk=agent_id)
    record_clusters(agent)
    now = timezone.now()
    clusters = _clusters(agent_id, now)
    rows = _due(clusters, now) if chosen is None else _removable(clusters, chosen)
    deadline_s = time.monotonic() + LIMIT_S
    result = Pruned()
    for row in rows:
        left_s = deadline_s - time.monotonic()
        if left_s <= 0 or lost() or _needed_by_now(agent_id, row):
            result.left.append(row)
        else:
            _remove(agent, row, left_s, actor, result)
    return result


def _needed_by_now(agent_id: int, row: ClusterRow) -> bool:
    """Return whether a run was started meanwhile that could use the cluster: earlier removals took their time."""
    clusters = _clusters(agent_id, timezone.now()).clusters
    return any(cluster.directory == row.directory and cluster.kept for cluster in clusters)


def agents_due(now: datetime) -> list[int]:
    """Return the agents that nothing uses and on which clusters are due to be removed, as last seen."""
    idle = Agent.objects.filter(enabled=True, state=AgentState.READY, lease=None, clusters_error__isnull=True)
    rows = list_agents(list(idle.exclude(clusters=None).values_list("pk", flat=True)))
    return [row.id for row in rows if _due(agent_clusters(row, registry.kinds(), now), now)]


def agents_to_look_at(attempt_id: int, now: datetime) -> list[int]:
    """Return the ended attempt's agents that no other trial waits for, or whose inventory is old.

    An inventory that failed, perhaps since it took too long, is not repeated between the trials of a queue.
    """
    agents = Trial.objects.filter(attempts=attempt_id).values_list("agents", flat=True).get()
    ready = Agent.objects.filter(pk__in=agents, state=AgentState.READY, clusters_at__isnull=False)
    stale = Q(clusters_at__lt=now - _INVENTORY_AGE, clusters_error__isnull=True)
    due = ready.filter(Q(name__in=agents_idle(attempt_id)) | stale)
    return list(due.values_list("pk", flat=True))


def _clusters(agent_id: int, now: datetime) -> AgentClusters:
    [row] = list_agents([agent_id])
    return agent_clusters(row, registry.kinds(), now)


def _due(clusters: AgentClusters, now: datetime) -> list[ClusterRow]:
    """Return the clusters that are due, without those that could not be removed a moment ago."""
    return [row for row in clusters.due(now) if row.tried_at is None or row.tried_at < now - _RETRY_AFTER]


def _removable(clusters: AgentClusters, directories: Collection[str]) -> list[ClusterRow]:
    """Return the clusters in these directories. Raises StateError where one may not be removed."""
    rows = {row.directory: row for row in clusters.clusters}
    for directory in directories:
        row = rows.get(directory)
        if row is None or row.kept:
            raise StateError(
                _("{directory} cannot be removed.", directory=directory),
                where=_("agent {agent}", agent=clusters.agent),
                why=_reason_kept(row) if row else _("There is no such cluster, or no more."),
                todo=_("Nothing was removed. Choose again among what is there now."),
            )
    return [rows[directory] for directory in dict.fromkeys(directories)]


def _reason_kept(row: ClusterRow) -> str:
    trials = [_("trial {trial} of run {run}", trial=use.trial_id, run=use.run_id) for use in row.needed_by]
    if not trials:
        return row.why
    listed = linked(COMMA, trials)
    return _("{why} ({trials})", why=row.why, trials=listed)


def _remove(agent: Agent, row: ClusterRow, limit_s: float, actor: str, result: Pruned) -> None:
    async def remove() -> bool:
        async with connected(address_of(agent)) as remote:
            return await cluster_inventory.remove(remote, row.directory, row.parts, limit_s)

    stored = Cluster.objects.select_related("agent").get(pk=row.id)
    try:
        finished = asyncio.run(remove())
    except AgentError as error:
        begun = isinstance(error, CommandError)  # else nothing was removed
        lease.retry(pruning.record_failed_removal, stored, error.as_dict(), timezone.now(), begun=begun)
        result.failed.append(row)
        return
    lease.retry(pruning.record_removal, stored, row.why, actor, finished=finished)
    (result.removed if finished else result.begun).append(row)
