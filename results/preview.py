"""What a plan would do, before anything runs: the matrix, time, disk, and warnings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from results import models
from results.domain.environment.rules import BUILT_DEFAULTS, TOAST_COMPRESSION, compiles_queries
from results.domain.environment.values import client_major, normal
from results.domain.kinds import server_settings
from results.domain.kinds.conditions import NEWEST
from results.domain.kinds.specs import WorkloadSpec
from results.domain.matrix import TrialSpec
from results.domain.matrix.disk_space import Need, needs
from results.domain.messages import COMMA, Message, linked, ngettext_lazy
from results.domain.messages import gettext_lazy as _
from results.domain.plan import Kinds, Plan
from results.domain.statistics.power import FEWEST, detectable
from results.domain.units import format_quantity
from results.estimates import estimate
from results.hostfactors import known_hosts
from results.models.agents import AgentState
from results.plan_check import resolve_plan
from results.queries.agents.noise import Expected, expected_noise
from results.requirements import extension_for
from results.settings_check import installations_of_agents, unchecked_installations

ADVISED_REPLICATES = 5
_STATES: Mapping[str, Message] = {
    AgentState.UNKNOWN_KEY: _("unknown-key"),
    AgentState.CHANGED_KEY: _("changed-key"),
    AgentState.UNREACHABLE: _("unreachable"),
}


@dataclass(frozen=True)
class Warning:
    """A warning about a plan.

    field: the plan's field that it is about
    """

    field: str
    text: str
    todo: str = ""


@dataclass(frozen=True)
class Preview:
    """What a plan would do.

    configurations: (name, factor → level label) of each
    seconds: estimated duration
    seconds_from: what that estimate rests on
    guess: no trial of the kind has run yet
    disk_bytes: data and WAL on all agents; None where it cannot be known before
    disk: the same by agent and storage place
    noise: of the run's first metric, from an A/A run on the same agents; None where there was none
    shown: smallest difference that the plan's replicates show at that noise in four of five cases
    """

    configurations: tuple[tuple[str, Mapping[str, str]], ...]
    trials: int
    seconds: float
    seconds_from: str
    guess: bool
    disk_bytes: int | None
    disk: tuple[Need, ...]
    warnings: tuple[Warning, ...]
    noise: Expected | None = None
    shown: float | None = None


def preview(plan: Plan, kinds: Kinds) -> Preview:
    """Return what a plan would do. Raises PlanError when it cannot run on the agents as last seen."""
    configurations, specs = resolve_plan(plan, kinds)
    workload = kinds.workloads[plan.workload]
    sizes = [workload.disk_bytes(spec.parameters) for spec in specs]
    disk = _disk(specs, sizes, kinds)
    disk_bytes = None if disk is None else sum(need.size_bytes for need in disk)
    expected = estimate(plan, specs, workload)
    noise = expected_noise(plan.workload, workload.headline_for(plan.parameters), specs[0].agents)
    return Preview(
        tuple((configuration.name, configuration.levels) for configuration in configurations),
        len(specs) * plan.replicates,
        expected.seconds,
        expected.source,
        expected.guess,
        disk_bytes,
        disk or (),
        tuple(dict.fromkeys(_warnings(plan, workload, specs, sizes, disk or ()))),
        noise,
        noise.detectable(plan.replicates) if noise else None,
    )


def _disk(specs: Sequence[TrialSpec], sizes: Sequence[int | None], kinds: Kinds) -> tuple[Need, ...] | None:
    """Return what the trials need of each agent's disks, None where the workload cannot know its size before."""
    known_sizes = [size for size in sizes if size is not None]
    if len(known_sizes) < len(sizes):
        return None
    hosts = known_hosts() if any(spec.host for spec in specs) else {}
    return needs(specs, known_sizes, kinds, hosts)


