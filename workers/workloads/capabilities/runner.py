"""Run one check in a database or a cluster of its own, and judge it, whatever happens to the server."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, replace

from results.domain.errors import CommandError, TrialError
from results.domain.messages import gettext_lazy as _
from workers.postgres.server import Server
from workers.workloads.capabilities import log
from workers.workloads.capabilities.capability import Capability
from workers.workloads.capabilities.check_context import CheckContext
from workers.workloads.capabilities.database import Database
from workers.workloads.capabilities.outcome import Differs, Finding, Late, NotTried, Outcome, Verdict, in_a_row, weigh
from workers.workloads.capabilities.refusal import REFUSED, read
from workers.workloads.capabilities.scratch import Scratch

_SHARED = "shared"
_CRASH_LOG_S, _POLL_S = 5.0, 0.1  # a server logs a crash a moment after its sessions are gone


@dataclass(frozen=True)
class CheckEnd:
    """How a check's code ended.

    clean: whether other checks can use the server.
    late: whether a condition was not met in time; the log may say why.
    lost: whether the connection was lost; the log says why.
    """

    verdict: Verdict
    clean: bool = True
    late: bool = False
    lost: bool = False


async def run_check(capability: Capability, scratch: Scratch, rows: int, deadline_s: float) -> tuple[Verdict, str]:
    """Run a check, and return its verdict and what its servers logged meanwhile. A server that it leaves broken is
    replaced for the next check. Raises TeitenError only for a lost agent or a cluster that cannot be created."""
    role = capability.name if capability.own_cluster else _SHARED
    server, database = await _server_and_database(scratch, role, capability)
    since = await server.log_size()
    context = CheckContext(scratch, capability.name, database, rows)
    end = await _run(capability, context, deadline_s)
    log_text = await _log_text(context, server, since)
    until = time.monotonic() + _CRASH_LOG_S
    while end.lost and log.crash_in(log_text) is None and time.monotonic() < until:
        await asyncio.sleep(_POLL_S)
        log_text = await _log_text(context, server, since)
    verdict, clean = judge(end, log_text)
    if capability.own_cluster or not clean or not await scratch.drop_database(database):
        await scratch.drop(role)
    return verdict, log_text


async def _server_and_database(scratch: Scratch, role: str, capability: Capability) -> tuple[Server, Database]:
    """Return a server and a new database on it. A server that has died since it was last used is created anew."""
    server = await scratch.server(role, capability.settings)
    try:
        return server, await scratch.database(server, capability.name)
    except CommandError:
        await scratch.drop(role)
    server = await scratch.server(role, capability.settings)
    return server, await scratch.database(server, capability.name)


async def _run(capability: Capability, context: CheckContext, deadline_s: float) -> CheckEnd:
    try:
        async with asyncio.timeout(deadline_s):
            await capability.run(context)
    except NotTried as error:
        return CheckEnd(_verdict(context, Finding(Outcome.UNKNOWN, error.what)))
    except Differs as error:
        return CheckEnd(_verdict(context, Finding(Outcome.CANNOT, error.what, error.statement)))
    except Late as error:
        last = Finding(Outcome.UNKNOWN, error.what, error.statement)
        return CheckEnd(_verdict(context, last), clean=False, late=True)
    except TimeoutError:
        last = Finding(Outcome.UNKNOWN, _("It did not end within {seconds:g} s.", seconds=deadline_s))
        return CheckEnd(_verdict(context, last), clean=False)
    except CommandError as error:
        return _refused(context, error)
    except TrialError as error:
        outcome = Outcome.UNKNOWN if log.is_out_of_resource(error.why) else Outcome.CANNOT
        return CheckEnd(_verdict(context, Finding(outcome, in_a_row([error.what, error.why]))), clean=False)
    return CheckEnd(_verdict(context))


def _refused(context: CheckContext, error: CommandError) -> CheckEnd:
    refusal = read(error.stderr)
    words = refusal.message or str(error)
    if error.exit_status != REFUSED or log.is_out_of_resource(error.stderr) or refusal.sqlstate.startswith("53"):
        last = Finding(Outcome.UNKNOWN, words, refusal.statement)
        return CheckEnd(_verdict(context, last), clean=False, lost=error.exit_status != REFUSED)
    return CheckEnd(_verdict(context, Finding(Outcome.CANNOT, words, refusal.statement, refusal.sqlstate)))


def _verdict(context: CheckContext, *last: Finding) -> Verdict:
    """Weigh what the check reported, and what ended it."""
    return weigh([*last, *context.findings], context.remarks, context.compared)


def judge(end: CheckEnd, log_text: str) -> tuple[Verdict, bool]:
    """Return (the verdict, whether other checks can use the server). A crash in the log outweighs the rest."""
    verdict, crash = end.verdict, log.crash_in(log_text)
    if crash is None:
        errors = log.errors_in(log_text) if end.late else ""
        if errors:
            verdict = replace(verdict, outcome=Outcome.CANNOT, message=in_a_row([verdict.message, errors]))
        return verdict, end.clean
    if crash.killed:
        words = _("Something outside PostgreSQL killed the server: {log}", log=crash.words)
        return replace(verdict, outcome=Outcome.UNKNOWN, message=words), False
    words = _("The server crashed: {log}", log=crash.words)
    if verdict.outcome in (Outcome.CANNOT, Outcome.UNKNOWN):
        return Verdict(Outcome.CANNOT, words, verdict.compared, crash.statement or verdict.statement), False
    if verdict.outcome is Outcome.YES:
        verdict = replace(verdict, outcome=Outcome.PARTLY, message="", statement=crash.statement)
    message = in_a_row([words, _("The contents are right."), *filter(None, [verdict.message])])
    return replace(verdict, message=message), False


async def _log_text(context: CheckContext, first: Server, since: int) -> str:
    """Return what all servers of the check logged while it ran."""
    texts = []
    for server in context.servers:
        try:
            texts.append(await server.log_tail(since if server is first else 0))
        except CommandError as error:
            texts.append(f"(no log of {server.data_dir}: {error.why})")
    return "\n".join(texts)
