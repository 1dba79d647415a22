"""Teiten as it is deployed: each part a process of its own, with a warehouse, a Redis and an sshd of its own."""

from __future__ import annotations

import json
import os
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bootstrap import places, ports, system
from tests.faults.processes import Program, free_port, listens
from tests.restarting import Warehouse
from workers.app import app

ROOT = Path(__file__).parents[2]
LEASE_S = 15  # TEITEN_LEASE_S, shorter than by default, so that the faults of a table take minutes
_POOL = ("worker", "--pool", "threads", "--concurrency", "6")
_CONTROL = (*_POOL, "-Q", "control,agents", "-n", "control@%h")
_BEAT = ("beat", "--scheduler", "workers.beat:Scheduler", "--pidfile=")


@dataclass
class Fleet:
    """What runs.

    workers: they run trials; `control` does everything else.
    bundles: the bundle folder.
    agent_port: of the sshd.
    url: of the web server.
    queue_url: of Redis.
    token: of somebody who may start and cancel runs."""

    warehouse: Warehouse
    queue: Program
    sshd: Program
    web: Program
    beat: Program
    control: Program
    workers: list[Program]
    bundles: Path
    agent_port: int
    url: str
    queue_url: str
    token: str = ""

    @property
    def parts(self) -> list[Program]:
        """In the order of their start."""
        return [self.queue, self.sshd, self.web, self.control, self.beat, *self.workers]

    def send(self, task: str) -> None:
        """Puts a message for one of Teiten's tasks into the queue that the fleet's workers read."""
        with app.connection_for_write(self.queue_url) as broker:
            app.send_task(f"workers.tasks.{task}", connection=broker)

    @contextmanager
    def second(self, parts: Sequence[Program]) -> Iterator[None]:
        """A second process of each of these parts, with the same name, while the block runs."""
        others = [replace(part, log=part.log.with_suffix(".second.log")) for part in parts]
        with ExitStack() as stack:
            for other in others:
                stack.callback(other.stop)
                other.start()
            yield

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Sends a request to the API; the answer's JSON."""
        request = urllib.request.Request(
            f"{self.url}/api/v1/{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            error.add_note(error.read().decode())
            raise


@contextmanager
def running(
    warehouse: Warehouse, folder: Path, workers: int = 2, queue: Mapping[str, str] | None = None
) -> Iterator[Fleet]:
    """All of it, until the block ends; everything is ended by the process that started it.

    folder: gets the logs and the bundles.
    workers: how many run trials.
    queue: the settings that say where messages wait, if it is not in the fleet's Redis."""
    fleet = _fleet(warehouse, folder, workers, queue or {})
    with ExitStack() as stack:
        for part in fleet.parts:
            stack.callback(part.stop)
            part.start()
        yield fleet


def database_url(warehouse: Warehouse) -> str:
    """The warehouse, for TEITEN_DATABASE_URL."""
    database = warehouse.settings
    return f"postgresql://{database['USER']}@{ports.HOST}:{database['PORT']}/{database['NAME']}"


def control(environment: Mapping[str, str], folder: Path) -> Program:
    """The worker that does everything but trials. folder: gets its log."""
    return _celery("control", _CONTROL, environment, folder)


def beat(environment: Mapping[str, str], folder: Path) -> Program:
    """folder: gets its log."""
    return _celery("beat", _BEAT, environment, folder, "beat: Starting")


def _celery(
    name: str, words: Sequence[str], environment: Mapping[str, str], folder: Path, ready: str = " ready."
) -> Program:
    argv = [sys.executable, "-m", "celery", "-A", "workers.app", *words]
    return Program(name, argv, environment, lambda printed: ready in printed, folder / f"{name}.log", str(ROOT))


def _fleet(warehouse: Warehouse, folder: Path, workers: int, more: Mapping[str, str]) -> Fleet:
    known = places.known(places.state_folder())
    assert known is not None
    queue_port, sshd_port, web_port = free_port(), free_port(), free_port()
    bind = f"{ports.HOST}:{web_port}"
    environment = os.environ | {
        "TEITEN_DATABASE_URL": database_url(warehouse),
        "TEITEN_REDIS_URL": f"redis://{ports.HOST}:{queue_port}/0",
        "TEITEN_BUNDLE_DIR": str(folder / "bundles"),
        "TEITEN_KINDS": str(Path(__file__).parent / "kinds"),
        "TEITEN_LEASE_S": str(LEASE_S),
        "TEITEN_API_LIMIT": "0",
        **more,
    }

    def part(name: str, argv: list[str], port: int | None = None, ready: str = "") -> Program:
        def is_ready(printed: str) -> bool:
            return ready in printed and (port is None or listens(port))

        return Program(name, argv, environment, is_ready, folder / f"{name}.log", str(ROOT))

    queue = [system.redis_server(), "--port", str(queue_port), "--bind", ports.HOST, "--save", "", "--appendonly", "no"]
    sshd = [system.program("sshd") or "sshd", "-D", "-e", "-f", str(known.sshd / "sshd_config"), "-p", str(sshd_port)]
    gunicorn = [str(Path(sys.executable).parent / "gunicorn"), "webapp.wsgi:application", "--bind", bind]
    gunicorn += ["--threads", "4", "--graceful-timeout", "2", "--no-control-socket"]
    trials = [(f"trials{n}", (*_POOL, "-Q", "trials", "-n", f"trials{n}@%h")) for n in range(1, workers + 1)]
    return Fleet(
        warehouse=warehouse,
        queue=part("redis", queue, queue_port),
        sshd=part("sshd", sshd, sshd_port),
        web=part("web", gunicorn, web_port, "Booting worker"),
        beat=beat(environment, folder),
        control=control(environment, folder),
        workers=[_celery(name, words, environment, folder) for name, words in trials],
        bundles=folder / "bundles",
        agent_port=sshd_port,
        url=f"http://{bind}",
        queue_url=environment["TEITEN_REDIS_URL"],
    )
