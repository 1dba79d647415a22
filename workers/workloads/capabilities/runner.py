"""Runs one check in a database or a cluster of its own, and says what it came to, whatever becomes of the server."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, replace

from results.domain.errors import CommandError, TrialError
from workers.postgres.server import Server
from workers.workloads.capabilities import log
from workers.workloads.capabilities.capability import Capability
from workers.workloads.capabilities.database import Database
from workers.workloads.capabilities.lab import Lab
from workers.workloads.capabilities.outcome import Differs, Finding, Late, NotTried, Outcome, Verdict, weigh
from workers.workloads.capabilities.refusal import REFUSED, read
from workers.workloads.capabilities.scratch import Scratch

_SHARED = "shared"
_TOLD_S, _POLL_S = 5.0, 0.1  # a server tells of a crash in its log a moment after its sessions are gone


@dataclass(frozen=True)
class Ended:
    """How a check's own code ended. clean: the server is in a state that others can use. late: no, where the log says
    what kept it. lost: the connection, and it is the log that says why."""

    verdict: Verdict
    clean: bool = True
    late: bool = False
    lost: bool = False


async def verdict_of(capability: Capability, scratch: Scratch, rows: int, deadline_s: float) -> tuple[Verdict, str]:
    """What the check came to, and what its servers logged meanwhile. A check that fails costs no other: whatever it
    leaves broken is made anew for the next. Raises TeitenError only for what is no doing of the check: an agent out of
    reach, a cluster that cannot even be made."""
    role = capability.name if capability.own_cluster else _SHARED
    server, database = await _place(scratch, role, capability)
    since = await server.log_size()
    lab = Lab(scratch, capability.name, database, rows)
    ended = await _ended(capability, lab, deadline_s)
    said = await _logged(lab, server, since)
    until = time.monotonic() + _TOLD_S
    while ended.lost and log.crash_in(said) is None and time.monotonic() < until:
        await asyncio.sleep(_POLL_S)
        said = await _logged(lab, server, since)
    verdict, clean = judged(ended, said)
    if capability.own_cluster or not clean or not await scratch.drop_database(database):
        await scratch.drop(role)
    return verdict, said


async def _place(scratch: Scratch, role: str, capability: Capability) -> tuple[Server, Database]:
    """A server and a new database on it. A server that has gone since it was last used is made anew."""
    server = await scratch.server(role, capability.settings)
    try:
        return server, await scratch.database(server, capability.name)
    except CommandError:
        await scratch.drop(role)
    server = await scratch.server(role, capability.settings)
    return server, await scratch.database(server, capability.name)


async def _ended(capability: Capability, lab: Lab, deadline_s: float) -> Ended:
    try:
        async with asyncio.timeout(deadline_s):
            await capability.run(lab)
    except NotTried as error:
        return Ended(_verdict(lab, Finding(Outcome.UNKNOWN, error.what)))
    except Differs as error:
        return Ended(_verdict(lab, Finding(Outcome.CANNOT, error.what, error.statement)))
    except Late as error:
        last = Finding(Outcome.UNKNOWN, error.what, error.statement)
        return Ended(_verdict(lab, last), clean=False, late=True)
    except TimeoutError:
        last = Finding(Outcome.UNKNOWN, f"It did not end within {deadline_s:g} s.")
        return Ended(_verdict(lab, last), clean=False)
    except CommandError as error:
        return _refused(lab, error)
    except TrialError as error:
        outcome = Outcome.UNKNOWN if log.means_ran_out(error.why) else Outcome.CANNOT
        return Ended(_verdict(lab, Finding(outcome, f"{error.what} {error.why}")), clean=False)
    return Ended(_verdict(lab))


def _refused(lab: Lab, error: CommandError) -> Ended:
    refusal = read(error.stderr)
    words = refusal.message or str(error)
    if error.exit_status != REFUSED or log.means_ran_out(error.stderr) or refusal.sqlstate.startswith("53"):
        last = Finding(Outcome.UNKNOWN, words, refusal.statement)
        return Ended(_verdict(lab, last), clean=False, lost=error.exit_status != REFUSED)
    return Ended(_verdict(lab, Finding(Outcome.CANNOT, words, refusal.statement, refusal.sqlstate)))


def _verdict(lab: Lab, *last: Finding) -> Verdict:
    """What was found on the way, and what broke the check off."""
    return weigh([*last, *lab.findings], lab.noted, lab.compared)


def judged(ended: Ended, said: str) -> tuple[Verdict, bool]:
    """(what the check came to, whether its server can be used further). A crash that the log tells of weighs more than
    what the check saw of it."""
    verdict, crash = ended.verdict, log.crash_in(said)
    if crash is None:
        errors = log.errors_in(said) if ended.late else ""
        if errors:
            verdict = replace(verdict, outcome=Outcome.CANNOT, message=f"{verdict.message} {errors}")
        return verdict, ended.clean
    if crash.killed:
        words = f"Something outside PostgreSQL killed the server: {crash.words}"
        return replace(verdict, outcome=Outcome.UNKNOWN, message=words), False
    words = f"The server crashed: {crash.words}"
    if verdict.outcome in (Outcome.CANNOT, Outcome.UNKNOWN):
        return Verdict(Outcome.CANNOT, words, verdict.compared, crash.statement or verdict.statement), False
    if verdict.outcome is Outcome.YES:
        verdict = replace(verdict, outcome=Outcome.PARTLY, message="", statement=crash.statement)
    return replace(verdict, message=f"{words} The contents are right. {verdict.message}".rstrip()), False


async def _logged(lab: Lab, first: Server, since: int) -> str:
    """What all servers of the check logged while it ran."""
    texts = []
    for server in lab.servers:
        try:
            texts.append(await server.log_tail(since if server is first else 0))
        except CommandError as error:
            texts.append(f"(no log of {server.data_dir}: {error.why})")
    return "\n".join(texts)
