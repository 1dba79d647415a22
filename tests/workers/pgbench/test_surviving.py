"""Clients that come again after they lost their server, with a shell in the place of pgbench."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from workers import pgbench
from workers.replication.failover import reordered_environment

SCRIPT = (Path(pgbench.__file__).parent / "surviving.sh").read_text()
ALL = {"PGHOST": "/old,new,next", "PGPORT": "1,2,3"}


def test_a_server_that_was_lost_is_tried_last_from_the_second_run_on(tmp_path: Path) -> None:
    again = reordered_environment(ALL)
    assert again == {"PGHOST": "new,next,/old", "PGPORT": "2,3,1"}
    words = ["30", "0.01", "log", "base", again["PGHOST"], again["PGPORT"]]
    body = """[ ! -e runs/3 ] || sleep 60; echo "$PGHOST $PGPORT"; exit 1"""
    argv = ["sh", "-c", SCRIPT, "surviving", *words, "sh", "-c", body, "pgbench"]
    child = subprocess.Popen(argv, cwd=tmp_path, env={**os.environ, **ALL}, start_new_session=True)
    while not (tmp_path / "runs" / "3").exists():
        assert child.poll() is None
    os.killpg(child.pid, 15)
    child.wait()
    outputs = [(tmp_path / "runs" / number / "stdout").read_text() for number in ("1", "2")]
    assert outputs == ["/old,new,next 1,2,3\n", "new,next,/old 2,3,1\n"]


def test_the_first_of_one_server_is_that_server() -> None:
    assert reordered_environment({"PGHOST": "/sock", "PGPORT": "5"}) == {"PGHOST": "/sock", "PGPORT": "5"}
