"""What a server's log says. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

_CRASH = re.compile(
    r"(?:PANIC|TRAP): .*|LOG:  .*\(PID \d+\) was terminated by signal (?P<signal>\d+).*|"
    r"LOG:  server process \(PID \d+\) exited with exit code .*"
)
_STAMP = re.compile(r"^\d{4}-\d\d-\d\d \S+ \S+ \[\d+\] ")
_RAN = re.compile(r"^DETAIL:  Failed process was running: (?P<statement>.*)")
_TELLING = re.compile(r"\b(ERROR|FATAL|PANIC): ")
_WAITING = re.compile(r"FATAL:  (the database system is|terminating|sorry, too many)")
_RAN_OUT = re.compile(
    r"No space left on device|Disk quota exceeded|out of memory|Cannot allocate memory|could not resize shared memory|"
    r"too many clients already|Address already in use",
    re.IGNORECASE,
)
_KILLED = 9
_LINES = 4


@dataclass(frozen=True)
class Crash:
    """words: the log's own lines. killed: by SIGKILL, which no server sends itself for a fault of its own. statement:
    what the process ran that ended, where the log names it."""

    words: str
    killed: bool
    statement: str = ""


def crash_in(log: str) -> Crash | None:
    """The first crash that a server's log tells of."""
    lines = [_STAMP.sub("", line) for line in log.splitlines()]
    for number, line in enumerate(lines):
        if found := _CRASH.fullmatch(line.strip()):
            told = [line, *(more for more in lines[number + 1 : number + 3] if more.startswith("DETAIL:"))]
            ran = _RAN.search(told[-1])
            return Crash(" ".join(told), found["signal"] == str(_KILLED), ran["statement"].strip() if ran else "")
    return None


def errors_in(log: str) -> str:
    """The last different errors of a server's log; '' when there are none."""
    lines = [_STAMP.sub("", line) for line in log.splitlines()]
    telling = [line for line in lines if _TELLING.search(line) and not _WAITING.search(line)]
    return " ".join(list(dict.fromkeys(telling))[-_LINES:])


def means_ran_out(words: str) -> bool:
    """Whether an error is about the machine: its disk, memory, ports."""
    return bool(_RAN_OUT.search(words))
