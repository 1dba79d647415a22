"""Runs the parts of the demo beside its servers, until somebody stops it or one of them cannot go on."""

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

    name: of its log, too.
    restarted: whether it is started again when it ends.
    """

    name: str
    argv: tuple[str, ...]
    environment: Mapping[str, str]
    restarted: bool = False


@dataclass(frozen=True)
class End:
    """What ended by itself and is not started again. status: as of subprocess; None of a server."""

    name: str
    status: int | None


class Output:
    """Takes what parts print: each into its own log, only those in `shown` to the terminal, as they are."""

    def __init__(self, logs: Path, shown: frozenset[str]) -> None:
        self._logs, self._shown = logs, shown
        self._all = bool(os.environ.get("TEITEN_VERBOSE"))
        self._files: dict[str, IO[str]] = {}
        self._last: dict[str, deque[str]] = {}
        self._lock = threading.Lock()

    def write(self, name: str, line: bytes) -> None:
        """One line of a part; from any thread."""
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
    """One start of a part, in a session of its own: a Ctrl-C in the terminal is the supervisor's to handle."""

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
        """How it ended; None while it runs, or a process that it started and that holds its output."""
        return None if self._reader.is_alive() else self._process.poll()

    def send(self, number: signal.Signals) -> None:
        """To it and what it has started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def _read(self, name: str, output: Output) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            output.write(name, line)


class Supervisor:
    """A part that is `restarted` is started again when it ends, at most so often a minute.

    servers_ended: names of the servers beside the parts that have ended.
    """

    def __init__(self, parts: Sequence[Part], output: Output, servers_ended: Callable[[], Sequence[str]]) -> None:
        self._parts = {part.name: part for part in parts}
        self._output, self._servers_ended = output, servers_ended
        self._children: dict[str, _Child] = {}
        self._ends: dict[str, list[float]] = {part.name: [] for part in parts}
        self._due: dict[str, float] = {}
        self._stopped = False

    def run(self) -> End | None:
        """Returns what ended by itself, None after SIGINT, SIGTERM or SIGHUP; all parts have ended by then.

        The signals stay handled: a second Ctrl-C does not break off what the caller has still to stop."""
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
        """Starts again what is due; returns what has ended and is not started again."""
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
        """Whether a part that has ended is started again, and after what time; says so."""
        if not self._parts[name].restarted:
            return False
        self._ends[name] = [end_s for end_s in self._ends[name] if end_s > now_s - _WINDOW_S] + [now_s]
        ends = len(self._ends[name])
        what = f"{name} has {_how(status)}"
        if ends >= MOST_ENDS:
            say(f"\n{what}, {ends} times within {_WINDOW_S:g} s: it is not started again.")
            return False
        delay_s = _FIRST_DELAY_S * 2 ** (ends - 1)
        self._due[name] = now_s + delay_s
        say(f"\n{what}. It is started again in {delay_s:g} s.")
        return True

    def _end_all(self) -> None:
        """Asks all that run to end, and insists after the grace."""
        running = list(self._children.values())
        for number in (signal.SIGTERM, signal.SIGKILL):
            running = [child for child in running if child.status is None]
            for child in running:
                child.send(number)
            deadline_s = time.monotonic() + _GRACE_S
            while any(child.status is None for child in running) and time.monotonic() < deadline_s:
                time.sleep(_POLL_S)


def _how(status: int) -> str:
    return f"ended with status {status}" if status >= 0 else f"been ended by signal {-status}"
