"""Check `make demo` as a person uses it: start it with a small plan, watch it through its API, stop it by Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bootstrap.errors import BootstrapError, say
from bootstrap.places import CHECKOUT
from bootstrap.ports import HOST

_PLAN = "plans/ci.toml"
_PATIENCE_S = 300
_POLL_S = 0.5
# The demo succeeds after Ctrl-C; make itself then returns 130 (interrupted) or 2, or ends by the signal.
_ENDED_WELL = (0, 2, 130, -signal.SIGINT)


def demo_check() -> None:
    """Run the demo until all trials of the plan are done, and stop it. Prints its output. Raises BootstrapError."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "demo.log"
        try:
            _measure_and_stop(log)
        finally:
            say(log.read_text(encoding="utf-8", errors="replace"))


def _measure_and_stop(log: Path) -> None:
    port = _free_port()
    say(f"make demo, with {_PLAN}, on port {port}")
    with log.open("wb") as output:
        demo = subprocess.Popen(
            ["make", "--no-print-directory", "demo"],
            cwd=CHECKOUT,
            env=os.environ | {"TEITEN_PORT": str(port), "TEITEN_DEMO_PLAN": _PLAN},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            process_group=0,  # to be interrupted as a terminal does it
        )
    try:
        _wait_for_run(demo, port)
    finally:
        status = _interrupt(demo)
    if status not in _ENDED_WELL:
        raise BootstrapError(
            f"make demo ended with status {status} after Ctrl-C.",
            where="demo-check",
            todo="Its output is above. Mend what it names, then run make demo-check again.",
        )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def _wait_for_run(demo: subprocess.Popen[bytes], port: int) -> None:
    """Wait until the run is finished, and print its progress. Raises BootstrapError."""
    deadline = time.monotonic() + _PATIENCE_S
    progress = ""
    while time.monotonic() < deadline:
        if demo.poll() is not None:
            raise _failure(f"make demo has ended by itself, with status {demo.returncode}.", progress)
        run = _measured_run(port)
        if run is not None:
            line = _progress(run)
            if line != progress:
                say(line)
            progress = line
            if run["trials_failed"]:
                raise _failure("A trial of the demo has failed.", progress)
            if run["state"] == "finished":
                if not run["trials_done"] == run["trials_total"] > 0:
                    raise _failure("Trials of the demo are missing.", progress)
                return
        time.sleep(_POLL_S)
    raise _failure(f"The demo's run did not finish within {_PATIENCE_S} s.", progress)


def _measured_run(port: int) -> Mapping[str, Any] | None:
    """Return the newest run that was measured here; None while the web server does not answer or there is none."""
    try:
        with urllib.request.urlopen(f"http://{HOST}:{port}/api/v1/runs/", timeout=10) as answer:
            runs = json.load(answer)["results"]
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return None
    return next((run for run in runs if run["publication"] is None), None)


def _progress(run: Mapping[str, Any]) -> str:
    done, total, failed = (run[f"trials_{name}"] for name in ("done", "total", "failed"))
    return f"run {run['state']}: {done} of {total} trials, {failed} failed"


def _failure(what: str, progress: str) -> BootstrapError:
    return BootstrapError(
        what,
        where="demo-check",
        why=f"Last state: {progress or 'no answer'}.",
        todo="The demo's output is above. Mend what it names, then run make demo-check again.",
    )


def _interrupt(demo: subprocess.Popen[bytes]) -> int:
    """Send Ctrl-C; return the status with which make ends. Raises BootstrapError."""
    if demo.poll() is None:
        os.killpg(demo.pid, signal.SIGINT)
    try:
        return demo.wait(_PATIENCE_S)
    except subprocess.TimeoutExpired:
        raise BootstrapError(
            f"make demo still runs {_PATIENCE_S} s after Ctrl-C.",
            where="demo-check",
            why=f"It is process {demo.pid}.",
            todo="Look at what it waits for; make clean ends it.",
        ) from None
