"""Teiten behind gunicorn, as it is deployed, with the tests' own database."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import connection

from bootstrap import ports

ROOT = Path(__file__).parents[1]
THREADS = 8
_PATIENCE_S = 60
_ANSWERED = "answered: "


@dataclass(frozen=True)
class Served:
    """A web process.

    log: file of what gunicorn and Teiten print."""

    port: int
    pid: int
    log: Path

    @property
    def url(self) -> str:
        return f"http://{ports.HOST}:{self.port}"

    def printed(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def answers(self) -> list[tuple[str, str, int]]:
        """Method, path and status of every request that it answered."""
        lines = [line.split(" ", 3) for line in self.printed().splitlines() if line.startswith(_ANSWERED)]
        return [(method, path, int(status)) for _, status, method, path in lines]


@contextmanager
def served(folder: Path, **environment: str) -> Iterator[Served]:
    """One web process with threads, on a free port, until the block ends.

    folder: gets its log, its bundles and what it writes to the disk for a while.
    environment: further TEITEN_… variables."""
    temporary = folder / "temporary"
    temporary.mkdir()
    log = folder / "gunicorn.log"
    with socket.socket() as listener, log.open("wb") as output:
        listener.bind((ports.HOST, 0))
        listener.listen(64)
        program = str(Path(sys.executable).parent / "gunicorn")
        words = ("webapp.wsgi:application", "--bind", f"fd://{listener.fileno()}", "--threads", str(THREADS))
        quiet = ("--graceful-timeout", "2", "--no-control-socket", "--worker-tmp-dir", str(temporary))
        answers = ("--access-logfile", "-", "--access-logformat", f"{_ANSWERED}%(s)s %(m)s %(U)s")
        process = subprocess.Popen(
            [program, *words, *quiet, *answers],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=ROOT,
            pass_fds=[listener.fileno()],
            env=os.environ | _environment(folder) | {"TMPDIR": str(temporary)} | environment,
        )
        try:
            here = Served(listener.getsockname()[1], process.pid, log)
            _wait(process, here)
            yield here
        finally:
            process.terminate()
            process.wait(_PATIENCE_S)


def _environment(folder: Path) -> dict[str, str]:
    return {
        "DJANGO_SETTINGS_MODULE": "tests.served_settings",
        "TEITEN_DATABASE_URL": _database_url(),
        "TEITEN_BUNDLE_DIR": str(settings.TEITEN_BUNDLE_DIR),
        "TEITEN_STATE": str(folder),
        "TEITEN_API_LIMIT": "0",
        "TEITEN_API_LIMIT_ANONYMOUS": "0",
        "TEITEN_OPEN_READING": "1",
    }


def _database_url() -> str:
    """The URL of the warehouse with the name of the database that the tests made there."""
    return f"{os.environ['TEITEN_DATABASE_URL'].rpartition('/')[0]}/{connection.settings_dict['NAME']}"


def _wait(process: subprocess.Popen[bytes], here: Served) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while "Booting worker" not in here.printed():
        assert process.poll() is None, here.printed()
        assert time.monotonic() < deadline, here.printed()
        threading.Event().wait(0.05)
