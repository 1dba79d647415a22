"""Messages of the server and psql to one client → workers of each statement, complaints. Pure.

With client_min_messages = debug5, which the first versions set (see `message_counts`), the server sends the start and
end of every transaction. A statement of ours is one transaction of its session; each parallel worker that took part
ends one of its own, in the state PARALLEL_INPROGRESS (access/transam/xact.c, ShowTransactionState: 10 to 18)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_BEGINS = re.compile(r"psql:[^\n]*?:\d+: (?:[A-Z]+:  |error: |fatal: |)")
_WHERE = re.compile(r"^psql:[^\n]*?:\d+: ")
_CHATTER = re.compile(r"psql:[^\n]*?:\d+: (?:DEBUG|LOG|INFO|NOTICE):  ")
_OF_A_WORKER = "\nCONTEXT:  parallel worker"


@dataclass(frozen=True)
class Messages:
    """The messages of one client.

    workers: for each statement, how many parallel workers ran it.
    complaint: warnings, errors and psql's messages.
    """

    workers: tuple[int, ...]
    complaint: str


def read_messages(stderr: str) -> Messages:
    """Read psql's standard error of a script."""
    workers: list[int] = []
    complaints = []
    for message in _messages(stderr):
        if not _CHATTER.match(message):
            complaints.append(_WHERE.sub("", message))
        elif "CommitTransaction" in message and "blockState: PARALLEL_INPROGRESS" in message:
            if workers:
                workers[-1] += 1
        elif "StartTransaction" in message and _OF_A_WORKER not in message:
            workers.append(0)
    return Messages(tuple(workers), "\n".join(complaints).strip())


def _messages(stderr: str) -> Iterator[str]:
    """Each with the lines that belong to it."""
    lines: list[str] = []
    for line in stderr.splitlines():
        if _BEGINS.match(line) and lines:
            yield "\n".join(lines)
            lines = []
        lines.append(line)
    if lines:
        yield "\n".join(lines)
