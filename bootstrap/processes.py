"""What runs on this machine, read from /proc, and how to end it: by process id and start time, never by name."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_POLL_S = 0.02


@dataclass(frozen=True)
class Process:
    """One process. started (clock ticks since boot) tells it from a later one with the same id."""

    pid: int
    started: int

    def __str__(self) -> str:
        return f"{self.pid} {self.started}"


def find(pid: int) -> Process | None:
    """The running process with this id; None when there is none, or it is only waiting to be reaped."""
    fields = _stat(pid)
    return Process(pid, int(fields[19])) if fields and fields[0] not in "ZX" else None


def alive(process: Process) -> bool:
    """Whether this very process still runs."""
    return find(process.pid) == process


def number_taken(pid: int) -> bool:
    """Whether a process has this id, be it one that has ended and only waits to be reaped."""
    return bool(_stat(pid))


def every() -> Iterator[Process]:
    """All processes that this account may see."""
    for entry in os.listdir(_PROC):
        if entry.isdigit() and (process := find(int(entry))):
            yield process


def own_id() -> int:
    return os.getpid()


def parent(pid: int) -> int:
    fields = _stat(pid)
    return int(fields[1]) if fields else 0


def group(pid: int) -> int:
    fields = _stat(pid)
    return int(fields[2]) if fields else 0


def owner(pid: int) -> int:
    """The process's user id; -1 when it is gone."""
    try:
        return (_PROC / str(pid)).stat().st_uid
    except (FileNotFoundError, ProcessLookupError):
        return -1


def folder(pid: int) -> Path | None:
    """The working directory; None where it cannot be read."""
    return _link(pid, "cwd")


def program(pid: int) -> Path | None:
    """The executable file; None where it cannot be read."""
    return _link(pid, "exe")


def descriptors(pid: int) -> set[str]:
    """What the process has open, as /proc names it; empty where it cannot be read."""
    folder = _PROC / str(pid) / "fd"
    try:
        numbers = os.listdir(folder)
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return set()
    return {str(target) for number in numbers if (target := _link(pid, f"fd/{number}"))}


def command(pid: int) -> str:
    """The command line, words joined by blanks."""
    return _read(pid, "cmdline").replace(b"\0", b" ").decode("utf-8", "replace").strip()


def environment(pid: int) -> dict[str, str]:
    """The environment that the process was started with; empty where it cannot be read.

    Servers that write their title over it (PostgreSQL, Redis, sshd) show none."""
    words = _read(pid, "environ").decode("utf-8", "replace").split("\0")
    return dict(word.split("=", 1) for word in words if "=" in word)


def with_variable(name: str, value: str) -> list[Process]:
    """Every process that was started with this environment variable, but not this one and its ancestors."""
    own = set(ancestors(own_id()))
    return [p for p in every() if p.pid not in own and environment(p.pid).get(name) == value]


def ancestors(pid: int) -> Iterator[int]:
    """The process itself, its parent, and so on."""
    while pid > 0:
        yield pid
        pid = parent(pid)


def descendants(pid: int) -> list[Process]:
    """Children, their children, and so on."""
    children: dict[int, list[Process]] = {}
    for process in every():
        children.setdefault(parent(process.pid), []).append(process)
    found, waiting = [], [pid]
    while waiting:
        young = children.get(waiting.pop(), [])
        found += young
        waiting += [process.pid for process in young]
    return found


def end(processes: Iterable[Process], first: signal.Signals = signal.SIGTERM, grace_s: float = 5) -> None:
    """Asks with the first signal, insists with SIGKILL after the grace, returns when all are gone."""
    remaining = list(processes)
    for insist in (first, signal.SIGKILL):
        for process in remaining:
            _send(process, insist)
        remaining = _wait(remaining, grace_s)
        if not remaining:
            return


def _wait(processes: list[Process], limit_s: float) -> list[Process]:
    deadline = time.monotonic() + limit_s
    while (processes := [p for p in processes if alive(p)]) and time.monotonic() < deadline:
        time.sleep(_POLL_S)
    return processes


def _send(process: Process, number: signal.Signals) -> None:
    if alive(process):
        try:
            os.kill(process.pid, number)
        except ProcessLookupError:
            return  # it ended by itself in between


def _stat(pid: int) -> list[str]:
    """The fields after the name, which may itself hold blanks and brackets: state first."""
    return _read(pid, "stat").decode("utf-8", "replace").rpartition(")")[2].split()


def _read(pid: int, name: str) -> bytes:
    try:
        return (_PROC / str(pid) / name).read_bytes()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return b""


def _link(pid: int, name: str) -> Path | None:
    try:
        return Path(os.readlink(_PROC / str(pid) / name).removesuffix(" (deleted)"))
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return None
