"""Programs that a test kills and starts again, each by the process that it started itself."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bootstrap import ports

PATIENCE_S = 120.0


def until(condition: Callable[[], object], what: Callable[[], object], patience_s: float = PATIENCE_S) -> None:
    """Waits for a condition; fails with what there is in its place."""
    deadline = time.monotonic() + patience_s
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain: {what()}"
        threading.Event().wait(0.1)


def free_port() -> int:
    """A port of the loopback device that nobody uses now."""
    with socket.socket() as listener:
        listener.bind((ports.HOST, 0))
        return int(listener.getsockname()[1])


def listens(port: int) -> bool:
    with socket.socket() as client:
        client.settimeout(1)
        return client.connect_ex((ports.HOST, port)) == 0


def children(pid: int) -> list[int]:
    """The processes that a process has started, and that still run."""
    try:
        words = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:  # it has ended
        return []
    return [int(word) for word in words]


def kill(pids: Iterable[int]) -> None:
    """kill −9 of those that still run."""
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


@dataclass
class Program:
    """One of Teiten's parts, or of the servers around it.

    ready: whether it does its work, by what it has printed since its start.
    log: what it prints, one start after the other."""

    name: str
    argv: Sequence[str]
    environment: Mapping[str, str]
    ready: Callable[[str], bool]
    log: Path
    cwd: str = "/"
    _child: subprocess.Popen[bytes] | None = field(default=None, repr=False)
    _before: int = 0

    @property
    def pid(self) -> int:
        assert self._child is not None, f"{self.name} does not run"
        return self._child.pid

    def start(self) -> None:
        """Starts it, and waits until it is ready."""
        with self.log.open("ab") as output:
            self._before = output.tell()
            self._child = subprocess.Popen(
                self.argv, stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd=self.cwd, env=self.environment
            )
        until(self._is_ready, lambda: f"{self.name}: {self.printed()[-3000:]}")

    def _is_ready(self) -> bool:
        assert self._child is not None and self._child.poll() is None, f"{self.name}: {self.printed()[-3000:]}"
        return self.ready(self.printed())

    def printed(self) -> str:
        """What it has printed since its start."""
        return self.log.read_bytes()[self._before :].decode(errors="replace")

    def kill(self) -> None:
        """kill −9."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """Asks it to end, and waits for that."""
        self._end(signal.SIGTERM)

    def ask_to_end(self) -> subprocess.Popen[bytes]:
        """Asks it to end; the process, which may take its time."""
        assert self._child is not None
        child, self._child = self._child, None
        child.send_signal(signal.SIGTERM)
        return child

    def _end(self, how: signal.Signals) -> None:
        if self._child is not None:
            self._child.send_signal(how)
            self._child.wait(PATIENCE_S)
            self._child = None
