"""Plan → configurations × replicates, blocked and shuffled from a stored seed. Pure."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from results.errors import PlanError, Problem
from results.parameters import Parameter, Scalar
from results.plan import Kinds, Plan
from results.specs import Target, WorkloadSpec, role_of


@dataclass(frozen=True)
class InstallationRef:
    """One PostgreSQL build on an agent. name: as shown and as in plans; client_bin: where psql and pgbench are."""

    name: str
    bin_dir: str
    client_bin: str
    version: str
    version_num: int


@dataclass(frozen=True)
class Load:
    """One set of clients: on the agent of the role client, at the server of a node. name: the node that its numbers are
    filed under. clients, threads: its own, 0 = as the parameters say. workload: as of `Target`."""

    name: str
    client: str
    server: str
    clients: int = 0
    threads: int = 0
    workload: bool = True


_OF_SEVERAL = ("loads", "installations", "client_bins", "poolers", "outside")  # written only where they say more
_USUAL = {"patience": 1}  # written only where they are otherwise
ONE_LOAD = (Load("client", "client", "primary"),)


@dataclass(frozen=True)
class TrialSpec:
    """One configuration, resolved: all that is needed to run a trial of it. JSON-ready both ways.

    parameters: complete (defaults filled in). agents: client, further clients (`client2`), then every server by its
    node → agent name. threads: pgbench threads, at least 1. access_method: '' = the server's default. initdb: extra
    initdb options. loads: who drives which server; empty is `ONE_LOAD`. installations, client_bins: of nodes and
    clients on whose agents they lie elsewhere. poolers: nodes that are no PostgreSQL, but pass load on. outside: nodes
    on machines that are no agents: theirs in `agents` is the one that they are asked from. host: host factor →
    level. patience: factor of every deadline."""

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
    loads: tuple[Load, ...] = ()
    installations: Mapping[str, InstallationRef] = field(default_factory=dict)
    client_bins: Mapping[str, str] = field(default_factory=dict)
    poolers: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    host: Mapping[str, str] = field(default_factory=dict)
    patience: float = 1

    @property
    def nodes(self) -> tuple[str, ...]:
        """Every server and pooler, in the topology's order: the primary first."""
        return tuple(role for role in self.agents if not is_client(role))

    @property
    def servers(self) -> tuple[str, ...]:
        """Every PostgreSQL, the primary first."""
        return tuple(node for node in self.nodes if node not in self.poolers)

    @property
    def clients(self) -> tuple[str, ...]:
        """Every role that drives load: `client` first."""
        return tuple(role for role in self.agents if is_client(role))

    def installation_of(self, node: str) -> InstallationRef:
        return self.installations.get(node, self.installation)

    def client_bin_of(self, client: str) -> str:
        """Where psql and pgbench are on the agent of this client."""
        return self.client_bins.get(client) or self.client_bin or self.installation.client_bin

    def to_json(self) -> dict[str, Any]:
        """Without what only topologies of several servers have. order: of the agents' roles, which jsonb loses."""
        found = {k: v for k, v in asdict(self).items() if (v or k not in _OF_SEVERAL) and _USUAL.get(k) != v}
        return found | ({"order": list(self.agents)} if len(self.agents) > 2 else {})

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> TrialSpec:
        order = value.get("order", value["agents"])
        value = {k: v for k, v in value.items() if k != "order"}
        value["agents"] = {role: value["agents"][role] for role in order}
        tuples = ("initdb", "collectors", "required_collectors", "poolers", "outside")
        fields: dict[str, Any] = {k: tuple(v) if k in tuples else v for k, v in value.items()}
        elsewhere = {node: InstallationRef(**ref) for node, ref in value.get("installations", {}).items()}
        fields |= {"loads": tuple(Load(**load) for load in value.get("loads", ())), "installations": elsewhere}
        return cls(**fields | {"installation": InstallationRef(**value["installation"])})


