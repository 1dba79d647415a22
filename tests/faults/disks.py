"""Small disks below Teiten's folders, and what happens when they are full."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from django.db import connection
from django.db.models import Q

from results import models, warehouse
from results.domain.states import TrialState
from tests.faults.conftest import Held
from tests.faults.fleet import Fleet
from tests.faults.processes import until
from workers.dispatch import RETRY_AFTER_S
from workers.remote.address import Address

_OF_AGENTS, _OF_BUNDLES = ("load", "measure"), ("load", "measure", "collect")
_LARGE = "2g"


@contextmanager
def as_it_is(fleet: Fleet, agents: Sequence[Address]) -> Iterator[None]:
    """The disks of the machine."""
    yield


@contextmanager
def small_agents(fleet: Fleet, agents: Sequence[Address]) -> Iterator[None]:
    """A disk of its own for the data directory of each agent whose server is to be struck."""
    with ExitStack() as stack:
        for agent in agents:
            if agent.name in _OF_AGENTS:
                account = pwd.getpwnam(agent.user)
                stack.enter_context(_disk(Path(agent.data_dir), account.pw_uid, account.pw_gid))
        yield


@contextmanager
def small_bundles(fleet: Fleet, agents: Sequence[Address]) -> Iterator[None]:
    with _disk(fleet.bundles, os.getuid(), os.getgid()):
        (fleet.bundles / "unfinished").mkdir()
        yield


@contextmanager
def small_warehouse(fleet: Fleet, agents: Sequence[Address]) -> Iterator[None]:
    """Its data moves onto another disk, and back."""
    data = fleet.warehouse.data
    aside = data.with_name("aside")
    owner = data.stat()
    fleet.warehouse.stop()
    data.rename(aside)
    with _disk(data, owner.st_uid, owner.st_gid):
        _copy(aside, data)
        _start(fleet)
        try:
            yield
        finally:
            fleet.warehouse.stop()
            shutil.rmtree(aside)
            aside.mkdir()
            _copy(data, aside)
    aside.rename(data)
    _start(fleet)


def _start(fleet: Fleet) -> None:
    fleet.warehouse.start()
    connection.close()  # it was one to the server before


def agents_full(held: Held) -> None:
    """Until their trials have ended."""
    folders = [Path(agent.data_dir) for agent in held.agents if agent.name in _OF_AGENTS]
    for folder in folders:
        _fill(folder)
    held.let_go()
    held.outcomes()
    for folder in folders:
        _grow(folder)


def bundles_full(held: Held) -> None:
    """Until each of the trials that write there waits: with its agents for room for its bundle, or, where that found
    some, for its next attempt, and then for longer than until an attempt is due."""
    _fill(held.fleet.bundles)
    held.let_go()
    writing = models.Trial.objects.filter(pk__in=[held.trials[phase] for phase in _OF_BUNDLES])
    waiting = writing.filter(Q(phase="clean") | Q(state=TrialState.WAITING) | Q(state=TrialState.DONE))
    until(lambda: warehouse.retry(waiting.count) == len(_OF_BUNDLES), held.why)
    threading.Event().wait(RETRY_AFTER_S + 5)
    _grow(held.fleet.bundles)


def warehouse_full(held: Held) -> None:
    """Until a worker has met it."""
    _fill(held.fleet.warehouse.data)
    held.let_go()
    until(lambda: any("No space left on device" in worker.printed() for worker in held.fleet.workers), held.why)
    _grow(held.fleet.warehouse.data)


@contextmanager
def _disk(folder: Path, uid: int, gid: int) -> Iterator[None]:
    """Mounts an empty disk over a folder, which need not be there."""
    if os.geteuid() != 0:
        pytest.skip("a file system can be mounted by root only")
    made = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    options = f"size={_LARGE},uid={uid},gid={gid},mode=700"
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True, text=True
    )
    if mounted.returncode != 0:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)
        if made:
            folder.rmdir()


def _fill(folder: Path) -> None:
    """Makes the disk as small as what is on it. That may grow at the same moment, and the disk is not made smaller."""
    for _ in range(50):
        there = os.statvfs(folder)
        used = (there.f_blocks - there.f_bfree) * there.f_frsize
        if subprocess.run(["mount", "-o", f"remount,size={used}", str(folder)], capture_output=True).returncode == 0:
            return
    pytest.fail(f"{folder} grew all the time")


def _grow(folder: Path) -> None:
    subprocess.run(["mount", "-o", f"remount,size={_LARGE}", str(folder)], check=True)


def _copy(source: Path, target: Path) -> None:
    subprocess.run(["cp", "-a", f"{source}/.", str(target)], check=True)
