"""`make clean`: stop what runs in a state folder, and remove it with the folder beside it and its accounts."""

from __future__ import annotations

import fcntl
from pathlib import Path

from bootstrap import account as accounts
from bootstrap import places, processes, sweep
from bootstrap.errors import say
from bootstrap.processes import Process

_STOP_S = 30


def clean(state: Path) -> None:
    """Clean a state folder and the tests' state folder in it, as far as they exist."""
    for folder in (state / "test", state):
        _clean_one(folder)


def _clean_one(state: Path) -> None:
    known_places = places.known(state)
    if known_places is None:
        return
    _stop_holder(state / "lock")
    sweep.earlier_start(known_places)
    state_accounts = accounts.current(state)
    if state_accounts:
        sweep.agent_home(known_places, state_accounts.agent)
        accounts.remove(state_accounts)
    places.remove(known_places)
    say(f"Removed {state}" + (f" and {known_places.ground}" if known_places.ground != state else ""))


def _stop_holder(lock: Path) -> None:
    """Ask the start that holds the lock to stop, and wait for its end."""
    if not lock.exists():
        return
    with lock.open("r+", encoding="utf-8") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            pid, started = (int(word) for word in file.read().split())
    say(f"Stopping process {pid} …")
    processes.end([Process(pid, started)], grace_s=_STOP_S)
