"""A warehouse of the tests' own, which can be stopped and started again: that of all other tests must stay."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
from django.core.management import call_command
from django.db import connection, connections

from bootstrap import account, agent, places, ports, sweep
from bootstrap.account import Account
from tests import single_values
from tests.conftest import surrounding

USER = DATABASE = "teiten"
PATIENCE_S = 60
_PORTS = range(8900, 9000)
_SETTINGS = {"listen_addresses": ports.HOST, "unix_socket_directories": "", "fsync": "off"}


@dataclass
class Warehouse:
    """One PostgreSQL server.

    programs: its bin directory.
    owner: the account that it runs as."""

    programs: Path
    data: Path
    port: int
    owner: Account
    _process: subprocess.Popen[bytes] | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def settings(self) -> dict[str, str]:
        """Where it is, for Django's DATABASES."""
        return {"HOST": ports.HOST, "PORT": str(self.port), "USER": USER, "PASSWORD": "", "NAME": DATABASE}

    def start(self) -> None:
        """Starts it, if it does not run, and waits until it answers."""
        words = [word for name, value in _SETTINGS.items() for word in ("-c", f"{name}={value}")]
        with self._lock:
            if self._process is None:
                self._process = subprocess.Popen(
                    [str(self.programs / "postgres"), "-D", str(self.data), "-p", str(self.port), *words],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    cwd="/",
                    env=_environment(),
                    start_new_session=True,
                    **self.owner.spawn,
                )
        deadline = time.monotonic() + PATIENCE_S
        while not self._answers():
            assert time.monotonic() < deadline, "the warehouse does not answer"
            threading.Event().wait(0.05)

    def stop(self) -> None:
        """A fast shutdown: every connection is closed."""
        with self._lock:
            if self._process is not None:
                self._process.send_signal(signal.SIGINT)
                self._process.wait(PATIENCE_S)
                self._process = None

    def restart(self, away_s: float) -> None:
        """Away for so long."""
        self.stop()
        threading.Event().wait(away_s)
        self.start()

    @contextmanager
    def emptied(self) -> Iterator[None]:
        """For one test: afterwards it runs, and its tables are empty."""
        try:
            yield
        finally:
            self.start()
            connection.close()
            call_command("flush", interactive=False, verbosity=0)

    def _answers(self) -> bool:
        try:
            psycopg.connect(host=ports.HOST, port=self.port, user=USER, dbname="postgres").close()
        except psycopg.OperationalError:
            return False
        return True


@contextmanager
def in_place() -> Iterator[Warehouse]:
    """With all of Teiten's tables, in place of the tests' usual one: every thread that connects from here on connects
    to it."""
    with made() as warehouse:
        known = connections.settings["default"]
        before = dict(known)
        connection.close()
        known.update(warehouse.settings)
        try:
            call_command("migrate", verbosity=0)
            single_values.allow()
            yield warehouse
        finally:
            connection.close()
            known.update(before)


@contextmanager
def made() -> Iterator[Warehouse]:
    """An empty one that runs, in the agent's ground; removed afterwards."""
    around = places.known(Path(surrounding("TEITEN_STATE")))
    assert around is not None
    accounts = account.current(around.state)
    assert accounts is not None
    owner = accounts.warehouse
    folder = Path(tempfile.mkdtemp(prefix="restarted-", dir=around.ground))
    owner.give(folder, 0o700)
    programs, data = agent.server_bin(around), folder / "data"
    words = ["-D", str(data), "-U", USER, "-A", "trust", "--no-sync", "--no-locale", "--encoding=UTF8"]
    subprocess.run(
        [str(programs / "initdb"), *words], check=True, capture_output=True, cwd="/", env=_environment(), **owner.spawn
    )
    warehouse = Warehouse(programs, data, next(port for port in _PORTS if ports.is_free(port)), owner)
    try:
        warehouse.start()
        with psycopg.connect(
            host=ports.HOST, port=warehouse.port, user=USER, dbname="postgres", autocommit=True
        ) as admin:
            admin.execute(f"CREATE DATABASE {DATABASE}")
        yield warehouse
    finally:
        warehouse.stop()
        shutil.rmtree(folder)


@contextmanager
def standby_of(primary: Warehouse) -> Iterator[Warehouse]:
    """A streaming standby of a warehouse, which runs; removed afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="standby-", dir=primary.data.parent.parent))
    primary.owner.give(folder, 0o700)
    words = ["-D", str(folder / "data"), "-R", "--checkpoint=fast", "--no-sync"]
    words += ["-h", ports.HOST, "-p", str(primary.port), "-U", USER]
    program = [str(primary.programs / "pg_basebackup"), *words]
    subprocess.run(program, check=True, capture_output=True, cwd="/", env=_environment(), **primary.owner.spawn)
    port = next(port for port in _PORTS if port != primary.port and ports.is_free(port))
    standby = Warehouse(primary.programs, folder / "data", port, primary.owner)
    try:
        standby.start()
        yield standby
    finally:
        standby.stop()
        shutil.rmtree(folder)


def _environment() -> dict[str, str]:
    """With the session's token, by which whatever is left over is ended."""
    return {"PATH": os.defpath, "LC_ALL": "C", "HOME": "/", sweep.TOKEN: os.environ.get(sweep.TOKEN, "")}
