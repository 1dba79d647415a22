"""Which programs an agent has, by one short command: a look that starts no server and may run beside a trial."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from results.errors import VerifyError
from results.programs import PLACES, ProgramNeed, how_to_get
from workers.remote.connection import Remote

SCRIPT = (Path(__file__).parent / "programs.sh").read_text()


async def look(remote: Remote, names: Iterable[str]) -> dict[str, str]:
    """Name → 'path version' of those that are there now. Raises AgentError."""
    said = await remote.script(SCRIPT, *sorted(names))
    lines = (" ".join(line.split()).partition(" ") for line in said.stdout.splitlines())
    return {name: place for name, _, place in lines}


async def require(remote: Remote, needs: Sequence[ProgramNeed]) -> dict[str, str]:
    """As `look`, of the needs of one agent. Raises VerifyError for one that is not there, AgentError."""
    found = await look(remote, {need.program for need in needs})
    for need in needs:
        if need.program not in found:
            raise VerifyError(
                f"Agent {need.agent} has no program {need.program}, which {need.user} needs.",
                where="prepare",
                why=f"It was looked for just now, in {PLACES}.",
                todo=f"Install it there ({how_to_get(need.program)}), or name another agent for the role {need.role}.",
            )
    return found
