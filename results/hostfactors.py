"""Verbs on host factors: what an operator defines on an agent, and what is changed there now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import transaction

from results import models
from results.domain.errors import PlanError
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
    """Agent name → what it allows; of all agents, or of these. Two queries."""
    rows = models.Agent.objects.prefetch_related("host_factors")
    return {agent.name: known_host(agent) for agent in (rows if agents is None else rows.filter(name__in=agents))}


def known_host(agent: models.Agent) -> KnownHost:
    factors = [factor for row in agent.host_factors.all() for factor in read(row.toml)]
    return KnownHost({factor.name: factor for factor in factors}, dict(agent.places), agent.cores)


def require_known(specs: Sequence[TrialSpec], kinds: Kinds) -> None:
    """Raises PlanError where a trial's agents do not allow its host factors, those that its topology sets in mid-run
    among them. No query for trials without any."""
    asked: list[tuple[TrialSpec, MidRun | None]] = [
        (spec, kinds.topologies[spec.topology].in_mid_run(spec.topology_parameters)) for spec in specs
    ]
    if not any(spec.host or event for spec, event in asked):
        return
    known = known_hosts()
    wrong = [
        p
        for spec, _ in asked
        for p in problems(spec.host, spec.agents, known, poolers=spec.beside, outside=spec.outside)
    ]
    wrong += [p for spec, event in asked if event for p in mid_run_problems(event, spec.host, spec.agents, known)]
    found = {(p.field, p.what): p for p in wrong}
    if found:
        raise PlanError(list(found.values()))


@transaction.atomic
def define(agent: models.Agent, factors: Iterable[HostFactor], actor: str) -> None:
    """Adds the factors, or replaces those of the same names."""
    for factor in factors:
        toml = to_toml([factor])
        models.HostFactor.objects.update_or_create(agent=agent, name=factor.name, defaults={"toml": toml})
        _audit(actor, "define host factor", agent, factor=factor.name, toml=toml)


@transaction.atomic
def remove(agent: models.Agent, name: str, actor: str) -> None:
    """Raises models.HostFactor.DoesNotExist. What is changed now is reverted all the same."""
    models.HostFactor.objects.get(agent=agent, name=name).delete()
    _audit(actor, "remove host factor", agent, factor=name)


@transaction.atomic
def note_changes(agent: str, changes: Sequence[Change], now: datetime) -> None:
    """What is changed on the agent now: all of it, and nothing else. A change with an error has just been tried."""
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
    """Nothing could be reverted, as the agent did not answer."""
    models.HostChange.objects.filter(agent__name=agent).update(tried_at=now, error=error)


def forgotten(now: datetime) -> list[int]:
    """Agents on which something is changed though nothing uses them, and that were not tried a moment ago."""
    left = models.HostChange.objects.filter(agent__lease=None).exclude(tried_at__gt=now - RETRY_AFTER)
    return sorted(set(left.values_list("agent_id", flat=True)))


def _trial(change: Change) -> int:
    """Of '<run>/<trial>'; 0 for what no warehouse numbered so."""
    number = change.trial.rpartition("/")[2]
    return int(number) if number.isdecimal() and len(number) < 19 else 0


def _audit(actor: str, verb: str, agent: models.Agent, **detail: Any) -> None:
    models.AuditEntry.objects.create(actor=actor, verb=verb, object=f"agent {agent.name}", detail=detail)
