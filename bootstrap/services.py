"""Start warehouse, Redis and sshd, wait until they are ready, and stop them without leaving a process."""

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
from functools import partial
from pathlib import Path

from bootstrap import agent, places, ports, processes, servers, sweep
from bootstrap.account import Accounts
from bootstrap.errors import BootstrapError, last_lines
from bootstrap.places import Places
from bootstrap.ports import HOST, Ports
from bootstrap.processes import Process
from bootstrap.servers import Service

_READY_S = 30
_POLL_S = 0.05


@dataclass
class Running:
    """The running services.

    environment: variables by which every process of Teiten reaches them (docs/operations.md)
    started: name → process and service
    """

    places: Places
    accounts: Accounts
    ports: Ports
    environment: dict[str, str]
    started: dict[str, tuple[subprocess.Popen[bytes], Service]] = field(default_factory=dict)

    def ended(self) -> list[str]:
        """Return the names of the services that have ended by themselves."""
        return [name for name, (child, _) in self.started.items() if child.poll() is not None]

    def log(self, name: str) -> Path:
        return self.places.logs / f"{name}.log"


@contextlib.contextmanager
def running(state: Path, durable: bool = True, before_start: Callable[[], None] = lambda: None) -> Iterator[Running]:
    """Run the three services for the length of the block, then end everything that belongs to this state folder.

    Raises BootstrapError.

    durable: whether a crash of the machine loses nothing; the tests need not wait for the disk, and have the agent
        forward to itself, as jump hosts do
    before_start: called when the state folder is locked and nothing of an earlier start runs
    """
    os.umask(0o022)
    state_places, accounts = places.prepare(state)
    with _hold_lock(state_places):
        sweep.earlier_start(state_places)
        sweep.agent_home(state_places, accounts.agent)
        places.give_to_accounts(state_places, accounts)
        before_start()
        chosen_ports = ports.inner(os.environ, state_places.state / "ports.json")
        agent.prepare(state_places, accounts, None if durable else chosen_ports.sshd)
        token = secrets.token_hex(8)
        places.write_file(state_places.run / "session", token)
        environment = _environment(state_places, accounts, chosen_ports, token)
        session = Running(state_places, accounts, chosen_ports, environment)
        try:
            _start(session, servers.all_of(state_places, accounts, chosen_ports, durable))
            yield session
        finally:
            _stop(session, token)


@contextlib.contextmanager
def ignore_signals() -> Iterator[None]:
    """Ignore Ctrl-C inside the block, which takes a short time and must complete."""
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, lambda *_: None) for number in signals}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _hold_lock(state_places: Places) -> Iterator[None]:
    """Lock the state folder for this start; the lock file names its process. Raises BootstrapError."""
    with (state_places.state / "lock").open("a+", encoding="utf-8") as lock:
        try:
            # Not flock, which a forked child inherits and still holds when its parent was killed.
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise BootstrapError(
                f"Teiten runs already in this state folder (process {lock.read().split(' ')[0]}).",
                where=str(state_places.state),
                todo="Stop it (Ctrl-C in its terminal, or make clean), or set TEITEN_STATE to another folder.",
            ) from None
        lock.truncate(0)
        lock.write(str(processes.find(os.getpid())))
        lock.flush()
        yield
        lock.truncate(0)


def _environment(state_places: Places, accounts: Accounts, chosen_ports: Ports, token: str) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return inherited | {
        "TEITEN_DATABASE_URL": servers.database_url(state_places, chosen_ports.warehouse),
        "TEITEN_REDIS_URL": servers.redis_url(state_places, chosen_ports.redis),
        "TEITEN_SECRET_KEY": servers.secret(state_places, "secret_key", least=50),
        "TEITEN_STATE": str(state_places.state),
        "TEITEN_BUNDLE_DIR": str(state_places.bundles),
        "TEITEN_OPEN_READING": "1",
        "TEITEN_API_LIMIT": "0",
        "TEITEN_API_LIMIT_ANONYMOUS": "0",
        "TEITEN_ALLOWED_HOSTS": f"{HOST},localhost",
        "TEITEN_AGENT_HOST": HOST,
        "TEITEN_AGENT_PORT": str(chosen_ports.sshd),
        "TEITEN_AGENT_USER": accounts.agent.name,
        "TEITEN_AGENT_KEY": str(state_places.key),
        "TEITEN_AGENT_HOME": str(state_places.agent),
        "TEITEN_AGENT_SEARCH": ":".join(agent.search(state_places)),
        "TEITEN_AGENT_HOST_KEY": agent.host_key_line(state_places),
        "PYTHONUNBUFFERED": "1",
        sweep.TOKEN: token,
    }


def _start(session: Running, services: list[Service]) -> None:
    environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "HOME": "/"}
    for service in services:
        options = service.account.spawn if service.account else {}
        with session.log(service.name).open("wb") as log:
            child = subprocess.Popen(
                service.argv,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd="/",
                env=environment,
                start_new_session=True,  # so that Ctrl-C in the terminal reaches us alone
                **options,
            )
        session.started[service.name] = (child, service)
        pid_file = session.places.run / f"{service.name}.pid"
        places.write_file(pid_file, str(processes.find(child.pid) or Process(child.pid, 0)))
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
    """Stop the users of the services first, the agent's work next, the services last: each, whatever the others raise.

    Raises BootstrapError that says what has failed; the next start, or make clean, tries again.
    """
    failures = []
    with ignore_signals():
        for name, step in _steps_to_stop(session, token):
            try:
                step()
            except Exception as error:  # noqa: BLE001  # it is told below, and the next step is as necessary
                failures.append(f"{name}: {type(error).__name__}: {error}")
    if failures:
        raise BootstrapError(
            "Not everything was stopped.",
            where="stop",
            why="\n".join(failures),
            todo="Mend what it names, then run make clean, or start again.",
        )
    (session.places.run / "session").unlink(missing_ok=True)


def _steps_to_stop(session: Running, token: str) -> Iterator[tuple[str, Callable[[], object]]]:
    yield "processes of this start", partial(sweep.end_session, token)
    for name in ("sshd", "redis", "warehouse"):
        if name == "redis":
            yield "the agent's jobs and servers", partial(sweep.agent_home, session.places, session.accounts.agent)
        if name in session.started:
            yield name, partial(_stop_one, session, *session.started[name])


def _stop_one(session: Running, child: subprocess.Popen[bytes], service: Service) -> None:
    descendants = processes.descendants(child.pid) if service.name == "sshd" else []
    main = processes.find(child.pid)
    if main:
        processes.end([main], service.stop, grace_s=20)
    processes.end(descendants)
    child.wait()
    (session.places.run / f"{service.name}.pid").unlink(missing_ok=True)
