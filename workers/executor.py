"""Run one attempt, phase by phase, and archive its bundle. Knows no database.

prepare  connect, remove what dead attempts left, set the host factors, build the topology
load     load the data, by the plan's policy
arrange  arrange the other servers, where they need the data first
warm     warm the caches, by the plan's policy; the workload's own warm-up; a checkpoint
verify   check what must hold before the clock starts
watch    start the collectors
measure  run the workload, for its duration
collect  stop the collectors and fetch their files
audit    check the data after the run, where the workload does
clean    remove the attempt's files; after a failure end its sessions, and servers that hang; revert the host factors;
         stop servers that no trial waits for
"""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Sequence, Set
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from results import VERSION
from results.domain.environment.layers import Layer, LayerKind
from results.domain.environment.rules import OWN_CLIENTS
from results.domain.errors import (
    AgentError,
    DeadlineError,
    TeitenError,
    TrialError,
    UnreachableError,
    VerifyError,
)
from results.domain.kinds.host_factors import Change
from results.domain.kinds.specs import GRACE_S
from results.domain.matrix import TrialSpec
from results.domain.matrix.deadlines import deadlines
from results.domain.matrix.program_needs import ProgramNeed, needed_by, used_by
from results.domain.measurement.activity import ActivitySample
from results.domain.measurement.parsed_trial import CommandRun, LayerUse
from workers import data, registry
from workers.activity_monitor import ActivityMonitor, Report
from workers.bundle.manifest import Manifest, Node
from workers.bundle.writer import Archived, BundleWriter
from workers.host.factors import ReportChanges
from workers.host.use import HostUse
from workers.interfaces import (
    ArrangingTopology,
    AuditingWorkload,
    DetachedWorkload,
    ReleasingTopology,
    Service,
    Stage,
    SteeredWorkload,
)
from workers.orders import Order
from workers.phases import Phases, Progress
from workers.postgres import sessions, settings
from workers.postgres.server import Server
from workers.remote import job, programs
from workers.remote.connection import Remote, connected
from workers.servers.nodes import all_of

log = logging.getLogger(__name__)
T = TypeVar("T")
Idle = Callable[[], Awaitable[Collection[str]]]
LOST = "lost"
CANCELLED = "cancelled"
_SAVE_S, _SAVE_CANCELLED_S = 300.0, 60.0  # a server that hangs gives its statistics to nobody


@dataclass
class _Attempt:
    """The state of one attempt, filled phase by phase and kept whatever happens.

    nodes: the trial's roles, with the clocks of their agents
    watching: (collector, node) of each that was started
    error: why the attempt failed, `TeitenError.as_dict()`
    """

    order: Order
    writer: BundleWriter
    phases: Phases
    stage: Stage
    host: HostUse
    nodes: list[Node] = field(default_factory=list)
    layers: list[LayerUse] = field(default_factory=list)
    watching: list[tuple[str, str]] = field(default_factory=list)
    error: dict[str, Any] | None = None

    @property
    def remotes(self) -> list[Remote]:
        return list({remote.address.name: remote for remote in self.stage.agents.values()}.values())


async def discard_changes(agent: str, changes: Sequence[Change]) -> None:
    """Report nothing, for attempts without a warehouse: files on the agent hold what is changed there."""


async def discard_sample(look: ActivitySample | None) -> None:
    """Report nothing, for attempts that no page shows while they run."""


async def always_leased() -> bool:
    """Return True, for attempts without a warehouse: no other attempt can take their agents."""
    return True


