"""`make demo` as a person has it in a terminal: started, watched through its API, interrupted, killed."""

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
    """One state folder's demo. output: what all its starts have written to the terminal."""

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
        """In a process group of its own, as a shell starts it."""
        with self.output.open("ab") as output:
            self.process = subprocess.Popen(
                self.bootstrap.words("demo"),
                cwd=CHECKOUT,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def interrupt(self) -> None:
        """Ctrl-C: a terminal sends it to the whole group. The demo must end well."""
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGINT)
        assert self.process.wait(_PATIENCE_S) == 0, self.text

    def kill(self) -> None:
        """kill -9 of all parts: managers, servers, worker, beat, web, driver."""
        assert self.process is not None
        parts = self.parts()
        self.process.kill()
        processes.end(parts, signal.SIGKILL)
        self.process.wait()

    def parts(self) -> list[Process]:
        """Everything that this start has started and that has not left its family."""
        assert self.process is not None
        return processes.descendants(self.process.pid)

    def part(self, words: str) -> Process:
        """The one part with these words in its command line that another part has not started with the same words."""
        named = [process for process in self.parts() if words in processes.command(process.pid)]
        pids = {process.pid for process in named}
        (first,) = [process for process in named if processes.parent(process.pid) not in pids]
        return first

    def get(self, path: str) -> Any:
        """What the API answers; None while the web server is not there."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/{path}", timeout=30) as answer:
                return json.load(answer)
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return None

    def wait(self, look: Callable[[], T | None]) -> T:
        """Looks until there is something; fails when the demo has ended meanwhile."""
        assert self.process is not None
        deadline = time.monotonic() + _PATIENCE_S
        while time.monotonic() < deadline:
            if seen := look():
                return seen
            assert self.process.poll() is None, self.text
            time.sleep(_POLL_S)
        raise AssertionError(f"not seen within {_PATIENCE_S} s\n{self.text}")

    def run(self) -> Mapping[str, Any] | None:
        """The newest run that was measured here."""
        answer = self.get("runs/") or {"results": []}
        return next((run for run in answer["results"] if run["publication"] is None), None)

    def trials(self, run_id: int) -> list[dict[str, Any]]:
        answer = self.get(f"trials/?run={run_id}") or {"results": []}
        return list(answer["results"])
