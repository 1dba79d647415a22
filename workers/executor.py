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

From `measure` on another worker can go on where this one dies, if the measurement runs by itself on the agents.
"""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from collections import defaultdict
from collections.abc import Awaitable, Set
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from results import VERSION
from results.domain.environment.layers import Layer, LayerKind
from results.domain.environment.rules import OWN_CLIENTS
from results.domain.errors import (
    AgentError,
    TeitenError,
    TrialError,
    UnreachableError,
    VerifyError,
    full_error,
    is_full,
    restored,
)
from results.domain.matrix import TrialSpec
from results.domain.matrix.deadlines import deadlines
from results.domain.matrix.program_needs import ProgramNeed, needed_by, used_by
from results.domain.measurement.parsed_trial import Check, LayerUse
from results.domain.messages import SEMICOLON, linked
from results.domain.messages import gettext_lazy as _
from workers import checkpoint, cleaning, clocks, data, registry, watching
from workers.activity_monitor import ActivityMonitor
from workers.bundle.writer import Archived, BundleWriter, folder_name
from workers.checkpoint import Checkpoint, SavedStage, Step
from workers.cleaning import CANCELLED
from workers.execution import Execution, Hold, Reporter, machines_by_role
from workers.host.use import HostUse
from workers.interfaces import ArrangingTopology, AuditingWorkload, DetachedWorkload, Stage, SteeredWorkload
from workers.orders import Order
from workers.phases import Phases
from workers.postgres import settings
from workers.remote import job, programs
from workers.remote.connection import Remote, connected
from workers.servers.nodes import all_of

log = logging.getLogger(__name__)
_ROOM_S, _ROOM_PATIENCE_S = 2.0, 600.0  # between looks for room in the bundle folder; until it is given up


class TakenError(Exception):
    """Another worker goes on with the attempt, or is to: this one has left everything as it is."""


async def run(order: Order, bundles: Path, reporter: Reporter) -> tuple[Archived, dict[str, Any] | None]:
    """Run the attempt and archive its bundle; return the archive, and the error that ended the attempt or None.

    Never raises for a failure of an agent or a server: that is in the error and in the manifest. Raises IngestError,
    before anything is done, where the attempt has a bundle already, and TakenError.

    Cancelled with Hold.LOST, the attempt has lost its agents to another one, and touches nothing there but its own
    files. Cancelled with Hold.TAKEN, it touches nothing at all. Cancelled with another message, it cleans up. It must
    not be cancelled in the phase `clean`.

    bundles: folder for the archive
    """
    checkpoint.path_of(bundles, order.trial_key, order.attempt).unlink(missing_ok=True)  # another warehouse's
    return await _run(_begin(order, BundleWriter(bundles, order.trial_key, order.attempt), reporter), None, None)


async def pick_up(order: Order, bundles: Path, reporter: Reporter) -> tuple[Archived, dict[str, Any] | None]:
    """Go on with an attempt whose worker is gone; see `run`. Raises TrialError (retryable) where that cannot be."""
    saved = checkpoint.read(checkpoint.path_of(bundles, order.trial_key, order.attempt))
    number = saved.pick_ups + 1
    if number > checkpoint.MOST_PICK_UPS:
        raise TrialError(
            _("The attempt has ended {number} workers.", number=number),
            where=saved.worker,
            why=_(
                "It was picked up {times} times, and each worker was gone before its end.",
                times=checkpoint.MOST_PICK_UPS,
            ),
            todo=_("Look at the workers' logs, and whether their machine has memory for what the trial measures."),
            retryable=True,
        )
    if saved.stage is None or saved.bundle is None:
        raise TrialError(
            _("The measurement could not be picked up."),
            where=saved.worker,
            why=_("Its worker had archived it, and the archive is gone."),
            todo=_("Look at who removes files from the bundle folder. The trial runs again."),
            retryable=True,
        )
    writer = BundleWriter(bundles, order.trial_key, order.attempt, left=saved.bundle.folder, number=number)
    checkpoint.restore_bundle(saved.bundle, writer)
    attempt = _begin(order, writer, reporter, saved)
    attempt.pick_ups = number
    _note_pick_up(attempt, saved)
    taken = replace(saved, worker=reporter.worker, bundle=replace(saved.bundle, folder=writer.directory.name))
    attempt.write(replace(taken, pick_ups=number))
    return await _run(attempt, taken, saved.stage)


def _begin(order: Order, writer: BundleWriter, reporter: Reporter, saved: Checkpoint | None = None) -> Execution:
    stage = Stage(order.spec, {}, {}, writer, job_name=folder_name(order.trial_key, order.attempt))
    if workload := registry.kinds().workloads.get(order.spec.workload):
        stage.measured_s = workload.measured_s(order.spec.parameters, order.spec.duration_s)
        stage.stored_by = workload.stored_by(order.spec.parameters)
        stage.deadlines = deadlines(order.spec, registry.kinds(), order.past_s)
    host = HostUse(stage, order.hosts, order.trial_key, reporter.store_changes)
    started_s = saved.started_s if saved else time.time()
    phases = Phases(stage, reporter.progress, ActivityMonitor(stage, reporter.store_sample), started_s)
    return Execution(order, writer, phases, stage, host, reporter)


async def _run(
    attempt: Execution, saved: Checkpoint | None, saved_stage: SavedStage | None
) -> tuple[Archived, dict[str, Any] | None]:
    """Run an attempt, or go on with one that was saved."""
    async with AsyncExitStack() as connections:
        work = (
            _go_on(attempt, saved, saved_stage, connections) if saved and saved_stage else _phases(attempt, connections)
        )
        # Another attempt on these agents may have caused an error before a heartbeat noticed the lost lease.
        lost = await _ended_as_lost(attempt, work) or await _is_lost(attempt)
        if lost:
            _record_lost_agents(attempt)
        elif attempt.is_saved:
            attempt.save(Step.CLEAN)
        await cleaning.clean(attempt, lost=lost)
    if attempt.is_saved and await attempt.reporter.hold() is Hold.TAKEN:
        raise TakenError
    archived = await _archive(attempt)
    attempt.save_archived()
    return archived, dict(archived.error) if archived.error else None


async def _archive(attempt: Execution) -> Archived:
    """Archive the bundle; wait for ten minutes for room where its disk is full. Raises TrialError."""
    until_s = time.monotonic() + _ROOM_PATIENCE_S
    while True:
        try:
            return await asyncio.to_thread(attempt.writer.finish, attempt.manifest())
        except OSError as error:
            if not is_full(error):
                raise
            if time.monotonic() > until_s:
                raise full_error(error) from error
            log.warning("%s waits for room for its bundle: %s", attempt.stage.job_name, error)
        await asyncio.sleep(_ROOM_S)


async def _ended_as_lost(attempt: Execution, work: Awaitable[None]) -> bool:
    """Await an attempt's phases and record the error that ends them; return whether they ended because its agents are
    another attempt's. Raises TakenError."""
    try:
        await work
    except asyncio.CancelledError as error:
        if error.args == (Hold.TAKEN,):
            raise TakenError from None
        if error.args == (Hold.LOST,):
            return True
        stopped = TrialError(_("The trial was cancelled."), where=attempt.last_phase)
        attempt.error = stopped.as_dict() | {"kind": CANCELLED}
    except TakenError:
        raise
    except Exception as error:  # noqa: BLE001  (any error belongs into the bundle and onto the page)
        _record_error(attempt, error)
    return False


