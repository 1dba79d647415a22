"""`make demo` as in a person's terminal: start it, watch it through its API, interrupt it, kill it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from bootstrap import processes
from bootstrap.places import CHECKOUT
from bootstrap.processes import Process
from tests.bootstrap.conftest import Bootstrap

T = TypeVar("T")
_PATIENCE_S = 300
_POLL_S = 0.03


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Demo:
    """One state folder's demo.

    output: file with the terminal output of all its starts."""

    bootstrap: Bootstrap
    plan: Path
    output: Path
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def environment(self) -> dict[str, str]:
        return self.bootstrap.environment | {"TEITEN_PORT": str(self.port), "TEITEN_DEMO_PLAN": str(self.plan)}

    @property
    def text(self) -> str:
        return self.output.read_text(encoding="utf-8")

    def start(self) -> None:
        """Start it in a process group of its own, as a shell does."""
        with self.output.open("ab") as output:
            self.process = subprocess.Popen(
                self.bootstrap.argv("demo"),
                cwd=CHECKOUT,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def interrupt(self) -> None:
        """Send Ctrl-C to the whole group, as a terminal does; the demo must succeed."""
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGINT)
        assert self.process.wait(_PATIENCE_S) == 0, self.text

    def kill(self) -> None:
        """Kill all parts by SIGKILL: managers, servers, worker, beat, web, driver."""
        assert self.process is not None
        parts = self.parts()
        self.process.kill()
        processes.end(parts, signal.SIGKILL)
        self.process.wait()

    def parts(self) -> list[Process]:
        """Return all descendants of this start's process."""
        assert self.process is not None
        return processes.descendants(self.process.pid)

    def part(self, words: str) -> Process:
        """Return the part with these words in its command line, whose parent does not have them."""
        matching = [process for process in self.parts() if words in processes.command(process.pid)]
        pids = {process.pid for process in matching}
        (first,) = [process for process in matching if processes.parent(process.pid) not in pids]
        return first

    def get(self, path: str) -> Any:
        """Return the API's response; None while the web server does not answer."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/{path}", timeout=30) as answer:
                return json.load(answer)
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return None

    def wait(self, check: Callable[[], T | None]) -> T:
        """Call `check` until it returns something; fail where the demo ends meanwhile."""
        assert self.process is not None
        deadline = time.monotonic() + _PATIENCE_S
        while time.monotonic() < deadline:
            if result := check():
                return result
            assert self.process.poll() is None, self.text
            time.sleep(_POLL_S)
        raise AssertionError(f"not seen within {_PATIENCE_S} s\n{self.text}")

    def run(self) -> Mapping[str, Any] | None:
        """Return the newest run that was measured here."""
        answer = self.get("runs/") or {"results": []}
        return next((run for run in answer["results"] if run["publication"] is None), None)

    def trials(self, run_id: int) -> list[dict[str, Any]]:
        answer = self.get(f"trials/?run={run_id}") or {"results": []}
        return list(answer["results"])
