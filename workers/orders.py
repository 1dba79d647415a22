"""From the warehouse to the values that an attempt needs: its order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from results.environment import Layer, LayerKind
from results.matrix import TrialSpec
from results.models import Agent, Attempt, HostFacts, Trial
from results.states import RunState, TrialState
from workers.remote.address import Address


@dataclass(frozen=True)
class Order:
    """All that the executor is told. layers: agent name → the layers last found on it. keep_servers: another trial
    waits for these agents, so that running servers are left for it."""

    trial_key: str
    attempt: int
    spec: TrialSpec
    addresses: Mapping[str, Address]
    layers: Mapping[str, tuple[Layer, ...]]
    keep_servers: bool


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
    )


def order_of(attempt_id: int) -> Order:
    attempt = Attempt.objects.select_related("trial__configuration").get(pk=attempt_id)
    trial = attempt.trial
    agents = list(Agent.objects.filter(pk__in=trial.agents).select_related("jump"))
    return Order(
        trial_key=f"{trial.run_id}/{trial.pk}",
        attempt=attempt.number,
        spec=TrialSpec.from_json(trial.configuration.spec),
        addresses={agent.name: address_of(agent) for agent in agents},
        layers={agent.name: _layers(agent) for agent in agents},
        keep_servers=wanted(trial.agents, besides=trial.pk),
    )


def wanted(agents: list[int], besides: int) -> bool:
    """Whether a trial of a running run waits for one of these agents."""
    waiting = Trial.objects.filter(state=TrialState.WAITING, run__state=RunState.RUNNING, agents__overlap=agents)
    return waiting.exclude(pk=besides).exists()


def _layers(agent: Agent) -> tuple[Layer, ...]:
    facts = HostFacts.objects.filter(agent=agent).prefetch_related("layers").first()
    return tuple(Layer(LayerKind(row.kind), row.content) for row in facts.layers.all()) if facts else ()
