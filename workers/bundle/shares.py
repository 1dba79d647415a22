"""Which transactions a server or a machine had to do with: what its costs are divided by. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from results.matrix import ONE_LOAD, TrialSpec, is_client
from results.parsed import Measurement, Part

# What backends alone count: a standby that replays, before it is promoted, adds nothing to these.
_OF_SESSIONS = ("blocks.read",)


@dataclass(frozen=True)
class Shares:
    """total: transactions of the trial, 0 where they are not known. servers, clients: those of each that took or drove
    some of the load; empty where one server took it all. promoted: servers that first replayed what another did and
    then took the load, so that most of their costs belong to both."""

    total: float
    servers: Mapping[str, float]
    clients: Mapping[str, float]
    promoted: frozenset[str]
    agents: Mapping[str, str]

    def of_server(self, node: str, metric: str) -> float:
        """Transactions that a server's count in this metric was spent on; 0 where nobody can tell. A server that took
        none (a standby) served those of the whole trial."""
        if node in self.promoted and metric not in _OF_SESSIONS:
            return 0.0
        return self.servers.get(node, self.total)

    def of_machine(self, node: str) -> float:
        """The same of everything that runs on the node's machine: what its clients drove, else what its servers
        took."""
        here = {name for name, agent in self.agents.items() if agent == self.agents.get(node)}
        if any(is_client(name) for name in here):
            return sum(self.clients.get(name, 0.0) for name in here) or self.total
        if here & self.promoted and not here >= self.servers.keys():
            return 0.0
        return sum(self.servers.get(name, 0.0) for name in here) or self.total


def of(whole: Part, spec: TrialSpec) -> Shares:
    """By what the workload counted for each load, or for each server."""
    trial = total(whole.measurements, "transactions") or 0.0
    counted = {m.node: m.value for m in whole.measurements if m.metric == "transactions" and m.node and not m.label}
    promoted = frozenset(event.node for event in whole.events if event.kind == "promoted")
    servers, clients = defaultdict[str, float](float), defaultdict[str, float](float)
    if promoted:
        servers.update({node: counted.get(node, 0.0) for node in {*counted, *promoted, "primary"}})
    elif counted:
        for load in spec.loads or ONE_LOAD:
            if load.workload:
                servers[load.server] += counted.get(load.name, 0.0)
                clients[load.client] += counted.get(load.name, 0.0)
    return Shares(trial, servers, clients, promoted, spec.agents)


def total(measurements: Iterable[Measurement], metric: str) -> float | None:
    """The trial's own value of a metric: without node's or label's parts."""
    return next((m.value for m in measurements if m.metric == metric and not m.label and not m.node), None)
