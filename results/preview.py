"""What a plan would do, before anything runs: the matrix, time, disk, and warnings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from results import models
from results.matrix import TrialSpec
from results.plan import Kinds, Plan
from results.queries.estimates import past_seconds
from results.runs import resolved
from results.units import format_quantity

LOAD_BYTES_A_SECOND = 30e6  # a modest machine; only until there are past trials
FEWEST_REPLICATES = 4  # three can never be significant under a rank test


@dataclass(frozen=True)
class Warning:
    """field: the plan's field it is about."""

    field: str
    text: str
    todo: str = ""


@dataclass(frozen=True)
class Preview:
    """configurations: (name, factor → level label). seconds_from: what the estimate rests on."""

    configurations: tuple[tuple[str, Mapping[str, str]], ...]
    trials: int
    seconds: float
    seconds_from: str
    disk_bytes: int
    warnings: tuple[Warning, ...]


def preview(plan: Plan, kinds: Kinds) -> Preview:
    """Raises PlanError when the plan cannot run on the agents as known."""
    configurations, specs = resolved(plan, kinds)
    sizes = [kinds.workloads[plan.workload].disk_bytes(spec.parameters) for spec in specs]
    disk = _disk(plan, specs, sizes, kinds)
    seconds, seconds_from = _seconds(plan, specs, disk)
    return Preview(
        tuple((configuration.name, configuration.levels) for configuration in configurations),
        len(specs) * plan.replicates,
        seconds,
        seconds_from,
        disk,
        tuple(dict.fromkeys(_warnings(plan, specs, sizes, disk))),
    )


def _disk(plan: Plan, specs: Sequence[TrialSpec], sizes: Sequence[int], kinds: Kinds) -> int:
    """Reused and template data stay, one copy for each (installation, data); a copy or a load needs one more."""
    workload = kinds.workloads[plan.workload]
    kept: dict[tuple[object, ...], int] = {}
    for spec, size in zip(specs, sizes, strict=True):
        key = (
            spec.installation.name,
            spec.access_method,
            *sorted(workload.data_key(spec.parameters).items()),
        )
        kept[key] = size if spec.data != "fresh" else 0
    extra = [size for spec, size in zip(specs, sizes, strict=True) if spec.data != "reuse"]
    return sum(kept.values()) + max(extra, default=0)


def _seconds(plan: Plan, specs: Sequence[TrialSpec], disk: int) -> tuple[float, str]:
    measured = sum(spec.warmup_s + spec.duration_s for spec in specs) * plan.replicates
    past = past_seconds(plan.workload)
    if past.trials:
        overhead = past.seconds * len(specs) * plan.replicates
        return measured + overhead, f"the median overhead of {past.trials} past trials"
    return measured + disk / LOAD_BYTES_A_SECOND + len(specs) * plan.replicates, "durations alone: no trial has run yet"


def _warnings(plan: Plan, specs: Sequence[TrialSpec], sizes: Sequence[int], disk: int) -> Iterator[Warning]:
    agents = {agent.name: agent for agent in models.Agent.objects.prefetch_related("installations")}
    if plan.replicates < FEWEST_REPLICATES:
        yield Warning(
            "replicates",
            f"{plan.replicates} replicates are too few for a verdict: every value is shown, but no difference can be "
            "called significant.",
            f"Use {FEWEST_REPLICATES} or more.",
        )
    for spec, size in zip(specs, sizes, strict=True):
        server = agents[next(agent for role, agent in spec.agents.items() if role != "client")]
        yield from _one(spec, size, server)
        free = server.disk.get("free_bytes")
        if free is not None and disk > free:
            todo = "Use a smaller scale, or another agent."
            yield Warning(
                "parameters.scale",
                f"{format_quantity(disk, 'B')} of data, {format_quantity(free, 'B')} free on {server.name}.",
                todo,
            )
        for name in set(spec.agents.values()):
            if agents[name].state != "ready" or not agents[name].enabled:
                what = agents[name].state if agents[name].enabled else "not enabled"
                yield Warning("agents", f"Agent {name} is {what}: its trials wait.", "See the agents page.")


def _one(spec: TrialSpec, size: int, server: models.Agent) -> Iterator[Warning]:
    clients = int(spec.parameters.get("clients", 1))
    stated = spec.settings.get("max_connections", "100")
    limit = int(stated) if stated.isdecimal() else 100
    if clients > limit - 3:
        todo = f"Set max_connections to {clients + 10} or more."
        yield Warning("parameters.clients", f"{clients} clients, but max_connections is {limit}.", todo)
    if server.memory_bytes and size > server.memory_bytes:
        yield Warning(
            "parameters.scale",
            f"{format_quantity(size, 'B')} of data, {format_quantity(server.memory_bytes, 'B')} of memory on "
            f"{server.name}: storage is measured as well.",
        )
    if spec.access_method:
        known = next((i.access_methods for i in server.installations.all() if i.name == spec.installation.name), None)
        if known and spec.access_method not in known:
            text = f"{spec.installation.name} has no access method {spec.access_method!r}."
            yield Warning("access_method", text, f"It has {', '.join(known)}.")
    if len(set(spec.agents.values())) < len(spec.agents):
        text = "Client and server share a machine: the client's CPU is taken from the server."
        yield Warning("agents.client", text, "Use a second agent where there is one.")
