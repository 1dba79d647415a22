"""The order of an attempt: everything that it needs of the warehouse, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from results.domain.environment.layers import Layer, LayerKind
from results.domain.kinds.host_factors import KnownHost
from results.domain.matrix import TrialSpec
from results.domain.states import RunState, TrialState
from results.hostfactors import known_host
from results.models import Agent, Attempt, HostFacts, Installation, Trial
from results.queries.runs.estimates import past_window, past_windows
from workers import registry
from workers.remote.address import Address


@dataclass(frozen=True)
class Order:
    """Everything that the executor needs for an attempt.

    trial_key: '<run id>/<trial id>'
    attempt: number of the attempt
    addresses: agent name → how it is reached
    layers: agent name → the layers last discovered there
    build: facts of the installation
    client_version: of psql and pgbench; '' where it is not known
    hosts: agent name → what plans may change there
    past_s: length of the measured window in past trials of the same work, in seconds, where it cannot be known before
    """

    trial_key: str
    attempt: int
    spec: TrialSpec
    addresses: Mapping[str, Address]
    layers: Mapping[str, tuple[Layer, ...]]
    build: Mapping[str, Any]
    client_version: str = ""
    hosts: Mapping[str, KnownHost] = field(default_factory=dict)
    past_s: float | None = None

    @property
    def log_fields(self) -> dict[str, Any]:
        """What lines of the log that are written while it is executed are about."""
        run, _, trial = self.trial_key.partition("/")
        return {"run": int(run), "trial": int(trial), "attempt": self.attempt, "agents": sorted(self.addresses)}


def address_of(agent: Agent) -> Address:
    return Address(
        name=agent.name,
        host=agent.host,
        port=agent.port,
        user=agent.user,
        key_path=agent.key_path,
        host_key=agent.host_key,
        jump=address_of(agent.jump) if agent.jump else None,
        data_dir=agent.data_dir,
        work_dir=agent.work_dir,
        search=tuple(agent.search),
        places=tuple(agent.places.values()),
    )


def order_of(attempt_id: int) -> Order:
    attempt = Attempt.objects.select_related("trial__configuration").get(pk=attempt_id)
    return order_for(attempt.trial, attempt.number)


def order_for(trial: Trial, attempt: int) -> Order:
    """Return the order of an attempt of this number, which need not exist."""
    agents = list(Agent.objects.filter(pk__in=trial.agents).select_related("jump").prefetch_related("host_factors"))
    spec = TrialSpec.from_json(trial.configuration.spec)
    return Order(
        trial_key=f"{trial.run_id}/{trial.pk}",
        attempt=attempt,
        spec=spec,
        addresses={agent.name: address_of(agent) for agent in agents},
        layers={agent.name: _layers(agent) for agent in agents},
        build=_build(spec, trial.agents),
        client_version=_client_version(spec, trial.agents),
        hosts={agent.name: known_host(agent) for agent in agents},
        past_s=_past_s(spec),
    )


def _past_s(spec: TrialSpec) -> float | None:
    workload = registry.kinds().workloads.get(spec.workload)
    if workload is None or workload.measured_s(spec.parameters, spec.duration_s) is not None:
        return None
    return past_window(past_windows(spec.workload), spec.parameters)


def agents_idle(attempt_id: int) -> frozenset[str]:
    """Return the names of those of the attempt's agents that no other trial of a running run waits for."""
    trial = Trial.objects.get(attempts=attempt_id)
    waiting = Trial.objects.filter(state=TrialState.WAITING, run__state=RunState.RUNNING, agents__overlap=trial.agents)
    awaited: set[int] = set()
    for agents in waiting.exclude(pk=trial.pk).values_list("agents", flat=True):
        awaited.update(agents)
    return frozenset(Agent.objects.filter(pk__in={*trial.agents} - awaited).values_list("name", flat=True))


def _build(spec: TrialSpec, agents: list[int]) -> dict[str, Any]:
    """Return version, configure options and JIT of the installation, as last discovered."""
    installation = spec.installation
    build: dict[str, Any] = {
        "name": installation.name,
        "version": installation.version,
        "version_num": installation.version_num,
    }
    row = Installation.objects.filter(agent__in=agents, bin_dir=installation.bin_dir).first()
    return build | {"configure": row.configure, "jit": row.has_jit} if row else build


def _client_version(spec: TrialSpec, agents: list[int]) -> str:
    client = Installation.objects.filter(agent__in=agents, agent__name=spec.agents["client"], bin_dir=spec.client_bin)
    return client.values_list("version", flat=True).first() or ""


def _layers(agent: Agent) -> tuple[Layer, ...]:
    facts = HostFacts.objects.filter(agent=agent).prefetch_related("layers").first()
    return tuple(Layer(LayerKind(row.kind), row.content) for row in facts.layers.all()) if facts else ()
