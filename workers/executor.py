"""One attempt as a list of named phases. Values in, an archived bundle out; knows no database.

prepare  connect, clear away what dead attempts left, set the host factors, build the topology
load     the data, by the plan's policy
arrange  the other servers, where they need the data first
warm     the caches, by the plan's policy; the workload's own warm-up; a checkpoint
verify   what must hold before the clock starts (DESIGN decision 9)
watch    start the collectors
measure  the workload, for its duration
collect  stop the collectors, fetch what they wrote
audit    what must hold of the data afterwards, where the workload has something to ask
clean    remove the attempt's files; after a failure end its sessions, and servers that hang; revert the host factors;
         stop servers that nothing waits for
"""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from results import VERSION
from results.domain.environment.layers import Layer, LayerKind
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
from results.domain.matrix.program_needs import ProgramNeed, needed_by
from results.domain.measurement.activity import Look
from results.domain.measurement.parsed_trial import CommandRun, LayerUse
from workers import data, registry
from workers.bundle.manifest import Manifest, Node
from workers.bundle.writer import Archived, BundleWriter
from workers.host.factors import Noted
from workers.host.use import HostUse
from workers.interfaces import Arranged, Audited, Released, Service, Stage
from workers.lookout import ActivityMonitor, Report
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
_SALVAGE_S, _SALVAGE_CANCELLED_S = 300.0, 60.0  # a server that hangs gives its statistics to nobody


@dataclass
class _Attempt:
    """What one attempt is doing: filled phase by phase, kept whatever happens."""

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


async def noted_nowhere(agent: str, changes: Sequence[Change]) -> None:
    """For attempts beside a warehouse: the agent's own files know what is changed there."""


async def seen_by_none(look: Look | None) -> None:
    """For attempts that nobody looks at while they run."""


async def always_ours() -> bool:
    """For attempts beside a warehouse, whose agents nobody else is given."""
    return True


async def run(
    order: Order,
    bundles: Path,
    progress: Progress,
    idle: Idle,
    noted: Noted = noted_nowhere,
    seen: Report = seen_by_none,
    ours: Callable[[], Awaitable[bool]] = always_ours,
) -> tuple[Archived, dict[str, Any] | None]:
    """Runs the attempt and archives its bundle under `bundles`: (where, error). Never raises for what an agent or a
    server did: that is in the error and in the manifest. idle: asked at the end for the names of the agents that are
    still this attempt's and that no other trial waits for; there running servers are stopped. noted: told what of an
    agent is not at its own value, whenever that changes. seen: told what sessions wait for where a phase takes longer
    than it should; None: no longer. ours: asked before cleaning up whether the agents are still this attempt's.

    Cancelled with the message LOST, it has lost its agents to another attempt: it touches nothing there but its own
    files. Cancelled otherwise, it cleans up as ever. It must not be cancelled once it is in the phase `clean`."""
    writer = BundleWriter(bundles, order.trial_key, order.attempt)
    stage = Stage(order.spec, {}, {}, writer, job_name=f"{order.trial_key.replace('/', '-')}-{order.attempt}")
    if workload := registry.kinds().workloads.get(order.spec.workload):
        stage.measured_s = workload.measured_s(order.spec.parameters, order.spec.duration_s)
        stage.stored_by = workload.stored_by(order.spec.parameters)
        stage.deadlines = deadlines(order.spec, registry.kinds(), order.past_s)
    host = HostUse(stage, order.hosts, order.trial_key, noted)
    attempt = _Attempt(order, writer, Phases(stage, progress, ActivityMonitor(stage, seen), time.time()), stage, host)
    lost = False
    async with AsyncExitStack() as connections:
        try:
            await _phases(attempt, connections)
        except asyncio.CancelledError as error:
            lost = error.args == (LOST,)
            if not lost:
                stopped = TrialError("The trial was cancelled.", where=_where(attempt))
                attempt.error = stopped.as_dict() | {"kind": CANCELLED}
        except Exception as error:  # noqa: BLE001  (whatever it was, it ends in the bundle and on the page)
            _failed(attempt, error)
        # What has gone wrong may be the successor's doing, before any heartbeat could tell of it.
        if lost := lost or not await ours():
            _lost(attempt)
        await _clean(attempt, lost, idle)
    archived = await asyncio.to_thread(writer.finish, _manifest(attempt))
    return archived, attempt.error


