"""Crashes and errors in a server's log. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

_CRASH = re.compile(
    r"(?:PANIC|TRAP): .*|LOG:  .*\(PID \d+\) was terminated by signal (?P<signal>\d+).*|"
    r"LOG:  server process \(PID \d+\) exited with exit code .*"
)
_STAMP = re.compile(r"^\d{4}-\d\d-\d\d \S+ \S+ \[\d+\] ")
_STATEMENT = re.compile(r"^DETAIL:  Failed process was running: (?P<statement>.*)")
_ERROR = re.compile(r"\b(ERROR|FATAL|PANIC): ")
_WAITING = re.compile(r"FATAL:  (the database system is|terminating|sorry, too many)")
_OUT_OF_RESOURCE = re.compile(
    r"No space left on device|Disk quota exceeded|out of memory|Cannot allocate memory|could not resize shared memory|"
    r"too many clients already|Address already in use",
    re.IGNORECASE,
)
_KILLED = 9
_LINES = 4


@dataclass(frozen=True)
class Crash:
    """The crash of a server.

    words: the log's lines.
    killed: by SIGKILL, which no server sends itself.
    statement: that the process ran; '' where the log does not say.
    """

    words: str
    killed: bool
    statement: str = ""


def crash_in(log: str) -> Crash | None:
    """Return the first crash in a server's log."""
    lines = [_STAMP.sub("", line) for line in log.splitlines()]
    for number, line in enumerate(lines):
        if match := _CRASH.fullmatch(line.strip()):
            lines_of_crash = [line, *(more for more in lines[number + 1 : number + 3] if more.startswith("DETAIL:"))]
            statement_match = _STATEMENT.search(lines_of_crash[-1])
            return Crash(
                " ".join(lines_of_crash),
                match["signal"] == str(_KILLED),
                statement_match["statement"].strip() if statement_match else "",
            )
    return None


def errors_in(log: str) -> str:
    """Return the last distinct errors of a server's log; '' where there are none."""
    lines = [_STAMP.sub("", line) for line in log.splitlines()]
    errors = [line for line in lines if _ERROR.search(line) and not _WAITING.search(line)]
    return " ".join(list(dict.fromkeys(errors))[-_LINES:])


def is_out_of_resource(words: str) -> bool:
    """Tell whether an error is about the machine: its disk, memory, ports."""
    return bool(_OUT_OF_RESOURCE.search(words))
