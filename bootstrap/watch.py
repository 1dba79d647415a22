"""Stands among honcho's processes for the servers that run beside it: ends when one of them has ended."""

from __future__ import annotations

import time

from bootstrap import processes
from bootstrap.errors import say
from bootstrap.processes import Process

_POLL_S = 0.5


def watch(watched: list[str]) -> int:
    """watched: NAME:PID:STARTED. Returns 1 as soon as one of these is gone, having said which."""
    servers = [(name, Process(int(pid), int(started))) for name, pid, started in (w.split(":") for w in watched)]
    while all(processes.alive(process) for _, process in servers):
        time.sleep(_POLL_S)
    for name, process in servers:
        if not processes.alive(process):
            say(f"{name} (process {process.pid}) has ended.")
    return 1