async def run(
    order: Order,
    bundles: Path,
    progress: Progress,
    idle: Idle,
    report_changes: ReportChanges = discard_changes,
    report_look: Report = discard_sample,
    has_leases: Callable[[], Awaitable[bool]] = always_leased,
) -> tuple[Archived, dict[str, Any] | None]:
    """Run the attempt and archive its bundle; return the archive, and the error that ended the attempt or None.

    Never raises for a failure of an agent or a server: that is in the error and in the manifest. Raises IngestError,
    before anything is done, where the attempt has a bundle already.

    Cancelled with the message LOST, the attempt has lost its agents to another one, and touches nothing there but its
    own files. Cancelled with another message, it cleans up. It must not be cancelled in the phase `clean`.

    bundles: folder for the archive
    progress: called with each phase and its expected seconds
    idle: returns, at the end, the names of the attempt's agents that no other trial waits for; their servers stop
    report_changes: called with an agent's host factors that are not at their own value, whenever these change
    report_look: called with what sessions wait for where a phase takes longer than expected; with None once it ended
    has_leases: returns, before cleaning up, whether the agents are still this attempt's
    """
    writer = BundleWriter(bundles, order.trial_key, order.attempt)
    stage = Stage(order.spec, {}, {}, writer, job_name=f"{order.trial_key.replace('/', '-')}-{order.attempt}")
    if workload := registry.kinds().workloads.get(order.spec.workload):
        stage.measured_s = workload.measured_s(order.spec.parameters, order.spec.duration_s)
        stage.stored_by = workload.stored_by(order.spec.parameters)
        stage.deadlines = deadlines(order.spec, registry.kinds(), order.past_s)
    host = HostUse(stage, order.hosts, order.trial_key, report_changes)
    phases = Phases(stage, progress, ActivityMonitor(stage, report_look), time.time())
    attempt = _Attempt(order, writer, phases, stage, host)
    lost = False
    async with AsyncExitStack() as connections:
        try:
            await _phases(attempt, connections)
        except asyncio.CancelledError as error:
            lost = error.args == (LOST,)
            if not lost:
                stopped = TrialError("The trial was cancelled.", where=_last_phase(attempt))
                attempt.error = stopped.as_dict() | {"kind": CANCELLED}
        except Exception as error:  # noqa: BLE001  (any error belongs into the bundle and onto the page)
            _record_error(attempt, error)
        # Another attempt on these agents may have caused the error before a heartbeat noticed the lost lease.
        lost = lost or not await has_leases()
        if lost:
            _record_lost_agents(attempt)
        await _clean(attempt, lost, idle)
    archived = await asyncio.to_thread(writer.finish, _manifest(attempt))
    return archived, dict(archived.error) if archived.error else None


async def _phases(attempt: _Attempt, connections: AsyncExitStack) -> None:
    stage, spec = attempt.stage, attempt.order.spec
    workload, topology = registry.workload(spec.workload), registry.topology(spec.topology)
    async with attempt.phases.phase("prepare"):
        await _connect(attempt, connections)
        await _require_programs(attempt)
        await attempt.host.prepare(registry.kinds().topologies[spec.topology].in_mid_run(spec.topology_parameters))
        await topology.build(stage)
        _record_forced_stops(attempt)
        if await _end_sessions(attempt, "reused"):  # a server that hangs was left by an attempt whose worker died
            await topology.build(stage)
        await attempt.host.make_tablespaces()
    async with attempt.phases.phase("load"):
        attempt.layers.append(await data.load(stage))
    if isinstance(topology, ArrangingTopology):
        async with attempt.phases.phase("arrange"):
            await topology.arrange(stage)
            _record_forced_stops(attempt)
    async with attempt.phases.phase("warm", spec.warmup_s):
        await data.warm(stage)
    async with attempt.phases.phase("verify"):
        await all_of([topology.verify(stage), workload.verify(stage), _describe(attempt)])
        attempt.layers += await attempt.host.verify()
        _require_checks(attempt.writer)
    async with attempt.phases.phase("watch"):
        await _watch(attempt)
    async with attempt.phases.phase("measure", attempt.order.past_s if stage.measured_s is None else stage.measured_s):
        if isinstance(workload, DetachedWorkload):
            await workload.start(stage)
            await workload.finish(stage)
        elif isinstance(workload, SteeredWorkload):
            await workload.measure(stage)
        else:
            raise TypeError(f"the workload {spec.workload} has neither start and finish nor measure")
    async with attempt.phases.phase("collect"):
        await _collect(attempt)
    if isinstance(workload, AuditingWorkload):
        async with attempt.phases.phase("audit"):
            await workload.audit(stage)