async def _phases(attempt: _Attempt, connections: AsyncExitStack) -> None:
    stage, spec = attempt.stage, attempt.order.spec
    workload, topology = registry.workload(spec.workload), registry.topology(spec.topology)
    async with attempt.phases.phase("prepare"):
        await _connect(attempt, connections)
        await _require_programs(attempt)
        await attempt.host.prepare(registry.kinds().topologies[spec.topology].in_mid_run(spec.topology_parameters))
        await topology.build(stage)
        _tell_forced(attempt)
        if await _end_sessions(attempt, "reused"):  # an attempt whose worker died had left a server hanging
            await topology.build(stage)
        await attempt.host.built()
    async with attempt.phases.phase("load"):
        attempt.layers.append(await data.load(stage))
    if isinstance(topology, Arranged):
        async with attempt.phases.phase("arrange"):
            await topology.arrange(stage)
            _tell_forced(attempt)
    async with attempt.phases.phase("warm", spec.warmup_s):
        await data.warm(stage)
    async with attempt.phases.phase("verify"):
        await all_of([topology.verify(stage), workload.verify(stage), _describe(attempt)])
        attempt.layers += await attempt.host.verify()
        _require(attempt.writer)
    async with attempt.phases.phase("watch"):
        await _watch(attempt)
    async with attempt.phases.phase("measure", attempt.order.past_s if stage.measured_s is None else stage.measured_s):
        await workload.measure(stage)
    async with attempt.phases.phase("collect"):
        await _collect(attempt)
    if isinstance(workload, Audited):
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
    for role, node in _nodes(stage).items():
        node.node, node.phase = role, "prepare"
    await all_of(job.sweep(remote) for remote in attempt.remotes)
    clocks = dict(zip(names, await all_of(remote.clock_offset() for remote in opened), strict=True))
    attempt.nodes = [Node(role, name, *clocks[name]) for role, name in order.spec.agents.items()]
    stage.clock_offsets_s = {role: clocks[name][0] for role, name in order.spec.agents.items()}
    for role, remote in _nodes(stage).items():
        attempt.layers += [LayerUse(role, layer) for layer in order.layers[remote.address.name]]


async def _require_programs(attempt: _Attempt) -> None:
    """Looks for what the trial cannot do without, now and on the agents: what a contact found may be long gone."""
    needs: dict[str, list[ProgramNeed]] = defaultdict(list)
    for need in needed_by(attempt.order.spec, registry.kinds()):
        needs[need.agent].append(need)
    remotes = {remote.address.name: remote for remote in attempt.remotes}
    await all_of(programs.require(remotes[agent], of_agent) for agent, of_agent in needs.items())


def _nodes(stage: Stage) -> dict[str, Remote]:
    """Each machine once, under the first server role that it plays, else 'client'."""
    found: dict[str, tuple[str, Remote]] = {}
    for role in (*(node for node in stage.spec.nodes if node not in stage.spec.outside), *stage.spec.clients):
        remote = stage.agents[role]
        found.setdefault(remote.address.name, (role, remote))
    return dict(found.values())


async def _describe(attempt: _Attempt) -> None:
    """The layers that only the running server can tell."""
    spec, server = attempt.order.spec, attempt.stage.primary
    effective = await settings.effective(server, attempt.stage.database)
    build = dict(attempt.order.build)
    topology = {"name": spec.topology, **spec.topology_parameters}
    client = {
        "threads_rule": spec.threads,
        "bin": spec.client_bin,
        "version": attempt.order.client_version,
        "agents": len(set(spec.agents.values())),
    }
    attempt.layers += [
        LayerUse("primary", settings.layer(effective)),
        LayerUse("primary", settings.defaults_layer(effective)),
        LayerUse("primary", Layer(LayerKind.BUILD, {**build, "initdb": list(spec.initdb)})),
        LayerUse("primary", Layer(LayerKind.ACCESS_METHOD, {"access_method": spec.access_method or "heap"})),
        LayerUse("primary", Layer(LayerKind.TOPOLOGY, topology)),
        LayerUse("client", Layer(LayerKind.CLIENT, client)),
        LayerUse("client", Layer(LayerKind.TOOL, {"teiten": VERSION, **_brought(spec)})),
    ]