def _warnings(
    plan: Plan,
    workload: WorkloadSpec,
    specs: Sequence[TrialSpec],
    sizes: Sequence[int | None],
    disk: Sequence[Need],
) -> Iterator[Warning]:
    rows = models.Agent.objects.prefetch_related(installations_of_agents(), "host_changes")
    agents = {agent.name: agent for agent in rows}
    if plan.replicates < ADVISED_REPLICATES:
        yield Warning("replicates", _too_few(plan.replicates), _("Use {count} or more.", count=ADVISED_REPLICATES))
    for installation in unchecked_installations(plan, specs, agents.values()):
        text = _(
            "The settings that {installation} has are not known yet: those of the plan are not checked.",
            installation=installation.words,
        )
        yield Warning("settings", text, _("Contact the agent, on its page."))
    yield from _some_compile(specs, agents)
    yield from _some_have_lz4(specs, agents)
    yield from _own_clients(specs, workload, agents)
    for need in disk:
        yield from _too_large(need, agents[need.agent])
    for spec, size in zip(specs, sizes, strict=True):
        server = agents[spec.agents[spec.nodes[0]]]
        yield from _of_configuration(spec, size, server)
        for name in set(spec.agents.values()):
            yield from _not_ready(agents[name])


def _some_compile(specs: Sequence[TrialSpec], agents: Mapping[str, models.Agent]) -> Iterator[Warning]:
    """Queries that only some of the builds can compile just in time are not comparable."""
    can: dict[bool, set[str]] = {}
    for spec in specs:
        row = _installed(spec, agents[spec.agents[spec.nodes[0]]])
        off = normal(spec.settings.get("jit", "on")) == "off"
        if row is not None and not off and compiles_queries(spec.workload, spec.settings):
            can.setdefault(row.has_jit, set()).add(row.name)
    if len(can) > 1:
        with_jit, without = (linked(COMMA, sorted(can[has])) for has in (True, False))
        text = _(
            "{able} can compile queries (JIT) and {unable} cannot: the comparison withholds the verdict.",
            able=with_jit,
            unable=without,
        )
        yield Warning("installation", text, _('Set jit = "off", or choose builds that have LLVM.'))


def _some_have_lz4(specs: Sequence[TrialSpec], agents: Mapping[str, models.Agent]) -> Iterator[Warning]:
    """A default that only some of the builds can have is not comparable. One query, where several are so new."""
    since = BUILT_DEFAULTS[TOAST_COMPRESSION][0]
    unset = [spec for spec in specs if TOAST_COMPRESSION not in spec.settings]
    rows = {_installed(spec, agents[spec.agents[spec.nodes[0]]]) for spec in unset}
    names = {row.pk: row.name for row in rows if row is not None and row.version_num >= since}
    if len(names) < 2:
        return
    can: dict[bool, list[str]] = {}
    for known in models.InstallationSettings.objects.filter(installation__in=names):
        setting = server_settings.read(known.lines).get(TOAST_COMPRESSION)
        can.setdefault(setting is not None and "lz4" in setting.values, []).append(names[known.installation_id])
    if len(can) > 1:
        with_lz4, without = (linked(COMMA, sorted(can[has])) for has in (True, False))
        text = _(
            "{able} compresses long values by lz4 and {unable}, built without it, by pglz: the comparison withholds "
            "the verdict.",
            able=with_lz4,
            unable=without,
        )
        yield Warning("installation", text, _("Set {setting}.", setting=TOAST_COMPRESSION))


def _own_clients(
    specs: Sequence[TrialSpec], workload: WorkloadSpec, agents: Mapping[str, models.Agent]
) -> Iterator[Warning]:
    """A version with its own pgbench: the client is part of every difference."""
    headlines = {workload.headline_for(spec.parameters) for spec in specs}
    if not any(metric.client_overhead for metric in workload.metrics if metric.name in headlines):
        return
    versions = {_client_version(spec, agents) for spec in specs if spec.own_client} - {""}
    if len({client_major(version) for version in versions}) > 1:
        text = _(
            "Each PostgreSQL is measured with its own pgbench ({versions}), whose own speed is part of every "
            "difference.",
            versions=linked(COMMA, sorted(versions)),
        )
        yield Warning("client_programs", text, _("Take {newest} to compare the servers alone.", newest=NEWEST))


def _client_version(spec: TrialSpec, agents: Mapping[str, models.Agent]) -> str:
    rows = agents[spec.agents["client"]].installations.all()
    return next((row.version for row in rows if row.bin_dir == spec.client_bin), "")


def _installed(spec: TrialSpec, server: models.Agent) -> models.Installation | None:
    return next((row for row in server.installations.all() if row.name == spec.installation.name), None)


def _not_ready(agent: models.Agent) -> Iterator[Warning]:
    if agent.state != "ready" or not agent.enabled:
        yield Warning("agents", _waits(agent), _("See the agents page."))
    for change in agent.host_changes.all():
        if change.error:
            text = _(
                "{factor} of agent {agent} could not be set back: its trials fail until it is.",
                factor=change.factor,
                agent=agent.name,
            )
            yield Warning("agents", text, _("See the agent's page."))


