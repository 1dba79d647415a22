"""`make demo`: all of Teiten in the foreground of one terminal, until Ctrl-C."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from bootstrap import places, ports, proxy, services, sweep, system
from bootstrap.errors import BootstrapError, last_lines, say
from bootstrap.places import CHECKOUT
from bootstrap.processes import find
from bootstrap.services import Running
from bootstrap.supervisor import Output, Part, Supervisor


def demo() -> int:
    """Run the demo; return 0 after Ctrl-C or SIGTERM, 1 where a process ended by itself. Raises BootstrapError."""
    system.ensure(dev=False)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with services.running(places.state_folder(), before_start=_announce) as session:
            port = ports.web(os.environ)
            session.environment |= {"TEITEN_PORT": str(port), "TEITEN_PROXIES": "1" if system.program("nginx") else "0"}
            _prepare(session)
            with _settings_for_others(session):
                return _supervise(session, port)
    except KeyboardInterrupt:
        return 0


def _announce() -> None:
    if os.geteuid() != 0:
        say("Started as an ordinary user, all of the demo has one account: what plans run on its agent can read and")
        say("change everything of Teiten's here. Let nobody run plans who may not. Started as root, it has several.")
    port = ports.web(os.environ)
    address = f"http://{ports.HOST}:{port}/"
    line = "═" * (len(address) + 14)
    say(f"\n  {line}\n    Teiten:   {address}\n  {line}\n  Opens in a few seconds. Ctrl-C stops everything.\n")


def _prepare(session: Running) -> None:
    """Migrate and collect static files where their sources have changed; requeue trials of an earlier start.

    Nothing of an earlier start is alive any more (`sweep`).
    """
    for arguments, patterns in (
        (("migrate",), ("*/migrations/*.py",)),
        (
            ("compilemessages",),
            ("locale/**/*.po", "workers/*/*/locale/**/*.po", "plans/*.toml", "webapp/catalogues.py"),
        ),
        # static files, and the code and libraries that collect them
        (("collectstatic", "--noinput", "--clear"), ("static/**/*", "webapp/**/*.py", "requirements.lock")),
    ):
        stamp, current_hash = session.places.state / f"{arguments[0]}-stamp", _hash(patterns)
        if not stamp.exists() or stamp.read_text(encoding="utf-8") != current_hash:
            _manage(session, *arguments, "--verbosity", "0")
            places.write_file(stamp, current_hash)
    if queued := _manage(session, "requeue"):
        say(queued)


def _manage(session: Running, *arguments: str) -> str:
    """Run a command of manage.py; return its output. Raises BootstrapError."""
    result = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=CHECKOUT,
        env=session.environment,
        capture_output=True,
        text=True,
    )
    if result.returncode != 0:
        raise BootstrapError(
            f"manage.py {arguments[0]} ended with status {result.returncode}.",
            where="demo",
            why=(result.stderr or result.stdout).strip()[-3000:],
            todo="Mend what it names, then start again.",
        )
    return result.stdout.strip()


@contextlib.contextmanager
def _settings_for_others(session: Running) -> Iterator[None]:
    """Write the settings into the state folder, where manage.py reads them meanwhile (webapp/env.py); for us alone."""
    path = session.places.run / "environment.json"
    settings = {n: v for n, v in session.environment.items() if n.startswith("TEITEN_") and n != sweep.TOKEN}
    process = find(os.getpid())
    assert process is not None
    content = {"process": [process.pid, process.started], "environment": settings}
    places.write_file(path, json.dumps(content, indent=1) + "\n", 0o600)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def _hash(patterns: tuple[str, ...]) -> str:
    """Return a hash of these files of the checkout and of the requirements, whose packages have such files too."""
    digest = hashlib.sha256((CHECKOUT / "requirements.lock").read_bytes())
    for path in sorted(path for pattern in patterns for path in CHECKOUT.glob(pattern)):
        if path.is_file():
            digest.update(f"{path.relative_to(CHECKOUT)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def _supervise(session: Running, port: int) -> int:
    """Run everything until it is stopped, or a part ends that is not restarted; return the exit code."""
    output = Output(session.places.logs, shown=frozenset({"demo"}))
    end = Supervisor(_parts(session, port), output, session.ended).run()
    if end is None:
        say("\nStopping …")
        return 0
    _explain(session, output, end.name)
    return 1


def _parts(session: Running, port: int) -> list[Part]:
    programs = Path(sys.executable).parent
    celery = (str(programs / "celery"), "--app", "workers.app")
    scheduler = ("--scheduler", "workers.beat:Scheduler", "--pidfile=")
    proxied = proxy.command(session.places, port, session.ports.web)
    bind = f"{ports.HOST}:{session.ports.web if proxied else port}"
    gunicorn = (str(programs / "gunicorn"), "webapp.wsgi:application", "--bind", bind)
    threads = ("--workers", "2", "--threads", "8", "--graceful-timeout", "2", "--no-control-socket")
    pool = ("--pool", "threads", "--concurrency", "8")
    environment = session.environment
    in_front = [Part("proxy", proxied, environment, restarted=True)] if proxied else []
    return [
        *in_front,
        # Apart, so that what starts, watches and ends trials never waits for a trial.
        Part("worker", (*celery, "worker", *pool, "-Q", "trials", "-n", "trials@%h"), environment, restarted=True),
        Part("control", (*celery, "worker", *pool, "-Q", "control,agents", "-n", "control@%h"), environment, True),
        Part("beat", (*celery, "beat", *scheduler), environment, restarted=True),
        Part("web", (*gunicorn, *threads), environment, restarted=True),
        Part("demo", (sys.executable, "manage.py", "demo"), environment | _terminal()),
    ]


def _terminal() -> dict[str, str]:
    """Return variables about the terminal for manage.py demo, which writes into a pipe."""
    size = {"COLUMNS": str(shutil.get_terminal_size((120, 40)).columns)}
    return size | ({"FORCE_COLOR": "1"} if sys.stdout.isatty() else {})


def _explain(session: Running, output: Output, name: str) -> None:
    # A part that needs a server may end before the server's own end is noticed.
    ended_servers = session.ended()
    name = ended_servers[0] if ended_servers else name
    lines = (
        last_lines(session.log(name)) if ended_servers else "\n".join(f"    {line}" for line in output.last_lines(name))
    )
    say(f"\n{name} has ended unexpectedly. Its last lines:\n{lines}\nAll logs are in {session.places.logs}.")
