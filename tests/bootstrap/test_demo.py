"""`make demo` is stopped at any moment, by Ctrl-C or by force, and goes on when it is started again."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from bootstrap.account import current
from bootstrap.places import CHECKOUT, known
from bootstrap.sweep import left_over
from tests.bootstrap.conftest import Bootstrap
from tests.bootstrap.demos import Demo

_PLAN = """
name = "{name}"
workload = "pgbench"
replicates = 1
seed = 1
duration_s = 1
data = "fresh"
cache = "as-found"

[agents]
primary = "demo"
client = "demo"

[parameters]
script = "select-only"
scale = 10
rate = 50

[factors]
clients = {clients}
installation = ["16"]
"""
# The worker starts before the web server answers: a trial or two of each start may not be seen.
_TRIALS = 6
# The phases that the API shows at each moment; storing comes after cleaning.
_MOMENTS: Mapping[str, tuple[str, ...]] = {
    "queued": (),
    "prepare": ("prepare",),
    "load": ("load",),
    "measure": ("warm", "verify", "watch", "measure"),
    "collect": ("collect", "clean"),
}
# Part → words that only its command line has.
_RESTARTED = {
    "worker": "workers.app worker --pool threads --concurrency 8 -Q trials",
    "control": "-Q control,agents",
    "beat": "workers.app beat",
    "web": "gunicorn webapp.wsgi",
    "proxy": "nginx -p",
}


@pytest.fixture
def demo(bootstrap: Bootstrap, tmp_path: Path) -> Iterator[Demo]:
    """A demo in the state folder that the tests share; one that a failed test has left is ended."""
    demo = Demo(bootstrap, tmp_path / "plan.toml", tmp_path / "output")
    yield demo
    if demo.process and demo.process.poll() is None:
        demo.kill()


def write_plan(demo: Demo, name: str, trials: int) -> None:
    clients = list(range(1, trials + 1))
    demo.plan.write_text(_PLAN.format(name=name, clients=clients), encoding="utf-8")


def trial_at(demo: Demo, name: str, moment: str) -> Callable[[], Mapping[str, Any] | None]:
    """Return a check for a trial of this run that is at this moment, as the API shows it."""

    def check() -> Mapping[str, Any] | None:
        run = demo.run()
        if run is None or run["name"] != name:
            return None
        assert run["state"] != "finished", f"finished before {moment} was seen"
        trials = demo.trials(run["id"]) if run["state"] == "running" else []
        waiting = [trial for trial in trials if trial["state"] == "waiting" or not trial["phase"]]
        if moment == "queued":
            return waiting[0] if waiting else None
        return next((trial for trial in trials if trial["phase"] in _MOMENTS[moment]), None)

    return check


def finished_run(demo: Demo, name: str) -> Mapping[str, Any] | None:
    """Return the run of this name, where it has finished."""
    run = demo.run()
    return run if run and (run["name"], run["state"]) == (name, "finished") else None


def second_terminal(demo: Demo, *words: str) -> subprocess.CompletedProcess[str]:
    """Run manage.py without any setting but the path of the state folder."""
    command = [sys.executable, "manage.py", *words]
    environment = demo.bootstrap.environment
    return subprocess.run(command, cwd=CHECKOUT, env=environment, capture_output=True, text=True, timeout=300)


def assert_nothing_left(demo: Demo) -> None:
    places, accounts = known(demo.bootstrap.state), current(demo.bootstrap.state)
    assert places is not None and accounts is not None
    assert left_over(places, accounts) == []
    assert list(places.run.iterdir()) == []
    # a start removes the folder, and the next trial makes it anew
    assert list((places.bundles / "unfinished").glob("*")) == []


def stall(demo: Demo) -> list[socket.socket]:
    """Open 64 connections that send half a header, or half a body, and nothing more."""
    half_header = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    half_body = b"POST /api/v1/plans/preview/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n{"
    stalled = [socket.create_connection(("127.0.0.1", demo.port)) for _ in range(64)]
    for number, connection in enumerate(stalled):
        connection.settimeout(60)
        connection.sendall(half_header if number % 2 else half_body)
    return stalled


def _rest(connection: socket.socket) -> bytes:
    """Return all that comes until the other side closes the connection."""
    with connection:
        received = b""
        try:
            while chunk := connection.recv(4096):
                received += chunk
        except ConnectionResetError:
            return received
        return received


@pytest.mark.parametrize("end", [Demo.interrupt, Demo.kill])
def test_a_demo_that_is_ended_at_any_moment_goes_on_at_its_next_start(demo: Demo, end: Callable[[Demo], None]) -> None:
    name = end.__name__
    write_plan(demo, name, _TRIALS)
    for moment in _MOMENTS:
        demo.start()
        demo.wait(trial_at(demo, name, moment))
        end(demo)
    demo.start()
    run = demo.wait(lambda: finished_run(demo, name))
    assert (run["trials_done"], run["trials_failed"]) == (_TRIALS, 0)
    demo.interrupt()
    assert "Traceback" not in demo.text
    assert_nothing_left(demo)


def test_parts_that_are_killed_are_started_again_and_a_second_terminal_finds_the_demo(demo: Demo) -> None:
    write_plan(demo, "first", trials=1)
    demo.start()
    demo.wait(lambda: finished_run(demo, "first"))
    settings = demo.bootstrap.state / "run" / "environment.json"
    assert settings.stat().st_mode & 0o777 == 0o600
    stalled = stall(demo)  # eight would hold every thread of a web server without a proxy
    assert all(demo.get("runs/") is not None for _ in range(20))
    assert not any(b" 200 " in _rest(connection) for connection in stalled)  # the proxy has closed them
    killed = {part: demo.part(words) for part, words in _RESTARTED.items()}
    for process in killed.values():
        os.kill(process.pid, signal.SIGKILL)
    demo.wait(
        lambda: all(f"{part} has been ended by signal 9. It is started again" in demo.text for part in _RESTARTED)
    )
    write_plan(demo, "second terminal", trials=1)
    result = second_terminal(demo, "run_plan", str(demo.plan))
    assert result.returncode == 0, result.stderr
    assert result.stderr == f"manage.py: on the demo in {demo.bootstrap.state}\n"
    run = demo.wait(lambda: finished_run(demo, "second terminal"))
    assert (run["trials_done"], run["trials_failed"]) == (1, 0)
    assert all(demo.part(words) != killed[part] for part, words in _RESTARTED.items())
    demo.interrupt()
    assert not settings.exists()
    assert_nothing_left(demo)
