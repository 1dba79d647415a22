"""Host factors with an operator's commands: one set on one agent, checked, reverted.

The commands are constant text of the agent's operator, run as the agent's account; the one value that they get is what
the factor's own `show` printed there, as "$1" of `revert`."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from results.domain.errors import AgentError, CommandError, TrialError, VerifyError
from results.domain.kinds.host_factors import Change, HostFactor, HostLevel
from results.domain.measurement.parsed_trial import Check
from workers.host import state
from workers.postgres import cluster
from workers.remote.command import CommandResult
from workers.remote.connection import Remote

Noted = Callable[[str, Sequence[Change]], Awaitable[None]]
LIMIT_S = 300.0
_PATH = "PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin\n"  # where sysctl and zfs are, which an account's own lacks


async def apply(remote: Remote, factor: HostFactor, level: HostLevel, trial: str, noted: Noted) -> None:
    """Sets the level. The value as found is on the agent's disk, and noted, before anything is changed. noted: told
    all that is changed on an agent. Raises TrialError, VerifyError where the check does not find the level, AgentError.
    """
    await keep(remote, factor, level, trial, noted, needs_stopped_servers=factor.needs_stopped_servers)
    if factor.needs_stopped_servers:
        await cluster.stop_others(remote)
    applied = await run(remote, level.apply)
    await require(remote, factor, level, applied)


async def keep(
    remote: Remote,
    factor: HostFactor,
    level: HostLevel,
    trial: str,
    noted: Noted,
    *,
    needs_stopped_servers: bool,
) -> None:
    """Before a level is set: the value as found is on the agent's disk, and noted. needs_stopped_servers: before it is
    reverted. Raises TrialError where it is not known, AgentError."""
    own = await _shown(remote, factor.show)
    if not own:
        raise TrialError(
            f"The own value of host factor {factor.name!r} is not known.",
            where=remote.phase,
            why="Its command 'show' printed nothing, so nothing could be reverted.",
            todo=f"Mend the definition on the page of agent {remote.address.name}.",
        )
    change = Change(
        factor=factor.name,
        level=level.label,
        own=own,
        show=factor.show,
        revert=level.revert or factor.revert,
        trial=trial,
        since_s=time.time(),
        needs_stopped_servers=needs_stopped_servers,
    )
    await state.write(remote, change)
    await noted(remote.address.name, await state.read(remote))


async def require(
    remote: Remote,
    factor: HostFactor,
    level: HostLevel,
    applied: CommandResult | None = None,
    words: Sequence[str] = (),
) -> None:
    """Raises VerifyError where the check does not find the level. applied: how the command that sets it has just ended.
    words: what the commands get."""
    found = await check(remote, factor, level, "", words)
    if not found.passed:
        raise VerifyError(
            f"Host factor {factor.name!r} is not at {level.label!r} on agent {remote.address.name}.",
            where=remote.phase,
            why=f"Expected {found.expected}, found {found.actual}."
            + (f" The command that sets it {_ended(applied)}." if applied else ""),
            todo="Try the commands on the agent as the agent's account, and mend the definition on its page.",
        )


async def check(remote: Remote, factor: HostFactor, level: HostLevel, node: str, words: Sequence[str] = ()) -> Check:
    """Whether the level is in force now, as the operator's check says. words: what it gets. Raises AgentError."""
    result = await run(remote, level.check, *words)
    printed = result.stdout.strip()
    ok = result.exit_status == 0 and (not level.expected or printed == level.expected)
    wanted = level.expected or "status 0"
    found = printed if result.exit_status == 0 else f"a check that {_ended(result)}"
    return Check(f"host.{factor.name}", node, wanted, wanted if ok else found, ok)


async def revert(remote: Remote, limit_s: float = LIMIT_S) -> list[Change]:
    """Sets back everything on the agent that is not at its own value, the last change first; what could not be, each
    with why. limit_s: for each command. Raises AgentError when the agent does not answer."""
    changes = await state.read(remote)
    if any(change.needs_stopped_servers for change in changes):
        await cluster.stop_others(remote)
    left: list[Change] = []
    for change in reversed(changes):
        if why := await _not_reverted(remote, change, limit_s):
            left.append(replace(change, error=why))
        else:
            await state.forget(remote, change)
    return left


async def revert_all(remote: Remote, noted: Noted) -> None:
    """Sets back everything on the agent, and notes what is left. Raises AgentError where something is."""
    left = await revert(remote)
    await noted(remote.address.name, left)
    if left:
        raise not_back(remote, left)


async def _not_reverted(remote: Remote, change: Change, limit_s: float) -> str:
    """Why the value is not back; '' when it is, which the factor's `show` decides. A command that fails or does not end
    keeps no other factor from being set back. Raises AgentError when the agent is not reached."""
    try:
        reverted = await run(remote, change.revert, change.own, limit_s=limit_s)
        now = await _shown(remote, change.show, limit_s)
    except AgentError as error:
        if error.retryable and not isinstance(error, CommandError):
            raise
        return str(error)
    return "" if now == change.own else f"It is {now!r} and was {change.own!r}. Its revert {_ended(reverted)}."


def not_back(remote: Remote, left: Sequence[Change]) -> AgentError:
    """The error for an agent on which something is left that would be measured too."""
    said = "; ".join(
        f"{change.factor} (set to {change.level} by trial {change.trial}): {change.error}" for change in left
    )
    return AgentError(
        f"Agent {remote.address.name} is not as its operator left it.",
        where=remote.address.place,
        why=said,
        todo="Set it back by hand, or mend the command 'revert' in the file below its work directory, host/.",
    )


async def _shown(remote: Remote, command: str, limit_s: float = LIMIT_S) -> str:
    return (await run(remote, command, limit_s=limit_s, check=True)).stdout.strip()


async def run(
    remote: Remote, command: str, *words: str, limit_s: float = LIMIT_S, check: bool = False
) -> CommandResult:
    """An operator's command, with root's programs in its PATH. limit_s: how long it may take. check: raise CommandError
    when it fails."""
    return await remote.script(_PATH + command, *words, check=check, timeout_s=limit_s)


def _ended(result: CommandResult) -> str:
    said = (result.stderr or result.stdout).strip()[-600:]
    return f"ended with status {result.exit_status}" + (f" and said: {said}" if said else "")
