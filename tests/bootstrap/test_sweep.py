"""Processes of the agent's folder are ended, also where its account is the user's own."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bootstrap import processes, sweep
from bootstrap.account import Account
from bootstrap.places import CHECKOUT, Places
from bootstrap.processes import Process

_REMOTE = CHECKOUT / "workers" / "remote"
_USER = Account("user", os.getuid(), os.getgid(), dedicated=False)


@pytest.fixture(params=["measure", "sar-primary", "pg_stat-primary"])
def job(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Process]:
    """A job of an attempt, started as workers start it; its process group's leader."""
    directory = tmp_path / "agent" / "trials" / "work" / "jobs" / "1-2-3-1" / request.param
    start = (_REMOTE / "job_start.sh").read_text(encoding="utf-8")
    supervise = (_REMOTE / "job_supervise.sh").read_text(encoding="utf-8")
    words = ["sh", "-c", start, "sh", str(directory), "600", "5", str(directory), supervise, ""]
    subprocess.run(words, input="exec sleep 600\n", text=True, check=True)
    leader = _leader(directory / "pid")
    yield leader
    processes.end([leader])


def _leader(pid_file: Path) -> Process:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if pid_file.exists() and (process := processes.find(int(pid_file.read_text()))):
            return process
        time.sleep(0.01)
    raise AssertionError("the job did not start")


def test_every_job_of_an_attempt_is_ended_as_an_ordinary_user(job: Process, tmp_path: Path) -> None:
    ended = sweep.agent_home(Places(tmp_path, tmp_path), _USER)
    assert not processes.is_alive(job)
    assert any(line.startswith(f"{job.pid} ") for line in ended)


def test_a_pid_file_whose_number_is_anothers_now_harms_nobody(tmp_path: Path) -> None:
    stale = tmp_path / "agent" / "work" / "jobs" / "1-1" / "measure" / "pid"
    stale.parent.mkdir(parents=True)
    with subprocess.Popen(["sleep", "60"], start_new_session=True, cwd="/") as stranger:
        stale.write_text(f"{stranger.pid}\n")
        assert sweep.agent_home(Places(tmp_path, tmp_path), _USER) == []
        assert stranger.poll() is None
        stranger.kill()


def test_the_lock_of_a_killed_server_is_removed_though_a_process_has_its_number(tmp_path: Path) -> None:
    """One that has ended and was not reaped, as in a container without an init; and one that is somebody else's."""
    with (
        subprocess.Popen(["true"]) as ended,
        subprocess.Popen(["sleep", "60"], cwd="/") as stranger,
    ):
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        locks = [_lock(tmp_path / "agent" / "clusters" / str(p.pid), p.pid) for p in (ended, stranger)]
        locks.append(_lock(tmp_path / "warehouse" / "data", ended.pid))
        places = Places(tmp_path, tmp_path)
        places.run.mkdir()
        sweep.earlier_start(places)
        sweep.agent_home(places, _USER)
        assert [lock for lock in locks if lock.exists()] == []
        assert stranger.poll() is None
        stranger.kill()


def test_what_a_killed_server_of_the_warehouse_has_left_is_ended_and_a_shell_there_is_not(tmp_path: Path) -> None:
    data = tmp_path / "warehouse" / "data"
    data.mkdir(parents=True)
    program = shutil.copy("/bin/sleep", tmp_path / "postgres")
    places = Places(tmp_path, tmp_path)
    places.run.mkdir()
    with (
        # A shell without job control starts what it puts into the background, these tests perhaps, deaf to SIGQUIT.
        subprocess.Popen(
            [program, "60"], cwd=data, preexec_fn=lambda: signal.signal(signal.SIGQUIT, signal.SIG_DFL)
        ) as backend,
        subprocess.Popen(["sleep", "60"], cwd=data) as shell,
    ):
        sweep.earlier_start(places)
        assert backend.wait() == -signal.SIGQUIT
        assert shell.poll() is None
        shell.kill()


def _lock(data: Path, pid: int) -> Path:
    data.mkdir(parents=True)
    path = data / "postmaster.pid"
    path.write_text(f"{pid}\n{data}\n")
    return path
