"""`make clean`: stops what runs in a state folder and removes it, with what lies beside it."""

from __future__ import annotations

import fcntl
from pathlib import Path

from bootstrap import account as accounts
from bootstrap import places, processes, sweep
from bootstrap.errors import say
from bootstrap.processes import Process

_STOP_S = 30


def clean(state: Path) -> None:
    """Also cleans the tests' state folder inside. Does nothing where there is none."""
    for folder in (state / "test", state):
        _clean_one(folder)


def _clean_one(state: Path) -> None:
    here = places.known(state)
    if here is None:
        return
    _stop_holder(state / "lock")
    sweep.earlier_start(here)
    account = accounts.current()
    if account:
        sweep.agent_home(here, account)
    places.remove(here)
    say(f"Removed {state}" + (f" and {here.ground}" if here.ground != state else ""))


def _stop_holder(lock: Path) -> None:
    """Asks the start that holds the lock to stop, and waits for it."""
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
