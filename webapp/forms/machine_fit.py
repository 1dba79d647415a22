"""Whether the machine that a ready plan's form would choose is large enough for it, as far as this is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext

from results.domain.matrix import TrialSpec
from results.domain.matrix.disk_space import needs
from results.domain.units import format_quantity
from results.queries.agents.agents import AgentRow
from workers.registry import kinds


@dataclass(frozen=True)
class Demand:
    """What the trials of a plan take of one machine that plays all roles.

    data_bytes: of the largest configuration's data, None where the workload cannot know before.
    disk_bytes: of all data and WAL that lie there at one time.
    servers: of the largest configuration.
    """

    data_bytes: int | None
    disk_bytes: int | None
    servers: int


@dataclass(frozen=True)
class Fit:
    """What a machine has too little of for a plan, and what is not known of either.

    slow: the plan runs, but measures something else as well.
    """

    agent: str
    impossible: tuple[str, ...] = ()
    slow: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def fits(self) -> bool:
        """Whether everything that is compared is known, and enough."""
        return not (self.impossible or self.slow or self.unknown)


def demand(specs: Sequence[TrialSpec]) -> Demand:
    """Return what the trials take. Disk is not known where host factors decide on which storage data lie."""
    sizes = [kinds().workloads[spec.workload].disk_bytes(spec.parameters) for spec in specs]
    known = [size for size in sizes if size is not None]
    servers = max(len(spec.servers) for spec in specs)
    if len(known) < len(sizes):
        return Demand(None, None, servers)
    placed = any(spec.host for spec in specs)
    disk = None if placed else sum(need.size_bytes for need in needs(specs, known, kinds(), {}))
    return Demand(max(known), disk, servers)


def fit(demanded: Demand, agent: AgentRow) -> Fit:
    """Return how a plan's demand compares with what the agent's last contact found."""
    impossible, slow, unknown = [], [], []
    free_bytes = agent.disk.get("free_bytes")
    if demanded.data_bytes is None:
        unknown.append(gettext("how much data it takes"))
    elif agent.memory_bytes is None:
        unknown.append(gettext("the memory of {agent}").format(agent=agent.name))
    elif demanded.data_bytes > agent.memory_bytes:
        data, memory = (format_quantity(size, "B") for size in (demanded.data_bytes, agent.memory_bytes))
        why = gettext("its {data} of data exceed the {memory} of memory, so that storage is measured as well")
        slow.append(why.format(data=data, memory=memory))
    if demanded.disk_bytes is None:
        unknown.append(gettext("how much disk it takes"))
    elif free_bytes is None:
        unknown.append(gettext("the free disk of {agent}").format(agent=agent.name))
    elif demanded.disk_bytes > free_bytes:
        disk, free = (format_quantity(size, "B") for size in (demanded.disk_bytes, free_bytes))
        impossible.append(gettext("it takes {disk} of disk, and {free} are free").format(disk=disk, free=free))
    if agent.cores is None:
        unknown.append(gettext("the processors of {agent}").format(agent=agent.name))
    elif demanded.servers > agent.cores:
        why = gettext("{servers} servers share {n} processors")
        slow.append(why.format(servers=demanded.servers, n=agent.cores))
    return Fit(agent.name, tuple(impossible), tuple(slow), tuple(dict.fromkeys(unknown)))