async def _is_lost(attempt: Execution) -> bool:
    """Return whether the agents may be another attempt's now. Raises TakenError.

    Where another worker could go on, this one waits until it is certain.
    """
    hold = await (attempt.reporter.certain_hold() if attempt.is_saved else attempt.reporter.hold())
    if hold is Hold.TAKEN:
        raise TakenError
    return hold is Hold.LOST


async def _phases(attempt: Execution, connections: AsyncExitStack) -> None:
    stage, spec = attempt.stage, attempt.order.spec
    workload, topology = registry.workload(spec.workload), registry.topology(spec.topology)
    async with attempt.phases.phase("prepare"):
        await _connect(attempt, connections)
        await _require_programs(attempt)
        await attempt.host.prepare(registry.kinds().topologies[spec.topology].in_mid_run(spec.topology_parameters))
        await topology.build(stage)
        _record_forced_stops(attempt)
        # A server that hangs was left by an attempt whose worker died.
        if await cleaning.end_sessions(attempt, "reused"):
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
        await clocks.read(attempt)  # again: they may have been set since
        await watching.start(attempt)
    attempt.measuring_s = attempt.phases.elapsed_s
    async with attempt.phases.phase("measure", _expected_s(attempt)):
        if isinstance(workload, DetachedWorkload):
            await workload.start(stage)
            attempt.save(Step.FINISH)
            await workload.finish(stage)
        elif isinstance(workload, SteeredWorkload):
            await workload.measure(stage)
        else:
            raise TypeError(f"the workload {spec.workload} has neither start and finish nor measure")
    await _after_measuring(attempt, Step.COLLECT)


