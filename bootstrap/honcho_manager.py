"""honcho's Manager with what the demo needs more: a calm terminal, full logs, parts that are started again, and who
ended first."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from collections import deque
from collections.abc import Collection
from multiprocessing import Process as Helper
from pathlib import Path
from typing import Any, TextIO

from honcho.manager import Manager
from honcho.process import Process

from bootstrap.errors import say

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
MOST_ENDS = 5
_WINDOW_S = 60.0
_FIRST_DELAY_S = 0.5


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
    """Differs from honcho's in four points: its helpers die with it; processes named in `kept` are started again when
    they end, at most so often a minute; it remembers which other process ended first by itself; and a Ctrl-C that comes
    before all processes have reported their start waits until they have (honcho 2.0.0 fails with a KeyError)."""

    def __init__(self, output: Output, kept: Collection[str] = ()) -> None:
        super().__init__(output)
        self._process_ctor = MortalProcess
        self.ended_first = ""
        self._asked = False
        self._kept = kept
        self._ends: dict[str, list[float]] = {name: [] for name in kept}
        self._due: dict[str, float] = {}

    def terminate(self) -> None:
        self._asked = True
        if self._all_started():
            super().terminate()

    def _any_stopped(self) -> bool:
        if not self._asked:
            self._start_again(time.monotonic())
            self.ended_first = next(iter(self._ended()), "")
        return self._asked or bool(self.ended_first)

    def _all_stopped(self) -> bool:
        return bool(super()._all_stopped()) and (self._asked or not self._due)

    def _ended(self) -> list[str]:
        """The processes that have ended and are not to be started again."""
        return [name for name, entry in self._processes.items() if "returncode" in entry and name not in self._due]

    def _start_again(self, now_s: float) -> None:
        for name in [name for name in self._ended() if name in self._kept]:
            self._note_end(name, now_s)
        for name in [name for name, due_s in self._due.items() if due_s <= now_s]:
            process = self._processes[name]["obj"]
            helper = Helper(name=name, target=process.run, args=(self.events, True))
            self._processes[name] = {"obj": process, "process": helper}
            del self._due[name]
            self.returncode = None  # honcho takes the one of whichever ended first for its own
            helper.start()

    def _note_end(self, name: str, now_s: float) -> None:
        """Says that the process has ended, and sets when it is started again, unless it ends again and again."""
        self._ends[name] = [end_s for end_s in self._ends[name] if end_s > now_s - _WINDOW_S] + [now_s]
        ends = len(self._ends[name])
        what = f"{name} has {_how(self._processes[name]['returncode'])}"
        if ends >= MOST_ENDS:
            say(f"\n{what}, {ends} times within {_WINDOW_S:g} s: it is not started again.")
            return
        delay_s = _FIRST_DELAY_S * 2 ** (ends - 1)
        self._due[name] = now_s + delay_s
        say(f"\n{what}. It is started again in {delay_s:g} s.")


def _how(returncode: int) -> str:
    return f"ended with status {returncode}" if returncode >= 0 else f"been ended by signal {-returncode}"
