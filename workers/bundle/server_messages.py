"""What the servers' logs in a bundle say of a failure. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from results.domain.errors import TeitenError, restored
from results.domain.failure_cause import SERVER_MESSAGE, first_server_message
from results.domain.measurement.parsed_trial import Event
from results.domain.messages import BLANK, linked
from results.domain.messages import gettext_lazy as _

_LOG = re.compile(r"server/([^/]+?)(?:\.crashes)?\.log")
_TIME = re.compile(r"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?) (?:UTC|GMT|Etc/UTC) ")
_OF_CRASHES = ("PANIC:", "LOG:")
_ENDED_ON_PURPOSE = ("cancelled", "lost")
GONE = "servers_gone"  # note: node → last line of the log of a server that had ended when the trial was over
_MADE_OF = "messages"  # key of an error's JSON
_BY_WHOM = _("The system log of its machine may say who ended it, such as the kernel where memory ran out.")


def with_gone_servers(error: dict[str, Any], notes: Mapping[str, Any], agents: Mapping[str, str]) -> dict[str, Any]:
    """Return the error with `server_gone`, a sentence that `why` begins with, where servers had ended by then.

    agents: role → name of its agent
    """
    if error.get("kind") in _ENDED_ON_PURPOSE or not notes.get(GONE):
        return error
    each = [
        _(
            "The server {node} on agent {agent} had ended, and not by Teiten. Its log ends with: {line}",
            node=node,
            agent=agents.get(node, node),
            line=line,
        )
        for node, line in notes[GONE].items()
    ]
    gone = linked(BLANK, each)
    made = restored(error)
    why = _("{server_gone}\n{why}", server_gone=gone, why=made["why"]) if made.get("why") else gone
    todo = _("{by_whom} {todo}", by_whom=_BY_WHOM, todo=made["todo"]) if made.get("todo") else _BY_WHOM
    return reworded(error, why=why, todo=todo) | {"server_gone": gone}


def reworded(error: Mapping[str, Any], *, why: str, todo: str) -> dict[str, Any]:
    """Return `TeitenError.as_dict()` with another cause and another next step, and with what these were made of."""
    new = TeitenError("", why=why, todo=todo).as_dict()
    kept = {name: made for name, made in error.get(_MADE_OF, {}).items() if name not in ("why", "todo")}
    fields = {name: value for name, value in error.items() if name != _MADE_OF}
    made_of = kept | new.get(_MADE_OF, {})
    return fields | {"why": new["why"], "todo": new["todo"]} | ({_MADE_OF: made_of} if made_of else {})


def with_server_message(
    error: dict[str, Any],
    events: Sequence[Event],
    files: Mapping[str, bytes],
    since_s: Mapping[str, float],
    *,
    only_crashes: bool = False,
) -> dict[str, Any]:
    """Return the error with `server_log`: the first line of the servers' logs of this attempt that tells of a failure.

    since_s: role → the attempt's start, epoch seconds of its agent's clock; earlier lines are of other attempts
    only_crashes: no plain FATAL or ERROR, for what a program prints itself that a server answers it with; others may be
        of any session, as one that was rolled back and tried again
    """
    if error.get("kind") in _ENDED_ON_PURPOSE:
        return error
    in_window = [event.text for event in events if event.kind in ("panic", "fatal", "error")]
    lines = [*in_window, *_saved(files, since_s)]
    message = first_server_message(line for line in lines if not only_crashes or line.startswith(_OF_CRASHES))
    return error | {"server_log": message} if message else error


def crashes_since(log: str, since_s: float) -> str:
    """Return what `Server.crashes` returned, without what was logged before this moment of the server's clock."""
    lines = log.splitlines(keepends=True)
    first = next((n for n, line in enumerate(lines) if _logged_s(line) >= since_s), len(lines))
    return "".join(lines[first:])


def _saved(files: Mapping[str, bytes], since_s: Mapping[str, float]) -> Iterator[str]:
    """Yield the errors in the logs that were saved, of the roles of the trial."""
    for name, data in files.items():
        log = _LOG.fullmatch(name)
        if log is None or log[1] not in since_s:
            continue
        for line in data.decode("utf-8", "replace").splitlines():
            message = SERVER_MESSAGE.search(line)
            if message and _logged_s(line) >= since_s[log[1]]:
                yield message[0]


def _logged_s(line: str) -> float:
    """Return when a line was logged, in epoch seconds of the server's clock; before everything where it has no time."""
    time = _TIME.match(line)
    return _moment_s(time[1]) if time else -math.inf


def _moment_s(text: str) -> float:
    """Return epoch seconds; those before everything for a time that there is not."""
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return -math.inf
