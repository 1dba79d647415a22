"""Processor time of the agent, of its server and of pgbench, by control groups: what has ended counts as well."""

from __future__ import annotations

import os
import threading
import time
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

_INTERVAL_S = 0.02
_PARTS = ("", "server", "client")


@dataclass(frozen=True)
class Used:
    """Processor seconds of one window.

    agent: of every process of the agent's account, with its sshd
    server: of PostgreSQL's processes
    client: of pgbench
    """

    agent: float
    server: float
    client: float

    @property
    def load(self) -> float:
        """Of server and client."""
        return self.server + self.client


@dataclass
class ProcessorTime:
    """The processor time used so far, read every 20 ms."""

    group: Path
    readings: list[tuple[float, tuple[float, ...]]] = field(default_factory=list)
    _over: threading.Event = field(default_factory=threading.Event)

    def between(self, start_s: float, end_s: float) -> Used:
        """Return what was used between two past moments, in epoch seconds; between two readings by straight lines."""
        while self.readings[-1][0] < end_s:
            time.sleep(_INTERVAL_S)
        used = [end - start for start, end in zip(self._at(start_s), self._at(end_s), strict=True)]
        return Used(*used)

    def enter_server(self, postmaster: int) -> None:
        """Count a server's processes, and all that it forks from now on, as the server's."""
        for process in (postmaster, *_children(postmaster)):
            with suppress(ProcessLookupError):
                _enter(self.group / "server", process)

    def _at(self, moment_s: float) -> tuple[float, ...]:
        index = bisect_left(self.readings, moment_s, key=lambda reading: reading[0])
        if not 0 < index < len(self.readings):
            raise RuntimeError("a window that was not watched from beginning to end")
        (before_s, before), (after_s, after) = self.readings[index - 1 : index + 1]
        part = (moment_s - before_s) / (after_s - before_s)
        return tuple(low + part * (high - low) for low, high in zip(before, after, strict=True))

    def run(self) -> None:
        while not self._over.wait(_INTERVAL_S):
            for process in _processes(self.group):
                if _name(process) == "pgbench":
                    with suppress(ProcessLookupError):
                        _enter(self.group / "client", process)
            self.readings.append((time.time(), tuple(_used_s(self.group / part) for part in _PARTS)))

    def stop(self) -> None:
        self._over.set()


@contextmanager
def watched(port: int) -> Iterator[ProcessorTime]:
    """Watch all that is started through the sshd on this port from now on. Raises RuntimeError without the rights.

    All of it must have ended at the end, or goes on in the control group above.
    """
    if os.geteuid() != 0:
        raise RuntimeError("Control groups are root's to make: run the benchmark as root.")
    group = _hierarchy() / f"teiten-bench-{os.getpid()}"
    for part in _PARTS:
        (group / part).mkdir()
    _enter(group, _sshd(port))
    watch = ProcessorTime(group)
    thread = threading.Thread(target=watch.run)
    thread.start()
    try:
        yield watch
    finally:
        watch.stop()
        thread.join()
        _remove(group)


def _hierarchy() -> Path:
    for line in Path("/proc/mounts").read_text().splitlines():
        _device, place, kind, *_rest = line.split()
        if kind == "cgroup2":
            return Path(place)
    raise RuntimeError("There is no control group hierarchy of version 2.")


def _sshd(port: int) -> int:
    """Return the process that listens on a port of this machine."""
    sockets = {
        fields[9]
        for fields in map(str.split, Path("/proc/net/tcp").read_text().splitlines()[1:])
        if fields[3] == "0A" and int(fields[1].partition(":")[2], 16) == port
    }
    for process in _all_processes():
        with suppress(OSError):
            for descriptor in Path(f"/proc/{process}/fd").iterdir():
                if str(descriptor.readlink()).strip("socket:[]") in sockets:
                    return process
    raise RuntimeError(f"no process listens on port {port}")


def _remove(group: Path) -> None:
    for part in reversed(_PARTS):
        for process in _processes(group / part):
            with suppress(ProcessLookupError):
                _enter(group.parent, process)
        (group / part).rmdir()


def _enter(group: Path, process: int) -> None:
    (group / "cgroup.procs").write_text(f"{process}\n")


def _processes(group: Path) -> list[int]:
    return [int(line) for line in (group / "cgroup.procs").read_text().split()]


def _all_processes() -> Iterator[int]:
    return (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())


def _children(parent: int) -> list[int]:
    children = []
    for process in _all_processes():
        with suppress(OSError):
            stat = Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()
            if int(stat[1]) == parent:
                children.append(process)
    return children


def _name(process: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{process}/comm").read_text().strip()
    return ""


def _used_s(group: Path) -> float:
    return int((group / "cpu.stat").read_text().split()[1]) / 1e6