async def _connect(attempt: _Attempt, connections: AsyncExitStack) -> None:
    order, stage = attempt.order, attempt.stage
    names = sorted(set(order.spec.agents.values()))

    async def open_one(name: str) -> Remote:
        try:
            return await connections.enter_async_context(connected(order.addresses[name]))
        except AgentError as error:
            raise UnreachableError(name, error) from error

    opened = await all_of(open_one(name) for name in names)
    by_name = dict(zip(names, opened, strict=True))
    stage.agents = {role: by_name[name] for role, name in order.spec.agents.items()}
    for role, node in _machines_by_role(stage).items():
        node.node, node.phase = role, "prepare"
    await all_of(job.sweep(remote) for remote in attempt.remotes)
    clocks = dict(zip(names, await all_of(remote.clock_offset() for remote in opened), strict=True))
    attempt.nodes = [Node(role, name, *clocks[name]) for role, name in order.spec.agents.items()]
    stage.clock_offsets_s = {role: clocks[name][0] for role, name in order.spec.agents.items()}
    used = used_by(order.spec, registry.kinds())
    for role, remote in _machines_by_role(stage).items():
        agent = remote.address.name
        attempt.layers += [LayerUse(role, _of_trial(layer, used[agent])) for layer in order.layers[agent]]


def _of_trial(layer: Layer, programs: Set[str]) -> Layer:
    """Return the layer of a machine with no programs but these: another version of one that a trial does not use is no
    difference of its environment."""
    if layer.kind != LayerKind.TOOL:
        return layer
    return Layer(layer.kind, {name: found for name, found in layer.content.items() if name in programs})


async def _require_programs(attempt: _Attempt) -> None:
    """Raise where an agent lacks a program that the trial needs; the facts of its last contact may be out of date."""
    needs: dict[str, list[ProgramNeed]] = defaultdict(list)
    for need in needed_by(attempt.order.spec, registry.kinds()):
        needs[need.agent].append(need)
    remotes = {remote.address.name: remote for remote in attempt.remotes}
    await all_of(programs.require(remotes[agent], of_agent) for agent, of_agent in needs.items())


def _machines_by_role(stage: Stage) -> dict[str, Remote]:
    """Return each machine once, under the first server role that it plays, else under its client role."""
    first_roles: dict[str, tuple[str, Remote]] = {}
    nodes = [node for node in stage.spec.nodes if node not in stage.spec.outside]
    for role in (*nodes, *stage.spec.clients):
        remote = stage.agents[role]
        first_roles.setdefault(remote.address.name, (role, remote))
    return dict(first_roles.values())


async def _describe(attempt: _Attempt) -> None:
    """Add the layers that are known only from the running server."""
    spec, server = attempt.order.spec, attempt.stage.primary
    effective = await settings.effective(server, attempt.stage.database)
    build = dict(attempt.order.build)
    topology = {"name": spec.topology, **spec.topology_parameters}
    client = {
        "threads_rule": spec.threads,
        "bin": spec.client_bin,
        "version": attempt.order.client_version,
        "agents": len(set(spec.agents.values())),
        **({OWN_CLIENTS: True} if spec.own_client else {}),
    }
    attempt.layers += [
        LayerUse("primary", settings.layer(effective)),
        LayerUse("primary", settings.defaults_layer(effective)),
        LayerUse("primary", Layer(LayerKind.BUILD, {**build, "initdb": list(spec.initdb)})),
        LayerUse("primary", Layer(LayerKind.ACCESS_METHOD, {"access_method": spec.access_method or "heap"})),
        LayerUse("primary", Layer(LayerKind.TOPOLOGY, topology)),
        LayerUse("client", Layer(LayerKind.CLIENT, client)),
        LayerUse("client", Layer(LayerKind.TOOL, {"teiten": VERSION, **_provided_files(spec)})),
    ]


def _provided_files(spec: TrialSpec) -> dict[str, str]:
    digests = registry.kinds().workloads[spec.workload].provided(spec.parameters)
    return {f"{name} SHA-256": digest for name, digest in digests.items()}