async def _go_on(attempt: Execution, saved: Checkpoint, saved_stage: SavedStage, connections: AsyncExitStack) -> None:
    """Go on where another worker was when it died."""
    attempt.phases.resume(saved.phases)
    attempt.measuring_s = saved.measuring_s
    attempt.watching, attempt.collected = list(saved.watching), list(saved.collected)
    attempt.layers = list(saved.layers)
    try:
        attempt.stage.agents = await _open(attempt, connections)
    except UnreachableError as error:
        since_s = saved.unreachable_since_s or time.time()
        if time.time() - since_s > job.UNREACHABLE_S:
            raise
        attempt.write(replace(saved, unreachable_since_s=since_s))  # uncounted
        log.warning("%s is picked up later: %s", attempt.stage.job_name, error)
        raise TakenError from error
    _name_nodes(attempt)
    checkpoint.restore_stage(saved_stage, attempt.stage)
    attempt.nodes = list(saved.nodes)
    attempt.error = dict(saved.error) if saved.error else None
    attempt.save(saved.step)
    if saved.step is Step.CLEAN:
        return
    if saved.step is Step.FINISH:
        workload = registry.workload(attempt.order.spec.workload)
        assert isinstance(workload, DetachedWorkload)
        async with attempt.phases.phase("measure", _expected_s(attempt), since_s=saved.measuring_s):
            await workload.finish(attempt.stage)
    await _after_measuring(attempt, Step.AUDIT if saved.step is Step.AUDIT else Step.COLLECT)


async def _after_measuring(attempt: Execution, step: Step) -> None:
    """Collect what was gathered, unless that is done, and audit the data."""
    workload = registry.workload(attempt.order.spec.workload)
    if await _is_lost(attempt):
        return
    if step is Step.COLLECT:
        attempt.save(Step.COLLECT)
        async with attempt.phases.phase("collect"):
            await watching.stop(attempt)
            await clocks.require(attempt)
    if isinstance(workload, AuditingWorkload):
        attempt.save(Step.AUDIT)
        async with attempt.phases.phase("audit"):
            await workload.audit(attempt.stage)


def _expected_s(attempt: Execution) -> float | None:
    measured_s = attempt.stage.measured_s
    return attempt.order.past_s if measured_s is None else measured_s


def _note_pick_up(attempt: Execution, saved: Checkpoint) -> None:
    """Note who goes on, with what and how long after the attempt's start: the trial's page shows it."""
    notes = attempt.writer.notes
    here = {
        "at_s": time.time() - saved.started_s,
        "step": saved.step,
        "from": saved.worker,
        "by": attempt.reporter.worker,
    }
    attempt.writer.note("picked_up", [*notes.get("picked_up", []), here])


