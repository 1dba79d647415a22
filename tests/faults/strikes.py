"""What happens to Teiten, and to its agents, while six trials are held."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterable
from pathlib import Path

from redis import Redis

from tests.faults.conftest import Held
from tests.faults.processes import Program

AWAY_S = 60.0


def nothing(held: Held) -> None:
    """So that the table has what becomes of them without a fault."""


def worker_killed(held: Held) -> None:
    for worker in held.fleet.workers:
        worker.kill()
    for worker in held.fleet.workers:
        worker.start()


def control_killed(held: Held) -> None:
    _killed(held.fleet.control)


def beat_killed(held: Held) -> None:
    _killed(held.fleet.beat)


def web_killed(held: Held) -> None:
    _killed(held.fleet.web)


def _killed(part: Program) -> None:
    part.kill()
    part.start()


def worker_replaced(held: Held) -> None:
    """An update: the workers are asked to end, those that follow them are there already, and the old ones are killed
    when they have not ended after a while."""
    old = [worker.ask_to_end() for worker in held.fleet.workers]
    for worker in held.fleet.workers:
        worker.start()
    threading.Event().wait(2)
    for process in old:
        process.kill()
        process.wait()


def redis_restarted(held: Held) -> None:
    held.fleet.queue.stop()
    held.fleet.queue.start()


def redis_away(held: Held) -> None:
    held.fleet.queue.kill()
    threading.Event().wait(15)
    held.fleet.queue.start()


def redis_flushed(held: Held) -> None:
    with Redis.from_url(held.fleet.queue_url) as queue:
        queue.flushall()


def warehouse_restarted(held: Held) -> None:
    held.fleet.warehouse.restart(0)


def warehouse_away(held: Held) -> None:
    """It refuses connections for a minute; the trials go on meanwhile."""
    held.gates.open()
    held.fleet.warehouse.restart(AWAY_S)


def ssh_cut(held: Held) -> None:
    """Every login that there is ends; the next one succeeds."""
    _kill(_sessions(held))


def sshd_restarted(held: Held) -> None:
    sessions = _sessions(held)
    held.fleet.sshd.stop()
    _kill(sessions)
    held.fleet.sshd.start()


def _sessions(held: Held) -> list[int]:
    """The processes of sshd that have a login each."""
    children = Path(f"/proc/{held.fleet.sshd.pid}/task/{held.fleet.sshd.pid}/children").read_text().split()
    return [int(child) for child in children]


def _kill(pids: Iterable[int]) -> None:
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