def _require_checks(writer: BundleWriter) -> None:
    failed = [check for check in writer.checks if not check.passed]
    if not failed:
        return
    raise VerifyError(
        "Something did not hold before the clock started.",
        where="verify",
        why="; ".join(
            f"{check.name} on {check.node}: expected {check.expected}, found {check.actual}" for check in failed
        ),
        todo="Mend it, then retry.",
    )


def _collector_nodes(stage: Stage, on: str) -> Sequence[str]:
    if on == "agents":
        return list(_machines_by_role(stage))
    if on == "servers":
        return list(stage.servers)
    return [on] if on in stage.agents else []


async def _watch(attempt: _Attempt) -> None:
    stage, spec = attempt.stage, attempt.order.spec
    specs = registry.kinds().collectors
    collectors = [(name, node) for name in spec.collectors for node in _collector_nodes(stage, specs[name].on)]

    async def start(name: str, node: str) -> None:
        try:
            await registry.collector(name).start(stage, node)
        except AgentError as error:
            _record_missing_collector(attempt, name, node, error)
        else:
            attempt.watching.append((name, node))

    await all_of(start(name, node) for name, node in collectors)


async def _collect(attempt: _Attempt) -> None:
    async def stop(name: str, node: str) -> None:
        try:
            await registry.collector(name).stop(attempt.stage, node)
        except AgentError as error:
            _record_missing_collector(attempt, name, node, error)

    await all_of(stop(name, node) for name, node in attempt.watching)


def _record_missing_collector(attempt: _Attempt, name: str, node: str, error: AgentError) -> None:
    if name in attempt.order.spec.required_collectors:
        raise error
    attempt.writer.gap(name, node, str(error))


def _last_phase(attempt: _Attempt) -> str:
    return attempt.phases.done[-1].name if attempt.phases.done else "prepare"


def _record_error(attempt: _Attempt, error: Exception) -> None:
    where = _last_phase(attempt)
    if isinstance(error, TeitenError):
        attempt.error = error.as_dict() | {"phase": where}
        return
    log.error("attempt %s of trial %s", attempt.order.attempt, attempt.order.trial_key, exc_info=error)
    attempt.writer.add("traceback.txt", "".join(traceback.format_exception(error)))
    unexpected = TrialError(
        f"Teiten itself failed: {type(error).__name__}.",
        where=where,
        why=str(error),
        todo="Report it with traceback.txt.",
    )
    attempt.error = unexpected.as_dict() | {"phase": where}


def _record_lost_agents(attempt: _Attempt) -> None:
    why = str(attempt.error["what"]) if attempt.error else ""
    error = TrialError("The attempt lost its agents.", where=_last_phase(attempt), why=why)
    attempt.error = error.as_dict() | {"kind": LOST}


async def _clean(attempt: _Attempt, lost: bool, idle: Idle) -> None:
    """Leave the agents clean; what fails is recorded as a gap and does not hide the first error."""
    if not attempt.stage.agents:
        return
    try:
        async with attempt.phases.phase("clean"):
            await _end_jobs(attempt, failed=attempt.error is not None and not lost)
            if not lost:
                await _restore(attempt)
                await _tear_down(attempt, await idle())
    except TeitenError as error:
        attempt.writer.gap("clean", "", str(error))


async def _end_jobs(attempt: _Attempt, *, failed: bool) -> None:
    """End the trial's jobs on its agents; after a failure save their output first."""
    if failed and attempt.error is not None:
        await _save_output(attempt, str(attempt.error["kind"]))
    for remote in attempt.remotes:
        await _try_step(attempt, "jobs", job.sweep(remote, only=attempt.stage.job_name))
    if failed:
        await _try_step(attempt, "sessions", _end_sessions(attempt))


