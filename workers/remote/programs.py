"""Look for programs on an agent, by one short command that starts no server and may run beside a trial."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from results.domain.errors import VerifyError
from results.domain.kinds.programs import Program
from results.domain.matrix.program_needs import ProgramNeed
from results.domain.messages import gettext_lazy as _
from workers.remote.connection import Remote

SCRIPT = (Path(__file__).parent / "programs.sh").read_text()


def script_arguments(programs: Iterable[Program]) -> list[str]:
    """Return the arguments of SCRIPT."""
    return [word for program in programs for word in (program.name, program.version)]


async def look(remote: Remote, programs: Iterable[Program]) -> dict[str, str]:
    """Return name → 'path version' of the programs that are there now. Raises AgentError."""
    return await _look(remote, script_arguments(programs))


async def require(remote: Remote, needs: Sequence[ProgramNeed]) -> dict[str, str]:
    """Return name → 'path version' of the programs that one agent needs.

    Raises VerifyError for a program that is not there, and AgentError.
    """
    versions = {need.word: need.program.version for need in needs}
    paths = await _look(remote, [word for pair in versions.items() for word in pair])
    for need in needs:
        if need.word not in paths:
            raise VerifyError(
                _(
                    "Agent {agent} has no program {program}, which {user} needs.",
                    agent=need.agent,
                    program=need.program.name,
                    user=need.user,
                ),
                where="prepare",
                why=_("It was looked for just now, in {place}.", place=need.place),
                todo=_(
                    "Install it there ({how_to_get}), or name another agent for the role {role}.",
                    how_to_get=need.program.how_to_get,
                    role=need.role,
                ),
            )
    return {need.program.name: paths[need.word] for need in needs}


async def _look(remote: Remote, arguments: Sequence[str]) -> dict[str, str]:
    answer = await remote.script(SCRIPT, *arguments)
    lines = (" ".join(line.split()).partition(" ") for line in answer.stdout.splitlines())
    return {word: place for word, _, place in lines}
