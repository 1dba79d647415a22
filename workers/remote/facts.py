"""Discover an agent's hardware, kernel, storage, tools and clock, by one script that needs no privileges."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from results.domain.errors import AgentError
from results.domain.kinds.programs import OWN, Program
from results.domain.messages import gettext_lazy as _
from results.domain.messages import linked
from workers.remote import programs
from workers.remote.connection import Remote
from workers.remote.facts_parse import Facts, parse_facts
from workers.remote.limits import FACTS_BYTES

__all__ = ["Facts", "discover", "free_bytes"]

_SCRIPT = (Path(__file__).parent / "facts.sh").read_text() + programs.SCRIPT


async def discover(remote: Remote, data_dir: str, requested: Sequence[Program] = OWN) -> Facts:
    """Return the agent's facts; storage is that of data_dir, or of the folder above it that exists.

    Raises AgentError where the account is root, under which PostgreSQL refuses to run, or where a program is missing
    that Teiten itself needs.

    requested: programs to look for, with those of OWN
    """
    answer = await remote.script(
        _SCRIPT, data_dir, *programs.script_arguments(requested), check=False, limit_bytes=FACTS_BYTES
    )
    facts = parse_facts(answer.stdout)
    missing = [program for program in OWN if program.name not in facts.tools]
    if missing:
        raise AgentError(
            _("The agent lacks {programs}.", programs=", ".join(program.name for program in missing)),
            where=remote.address.place,
            why=_("Teiten runs and watches its commands with them."),
            todo=_("Install them there ({ways}).", ways=_in_words(dict.fromkeys(p.how_to_get for p in missing))),
        )
    if facts.root:
        raise AgentError(
            _("The agent's account is root."),
            where=remote.address.place,
            why=_("PostgreSQL refuses to run as root."),
            todo=_("Give the agent an account without privileges."),
        )
    offset_s, _error_s = await remote.clock_offset()
    return facts.with_clock(offset_s)


def _in_words(ways: Iterable[str]) -> str:
    return linked(_(", or "), ways)


async def free_bytes(remote: Remote, folders: Sequence[str]) -> dict[str, int]:
    """Return folder → free bytes there, of those that the account can see. Raises AgentError."""
    if not folders:
        return {}
    lines = (await remote.script(_FREE, *folders)).stdout.splitlines()
    return {folder: int(line) for folder, line in zip(folders, lines, strict=True) if line}


_FREE = """
for folder; do
    df -P -B 1 -- "$folder" 2>/dev/null | awk 'NR == 2 { free = $4 } END { print free }'
done
"""
