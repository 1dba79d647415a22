"""Processes: found and ended by id and start time."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from collections.abc import Iterator

import pytest

from bootstrap import processes
from bootstrap.processes import Process

_STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); signal.pause()"


@pytest.fixture
def stubborn() -> Iterator[Process]:
    """A process that ignores SIGTERM."""
    with subprocess.Popen([sys.executable, "-c", _STUBBORN], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"deaf\n"
        process = processes.find(child.pid)
        assert process is not None
        yield process
        child.kill()


def test_a_process_that_does_not_hear_is_killed_after_the_grace(stubborn: Process) -> None:
    processes.end([stubborn], grace_s=0.2)
    assert not processes.is_alive(stubborn)


def test_a_later_process_with_the_same_id_is_left_alone(stubborn: Process) -> None:
    earlier = Process(stubborn.pid, stubborn.started - 1)
    processes.end([earlier], grace_s=0.2)
    assert processes.is_alive(stubborn)


def test_processes_are_found_by_their_environment_and_this_one_is_not() -> None:
    token = secrets.token_hex(8)
    with subprocess.Popen(["sleep", "60"], env={**os.environ, "TEITEN_TEST": token}) as child:
        assert [process.pid for process in processes.with_variable("TEITEN_TEST", token)] == [child.pid]
        child.kill()


def test_processes_are_found_by_their_environment_the_moment_they_are_started() -> None:
    """One in ten shows no environment then, while its program is loaded."""
    for _ in range(60):
        value = secrets.token_hex(8)
        script = "setsid sleep 600 >/dev/null 2>&1 & echo $!"
        environment = os.environ | {"TEITEN_TEST": value}
        started = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True, check=True)
        found = processes.with_variable("TEITEN_TEST", value)
        process = processes.find(int(started.stdout))
        assert process is not None
        processes.end([process])
        assert found == [process]


def test_descendants_are_children_and_grandchildren() -> None:
    script = "sh -c 'sleep 60 & echo $$ $!; wait' & wait"
    with subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        started = [int(word) for word in child.stdout.readline().split()]
        descendants = processes.descendants(child.pid)
        assert [process.pid for process in descendants] == started
        processes.end(descendants)