def _brought(spec: TrialSpec) -> dict[str, str]:
    found = registry.kinds().workloads[spec.workload].brought(spec.parameters)
    return {f"{name} SHA-256": digest for name, digest in found.items()}


def _require(writer: BundleWriter) -> None:
    broken = [check for check in writer.checks if not check.passed]
    if broken:
        said = "; ".join(
            f"{check.name} on {check.node}: expected {check.expected}, found {check.actual}" for check in broken
        )
        raise VerifyError(
            "Something did not hold before the clock started.",
            where="verify",
            why=said,
            todo="Mend it, then retry.",
        )


def _targets(stage: Stage, on: str) -> Sequence[str]:
    if on == "agents":
        return list(_nodes(stage))
    if on == "servers":
        return list(stage.servers)
    return [on] if on in stage.agents else []


async def _watch(attempt: _Attempt) -> None:
    stage, spec = attempt.stage, attempt.order.spec
    specs = registry.kinds().collectors
    wanted = [(name, node) for name in spec.collectors for node in _targets(stage, specs[name].on)]

    async def start(name: str, node: str) -> None:
        try:
            await registry.collector(name).start(stage, node)
        except AgentError as error:
            _gap(attempt, name, node, error)
        else:
            attempt.watching.append((name, node))

    await all_of(start(name, node) for name, node in wanted)


async def _collect(attempt: _Attempt) -> None:
    async def stop(name: str, node: str) -> None:
        try:
            await registry.collector(name).stop(attempt.stage, node)
        except AgentError as error:
            _gap(attempt, name, node, error)

    await all_of(stop(name, node) for name, node in attempt.watching)


def _gap(attempt: _Attempt, name: str, node: str, error: AgentError) -> None:
    if name in attempt.order.spec.required_collectors:
        raise error
    attempt.writer.gap(name, node, str(error))


def _where(attempt: _Attempt) -> str:
    return attempt.phases.done[-1].name if attempt.phases.done else "prepare"


def _failed(attempt: _Attempt, error: Exception) -> None:
    where = _where(attempt)
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


def _lost(attempt: _Attempt) -> None:
    why = str(attempt.error["what"]) if attempt.error else ""
    error = TrialError("The attempt lost its agents.", where=_where(attempt), why=why)
    attempt.error = error.as_dict() | {"kind": LOST}


async def _clean(attempt: _Attempt, lost: bool, idle: Idle) -> None:
    """Leaves the agents clean; what it cannot do is written down and does not hide the first error."""
    if not attempt.stage.agents:
        return
    try:
        async with attempt.phases.phase("clean"):
            await _end_jobs(attempt, failed=attempt.error is not None and not lost)
            if not lost:
                await _give_back(attempt)
                await _tear_down(attempt, await idle())
    except TeitenError as error:
        attempt.writer.gap("clean", "", str(error))


async def _end_jobs(attempt: _Attempt, *, failed: bool) -> None:
    """Ends what the trial runs on its agents; after a failure what was gathered is saved first."""
    if failed and attempt.error is not None:
        await _rescue(attempt, str(attempt.error["kind"]))
    for remote in attempt.remotes:
        await _as_far_as_it_goes(attempt, "jobs", job.sweep(remote, only=attempt.stage.job_name))
    if failed:
        await _as_far_as_it_goes(attempt, "sessions", _end_sessions(attempt))


