"""Leave an attempt's agents clean: end its jobs and sessions, revert the host factors, stop servers that no trial waits
for. What fails is recorded as a gap and does not hide the first error."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import replace
from functools import partial

from results.domain.errors import AgentError, DeadlineError, TeitenError
from results.domain.kinds.specs import GRACE_S
from results.domain.messages import gettext_lazy as _
from workers import registry, watching
from workers.bundle.server_messages import GONE, crashes_since
from workers.execution import Execution
from workers.interfaces import ReleasingTopology, Service
from workers.postgres import sessions
from workers.postgres.server import Server
from workers.remote import job
from workers.replication import failover
from workers.servers.nodes import all_of

CANCELLED = "cancelled"
_SAVE_S, _SAVE_CANCELLED_S = 300.0, 60.0  # a server that hangs gives its statistics to nobody


async def clean(attempt: Execution, *, lost: bool) -> None:
    """Clean the agents.

    lost: they may be another attempt's now: only this one's jobs are ended
    """
    if not attempt.stage.agents:
        return
    try:
        async with attempt.phases.phase("clean"):
            if not lost and not _is_cancelled(attempt):
                await _try_step(attempt, _("servers"), partial(_note_gone_servers, attempt))
                await _try_step(attempt, _("crashes of servers"), partial(_save_crashes, attempt))
            await _end_jobs(attempt, failed=attempt.error is not None and not lost)
            if not lost:
                await _restore(attempt)
                await _tear_down(attempt, await attempt.reporter.idle_agents())
    except TeitenError as error:
        attempt.writer.gap("clean", "", error.words)


def _is_cancelled(attempt: Execution) -> bool:
    return attempt.error is not None and attempt.error["kind"] == CANCELLED


async def _note_gone_servers(attempt: Execution) -> None:
    """Note the servers that have ended though nothing of the trial was to end them, with the last line of their logs,
    and save these logs: what the trial failed for may be no more than that."""
    stage = attempt.stage
    servers = {node: server for node, server in stage.servers.items() if not server.outside}
    lines = dict(zip(servers, await all_of(server.gone() for server in servers.values()), strict=True))
    if gone := {node: line for node, line in lines.items() if line and node not in failover.failed_nodes(stage)}:
        attempt.writer.note(GONE, gone)
        for node in gone:
            await _save_log(attempt, node, servers[node])


async def _save_crashes(attempt: Execution) -> None:
    """Add what the servers' logs tell of crashes since the attempt began, by their agents' clocks."""
    since_s = {node.role: attempt.phases.started_s + node.clock_offset_s for node in attempt.nodes}
    servers = attempt.stage.servers
    for node, log in zip(servers, await all_of(server.crashes() for server in servers.values()), strict=True):
        if crashes := crashes_since(log, since_s.get(node, attempt.phases.started_s)):
            attempt.writer.add(f"server/{node}.crashes.log", crashes)


async def _end_jobs(attempt: Execution, *, failed: bool) -> None:
    """End the trial's jobs on its agents; after a failure save their output first."""
    if failed and attempt.error is not None:
        await _save_output(attempt, str(attempt.error["kind"]))
    for remote in attempt.remotes:
        await _try_step(attempt, _("jobs"), partial(job.sweep, remote, only=attempt.stage.job_name))
    if failed:
        await _try_step(attempt, _("sessions"), partial(end_sessions, attempt))


async def _restore(attempt: Execution) -> None:
    """Release what the topology holds beside its servers, and revert the host factors."""
    stage, topology = attempt.stage, registry.topology(attempt.order.spec.topology)
    if isinstance(topology, ReleasingTopology):
        await _try_step(attempt, _("topology"), partial(topology.release, stage))
        await _try_step(attempt, _("jobs"), partial(job.sweep, stage.client, only=stage.job_name))
    await _try_step(attempt, _("host factors"), attempt.host.revert)


async def _tear_down(attempt: Execution, agents: Collection[str]) -> None:
    """Stop the servers on these agents, for which no other trial waits."""
    stage, topology = attempt.stage, registry.topology(attempt.order.spec.topology)
    idle = {role: remote for role, remote in stage.agents.items() if remote.address.name in agents}
    if idle:
        await _try_step(attempt, _("servers"), partial(topology.tear_down, replace(stage, agents=idle)))


async def end_sessions(attempt: Execution, how: str = "") -> bool:
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


async def _try_step(
    attempt: Execution, step: str, work: Callable[[], Awaitable[object]], limit_s: float = GRACE_S
) -> None:
    """Do one step of cleaning up, once more where its connection was lost; a failure or a timeout is recorded as a gap,
    and the cleaning goes on."""
    try:
        async with asyncio.timeout(limit_s):
            try:
                await work()
            except AgentError as error:
                if not error.retryable:
                    raise
                await work()
    except TeitenError as error:
        attempt.writer.gap("clean", "", error.words)
    except TimeoutError:
        attempt.writer.gap(
            "clean", "", _("{step}: it took longer than {seconds:g} s and was given up", step=step, seconds=limit_s)
        )


async def _save_output(attempt: Execution, kind: str) -> None:
    if kind == DeadlineError.kind:  # its clients are gone, but not the locks of its sessions
        await _try_step(attempt, _("sessions"), partial(end_sessions, attempt))
    limit_s = _SAVE_CANCELLED_S if kind == CANCELLED else _SAVE_S
    await _try_step(attempt, _("what was gathered"), partial(_save_logs, attempt), limit_s)


async def _save_logs(attempt: Execution) -> None:
    """Add the end of each server's log and what the collectors had gathered, after a failure."""
    running: dict[str, Service] = {**attempt.stage.servers, **attempt.stage.poolers, **attempt.stage.services}
    for role, service in running.items():
        await _save_log(attempt, role, service)
    if attempt.last_phase == "measure" and not any(phase.name == "collect" for phase in attempt.phases.done):
        await watching.stop(attempt)


async def _save_log(attempt: Execution, role: str, service: Service) -> None:
    try:
        attempt.writer.add(f"server/{role}.log", await service.log_tail())
    except TeitenError as error:
        attempt.writer.gap("server log", role, error.words)
