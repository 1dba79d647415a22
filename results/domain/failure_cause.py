"""The one line that says why a trial failed, from what its error carries. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from results.domain.errors import restored
from results.domain.messages import Message
from results.domain.messages import gettext_lazy as _

LONGEST = 300
WORKLOAD_FAILED = _("The workload failed while it was measured.")  # `what` of an error whose `why` has the cause
# what a server logs of a failure; the end of one of its processes, which ends all sessions, is a LOG
_ENDED = r"[^()]{1,100} \(PID \d{1,10}\) was terminated by signal "
SERVER_MESSAGE = re.compile(rf"\b(?:PANIC:|FATAL:|ERROR:|LOG:(?={_ENDED}))\s+(.+)")
_PROGRAM = re.compile(r"\b(?:error|fatal):\s+(.+)")  # as pgbench, psql and initdb begin theirs
# what a server says of a session that somebody else ended: never the cause
_CONSEQUENCE = re.compile(
    r"terminating connection (?:due to administrator command|because of crash of another server process"
    r"|due to unexpected postmaster exit)"
    r"|canceling statement due to user request"
    r"|the database system is (?:starting up|shutting down|in recovery mode|not yet accepting connections)"
)
_BY_TEITEN = ("cancelled", "lost", "deadline")  # kinds of errors after which clients and servers were ended on purpose
_NUMBER = re.compile(r"\d+")


def cause(error: Mapping[str, Any] | None) -> str:
    """Return the line that says why; '' without an error.

    It is that a server had ended, unless a PANIC says why; else the server's first own error in what the failed
    command printed, else in its log at that time, else the program's; else what Teiten says of it, with its reason.

    error: `TeitenError.as_dict()`, or what `restored` makes of it, with `server_log` where a bundle had that of the
        server, and `server_gone` where that had ended.
    """
    if not error:
        return ""
    sentences = restored(error)
    what, why = _sentence(sentences, "what"), _sentence(sentences, "why")
    if error.get("kind") not in _BY_TEITEN and (message := _message(error, why)):
        return shortened(message)
    reason = _first_line(why)
    if what and reason and what != WORKLOAD_FAILED:
        return shortened(_("{what} {why}", what=what, why=reason))
    return shortened(reason or what)


def _sentence(error: Mapping[str, Any], name: str) -> str:
    text = error.get(name) or ""
    return text if isinstance(text, str) else str(text)


def _first_line(text: str) -> str:
    """Return the first line of a text, itself where it has no other."""
    line = text.strip().partition("\n")[0]
    return text if line == text else line


def _message(error: Mapping[str, Any], why: str) -> str:
    """Return what servers or programs say of a failure; '' where they say nothing."""
    printed = [why, *(str(error.get(name) or "") for name in ("stderr", "stdout"))]
    logged = str(error.get("server_log") or "")
    if error.get("server_gone") and not logged.startswith("PANIC:"):
        return _ended_server(str(error["server_gone"]), why)
    return next(iter([*_messages([*printed, logged], SERVER_MESSAGE), *_messages(printed, _PROGRAM)]), "")


def _ended_server(gone: str, why: str) -> str:
    """Return the sentence that a server had ended: the message in the one that says why, where it is the same."""
    stored = why.values.get("server_gone", why) if isinstance(why, Message) else why
    return stored if stored == gone else Message(gone)


def _messages(texts: Iterable[str], pattern: re.Pattern[str]) -> Iterator[str]:
    for line in "\n".join(texts).splitlines():
        match = pattern.search(line)
        if match and not _CONSEQUENCE.search(line):
            yield match[1].strip()


def first_server_message(lines: Iterable[str]) -> str:
    """Return the server's first PANIC, else the end of one of its processes by a signal, else its first FATAL or ERROR,
    that is no consequence; '' for none."""
    found = [(line, SERVER_MESSAGE.search(line)) for line in lines if not _CONSEQUENCE.search(line)]
    telling = [(match[0], line) for line, match in found if match]
    panics, ends = ([one for one in telling if one[0].startswith(level)] for level in ("PANIC:", "LOG:"))
    return next((line for _, line in [*panics, *ends, *telling]), "")


def shortened(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def same_cause(one: str) -> str:
    """Return what causes have in common that differ in numbers only: sizes, process ids, names of segments."""
    return _NUMBER.sub("#", one)
