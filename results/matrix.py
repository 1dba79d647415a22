"""Plan → configurations × replicates, blocked and shuffled from a stored seed. Pure."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from results.errors import PlanError, Problem
from results.parameters import Scalar
from results.plan import Kinds, Plan
from results.specs import TopologySpec


@dataclass(frozen=True)
class InstallationRef:
    """One PostgreSQL build on an agent. name: as shown and as in plans; client_bin: where psql and pgbench are."""

    name: str
    bin_dir: str
    client_bin: str
    version: str
    version_num: int


@dataclass(frozen=True)
class TrialSpec:
    """One configuration, resolved: all that is needed to run a trial of it. JSON-ready both ways.

    parameters: complete (defaults filled in). agents: role → agent name. threads: pgbench threads, at least 1.
    access_method: '' = the server's default. initdb: extra initdb options."""

    workload: str
    parameters: Mapping[str, Scalar]
    topology: str
    topology_parameters: Mapping[str, Scalar]
    installation: InstallationRef
    agents: Mapping[str, str]
    settings: Mapping[str, str]
    access_method: str = ""
    initdb: tuple[str, ...] = ()
    data: str = "reuse"
    cache: str = "prewarm"
    warmup_s: float = 0
    duration_s: float = 60
    threads: int = 1
    collectors: tuple[str, ...] = ()
    required_collectors: tuple[str, ...] = ()
    client_bin: str = ""  # psql and pgbench on the client's agent

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> TrialSpec:
        tuples = ("initdb", "collectors", "required_collectors")
        fields: dict[str, Any] = {k: tuple(v) if k in tuples else v for k, v in value.items()}
        return cls(**fields | {"installation": InstallationRef(**value["installation"])})


@dataclass(frozen=True)
class Configuration:
    """One level of each factor. levels: factor → level label. values: target → value, the plan's fixed values
    overlaid by the levels' (targets as in `results.plan`)."""

    levels: Mapping[str, str]
    values: Mapping[str, Scalar]

    @property
    def name(self) -> str:
        """Short and unique within its plan: '16 · select-only · 4 clients' is for pages; this is 'a=1, b=2'."""
        return ", ".join(f"{factor}={label}" for factor, label in self.levels.items()) or "the only configuration"


@dataclass(frozen=True)
class Slot:
    """One trial's place: position in the run's order (from 0), block (from 1), index of its configuration."""

    position: int
    block: int
    configuration: int


def expand(plan: Plan) -> tuple[Configuration, ...]:
    """Every combination of the factors' levels that is not excluded, in the factors' own order."""
    base = plan.base_values()
    found: list[Configuration] = []
    for combination in itertools.product(*(factor.levels for factor in plan.factors)):
        levels = {f.name: level.label for f, level in zip(plan.factors, combination, strict=True)}
        if any(all(levels.get(k) == v for k, v in excluded.items()) for excluded in plan.exclude):
            continue
        values = dict(base)
        for level in combination:
            values.update(level.values)
        found.append(Configuration(levels, values))
    return tuple(found)


def order(configurations: int, blocks: Sequence[int], seed: int, first_position: int = 0) -> tuple[Slot, ...]:
    """Slots of the given blocks: each block holds every configuration once, in an order drawn from (seed, block),
    so that blocks added later leave the earlier ones as they were."""
    slots: list[Slot] = []
    for block in blocks:
        indices = list(range(configurations))
        random.Random(f"{seed}/{block}").shuffle(indices)
        start = first_position + len(slots)
        slots.extend(Slot(start + place, block, index) for place, index in enumerate(indices))
    return tuple(slots)


