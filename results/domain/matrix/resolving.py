"""Configurations → what a trial of each needs on the agents as they are, or why it cannot run there."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from results.domain.environment.values import is_release
from results.domain.errors import PlanError, Problem
from results.domain.kinds.conditions import NEWEST, OWN
from results.domain.kinds.parameters import Parameter, Scalar
from results.domain.kinds.specs import RoleKind, Target, WorkloadSpec, role_of
from results.domain.matrix.configurations import Configuration
from results.domain.matrix.values import InstallationRef, Load, TrialSpec, is_client
from results.domain.messages import gettext_lazy as _
from results.domain.nearest import suggestion
from results.domain.plan import Kinds, Plan


def threads_for(rule: str, clients: int) -> int:
    """'clients/2' with 5 clients → 2; at least 1, at most one a client."""
    if rule.isdigit():
        return max(1, min(int(rule), clients))
    return max(1, clients // int(rule.partition("/")[2] or 1))


def find_installation(name: str, installed: Sequence[InstallationRef]) -> InstallationRef | None:
    """By exact name, else the newest whose version begins with `name` ('16' → 16.9, not 160)."""
    exact = [candidate for candidate in installed if candidate.name == name]
    if exact:
        return exact[0]
    fitting = [c for c in installed if re.match(re.escape(name) + r"(?![0-9])", c.version)]
    return max(fitting, key=lambda candidate: candidate.version_num, default=None)


def resolve(
    plan: Plan,
    configurations: Sequence[Configuration],
    installed: Mapping[str, Sequence[InstallationRef]],
    kinds: Kinds,
) -> tuple[TrialSpec, ...]:
    """Configurations → what is needed to run each, in the same order. Raises PlanError with every problem found.

    installed: agent name → its installations."""
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
        poolers = topology.of_kind(RoleKind.POOLER, nodes)
        servers = topology.of_kind(RoleKind.SERVER, nodes)
        clients = int(parameters.get("clients", 0))
        threads = threads_for(str(values["threads"]), clients or 1)
        loads = self.loads(workload, topology.targets(arranged), agents, clients, threads)
        _refuse(topology.limit_problems(arranged, sum(load.clients or clients for load in loads)))
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
            services=topology.of_kind(RoleKind.SERVICE, nodes),
            host=_named("host.", values),
            patience=self.plan.patience,
            own_client=self.own_client and installation.client_bin == installation.bin_dir,
        )

    def named_as(self, role: str) -> str:
        """What the plan calls the agent of a node or client: as itself, or as its role; '' where it names none."""
        return next((name for name in (role, role_of(role)) if name in self.plan.agents), "")

    def outside(self, nodes: Sequence[str]) -> tuple[str, ...]:
        return tuple(node for node in nodes if not self.named_as(node))

    def check_loss(self, workload: WorkloadSpec, parameters: Mapping[str, Scalar], until_s: float | None) -> None:
        """Return whether the workload can go on when a server is lost in mid-run, and has the time to."""
        if until_s is None:
            return
        if not workload.tolerates_failover:
            able = ", ".join(sorted(name for name, spec in self.kinds.workloads.items() if spec.tolerates_failover))
            what = _(
                "The clients of {workload} end with their server: it cannot be measured over a failover.",
                workload=workload.title,
            )
            todo = _("Choose a workload that goes on: {workloads}.", workloads=able)
            raise PlanError([Problem("workload", what, todo)])
        length_s = workload.measured_s(parameters, float(self.values["duration_s"]))
        if length_s is not None and until_s >= length_s:
            what = _(
                "The measured window is over after {length:g} s, the standby is promoted at second {promoted:g}.",
                length=length_s,
                promoted=until_s,
            )
            todo = _("Measure for longer, or let the primary fail earlier.")
            raise PlanError([Problem("duration_s", what, todo)])

    def agents(self, nodes: Sequence[str], first: str) -> dict[str, str]:
        """client, further clients, every node → the agent that the plan names for it, for its role, or else for the
        first of all."""
        named = self.plan.agents
        main = next(filter(None, map(self.named_as, (first, *nodes, "client"))), next(iter(named)))
        further = sorted((role for role in named if is_client(role) and role != "client"), key=_number_of)
        owners = {role: self.named_as(role) or main for role in ("client", *further, *nodes)}
        if unknown := [self.unknown_agent(owner) for owner in sorted(set(owners.values())) if self.is_unknown(owner)]:
            raise PlanError(unknown)
        return {role: named[owner] for role, owner in owners.items()}

    def is_unknown(self, role: str) -> bool:
        return self.plan.agents[role] not in self.installed

    def unknown_agent(self, role: str) -> Problem:
        agent = self.plan.agents[role]
        todo = suggestion(agent, sorted(self.installed)) if self.installed else _("There are none yet: add one.")
        return Problem(f"agents.{role}", _("There is no agent {agent!r}.", agent=agent), todo)

    def installation(self, agent: str) -> InstallationRef:
        name = str(self.values["installation"])
        match = find_installation(name, self.installed[agent])
        if match is None:
            known = [candidate.name for candidate in self.installed[agent]]
            what = _("Agent {agent} has no PostgreSQL {name!r}.", agent=agent, name=name)
            todo = _("{meant} If it was installed there since, contact the agent again.", meant=suggestion(name, known))
            if not known:
                what = _("No PostgreSQL of agent {agent} is known.", agent=agent)
                todo = _("They are looked for at each contact: see the agent's page.")
            raise PlanError([Problem("installation", what, todo)])
        return match

    def installations(
        self, nodes: Sequence[str], agents: Mapping[str, str], first: InstallationRef
    ) -> dict[str, InstallationRef]:
        """The same version on the other agents, where it lies elsewhere."""
        elsewhere: dict[str, InstallationRef] = {}
        for node in nodes:
            if agents[node] == agents[nodes[0]]:
                continue
            same = find_installation(first.version, self.installed[agents[node]])
            if same is None:
                what = _(
                    "Agent {agent} has no PostgreSQL {version}, which {other} has.",
                    agent=agents[node],
                    version=first.version,
                    other=agents[nodes[0]],
                )
                todo = _("All servers of one trial are of one version: install it there.")
                raise PlanError([Problem(f"agents.{role_of(node)}", what, todo)])
            if same != first:
                elsewhere[node] = same
        return elsewhere

    @property
    def own_client(self) -> bool:
        return self.values["client_programs"] == OWN

    def client_bins(
        self, agents: Mapping[str, str], poolers: Collection[str], first: str, installation: InstallationRef
    ) -> dict[str, str]:
        """Of clients and poolers on other agents than the first client's."""
        folders: dict[str, str] = {}
        for role in agents:
            if (is_client(role) or role in poolers) and agents[role] != agents["client"]:
                folders[role] = self.client_bin(role, agents, first, installation)
        return folders

    def client_bin(self, client: str, agents: Mapping[str, str], first: str, installation: InstallationRef) -> str:
        wanted = str(self.values["client_programs"])
        of_installation = wanted in ("", OWN)
        if of_installation and agents[client] == first:
            return installation.client_bin
        candidates = [i for i in self.installed[agents[client]] if i.client_bin]
        if not candidates:
            what = _("Agent {agent} has no psql and pgbench.", agent=agents[client])
            raise PlanError([Problem(f"agents.{client}", what, _("Install PostgreSQL's client programs there."))])
        newest = max(candidates, key=lambda one: (is_release(one.version), one.version_num))
        version = installation.version if of_installation else wanted
        chosen = newest if wanted == NEWEST else find_installation(version, candidates)
        if chosen is None and wanted:
            known = ", ".join(candidate.name for candidate in candidates)
            what = _(
                "Agent {agent} has no client programs of PostgreSQL {version!r}.",
                agent=agents[client],
                version=version,
            )
            todo = _("It has those of {known}; or write {newest} or {own}.", known=known, newest=NEWEST, own=OWN)
            raise PlanError([Problem("client_programs", what, todo)])
        return (chosen or newest).client_bin

    def loads(
        self, workload: WorkloadSpec, targets: Sequence[Target], agents: Mapping[str, str], clients: int, threads: int
    ) -> tuple[Load, ...]:
        """Which client drives which server. A server that several drive gets the parameter `clients` shared out among
        them, but for sets of clients that have names. Empty: the usual one load."""
        sources = [role for role in agents if is_client(role)]
        if len(sources) == 1 and tuple(targets) == (Target("primary"),):
            return ()
        elsewhere = workload.tolerates_failover and len(sources) == len(targets) == 1
        if not elsewhere and not workload.several(workload.complete(self.values)):
            what = _("{workload} runs from one client at one server.", workload=workload.title)
            todo = _("Name one client, and let the load go to the primary alone.")
            raise PlanError([Problem("workload", what, todo)])
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
    """Refuse parameters that are wrong together. Raises PlanError with what is wrong, if anything is."""
    if refused := [Problem(f"topology.{one.field}", one.what, one.todo) for one in problems]:
        raise PlanError(refused)


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
        what = _("{clients} clients cannot be shared out among {agents} agents.", clients=clients, agents=len(drivers))
        todo = _("Take at least {clients} clients.", clients=len(drivers))
        raise PlanError([Problem("parameters.clients", what, todo)])
    each, remainder = divmod(clients, len(drivers))
    return each + (1 if drivers.index(driver) < remainder else 0)


def check_readers(transactions: int, loads: Sequence[Load]) -> None:
    """Who reads beside the workload must know when to stop. Raises PlanError.

    transactions: of each client, 0 = by duration."""
    readers = [load.name for load in loads if not load.workload]
    if readers and transactions:
        what = _(
            "The clients of the primary end after {transactions} transactions each, at a moment that nobody knows "
            "before; those who only read ({readers}) could not stop with them.",
            transactions=transactions,
            readers=", ".join(readers),
        )
        todo = _("Set transactions to 0 and give a duration, or let the load go to the primary alone.")
        raise PlanError([Problem("parameters.transactions", what, todo)])


def _number_of(client: str) -> int:
    """`client10` → 10."""
    return int(client.removeprefix("client"))
