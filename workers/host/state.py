"""What is changed on an agent, kept on the agent itself: `<work_dir>/host/<factor>.json`, on disk before the change is
made and gone when its value is back. Whoever comes next reverts what is left, whatever became of who made it."""

from __future__ import annotations

import json

from results.domain.dataclass_json import from_json
from results.domain.errors import AgentError
from results.domain.kinds.host_factors import Change
from workers.remote.connection import Remote


async def read(remote: Remote) -> list[Change]:
    """All that is changed, the earliest first. Raises AgentError."""
    lines = (await remote.script(_READ, _folder(remote))).stdout.splitlines()
    try:
        found = [from_json(Change, json.loads(line)) for line in lines]
    except ValueError as error:
        raise AgentError(
            "What is changed on the agent cannot be read.",
            where=remote.address.place,
            why=f"A file in {_folder(remote)} is not as Teiten wrote it: {error}.",
            todo="Look at the files, revert by hand what they name, and remove them.",
        ) from error
    return sorted(found, key=lambda change: change.since_s)


async def write(remote: Remote, change: Change) -> None:
    """Returns when it is on disk. Raises AgentError."""
    await remote.script(_WRITE, _folder(remote), change.factor, stdin=json.dumps(change.to_json()) + "\n")


async def forget(remote: Remote, change: Change) -> None:
    """Its value is back. Raises AgentError."""
    await remote.script(_FORGET, _folder(remote), change.factor)


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

_FORGET = """
cd -- "$1" && rm -f -- "$2.json" && sync -- .
"""