def threads_for(rule: str, clients: int) -> int:
    """'clients/2' with 5 clients → 2; at least 1, at most one a client."""
    if rule.isdigit():
        return max(1, min(int(rule), clients))
    return max(1, clients // int(rule.partition("/")[2] or 1))


def find_installation(wanted: str, installed: Sequence[InstallationRef]) -> InstallationRef | None:
    """By exact name, else the newest whose version begins with `wanted` ('16' → 16.9, not 160)."""
    exact = [candidate for candidate in installed if candidate.name == wanted]
    if exact:
        return exact[0]
    fitting = [c for c in installed if re.match(re.escape(wanted) + r"(?![0-9])", c.version)]
    return max(fitting, key=lambda candidate: candidate.version_num, default=None)


def resolve(
    plan: Plan,
    configurations: Sequence[Configuration],
    installed: Mapping[str, Sequence[InstallationRef]],
    kinds: Kinds,
) -> tuple[TrialSpec, ...]:
    """Configurations → what is needed to run each, in the same order. installed: agent name → its installations.
    Raises PlanError with every problem found."""
    problems: dict[tuple[str, str], Problem] = {}
    specs: list[TrialSpec] = []
    for configuration in configurations:
        try:
            specs.append(_Resolver(plan, configuration.values, installed, kinds).spec())
        except PlanError as error:
            problems |= {(problem.field, problem.what): problem for problem in error.problems}
    if problems:
        raise PlanError(list(problems.values()))
    return tuple(specs)


class _Resolver:
    def __init__(
        self,
        plan: Plan,
        values: Mapping[str, Scalar],
        installed: Mapping[str, Sequence[InstallationRef]],
        kinds: Kinds,
    ) -> None:
        self.plan, self.values, self.installed, self.kinds = plan, values, installed, kinds

    def spec(self) -> TrialSpec:
        values, workload = self.values, self.kinds.workloads[self.plan.workload]
        topology = self.kinds.topologies[str(values["topology"])]
        agents = self.agents(topology)
        installation = self.installation(agents[topology.roles[0]])
        parameters = {p.name: values.get(p.name, p.default) for p in workload.parameters}
        return TrialSpec(
            workload=workload.name,
            parameters=parameters,
            topology=topology.name,
            topology_parameters={p.name: values.get(f"topology.{p.name}", p.default) for p in topology.parameters},
            installation=installation,
            agents=agents,
            settings={k.removeprefix("setting."): str(v) for k, v in values.items() if k.startswith("setting.")},
            access_method=str(values["access_method"]),
            initdb=self.plan.initdb,
            data=str(values["data"]),
            cache=str(values["cache"]),
            warmup_s=float(values["warmup_s"]),
            duration_s=float(values["duration_s"]),
            threads=threads_for(str(values["threads"]), int(parameters.get("clients", 1))),
            collectors=self.plan.collectors,
            required_collectors=self.plan.required_collectors,
            client_bin=self.client_bin(agents, installation),
        )

    def agents(self, topology: TopologySpec) -> dict[str, str]:
        named = self.plan.agents
        main = next((role for role in (*topology.roles, "client") if role in named), next(iter(named)))
        agents = {role: named.get(role, named[main]) for role in ("client", *topology.roles)}
        for asked, agent in agents.items():
            if agent not in self.installed:
                role, known = asked if asked in named else main, ", ".join(sorted(self.installed)) or "none yet"
                raise PlanError([Problem(f"agents.{role}", f"There is no agent {agent!r}.", f"There are: {known}.")])
        return agents

    def installation(self, agent: str) -> InstallationRef:
        wanted = str(self.values["installation"])
        found = find_installation(wanted, self.installed[agent])
        if found is None:
            known = ", ".join(i.name for i in self.installed[agent]) or "none"
            raise PlanError(
                [Problem("installation", f"Agent {agent} has no PostgreSQL {wanted!r}.", f"It has: {known}.")]
            )
        return found

    def client_bin(self, agents: Mapping[str, str], installation: InstallationRef) -> str:
        if agents["client"] == agents[self.kinds.topologies[str(self.values["topology"])].roles[0]]:
            return installation.client_bin
        candidates = [i for i in self.installed[agents["client"]] if i.client_bin]
        same = find_installation(installation.version, candidates)
        chosen = same or max(candidates, key=lambda candidate: candidate.version_num, default=None)
        if chosen is None:
            what = f"Agent {agents['client']} has no psql and pgbench."
            raise PlanError([Problem("agents.client", what, "Install PostgreSQL's client programs there.")])
        return chosen.client_bin


def dimensions(spec: TrialSpec) -> dict[str, Scalar]:
    """Everything by which trials are told apart and chosen, flat. `version` is the exact one, `major` '9.6', '16'."""
    number = spec.installation.version_num
    major = str(number // 10000) if number >= 100000 else f"{number // 10000}.{number // 100 % 100}"
    roles = {f"agent.{role}": agent for role, agent in spec.agents.items()}
    return {
        "workload": spec.workload,
        "topology": spec.topology,
        "installation": spec.installation.name,
        "version": spec.installation.version,
        "major": major,
        "access_method": spec.access_method or "heap",
        "data": spec.data,
        "cache": spec.cache,
        "threads": spec.threads,
        "duration_s": spec.duration_s,
        "warmup_s": spec.warmup_s,
        "initdb": " ".join(spec.initdb),
        "collectors": ", ".join(sorted(spec.collectors)),
        **roles,
        **spec.parameters,
        **{f"topology.{name}": value for name, value in spec.topology_parameters.items()},
        **{f"setting.{name}": value for name, value in spec.settings.items()},
    }
