"""What is left on the agent's folder is ended, also where its account is the user's own."""

from __future__ import annotations

import os
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
    words = ["sh", "-c", start, "sh", str(directory), "600", "5", str(directory), supervise]
    subprocess.run(words, input="exec sleep 600\n", text=True, check=True)
    leader = _leader(directory / "pid")
    yield leader
    processes.end([leader])


def _leader(pid_file: Path) -> Process:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if pid_file.exists() and (found := processes.find(int(pid_file.read_text()))):
            return found
        time.sleep(0.01)
    raise AssertionError("the job did not start")


def test_every_job_of_an_attempt_is_ended_as_an_ordinary_user(job: Process, tmp_path: Path) -> None:
    ended = sweep.agent_home(Places(tmp_path, tmp_path), _USER)
    assert not processes.alive(job)
    assert any(line.startswith(f"{job.pid} ") for line in ended)


def test_a_pid_file_whose_number_is_anothers_now_harms_nobody(tmp_path: Path) -> None:
    stale = tmp_path / "agent" / "work" / "jobs" / "1-1" / "measure" / "pid"
    stale.parent.mkdir(parents=True)
    with subprocess.Popen(["sleep", "60"], start_new_session=True, cwd="/") as stranger:
        stale.write_text(f"{stranger.pid}\n")
        assert sweep.agent_home(Places(tmp_path, tmp_path), _USER) == []
        assert stranger.poll() is None
        stranger.kill()
