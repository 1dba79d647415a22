"""List the processes of this machine, from /proc, and end them: by process id and start time, never by name."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_POLL_S = 0.02
_LOADED_WITHIN_S = 2.0


@dataclass(frozen=True)
class Process:
    """One process.

    started: in clock ticks since boot, by which it differs from a later one with the same id
    """

    pid: int
    started: int

    def __str__(self) -> str:
        return f"{self.pid} {self.started}"


def find(pid: int) -> Process | None:
    """Return the running process with this id; None where there is none, or only a zombie."""
    fields = _stat(pid)
    return Process(pid, int(fields[19])) if fields and fields[0] not in "ZX" else None


def is_alive(process: Process) -> bool:
    """Return whether this process, and no later one with its id, still runs."""
    return find(process.pid) == process


def is_pid_taken(pid: int) -> bool:
    """Return whether a process has this id, be it a zombie."""
    return bool(_stat(pid))


def all_processes() -> Iterator[Process]:
    """Yield all processes that this account may see."""
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
    """Return the process's user id; -1 where it has ended."""
    try:
        return (_PROC / str(pid)).stat().st_uid
    except OSError:
        return -1


def folder(pid: int) -> Path | None:
    """Return the working directory; None where it cannot be read."""
    return _link(pid, "cwd")


def program(pid: int) -> Path | None:
    """Return the executable file; None where it cannot be read."""
    return _link(pid, "exe")


def descriptors(pid: int) -> set[str]:
    """Return the process's open files, as /proc names them; empty where they cannot be read."""
    folder = _PROC / str(pid) / "fd"
    try:
        file_descriptors = os.listdir(folder)
    except OSError:
        return set()
    return {str(target) for number in file_descriptors if (target := _link(pid, f"fd/{number}"))}


def command(pid: int) -> str:
    """Return the command line, its words joined by blanks."""
    return _read(pid, "cmdline").replace(b"\0", b" ").decode("utf-8", "replace").strip()


def name(process: Process) -> str:
    """Return the process id and the beginning of the command line, for people."""
    return f"{process.pid} ({command(process.pid)[:100]})"


def environment(pid: int) -> dict[str, str]:
    """Return the environment with which the process was started; empty where it cannot be read.

    Servers that write their title over it (PostgreSQL, Redis, sshd) show none.
    """
    words = _read(pid, "environ").decode("utf-8", "replace").split("\0")
    return dict(word.split("=", 1) for word in words if "=" in word)


def with_variable(name: str, value: str) -> list[Process]:
    """Return every process that was started with this environment variable, without this one and its ancestors."""
    excluded = set(ancestors(own_id()))
    return [p for p in all_processes() if p.pid not in excluded and _environment_once_there(p).get(name) == value]


def _environment_once_there(process: Process) -> dict[str, str]:
    """Return a process's environment; where a program is just being loaded, as it is an instant later."""
    deadline = time.monotonic() + _LOADED_WITHIN_S
    while not (found := environment(process.pid)) and _is_being_loaded(process) and time.monotonic() < deadline:
        time.sleep(_POLL_S)
    return found


def _is_being_loaded(process: Process) -> bool:
    """Return whether neither environment nor command line is there yet; a thread of the kernel has no program."""
    return is_alive(process) and program(process.pid) is not None and not command(process.pid)


def ancestors(pid: int) -> Iterator[int]:
    """Yield the process itself, its parent, and so on."""
    while pid > 0:
        yield pid
        pid = parent(pid)


def descendants(pid: int) -> list[Process]:
    """Return the process's children, their children, and so on."""
    children: dict[int, list[Process]] = {}
    for process in all_processes():
        children.setdefault(parent(process.pid), []).append(process)
    result, parents = [], [pid]
    while parents:
        offspring = children.get(parents.pop(), [])
        result += offspring
        parents += [process.pid for process in offspring]
    return result


def end(processes: Iterable[Process], first: signal.Signals = signal.SIGTERM, grace_s: float = 5) -> None:
    """Send the first signal, and SIGKILL after grace_s; return when all have ended."""
    remaining = list(processes)
    for number in (first, signal.SIGKILL):
        for process in remaining:
            _send(process, number)
        remaining = _wait(remaining, grace_s)
        if not remaining:
            return


def _wait(processes: list[Process], limit_s: float) -> list[Process]:
    deadline = time.monotonic() + limit_s
    while (processes := [p for p in processes if is_alive(p)]) and time.monotonic() < deadline:
        time.sleep(_POLL_S)
    return processes


def _send(process: Process, number: signal.Signals) -> None:
    if is_alive(process):
        try:
            os.kill(process.pid, number)
        except ProcessLookupError:
            return  # it has just ended by itself


def _stat(pid: int) -> list[str]:
    """Return the fields after the name, which may contain blanks and brackets; the first is the state."""
    return _read(pid, "stat").decode("utf-8", "replace").rpartition(")")[2].split()


def _read(pid: int, name: str) -> bytes:
    try:
        return (_PROC / str(pid) / name).read_bytes()
    except OSError:
        return b""


def _link(pid: int, name: str) -> Path | None:
    try:
        return Path(os.readlink(_PROC / str(pid) / name).removesuffix(" (deleted)"))
    except OSError:
        return None
