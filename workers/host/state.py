"""The changed host factors of an agent, stored on the agent itself as `<work_dir>/host/<factor>.json`.

A file is on disk before the change is made, and is removed when the change is reverted. So the next attempt or contact
can revert what a dead attempt left."""

from __future__ import annotations

import json

from results.domain.dataclass_json import from_json
from results.domain.errors import AgentError
from results.domain.kinds.host_factors import Change
from results.domain.messages import Message
from results.domain.messages import gettext_lazy as _
from workers.remote.connection import Remote


async def read(remote: Remote) -> list[Change]:
    """Return all changes, the earliest first. Raises AgentError."""
    lines = (await remote.script(_READ, _folder(remote))).stdout.splitlines()
    try:
        changes = [from_json(Change, json.loads(line)) for line in lines]
    except ValueError as error:
        raise AgentError(
            _("The agent's changed host factors cannot be read."),
            where=remote.address.place,
            why=_(
                "A file in {folder} is not as Teiten wrote it: {error}.", folder=_folder(remote), error=_words_of(error)
            ),
            todo=_("Look at the files, revert by hand what they name, and remove them."),
        ) from error
    return sorted(changes, key=lambda change: change.since_s)


async def write(remote: Remote, change: Change) -> None:
    """Store a change; it is on disk when this returns. Raises AgentError."""
    await remote.script(_WRITE, _folder(remote), change.factor, stdin=json.dumps(change.to_json()) + "\n")


async def remove(remote: Remote, change: Change) -> None:
    """Remove a change that was reverted. Raises AgentError."""
    await remote.script(_REMOVE, _folder(remote), change.factor)


def _words_of(error: ValueError) -> str:
    return error.args[0] if error.args and isinstance(error.args[0], Message) else str(error)


def _folder(remote: Remote) -> str:
    return f"{remote.address.work_dir}/host"


_READ = """
cd -- "$1" 2>/dev/null || exit 0
for file in *.json; do
    [ ! -f "$file" ] || cat -- "$file"
done
"""

_WRITE = """
mkdir -p -- "$1" && cd -- "$1" && cat >"$2.part" && sync -- "$2.part" && mv -f -- "$2.part" "$2.json" && sync -- . ..
"""

_REMOVE = """
cd -- "$1" && rm -f -- "$2.json" && sync -- .
"""