async def _open(attempt: Execution, connections: AsyncExitStack) -> dict[str, Remote]:
    """Return role → connection. Raises UnreachableError."""
    order = attempt.order
    names = sorted(set(order.spec.agents.values()))

    async def open_one(name: str) -> Remote:
        try:
            return await connections.enter_async_context(connected(order.addresses[name]))
        except AgentError as error:
            raise UnreachableError(name, error) from error

    by_name = dict(zip(names, await all_of(open_one(name) for name in names), strict=True))
    return {role: by_name[name] for role, name in order.spec.agents.items()}


def _name_nodes(attempt: Execution) -> None:
    for role, node in machines_by_role(attempt.stage).items():
        node.node = role


async def _connect(attempt: Execution, connections: AsyncExitStack) -> None:
    order, stage = attempt.order, attempt.stage
    stage.agents = await _open(attempt, connections)
    _name_nodes(attempt)
    for remote in attempt.remotes:
        remote.phase = "prepare"
    await all_of(job.sweep(remote) for remote in attempt.remotes)
    await clocks.read(attempt)
    used = used_by(order.spec, registry.kinds())
    for role, remote in machines_by_role(stage).items():
        agent = remote.address.name
        attempt.layers += [LayerUse(role, _of_trial(layer, used[agent])) for layer in order.layers[agent]]


def _of_trial(layer: Layer, programs: Set[str]) -> Layer:
    """Return the layer of a machine with no programs but these: another version of one that a trial does not use is no
    difference of its environment."""
    if layer.kind != LayerKind.TOOL:
        return layer
    return Layer(layer.kind, {name: found for name, found in layer.content.items() if name in programs})


async def _require_programs(attempt: Execution) -> None:
    """Raise where an agent lacks a program that the trial needs; the facts of its last contact may be out of date."""
    needs: dict[str, list[ProgramNeed]] = defaultdict(list)
    for need in needed_by(attempt.order.spec, registry.kinds()):
        needs[need.agent].append(need)
    remotes = {remote.address.name: remote for remote in attempt.remotes}
    await all_of(programs.require(remotes[agent], of_agent) for agent, of_agent in needs.items())


async def _describe(attempt: Execution) -> None:
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
        _("Something did not hold before the clock started."),
        where="verify",
        why=linked(SEMICOLON, map(_in_words, failed)),
        todo=_("Mend it, then retry."),
    )


def _in_words(check: Check) -> str:
    return _(
        "{check} on {node}: expected {expected}, found {found}",
        check=check.name,
        node=check.node,
        expected=check.expected,
        found=check.actual,
    )


def _record_error(attempt: Execution, error: Exception) -> None:
    where = attempt.last_phase
    if is_full(error):
        log.warning("%s: %s", attempt.stage.job_name, error)
        error = full_error(error)
    if isinstance(error, TeitenError):
        attempt.error = error.as_dict() | {"phase": where}
        return
    log.error("attempt %s of trial %s", attempt.order.attempt, attempt.order.trial_key, exc_info=error)
    attempt.writer.add("traceback.txt", "".join(traceback.format_exception(error)))
    unexpected = TrialError(
        _("Teiten itself failed: {error}.", error=type(error).__name__),
        where=where,
        why=str(error),
        todo=_("Report it with traceback.txt."),
    )
    attempt.error = unexpected.as_dict() | {"phase": where}


def _record_lost_agents(attempt: Execution) -> None:
    why = restored(attempt.error)["what"] if attempt.error else ""
    error = TrialError(_("The attempt lost its agents."), where=attempt.last_phase, why=why)
    attempt.error = error.as_dict() | {"kind": str(Hold.LOST.value)}


def _record_forced_stops(attempt: Execution) -> None:
    """Record as a gap, once, each server that ran with other settings and had to be forced to stop."""
    recorded = {gap.reason for gap in attempt.writer.gaps}
    for node, server in attempt.stage.servers.items():
        if server.forced and server.forced not in recorded:
            attempt.writer.gap("server", node, server.forced)