def is_client(role: str) -> bool:
    return role_of(role) == "client"


def _number_of(client: str) -> int:
    """`client10` → 10."""
    return int(client.removeprefix("client"))


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


def runs_commands(plan: Plan, kinds: Kinds) -> bool:
    """Whether a trial of the plan may run a shell command of the plan's own on an agent (`WorkloadSpec.commands`)."""
    for name, values in kinds.workloads[plan.workload].commands.items():
        levels = [level.values for factor in plan.factors for level in factor.levels]
        if any(chosen.get(name) in values for chosen in (plan.parameters, *levels)):
            return True
    named = [f"topology.{name}" for spec in kinds.topologies.values() for name in spec.commands]
    chosen_anywhere = [plan.base_values(), *(level.values for factor in plan.factors for level in factor.levels)]
    return any(str(chosen.get(name, "")).strip() for name in named for chosen in chosen_anywhere)


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
        parameters = _declared(workload.parameters, values)
        arranged = _declared(topology.parameters, values, "topology.")
        nodes = topology.nodes_of(arranged)
        agents = self.agents(nodes, "client" if topology.outside else nodes[0])
        installation = self.installation(agents[nodes[0]])
        _refuse(topology.problems(arranged, installation.version_num))
        self.check_loss(workload, parameters, topology.loses_until_s(arranged))
        poolers = tuple(node for node in nodes if role_of(node) in topology.poolers)
        servers = [node for node in nodes if node not in poolers]
        clients = int(parameters.get("clients", 0))
        threads = threads_for(str(values["threads"]), clients or 1)
        loads = self.loads(workload, topology.targets(arranged), agents, clients, threads)
        _refuse(topology.too_many(arranged, sum(load.clients or clients for load in loads)))
        check_readers(int(parameters.get("transactions", 0)), loads)
        return TrialSpec(
            workload=workload.name,
            parameters=parameters,
            topology=topology.name,
            topology_parameters=arranged,
            installation=installation,
            agents=agents,
            settings=_named("setting.", values),
            access_method=str(values["access_method"]),
            initdb=self.plan.initdb,
            data=str(values["data"]),
            cache=str(values["cache"]),
            warmup_s=float(values["warmup_s"]),
            duration_s=float(values["duration_s"]),
            threads=threads,
            collectors=tuple(dict.fromkeys([*self.plan.collectors, *topology.collectors_for(arranged)])),
            required_collectors=self.plan.required_collectors,
            client_bin=self.client_bin("client", agents, agents[nodes[0]], installation),
            loads=loads,
            installations={} if topology.outside else self.installations(servers, agents, installation),
            outside=self.outside(nodes) if topology.outside else (),
            client_bins=self.client_bins(agents, poolers, agents[nodes[0]], installation),
            poolers=poolers,
            host=_named("host.", values),
            patience=self.plan.patience,
        )

    def named_as(self, role: str) -> str:
        """What the plan calls the agent of a node or client: as itself, or as its role; '' where it names none."""
        return next((name for name in (role, role_of(role)) if name in self.plan.agents), "")

    def outside(self, nodes: Sequence[str]) -> tuple[str, ...]:
        return tuple(node for node in nodes if not self.named_as(node))

    def check_loss(self, workload: WorkloadSpec, parameters: Mapping[str, Scalar], until_s: float | None) -> None:
        """Whether the workload can go on when a server is lost in mid-run, and has the time to."""
        if until_s is None:
            return
        if not workload.survives:
            able = ", ".join(sorted(name for name, spec in self.kinds.workloads.items() if spec.survives))
            what = f"The clients of {workload.title} end with their server: it cannot be measured over a failover."
            raise PlanError([Problem("workload", what, f"Choose a workload that goes on: {able}.")])
        length_s = workload.measured_s(parameters, float(self.values["duration_s"]))
        if length_s is not None and until_s >= length_s:
            what = f"The measured window is over after {length_s:g} s, the standby is promoted at second {until_s:g}."
            raise PlanError([Problem("duration_s", what, "Measure for longer, or let the primary fail earlier.")])

    def agents(self, nodes: Sequence[str], first: str) -> dict[str, str]:
        """client, further clients, every node → the agent that the plan names for it, for its role, or else for the
        first of all."""
        named = self.plan.agents
        main = next(filter(None, map(self.named_as, (first, *nodes, "client"))), next(iter(named)))
        further = sorted((role for role in named if is_client(role) and role != "client"), key=_number_of)
        agents: dict[str, str] = {}
        for role in ("client", *further, *nodes):
            agent = named[self.named_as(role) or main]
            if agent not in self.installed:
                where, known = self.named_as(role) or role, ", ".join(sorted(self.installed)) or "none yet"
                raise PlanError([Problem(f"agents.{where}", f"There is no agent {agent!r}.", f"There are: {known}.")])
            agents[role] = agent
        return agents

    def installation(self, agent: str) -> InstallationRef:
        wanted = str(self.values["installation"])
        found = find_installation(wanted, self.installed[agent])
        if found is None:
            known = ", ".join(i.name for i in self.installed[agent])
            what = f"Agent {agent} has no PostgreSQL {wanted!r}."
            todo = f"It has: {known}. If it was installed there since, contact the agent again."
            if not known:
                what = f"No PostgreSQL of agent {agent} is known."
                todo = "They are looked for at each contact: see the agent's page."
            raise PlanError([Problem("installation", what, todo)])
        return found

    def installations(
        self, nodes: Sequence[str], agents: Mapping[str, str], first: InstallationRef
    ) -> dict[str, InstallationRef]:
        """The same version on the other agents, where it lies elsewhere."""
        found: dict[str, InstallationRef] = {}
        for node in nodes:
            if agents[node] == agents[nodes[0]]:
                continue
            same = find_installation(first.version, self.installed[agents[node]])
            if same is None:
                raise PlanError(
                    [
                        Problem(
                            f"agents.{role_of(node)}",
                            f"Agent {agents[node]} has no PostgreSQL {first.version}, which {agents[nodes[0]]} has.",
                            "All servers of one trial are of one version: install it there.",
                        )
                    ]
                )
            if same != first:
                found[node] = same
        return found

    def client_bins(
        self, agents: Mapping[str, str], poolers: Collection[str], first: str, installation: InstallationRef
    ) -> dict[str, str]:
        """Of clients and poolers on other agents than the first client's."""
        found: dict[str, str] = {}
        for role in agents:
            if (is_client(role) or role in poolers) and agents[role] != agents["client"]:
                found[role] = self.client_bin(role, agents, first, installation)
        return found

    def client_bin(self, client: str, agents: Mapping[str, str], first: str, installation: InstallationRef) -> str:
        if agents[client] == first:
            return installation.client_bin
        candidates = [i for i in self.installed[agents[client]] if i.client_bin]
        same = find_installation(installation.version, candidates)
        chosen = same or max(candidates, key=lambda candidate: candidate.version_num, default=None)
        if chosen is None:
            what = f"Agent {agents[client]} has no psql and pgbench."
            raise PlanError([Problem(f"agents.{client}", what, "Install PostgreSQL's client programs there.")])
        return chosen.client_bin

    def loads(
        self, workload: WorkloadSpec, targets: Sequence[Target], agents: Mapping[str, str], clients: int, threads: int
    ) -> tuple[Load, ...]:
        """Which client drives which server. A server that several drive gets the parameter `clients` shared out among
        them, but for sets of clients that have names. Empty: the usual one load."""
        sources = [role for role in agents if is_client(role)]
        if len(sources) == 1 and tuple(targets) == (Target("primary"),):
            return ()
        elsewhere = workload.survives and len(sources) == len(targets) == 1
        if not elsewhere and not workload.several(workload.complete(self.values)):
            what = f"{workload.title} runs from one client at one server."
            raise PlanError([Problem("workload", what, "Name one client, and let the load go to the primary alone.")])
        pairs = _paired(sources, targets)
        loads: list[Load] = []
        drivers_of = _drivers_of(pairs)
        for client, target in pairs:
            drivers, name = drivers_of[target.node, target.name], target.name or target.node
            if len(drivers) == 1:
                loads.append(Load(name, client, target.node, workload=target.workload))
                continue
            own = _share(clients, drivers, client)
            own_threads = min(own, max(1, threads // len(drivers)))
            name = client if len(targets) == 1 else f"{name}-{client}"
            loads.append(Load(name, client, target.node, own, own_threads, target.workload))
        return tuple(loads)


def _declared(parameters: Iterable[Parameter], values: Mapping[str, Scalar], prefix: str = "") -> dict[str, Scalar]:
    """Every parameter by its own name: as the configuration says, else its default."""
    return {parameter.name: values.get(f"{prefix}{parameter.name}", parameter.default) for parameter in parameters}


def _named(prefix: str, values: Mapping[str, Scalar]) -> dict[str, str]:
    """What is set under names of one's own: 'setting.work_mem' → 'work_mem'."""
    return {name.removeprefix(prefix): str(value) for name, value in values.items() if name.startswith(prefix)}


def _refuse(problems: Iterable[Problem]) -> None:
    """Raises PlanError with what a topology finds wrong with its parameters, if anything."""
    if found := [Problem(f"topology.{one.field}", one.what, one.todo) for one in problems]:
        raise PlanError(found)


def _paired(clients: Sequence[str], targets: Sequence[Target]) -> list[tuple[str, Target]]:
    """As many of one as of the other are paired; else the fewer take turns."""
    longest = max(len(clients), len(targets))
    return [(clients[index % len(clients)], targets[index % len(targets)]) for index in range(longest)]


def _drivers_of(pairs: Sequence[tuple[str, Target]]) -> dict[tuple[str, str], list[str]]:
    """(node, name) of each target → the clients that drive it."""
    drivers: dict[tuple[str, str], list[str]] = {}
    for client, target in pairs:
        drivers.setdefault((target.node, target.name), []).append(client)
    return drivers


def _share(clients: int, drivers: Sequence[str], driver: str) -> int:
    """How many of a target's clients one of its drivers has; the first ones have the remainder. Raises PlanError."""
    if clients < len(drivers):
        what = f"{clients} clients cannot be shared out among {len(drivers)} agents."
        raise PlanError([Problem("parameters.clients", what, f"Take at least {len(drivers)} clients.")])
    each, remainder = divmod(clients, len(drivers))
    return each + (1 if drivers.index(driver) < remainder else 0)


def check_readers(transactions: int, loads: Sequence[Load]) -> None:
    """Who reads beside the workload must know when to stop. Raises PlanError. transactions: of each client, 0 = by
    duration."""
    readers = [load.name for load in loads if not load.workload]
    if readers and transactions:
        what = (
            f"The clients of the primary end after {transactions} transactions each, at a moment that nobody knows "
            f"before; those who only read ({', '.join(readers)}) could not stop with them."
        )
        todo = "Set transactions to 0 and give a duration, or let the load go to the primary alone."
        raise PlanError([Problem("parameters.transactions", what, todo)])


def dimensions(spec: TrialSpec) -> dict[str, Scalar]:
    """Everything by which trials are told apart and chosen, flat. `version` is the exact one, `major` '9.6', '16'."""
    number = spec.installation.version_num
    major = str(number // 10000) if number >= 100000 else f"{number // 10000}.{number // 100 % 100}"
    roles = {f"agent.{role}": agent for role, agent in spec.agents.items()}
    return {
        "workload": spec.workload,
        "topology": spec.topology,
        "nodes": len(spec.servers),
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
        **{f"host.{name}": level for name, level in spec.host.items()},
    }