async def _restore(attempt: _Attempt) -> None:
    """Release what the topology holds beside its servers, and revert the host factors."""
    stage, topology = attempt.stage, registry.topology(attempt.order.spec.topology)
    if isinstance(topology, ReleasingTopology):
        await _try_step(attempt, "topology", topology.release(stage))
        await _try_step(attempt, "jobs", job.sweep(stage.client, only=stage.job_name))
    await _try_step(attempt, "host factors", attempt.host.revert())


async def _tear_down(attempt: _Attempt, agents: Collection[str]) -> None:
    """Stop the servers on these agents, for which no other trial waits."""
    stage, topology = attempt.stage, registry.topology(attempt.order.spec.topology)
    idle = {role: remote for role, remote in stage.agents.items() if remote.address.name in agents}
    if idle:
        await _try_step(attempt, "servers", topology.tear_down(replace(stage, agents=idle)))


async def _end_sessions(attempt: _Attempt, how: str = "") -> bool:
    """End the sessions that clients left on the servers, and stop servers that hang; return whether one did.

    The trial that used them does so, lest the next one waits for it. Raises AgentError, after trying all.

    how: only on servers that were started in this way (`Server.how`); '' for all
    """

    async def end_on(node: str, server: Server) -> str:
        forced_stop = await sessions.end(server)
        if forced_stop:
            attempt.writer.gap("server", node, forced_stop)
        return forced_stop

    servers = {node: server for node, server in attempt.stage.servers.items() if not server.outside}
    return any(await all_of(end_on(node, server) for node, server in servers.items() if how in ("", server.how)))


def _record_forced_stops(attempt: _Attempt) -> None:
    """Record as a gap, once, each server that ran with other settings and had to be forced to stop."""
    recorded = {gap.reason for gap in attempt.writer.gaps}
    for node, server in attempt.stage.servers.items():
        if server.forced and server.forced not in recorded:
            attempt.writer.gap("server", node, server.forced)


async def _try_step(attempt: _Attempt, step: str, work: Awaitable[object], limit_s: float = GRACE_S) -> None:
    """Await one step of cleaning up; a failure or a timeout is recorded as a gap, and the cleaning goes on."""
    try:
        async with asyncio.timeout(limit_s):
            await work
    except TeitenError as error:
        attempt.writer.gap("clean", "", str(error))
    except TimeoutError:
        attempt.writer.gap("clean", "", f"{step}: it took longer than {limit_s:g} s and was given up")


async def _save_output(attempt: _Attempt, kind: str) -> None:
    if kind == DeadlineError.kind:  # its clients are gone, but not the locks of its sessions
        await _try_step(attempt, "sessions", _end_sessions(attempt))
    limit_s = _SAVE_CANCELLED_S if kind == CANCELLED else _SAVE_S
    await _try_step(attempt, "what was gathered", _save_logs(attempt), limit_s)


async def _save_logs(attempt: _Attempt) -> None:
    """Add the end of each server's log and what the collectors had gathered, after a failure."""
    running: dict[str, Service] = {**attempt.stage.servers, **attempt.stage.poolers, **attempt.stage.services}
    for role, service in running.items():
        try:
            attempt.writer.add(f"server/{role}.log", await service.log_tail())
        except TeitenError as error:
            attempt.writer.gap("server log", role, str(error))
    if _last_phase(attempt) == "measure" and not any(phase.name == "collect" for phase in attempt.phases.done):
        await _collect(attempt)


def _manifest(attempt: _Attempt) -> Manifest:
    window = attempt.writer.notes.get("window")
    commands: list[CommandRun] = [command for remote in attempt.remotes for command in remote.log]
    return Manifest(
        trial_key=attempt.order.trial_key,
        attempt=attempt.order.attempt,
        teiten=VERSION,
        started_s=attempt.phases.started_s,
        ended_s=attempt.phases.started_s + attempt.phases.elapsed_s,
        spec=attempt.order.spec.to_json(),
        window=(window[0], window[1]) if window else None,
        error=attempt.error,
        nodes=tuple(attempt.nodes),
        collectors=tuple(sorted(attempt.watching)),
        phases=tuple(attempt.phases.done),
        commands=tuple(commands),
        layers=tuple(attempt.layers),
    )