async def _give_back(attempt: _Attempt) -> None:
    """What the topology holds beside its servers, and what was set on the machines."""
    stage, topology = attempt.stage, registry.topology(attempt.order.spec.topology)
    if isinstance(topology, Released):
        await _as_far_as_it_goes(attempt, "topology", topology.release(stage))
        await _as_far_as_it_goes(attempt, "jobs", job.sweep(stage.client, only=stage.job_name))
    await _as_far_as_it_goes(attempt, "host factors", attempt.host.revert())


async def _tear_down(attempt: _Attempt, agents: Collection[str]) -> None:
    """Stops the servers on these agents, for which no other trial waits."""
    stage, topology = attempt.stage, registry.topology(attempt.order.spec.topology)
    if unwanted := {role: remote for role, remote in stage.agents.items() if remote.address.name in agents}:
        await _as_far_as_it_goes(attempt, "servers", topology.tear_down(replace(stage, agents=unwanted)))


async def _end_sessions(attempt: _Attempt, how: str = "") -> bool:
    """Ends what clients have left on the servers (how: on those alone that were found so), and stops those that hang:
    by the trial that had them, not at the cost of the next. Whether one did. Raises AgentError, after trying all."""

    async def one(node: str, server: Server) -> str:
        if done := await sessions.end(server):
            attempt.writer.gap("server", node, done)
        return done

    own = {node: server for node, server in attempt.stage.servers.items() if not server.outside}
    return any(await all_of(one(node, server) for node, server in own.items() if how in ("", server.how)))


def _tell_forced(attempt: _Attempt) -> None:
    """Names the servers that ran with other settings and did not end by themselves, each once."""
    told = {gap.reason for gap in attempt.writer.gaps}
    for node, server in attempt.stage.servers.items():
        if server.forced and server.forced not in told:
            attempt.writer.gap("server", node, server.forced)


async def _as_far_as_it_goes(attempt: _Attempt, step: str, work: Awaitable[object], limit_s: float = GRACE_S) -> None:
    """What fails, or takes too long, is written down, and the cleaning goes on."""
    try:
        async with asyncio.timeout(limit_s):
            await work
    except TeitenError as error:
        attempt.writer.gap("clean", "", str(error))
    except TimeoutError:
        attempt.writer.gap("clean", "", f"{step}: it took longer than {limit_s:g} s and was given up")


async def _rescue(attempt: _Attempt, kind: str) -> None:
    if kind == DeadlineError.kind:  # its clients are gone, but not the locks of its sessions
        await _as_far_as_it_goes(attempt, "sessions", _end_sessions(attempt))
    limit_s = _SALVAGE_CANCELLED_S if kind == CANCELLED else _SALVAGE_S
    await _as_far_as_it_goes(attempt, "what was gathered", _salvage(attempt), limit_s)


async def _salvage(attempt: _Attempt) -> None:
    """After a failure: the end of each server's log, and what collectors had gathered."""
    running: dict[str, Service] = {**attempt.stage.servers, **attempt.stage.poolers, **attempt.stage.services}
    for role, service in running.items():
        try:
            attempt.writer.add(f"server/{role}.log", await service.log_tail())
        except TeitenError as error:
            attempt.writer.gap("server log", role, str(error))
    if _where(attempt) == "measure" and not any(phase.name == "collect" for phase in attempt.phases.done):
        await _collect(attempt)


def _manifest(attempt: _Attempt) -> Manifest:
    window = attempt.writer.notes.get("window")
    commands: list[CommandRun] = [command for remote in attempt.remotes for command in remote.log]
    return Manifest(
        trial_key=attempt.order.trial_key,
        attempt=attempt.order.attempt,
        teiten=VERSION,
        started_s=attempt.phases.started_s,
        ended_s=time.time(),
        spec=attempt.order.spec.to_json(),
        window=(window[0], window[1]) if window else None,
        error=attempt.error,
        nodes=tuple(attempt.nodes),
        collectors=tuple(sorted(attempt.watching)),
        phases=tuple(attempt.phases.done),
        commands=tuple(commands),
        layers=tuple(attempt.layers),
    )
