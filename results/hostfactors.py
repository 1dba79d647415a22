"""Operations on host factors: what an operator defines on an agent, and what is changed there now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import transaction

from results import models
from results.domain.errors import PlanError, Problem
from results.domain.kinds.host_factors import (
    Change,
    HostFactor,
    KnownHost,
    MidRun,
    mid_run_problems,
    problems,
    read,
    to_toml,
)
from results.domain.matrix import TrialSpec
from results.domain.plan import Kinds

RETRY_AFTER = timedelta(seconds=60)


def known_hosts(agents: Iterable[str] | None = None) -> dict[str, KnownHost]:
    """Return agent name → what plans may change there, of all agents or of these. Two queries."""
    rows = models.Agent.objects.prefetch_related("host_factors")
    return {agent.name: known_host(agent) for agent in (rows if agents is None else rows.filter(name__in=agents))}


def known_host(agent: models.Agent) -> KnownHost:
    factors = [factor for row in agent.host_factors.all() for factor in read(row.toml)]
    return KnownHost({factor.name: factor for factor in factors}, dict(agent.places), agent.cores)


def require_host_factors(specs: Sequence[TrialSpec], kinds: Kinds) -> None:
    """Raise PlanError where a trial's agents do not allow its host factors, or those its topology sets in mid-run.

    No query for trials without any.
    """
    mid_runs: list[MidRun | None] = []
    for spec in specs:
        mid_runs.append(kinds.topologies[spec.topology].in_mid_run(spec.topology_parameters))
    if not any(spec.host for spec in specs) and not any(mid_runs):
        return
    hosts = known_hosts()
    all_problems: list[Problem] = []
    for spec in specs:
        all_problems += problems(spec.host, spec.agents, hosts, poolers=spec.beside, outside=spec.outside)
    for spec, mid_run in zip(specs, mid_runs, strict=True):
        if mid_run:
            all_problems += mid_run_problems(mid_run, spec.host, spec.agents, hosts)
    if distinct := {(problem.field, problem.what): problem for problem in all_problems}:
        raise PlanError(list(distinct.values()))


@transaction.atomic
def define(agent: models.Agent, factors: Iterable[HostFactor], actor: str) -> None:
    """Add the factors to an agent, or replace those of the same names."""
    for factor in factors:
        toml = to_toml([factor])
        before = models.HostFactor.objects.filter(agent=agent, name=factor.name).values_list("toml", flat=True).first()
        models.HostFactor.objects.update_or_create(agent=agent, name=factor.name, defaults={"toml": toml})
        _audit(actor, "define host factor", agent, factor=factor.name, toml=toml, before=before)


@transaction.atomic
def remove(agent: models.Agent, name: str, actor: str) -> None:
    """Remove a factor's definition; what is changed now is reverted all the same. Raises HostFactor.DoesNotExist."""
    factor = models.HostFactor.objects.get(agent=agent, name=name)
    factor.delete()
    _audit(actor, "remove host factor", agent, factor=name, before=factor.toml)


@transaction.atomic
def note_changes(agent: str, changes: Sequence[Change], now: datetime) -> None:
    """Store everything that is changed on the agent now; a change with an error could not be reverted just now."""
    row = models.Agent.objects.select_for_update(no_key=True).get(name=agent)
    row.host_changes.exclude(factor__in=[change.factor for change in changes]).delete()
    trials = set(models.Trial.objects.filter(pk__in=map(_trial, changes)).values_list("pk", flat=True))
    for change in changes:
        models.HostChange.objects.update_or_create(
            agent=row,
            factor=change.factor,
            defaults={
                "level": change.level,
                "own": change.own,
                "trial_id": trial if (trial := _trial(change)) in trials else None,
                "since": datetime.fromtimestamp(change.since_s, UTC),
                "tried_at": now if change.error else None,
                "error": change.error,
            },
        )


def note_failure(agent: str, error: str, now: datetime) -> None:
    """Store that nothing on an agent could be reverted, as it did not answer."""
    models.HostChange.objects.filter(agent__name=agent).update(tried_at=now, error=error)


def agents_to_revert(now: datetime) -> list[int]:
    """Return the agents on which something is changed though nothing uses them, if not tried a moment ago."""
    changes = models.HostChange.objects.filter(agent__lease=None).exclude(tried_at__gt=now - RETRY_AFTER)
    return sorted(set(changes.values_list("agent_id", flat=True)))


def _trial(change: Change) -> int:
    """Return the trial's id of a change's '<run>/<trial>'; 0 where that is no id."""
    number = change.trial.rpartition("/")[2]
    return int(number) if number.isdecimal() and len(number) < 19 else 0


def _audit(actor: str, verb: str, agent: models.Agent, **detail: Any) -> None:
    models.AuditEntry.objects.create(actor=actor, verb=verb, object=f"agent {agent.name}", detail=detail)
