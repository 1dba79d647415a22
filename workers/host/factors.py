"""Set, check and revert a host factor on one agent by its operator's commands.

The commands are constant text of the agent's operator, run as the agent's account. `revert` gets the value that the
factor's `show` printed, as "$1"."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from results.domain.errors import AgentError, CommandError, TrialError, VerifyError
from results.domain.kinds.host_factors import Change, HostFactor, HostLevel
from results.domain.measurement.parsed_trial import Check
from results.domain.messages import SEMICOLON, Message, linked
from results.domain.messages import gettext_lazy as _
from results.domain.secrets import masked_end
from workers.host import state
from workers.postgres import cluster
from workers.remote.command import CommandResult
from workers.remote.connection import Remote

ReportChanges = Callable[[str, Sequence[Change]], Awaitable[None]]
LIMIT_S = 300.0
_PATH = "PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin\n"  # for sysctl and zfs


async def apply(
    remote: Remote, factor: HostFactor, level: HostLevel, trial: str, report_changes: ReportChanges
) -> None:
    """Set the level, after storing the present value on the agent's disk and reporting it.

    Raises TrialError, AgentError, and VerifyError where the level is not in force afterwards.

    report_changes: called with all that is changed on an agent
    """
    await keep(remote, factor, level, trial, report_changes, needs_stopped_servers=factor.needs_stopped_servers)
    if factor.needs_stopped_servers:
        await cluster.stop_others(remote)
    applied = await run(remote, level.apply)
    await require(remote, factor, level, applied)


async def keep(
    remote: Remote,
    factor: HostFactor,
    level: HostLevel,
    trial: str,
    report_changes: ReportChanges,
    *,
    needs_stopped_servers: bool,
) -> None:
    """Store the present value on the agent's disk, and report it, before a level is set.

    Raises AgentError, and TrialError where the value is not known.

    needs_stopped_servers: whether servers must be stopped before the factor is reverted
    """
    own_value = await _present_value(remote, factor.show)
    if not own_value:
        raise TrialError(
            _("The present value of host factor {name!r} is not known.", name=factor.name),
            where=remote.phase,
            why=_("Its command 'show' printed nothing, so the factor could not be reverted."),
            todo=_("Mend the definition on the page of agent {agent}.", agent=remote.address.name),
        )
    change = Change(
        factor=factor.name,
        level=level.label,
        own=own_value,
        show=factor.show,
        revert=level.revert or factor.revert,
        trial=trial,
        since_s=time.time(),
        needs_stopped_servers=needs_stopped_servers,
    )
    await state.write(remote, change)
    await report_changes(remote.address.name, await state.read(remote))


async def require(
    remote: Remote,
    factor: HostFactor,
    level: HostLevel,
    applied: CommandResult | None = None,
    words: Sequence[str] = (),
) -> None:
    """Raise VerifyError where the level is not in force.

    applied: the result of the command that has just set it
    words: arguments of the operator's commands
    """
    outcome = await check(remote, factor, level, "", words)
    if not outcome.passed:
        raise VerifyError(
            _(
                "Host factor {name!r} is not at {level!r} on agent {agent}.",
                name=factor.name,
                level=level.label,
                agent=remote.address.name,
            ),
            where=remote.phase,
            why=_why_not_in_force(outcome, applied),
            todo=_("Try the commands on the agent as the agent's account, and mend the definition on its page."),
        )


def _why_not_in_force(outcome: Check, applied: CommandResult | None) -> str:
    if applied is None:
        return _("Expected {expected}, found {actual}.", expected=outcome.expected, actual=outcome.actual)
    return _(
        "Expected {expected}, found {actual}. The command that sets it {ended}.",
        expected=outcome.expected,
        actual=outcome.actual,
        ended=_describe_end(applied),
    )


async def check(remote: Remote, factor: HostFactor, level: HostLevel, node: str, words: Sequence[str] = ()) -> Check:
    """Return whether the level is in force now, by the operator's check. Raises AgentError.

    words: arguments of the operator's command
    """
    result = await run(remote, level.check, *words)
    output = result.stdout.strip()
    passed = result.exit_status == 0 and (not level.expected or output == level.expected)
    expected = level.expected or _("status 0")
    actual = output if result.exit_status == 0 else _("a check that {ended}", ended=_describe_end(result))
    return Check(f"host.{factor.name}", node, expected, expected if passed else actual, passed)


async def revert(remote: Remote, limit_s: float = LIMIT_S) -> list[Change]:
    """Revert every change on the agent, the last one first; return those that could not be reverted, with the reason.

    Raises AgentError where the agent does not answer.

    limit_s: seconds for each command
    """
    changes = await state.read(remote)
    if any(change.needs_stopped_servers for change in changes):
        await cluster.stop_others(remote)
    left: list[Change] = []
    for change in reversed(changes):
        why = await _revert_change(remote, change, limit_s)
        if why:
            left.append(replace(change, error=why))
        else:
            await state.remove(remote, change)
    return left


async def revert_all(remote: Remote, report_changes: ReportChanges) -> None:
    """Revert every change on the agent, and report what is left. Raises AgentError where something is."""
    left = await revert(remote)
    await report_changes(remote.address.name, left)
    if left:
        raise not_reverted_error(remote, left)


async def _revert_change(remote: Remote, change: Change, limit_s: float) -> str:
    """Revert one change; return why that failed, '' where the factor's `show` prints the former value again.

    A command that fails or does not end keeps no other factor from being reverted. Raises AgentError where the agent
    cannot be reached.
    """
    try:
        reverted = await run(remote, change.revert, change.own, limit_s=limit_s)
        now = await _present_value(remote, change.show, limit_s)
    except AgentError as error:
        if error.retryable and not isinstance(error, CommandError):
            raise
        return str(error)
    if now == change.own:
        return ""
    return _(
        "It is {now!r} and was {before!r}. Its revert {ended}.",
        now=now,
        before=change.own,
        ended=_describe_end(reverted),
    )


def not_reverted_error(remote: Remote, left: Sequence[Change]) -> AgentError:
    """Return the error for an agent on which a change is left that would influence measurements."""
    return AgentError(
        _("Agent {agent} is not as its operator left it.", agent=remote.address.name),
        where=remote.address.place,
        why=linked(SEMICOLON, map(_why_left, left)),
        todo=_("Set it back by hand, or mend the command 'revert' in the file below its work directory, host/."),
    )


def _why_left(change: Change) -> Message:
    return _(
        "{factor} (set to {level} by trial {trial}): {error}",
        factor=change.factor,
        level=change.level,
        trial=change.trial,
        error=change.error,
    )


async def _present_value(remote: Remote, command: str, limit_s: float = LIMIT_S) -> str:
    return (await run(remote, command, limit_s=limit_s, check=True)).stdout.strip()


async def run(
    remote: Remote, command: str, *words: str, limit_s: float = LIMIT_S, check: bool = False
) -> CommandResult:
    """Run an operator's command, with root's programs in its PATH.

    limit_s: seconds that it may take
    check: raise CommandError where it fails
    """
    return await remote.script(_PATH + command, *words, check=check, timeout_s=limit_s)


def _describe_end(result: CommandResult) -> Message:
    output = masked_end(result.stderr or result.stdout)
    if not output:
        return _("ended with status {status}", status=result.exit_status)
    return _("ended with status {status} and printed: {output}", status=result.exit_status, output=output)
