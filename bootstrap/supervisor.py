"""Run the parts of the demo beside its servers, until somebody stops it or a part ends that is not restarted."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from bootstrap.errors import BootstrapError, say
from bootstrap.places import CHECKOUT

MOST_ENDS = 5
_WINDOW_S = 60.0
_FIRST_DELAY_S = 0.5
_GRACE_S = 5.0
_POLL_S = 0.1
_LAST_LINES = 20


@dataclass(frozen=True)
class Part:
    """A program of the demo.

    name: of the part and its log
    restarted: whether it is started again when it ends
    """

    name: str
    argv: tuple[str, ...]
    environment: Mapping[str, str]
    restarted: bool = False


@dataclass(frozen=True)
class End:
    """A part or server that ended by itself and is not started again.

    status: as in subprocess; None for a server
    """

    name: str
    status: int | None


class Output:
    """Writes each part's output to its log, and that of the parts in `shown` to the terminal too."""

    def __init__(self, logs: Path, shown: frozenset[str]) -> None:
        self._logs, self._shown = logs, shown
        self._all = bool(os.environ.get("TEITEN_VERBOSE"))
        self._files: dict[str, IO[str]] = {}
        self._last: dict[str, deque[str]] = {}
        self._lock = threading.Lock()

    def write(self, name: str, line: bytes) -> None:
        """Write one line of a part; may be called from any thread."""
        text = line.decode("utf-8", "replace")
        with self._lock:
            if name not in self._files:
                self._files[name] = (self._logs / f"{name}.log").open("w", encoding="utf-8")
                self._last[name] = deque(maxlen=_LAST_LINES)
            self._files[name].write(text)
            self._files[name].flush()
            self._last[name].append(text.rstrip("\n"))
            if self._all or name in self._shown:
                sys.stdout.write(text if name in self._shown else f"{name:8} | {text}")
                sys.stdout.flush()

    def last_lines(self, name: str) -> list[str]:
        with self._lock:
            return list(self._last.get(name, ()))


class _Child:
    """One process of a part, in a session of its own, so that Ctrl-C in the terminal reaches the supervisor alone."""

    def __init__(self, part: Part, output: Output) -> None:
        try:
            self._process = subprocess.Popen(
                part.argv,
                cwd=CHECKOUT,
                env=dict(part.environment),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise BootstrapError(f"{part.argv[0]} cannot be run.", where=part.name, why=str(error)) from None
        self._reader = threading.Thread(target=self._read, args=(part.name, output), daemon=True)
        self._reader.start()

    @property
    def status(self) -> int | None:
        """Its exit status; None while it, or a process that it started and that has its output open, runs."""
        return None if self._reader.is_alive() else self._process.poll()

    def send(self, number: signal.Signals) -> None:
        """Send a signal to it and the processes that it has started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def _read(self, name: str, output: Output) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            output.write(name, line)


class Supervisor:
    """Runs parts; starts a part that is `restarted` again when it ends, unless it has ended too often within a minute.

    servers_ended: returns the names of the servers beside the parts that have ended
    """

    def __init__(self, parts: Sequence[Part], output: Output, servers_ended: Callable[[], Sequence[str]]) -> None:
        self._parts = {part.name: part for part in parts}
        self._output, self._servers_ended = output, servers_ended
        self._children: dict[str, _Child] = {}
        self._ends: dict[str, list[float]] = {part.name: [] for part in parts}
        self._due: dict[str, float] = {}
        self._stopped = False

    def run(self) -> End | None:
        """Run all parts until one ends that is not restarted, or a server does; return it, None after a signal.

        All parts have ended by then. SIGINT, SIGTERM and SIGHUP stay handled, so that a second Ctrl-C does not
        interrupt the caller while it stops the servers.
        """
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._stop)
        try:
            for part in self._parts.values():
                self._start(part)
            while not self._stopped:
                if end := self._first_end(time.monotonic()):
                    return end
                time.sleep(_POLL_S)
            return None
        finally:
            self._end_all()

    def _stop(self, *_: object) -> None:
        self._stopped = True

    def _start(self, part: Part) -> None:
        self._children[part.name] = _Child(part, self._output)

    def _first_end(self, now_s: float) -> End | None:
        """Start again the parts that are due; return a part or server that has ended and is not started again."""
        for name in [name for name, due_s in self._due.items() if due_s <= now_s]:
            del self._due[name]
            self._start(self._parts[name])
        for name in self._servers_ended():
            return End(name, None)
        for name, child in self._children.items():
            status = None if name in self._due else child.status
            if status is not None and not self._starts_again(name, status, now_s):
                return End(name, status)
        return None

    def _starts_again(self, name: str, status: int, now_s: float) -> bool:
        """Return whether a part that has ended is started again, schedule that, and print it."""
        if not self._parts[name].restarted:
            return False
        self._ends[name] = [end_s for end_s in self._ends[name] if end_s > now_s - _WINDOW_S] + [now_s]
        ends = len(self._ends[name])
        what = f"{name} has {_describe_status(status)}"
        if ends >= MOST_ENDS:
            say(f"\n{what}, {ends} times within {_WINDOW_S:g} s: it is not started again.")
            return False
        delay_s = _FIRST_DELAY_S * 2 ** (ends - 1)
        self._due[name] = now_s + delay_s
        say(f"\n{what}. It is started again in {delay_s:g} s.")
        return True

    def _end_all(self) -> None:
        """Send SIGTERM to all that run, and SIGKILL after a grace."""
        running = list(self._children.values())
        for number in (signal.SIGTERM, signal.SIGKILL):
            running = [child for child in running if child.status is None]
            for child in running:
                child.send(number)
            deadline_s = time.monotonic() + _GRACE_S
            while any(child.status is None for child in running) and time.monotonic() < deadline_s:
                time.sleep(_POLL_S)


def _describe_status(status: int) -> str:
    return f"ended with status {status}" if status >= 0 else f"been ended by signal {-status}"
