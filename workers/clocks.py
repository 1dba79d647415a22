"""The agents' clocks: how far they are from the worker's, and whether they ran on while a trial measured by them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from results.domain.errors import AgentError, TrialError
from results.domain.messages import gettext_lazy as _
from workers.bundle.manifest import Node
from workers.execution import Execution
from workers.remote.clock import PRINT_BOOT, Boot, parse_boot, set_by
from workers.remote.connection import Remote
from workers.servers.nodes import all_of

_BOOTS = "boots"  # note: agent → when its machine was started, by its clock before the measurement


async def read(attempt: Execution) -> None:
    """Measure the clocks' offsets, and note what is compared at the end. Raises AgentError."""
    remotes, roles = attempt.remotes, attempt.order.spec.agents
    names = [remote.address.name for remote in remotes]
    offsets = dict(zip(names, await all_of(remote.clock_offset() for remote in remotes), strict=True))
    boots = dict(zip(names, await all_of(_boot(remote) for remote in remotes), strict=True))
    attempt.nodes = [Node(role, name, *offsets[name]) for role, name in roles.items()]
    attempt.stage.clock_offsets_s = {role: offsets[name][0] for role, name in roles.items()}
    attempt.writer.note(_BOOTS, {name: asdict(boot) for name, boot in boots.items()})


async def require(attempt: Execution) -> None:
    """Raise TrialError (retryable) where an agent's clock was set since `read`. An agent that does not say is a gap."""
    noted = attempt.writer.notes.get(_BOOTS, {})  # none where an older worker began the attempt
    await all_of(_require(attempt, remote, noted.get(remote.address.name)) for remote in attempt.remotes)


async def _require(attempt: Execution, remote: Remote, noted: Mapping[str, Any] | None) -> None:
    if noted is None:
        return
    try:
        after = await _boot_again(remote)
    except AgentError as error:
        attempt.writer.gap("clock", remote.node, _("Whether it was set is not known. {error}", error=error.words))
        return
    step_s = set_by(Boot(**noted), after)
    if step_s is None:
        return
    of_window = _("The measured window and the times of what happened in it are read from this clock.")
    if step_s > 0:
        why = _("It was set forward by {seconds:.1f} s. {of_window}", seconds=step_s, of_window=of_window)
    else:
        why = _("It was set back by {seconds:.1f} s. {of_window}", seconds=-step_s, of_window=of_window)
    raise TrialError(
        _("The clock of the agent {agent} was set while the trial measured.", agent=remote.address.name),
        where="collect",
        why=why,
        todo=_(
            "The trial is tried again. Have chrony slew the clock (`makestep` for its first updates only), "
            "and keep other programs from setting it."
        ),
        retryable=True,
    )


async def _boot_again(remote: Remote) -> Boot:
    """Read it, and once more where the login was lost. Raises AgentError."""
    try:
        return await _boot(remote)
    except AgentError as error:
        if not error.retryable:
            raise
        return await _boot(remote)


async def _boot(remote: Remote) -> Boot:
    answer = await remote.script(PRINT_BOOT)
    try:
        return parse_boot(answer.stdout)
    except ValueError as error:
        raise AgentError(
            _("The agent did not say when its machine was started."),
            where=remote.address.place,
            why=_(
                "Its clock and /proc/uptime gave {printed!r}: {error}", printed=answer.stdout[:200], error=str(error)
            ),
        ) from error
