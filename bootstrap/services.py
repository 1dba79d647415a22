"""Warehouse, Redis and sshd together: started, waited for, and stopped without a trace."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bootstrap import account as accounts
from bootstrap import agent, places, ports, processes, servers, sweep
from bootstrap.account import Account
from bootstrap.errors import BootstrapError, last_lines
from bootstrap.places import Places
from bootstrap.ports import HOST, Ports
from bootstrap.processes import Process
from bootstrap.servers import Service

_READY_S = 30
_POLL_S = 0.05


@dataclass
class Running:
    """Services at work. environment: what every process of Teiten needs to find them (docs/operations.md)."""

    places: Places
    account: Account
    ports: Ports
    environment: dict[str, str]
    started: dict[str, tuple[subprocess.Popen[bytes], Service]] = field(default_factory=dict)

    def ended(self) -> list[str]:
        """Names of the services that have ended by themselves."""
        return [name for name, (child, _) in self.started.items() if child.poll() is not None]

    def log(self, name: str) -> Path:
        return self.places.logs / f"{name}.log"


@contextlib.contextmanager
def running(state: Path, durable: bool = True, first: Callable[[], None] = lambda: None) -> Iterator[Running]:
    """The three services, ready, for the length of the block; then everything that belongs to this state is ended.

    durable: whether a crash of the machine may cost nothing (the tests need not wait for the disk).
    first: called when the state folder is ours and quiet, before anything starts.
    Raises BootstrapError."""
    os.umask(0o022)
    account = accounts.ensure()
    here = places.prepare(state, account)
    with _locked(here):
        sweep.earlier_start(here)
        sweep.agent_home(here, account)
        first()
        agent.prepare(here, account)
        chosen = ports.inner(os.environ, here.state / "ports.json")
        token = secrets.token_hex(8)
        places.written(here.run / "session", token)
        session = Running(here, account, chosen, _environment(here, account, chosen, token))
        try:
            _start(session, servers.all_of(here, account, chosen, durable))
            yield session
        finally:
            _stop(session, token)


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Impatient Ctrl-C inside the block is not heard: what is inside ends soon, and must end well."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, lambda *_: None) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _locked(here: Places) -> Iterator[None]:
    """One start a state folder. The lock file names its holder. Raises BootstrapError."""
    with (here.state / "lock").open("a+", encoding="utf-8") as lock:
        try:
            # Not flock: a fork would inherit that, and outlive a killed parent as its holder.
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise BootstrapError(
                f"Teiten runs already in this state folder (process {lock.read().split(' ')[0]}).",
                where=str(here.state),
                todo="Stop it (Ctrl-C in its terminal, or make clean), or choose another folder by TEITEN_STATE.",
            ) from None
        lock.truncate(0)
        lock.write(str(processes.find(os.getpid())))
        lock.flush()
        yield
        lock.truncate(0)


def _environment(here: Places, account: Account, chosen: Ports, token: str) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return inherited | {
        "TEITEN_DATABASE_URL": servers.database_url(here, chosen.warehouse),
        "TEITEN_REDIS_URL": servers.redis_url(here, chosen.redis),
        "TEITEN_SECRET_KEY": servers.secret(here, "secret_key"),
        "TEITEN_STATE": str(here.state),
        "TEITEN_BUNDLE_DIR": str(here.bundles),
        "TEITEN_OPEN_READING": "1",
        "TEITEN_ALLOWED_HOSTS": f"{HOST},localhost",
        "TEITEN_AGENT_HOST": HOST,
        "TEITEN_AGENT_PORT": str(chosen.sshd),
        "TEITEN_AGENT_USER": account.name,
        "TEITEN_AGENT_KEY": str(here.key),
        "TEITEN_AGENT_HOME": str(here.agent),
        "TEITEN_AGENT_SEARCH": ":".join(agent.search(here)),
        "TEITEN_AGENT_HOST_KEY": agent.host_key_line(here),
        "PYTHONUNBUFFERED": "1",
        sweep.TOKEN: token,
    }


def _start(session: Running, wanted: list[Service]) -> None:
    plain = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "HOME": "/"}
    for service in wanted:
        options = service.account.spawn if service.account else {}
        with session.log(service.name).open("wb") as log:
            child = subprocess.Popen(
                service.argv,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd="/",
                env=plain,
                start_new_session=True,  # Ctrl-C in the terminal is ours to handle, not theirs
                **options,
            )
        session.started[service.name] = (child, service)
        pid_file = session.places.run / f"{service.name}.pid"
        places.written(pid_file, str(processes.find(child.pid) or Process(child.pid, 0)))
    for child, service in session.started.values():
        _wait_ready(session, child, service)


def _wait_ready(session: Running, child: subprocess.Popen[bytes], service: Service) -> None:
    deadline = time.monotonic() + _READY_S
    while not service.ready():
        ended = child.poll()
        if ended is None and time.monotonic() < deadline:
            time.sleep(_POLL_S)
            continue
        what = f"ended with status {ended}" if ended is not None else f"did not answer within {_READY_S} s"
        raise BootstrapError(
            f"{service.name} {what} on port {service.port}.",
            where=service.name,
            why=last_lines(session.log(service.name)),
            todo=f"Its log is {session.log(service.name)}. Mend what it names, then start again.",
        )


def _stop(session: Running, token: str) -> None:
    """Users of the services first, the agent's work next, the services last."""
    with undisturbed():
        sweep.started_with(token)
        for name in ("sshd", "redis", "warehouse"):
            if name == "redis":
                sweep.agent_home(session.places, session.account)
            if name in session.started:
                _stop_one(session, *session.started[name])
        (session.places.run / "session").unlink(missing_ok=True)


def _stop_one(session: Running, child: subprocess.Popen[bytes], service: Service) -> None:
    family = processes.descendants(child.pid) if service.name == "sshd" else []
    main = processes.find(child.pid)
    if main:
        processes.end([main], service.stop, grace_s=20)
    processes.end(family)
    child.wait()
    (session.places.run / f"{service.name}.pid").unlink(missing_ok=True)
