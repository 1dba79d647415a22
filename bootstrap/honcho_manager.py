"""honcho's Manager with what the demo needs more: a calm terminal, full logs, and who ended first."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections import deque
from pathlib import Path
from typing import Any, TextIO

from honcho.manager import Manager
from honcho.process import Process

_PR_SET_PDEATHSIG = 1  # linux/prctl.h


class Output:
    """Takes honcho's lines: each process into its own log, only those in `shown` to the terminal, as they are."""

    width = 0

    def __init__(self, logs: Path, shown: frozenset[str]) -> None:
        self._logs, self._shown = logs, shown
        self._files: dict[str, TextIO] = {}
        self.last: dict[str, deque[str]] = {}

    def write(self, message: Any) -> None:
        """One honcho message of type 'line'."""
        data, name = message.data, message.name or "system"
        text = data.decode("utf-8", "replace") if isinstance(data, bytes) else str(data)
        if name not in self._files:
            self._files[name] = (self._logs / f"{name}.log").open("w", encoding="utf-8")
            self.last[name] = deque(maxlen=20)
        self._files[name].write(text)
        self._files[name].flush()
        self.last[name].append(text.rstrip("\n"))
        if name in self._shown or os.environ.get("TEITEN_VERBOSE"):
            sys.stdout.write(text if name in self._shown else f"{name:8} | {text}")
            sys.stdout.flush()


class MortalProcess(Process):
    """honcho's helper beside each process; it dies with its manager, where honcho's own would wait for ever."""

    def run(self, events: Any = None, ignore_signals: bool = False) -> None:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        super().run(events, ignore_signals)


class DemoManager(Manager):
    """Differs from honcho's in three points: its helpers die with it; it remembers which process ended first; and a
    Ctrl-C that comes before all processes have reported their start waits until they have (honcho 2.0.0 fails with a
    KeyError)."""

    def __init__(self, output: Output) -> None:
        super().__init__(output)
        self._process_ctor = MortalProcess
        self.ended_first = ""
        self._asked = False

    def terminate(self) -> None:
        if not self._asked:
            stopped = [name for name, entry in self._processes.items() if "returncode" in entry]
            self.ended_first = stopped[0] if stopped else ""
        self._asked = True
        if self._all_started():
            super().terminate()

    def _any_stopped(self) -> bool:
        return self._asked or bool(super()._any_stopped())
