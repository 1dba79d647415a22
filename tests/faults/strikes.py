"""What happens to Teiten, and to its agents, while six trials are held."""

from __future__ import annotations

import threading

from redis import Redis

from tests.faults.conftest import Held
from tests.faults.fleet import Fleet
from tests.faults.processes import Program

AWAY_S = 60.0


def nothing(held: Held) -> None:
    """So that the table has what becomes of them without a fault."""


def worker_killed(held: Held) -> None:
    kill_workers(held.fleet)


def kill_workers(fleet: Fleet) -> None:
    """Both at once, before others start."""
    for worker in fleet.workers:
        worker.kill()
    for worker in fleet.workers:
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


def cancelled(held: Held) -> None:
    for trial in held.trials.values():
        held.fleet.ask("POST", f"trials/{trial}/cancel/")


def messages_doubled(held: Held) -> None:
    """Each of the messages that Teiten's parts send, some more times."""
    for task in ("work", "dispatch", "reap", "contact_all", "alert"):
        for _ in range(8):
            held.fleet.send(task)


def two_of_each(held: Held) -> None:
    """A second beat, and second workers with the names of the first, from here to the end of the trials."""
    fleet = held.fleet
    with fleet.second([fleet.beat, fleet.control, *fleet.workers]):
        held.let_go()
        held.outcomes()
