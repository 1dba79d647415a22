"""Operations on the clusters on agents: store which there are, which were removed, which could not be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from django.db import transaction

from results import models
from results.domain.matrix.clusters import AgentCluster, ClusterState

REMOVE = "remove cluster"  # the audit log's verb


class Step(StrEnum):
    """How far a removal came, in the audit log."""

    REMOVED = "removed"  # at once
    BEGUN = "begun"  # it took too long: the rest is removed next time
    REST = "rest"  # the rest of one that was begun


@transaction.atomic
def record_inventory(agent_id: int, clusters: Sequence[AgentCluster], at: datetime) -> None:
    """Store the clusters on an agent in place of those known before.

    The error of a failed removal stays with a cluster that is still there.
    """
    agent = models.Agent.objects.select_for_update(no_key=True).get(pk=agent_id)
    agent.clusters.exclude(directory__in=[cluster.directory for cluster in clusters]).delete()
    for cluster in clusters:
        fields = {
            "parts": list(cluster.parts),
            "state": cluster.state,
            "size_bytes": cluster.size_bytes,
            "used_at": at - timedelta(seconds=cluster.idle_s),
            "running": cluster.running,
            "bin_dir": cluster.bin_dir,
        }
        models.Cluster.objects.update_or_create(agent=agent, directory=cluster.directory, defaults=fields)
    agent.clusters_at, agent.clusters_error = at, None
    agent.save(update_fields=["clusters_at", "clusters_error"])


def record_no_inventory(agent_id: int, error: Mapping[str, Any]) -> None:
    """Store why the clusters on an agent are not known.

    error: `TeitenError.as_dict()`
    """
    models.Agent.objects.filter(pk=agent_id).update(clusters_error=dict(error))


@transaction.atomic
def record_removal(cluster: models.Cluster, why: str, actor: str, *, finished: bool) -> None:
    """Store a removal in the agent's history; one that is not finished leaves the cluster in state REMOVING.

    Does nothing where it was stored before: the connection may have broken at the COMMIT.
    """
    stored = models.Cluster.objects.select_for_update().filter(pk=cluster.pk).first()
    if stored is None or (not finished and stored.state == ClusterState.REMOVING != cluster.state):
        return
    if not finished:
        step = Step.BEGUN
    else:
        step = Step.REST if cluster.state == ClusterState.REMOVING else Step.REMOVED
    detail = {
        "directory": cluster.directory,
        "parts": cluster.parts,
        "size_bytes": cluster.size_bytes,
        "used_at": cluster.used_at.isoformat(),
        "why": why,
        "step": step,
    }
    models.AuditEntry.objects.create(actor=actor, verb=REMOVE, object=f"agent {cluster.agent.name}", detail=detail)
    if finished:
        stored.delete()
    else:
        models.Cluster.objects.filter(pk=cluster.pk).update(state=ClusterState.REMOVING, error=None, tried_at=None)


def record_failed_removal(cluster: models.Cluster, error: Mapping[str, Any], now: datetime, *, begun: bool) -> None:
    """Store why a cluster could not be removed.

    error: `TeitenError.as_dict()`
    begun: a part of it has been removed
    """
    state = ClusterState.REMOVING if begun else cluster.state
    models.Cluster.objects.filter(pk=cluster.pk).update(state=state, error=dict(error), tried_at=now)