def _waits(agent: models.Agent) -> str:
    if not agent.enabled:
        return _("Agent {agent} is not enabled: its trials wait.", agent=agent.name)
    return _(
        "Agent {agent} is {state}: its trials wait.", agent=agent.name, state=_STATES.get(agent.state, agent.state)
    )


def _too_large(need: Need, agent: models.Agent) -> Iterator[Warning]:
    free = agent.disk.get("free_bytes")
    if need.place:
        free = agent.disk.get("places", {}).get(agent.places.get(need.place))
    if free is not None and need.size_bytes > free:
        sizes = {"needed": format_quantity(need.size_bytes, "B"), "free": format_quantity(free, "B")}
        if need.place:
            text = _(
                "{needed} of data and WAL, {free} free in place {place} of {agent}.",
                **sizes,
                place=need.place,
                agent=need.agent,
            )
        else:
            text = _("{needed} of data and WAL, {free} free on {agent}.", **sizes, agent=need.agent)
        yield Warning("parameters.scale", text, _("Use a smaller scale, another agent or another place."))


def _too_few(replicates: int) -> str:
    if replicates < FEWEST:
        return ngettext_lazy(
            "{number:,} replicate are too few for a verdict: every value is shown, but no difference can be called "
            "significant.",
            "{number:,} replicates are too few for a verdict: every value is shown, but no difference can be called "
            "significant.",
            replicates,
        )
    shown, advised = (100 * (detectable(0.01, count) or 0) for count in (replicates, ADVISED_REPLICATES))
    return _(
        "{replicates:,} replicates show only differences of {shown:.1f} times the noise, {more} of {least:.1f}.",
        replicates=replicates,
        shown=shown,
        more=ADVISED_REPLICATES,
        least=advised,
    )


def _of_configuration(spec: TrialSpec, size: int | None, server: models.Agent) -> Iterator[Warning]:
    yield from _too_many_clients(spec)
    yield from _more_than_memory(size, server)
    yield from _access_method_by_extension(spec, server)
    yield from _shared_machines(spec)


def _too_many_clients(spec: TrialSpec) -> Iterator[Warning]:
    clients = int(spec.parameters.get("clients", 1))
    stated = spec.settings.get("max_connections", "100")
    limit = int(stated) if stated.isdecimal() else 100
    if clients > limit - 3:
        text = _("{clients} clients, but max_connections is {limit}.", clients=clients, limit=limit)
        todo = _("Set max_connections to {advised} or more.", advised=clients + 10)
        yield Warning("parameters.clients", text, todo)


def _more_than_memory(size: int | None, server: models.Agent) -> Iterator[Warning]:
    if server.memory_bytes and size is not None and size > server.memory_bytes:
        yield Warning(
            "parameters.scale",
            _(
                "{data} of data, {memory} of memory on {agent}: storage is measured as well.",
                data=format_quantity(size, "B"),
                memory=format_quantity(server.memory_bytes, "B"),
                agent=server.name,
            ),
        )


def _access_method_by_extension(spec: TrialSpec, server: models.Agent) -> Iterator[Warning]:
    """An access method that the build lacks was brought by an extension, or the plan would have been refused."""
    if not spec.access_method:
        return
    row = _installed(spec, server)
    if row is None or not row.access_methods or spec.access_method in row.access_methods:
        return
    text = _(
        "{installation} has no access method {access_method} by itself: its extension {extension} must have been made "
        "in the trials' cluster.",
        installation=row.name,
        access_method=spec.access_method,
        extension=extension_for(spec.access_method, row.extensions),
    )
    yield Warning("access_method", text)


def _shared_machines(spec: TrialSpec) -> Iterator[Warning]:
    servers = [spec.agents[node] for node in spec.servers]
    machines = set(servers)
    if {spec.agents[client] for client in spec.clients} & machines:
        text = _("Client and server share a machine: the client's CPU is taken from the server.")
        yield Warning("agents.client", text, _("Use a second agent where there is one."))
    if len(machines) < len(servers):
        text = ngettext_lazy(
            "{servers} servers on {number} machine: each takes processors from the others.",
            "{servers} servers on {number} machines: each takes processors from the others.",
            len(machines),
            servers=len(servers),
        )
        yield Warning("agents", text, _("Name an agent for each."))
