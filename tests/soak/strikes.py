"""What happens to the fleet at random while it works."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from redis import Redis

from tests.faults.fleet import Fleet
from tests.faults.processes import Program, children, kill


@dataclass(frozen=True)
class Strike:
    """happens: in a fleet, with random numbers for its choices.

    early: whether it happens in the first part of a run alone, since it ends processes whose memory is to be looked
    at for long."""

    name: str
    happens: Callable[[Fleet, Random], None]
    early: bool = False


def strikes() -> list[Strike]:
    return [
        Strike("a trial worker killed", lambda fleet, random: _killed(random.choice(_mortal(fleet)))),
        Strike("a trial worker replaced", lambda fleet, random: _replaced(random.choice(_mortal(fleet)))),
        Strike("all trial workers killed", lambda fleet, random: _killed(*fleet.workers), early=True),
        Strike("the control worker killed", lambda fleet, random: _killed(fleet.control), early=True),
        Strike("beat killed", lambda fleet, random: _killed(fleet.beat), early=True),
        Strike("the web server killed", lambda fleet, random: _killed(fleet.web), early=True),
        Strike("Redis killed", lambda fleet, random: _killed(fleet.queue)),
        Strike("Redis away for 5 s", lambda fleet, random: _away(fleet.queue, 5)),
        Strike("Redis flushed", lambda fleet, random: _flushed(fleet)),
        Strike("the warehouse restarted", lambda fleet, random: fleet.warehouse.restart(0)),
        Strike("the warehouse away for 10 s", lambda fleet, random: fleet.warehouse.restart(10)),
        Strike("all SSH logins cut", lambda fleet, random: _cut(fleet)),
        Strike("an SSH login cut", lambda fleet, random: _one_cut(fleet, random)),
        Strike("sshd restarted", lambda fleet, random: _sshd_restarted(fleet)),
    ]


def _mortal(fleet: Fleet) -> list[Program]:
    """The second half of the trial workers; the first lives on."""
    return fleet.workers[len(fleet.workers) // 2 :]


def _killed(*parts: Program) -> None:
    for part in parts:
        part.kill()
    for part in parts:
        part.start()


def _replaced(worker: Program) -> None:
    """Asked to end, its follower is there already, and killed when it has not ended after a while."""
    old = worker.ask_to_end()
    worker.start()
    threading.Event().wait(2)
    old.kill()
    old.wait()


def _away(part: Program, seconds: float) -> None:
    part.kill()
    threading.Event().wait(seconds)
    part.start()


def _flushed(fleet: Fleet) -> None:
    with Redis.from_url(fleet.queue_url) as queue:
        queue.flushall()


def _cut(fleet: Fleet) -> None:
    kill(children(fleet.sshd.pid))


def _one_cut(fleet: Fleet, random: Random) -> None:
    logins = children(fleet.sshd.pid)
    kill(random.sample(logins, min(1, len(logins))))


def _sshd_restarted(fleet: Fleet) -> None:
    logins = children(fleet.sshd.pid)
    fleet.sshd.stop()
    kill(logins)
    fleet.sshd.start()
