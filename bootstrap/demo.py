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

from bootstrap import places, ports, services, sweep, system
from bootstrap.errors import BootstrapError, last_lines, say
from bootstrap.places import CHECKOUT
from bootstrap.processes import find
from bootstrap.services import Running
from bootstrap.supervisor import Output, Part, Supervisor


def demo() -> int:
    """Returns 0 after Ctrl-C or SIGTERM, 1 when a process ended by itself. Raises BootstrapError."""
    system.ensure(dev=False)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with services.running(places.state_folder(), first=_announce) as session:
            port = ports.web(os.environ)
            session.environment |= {"TEITEN_PORT": str(port)}
            _prepare(session)
            with _settings_for_others(session):
                return _keep(session, port)
    except KeyboardInterrupt:
        return 0


def _announce() -> None:
    port = ports.web(os.environ)
    address = f"http://{ports.HOST}:{port}/"
    line = "═" * (len(address) + 14)
    say(f"\n  {line}\n    Teiten:   {address}\n  {line}\n  Opens in a few seconds. Ctrl-C stops everything.\n")


def _prepare(session: Running) -> None:
    """Tables and collected static files, made anew when a file that they come from has changed; and a queue without
    the trials of an earlier start, of which nothing is alive any more (`sweep`)."""
    for words, patterns in (
        (("migrate",), ("*/migrations/*.py",)),
        # with what finds and joins them, in our code and in the libraries
        (("collectstatic", "--noinput", "--clear"), ("static/**/*", "webapp/**/*.py", "requirements.txt")),
    ):
        stamp, wanted = session.places.state / f"{words[0]}-stamp", _hash(patterns)
        if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted:
            _manage(session, *words, "--verbosity", "0")
            places.written(stamp, wanted)
    if queued := _manage(session, "requeue"):
        say(queued)


def _manage(session: Running, *words: str) -> str:
    """What the command prints. Raises BootstrapError."""
    done = subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=CHECKOUT,
        env=session.environment,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise BootstrapError(
            f"manage.py {words[0]} ended with status {done.returncode}.",
            where="demo",
            why=(done.stderr or done.stdout).strip()[-3000:],
            todo="Mend what it names, then start again.",
        )
    return done.stdout.strip()


@contextlib.contextmanager
def _settings_for_others(session: Running) -> Iterator[None]:
    """As long as this runs, manage.py finds its settings in the state folder (webapp/env.py), readable by us alone."""
    path = session.places.run / "environment.json"
    own = {n: v for n, v in session.environment.items() if n.startswith("TEITEN_") and n != sweep.TOKEN}
    process = find(os.getpid())
    assert process is not None
    content = {"process": [process.pid, process.started], "environment": own}
    places.written(path, json.dumps(content, indent=1) + "\n", 0o600)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def _hash(patterns: tuple[str, ...]) -> str:
    """Changes with any of these files of the checkout, and with the requirements, which bring such files too."""
    digest = hashlib.sha256((CHECKOUT / "requirements.txt").read_bytes())
    for path in sorted(path for pattern in patterns for path in CHECKOUT.glob(pattern)):
        if path.is_file():
            digest.update(f"{path.relative_to(CHECKOUT)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def _keep(session: Running, port: int) -> int:
    """Runs everything until it is stopped, or something ends that cannot be started again."""
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
    gunicorn = (str(programs / "gunicorn"), "webapp.wsgi:application", "--bind", f"{ports.HOST}:{port}")
    threads = ("--workers", "1", "--threads", "8", "--graceful-timeout", "2", "--no-control-socket")
    pool = ("--pool", "threads", "--concurrency", "8")
    environment = session.environment
    return [
        Part("worker", (*celery, "worker", *pool, "--loglevel", "INFO"), environment, restarted=True),
        Part("beat", (*celery, "beat", *scheduler, "--loglevel", "INFO"), environment, restarted=True),
        Part("web", (*gunicorn, *threads), environment, restarted=True),
        Part("demo", (sys.executable, "manage.py", "demo"), environment | _terminal()),
    ]


def _terminal() -> dict[str, str]:
    """The driver writes into a pipe: it is told of the terminal behind."""
    size = {"COLUMNS": str(shutil.get_terminal_size((120, 40)).columns)}
    return size | ({"FORCE_COLOR": "1"} if sys.stdout.isatty() else {})


def _explain(session: Running, output: Output, name: str) -> None:
    # Whoever needs a server that is gone may end before the server was seen to have ended.
    gone = session.ended()
    name = gone[0] if gone else name
    lines = last_lines(session.log(name)) if gone else "\n".join(f"    {line}" for line in output.last_lines(name))
    say(f"\n{name} has ended unexpectedly. Its last lines:\n{lines}\nAll logs are in {session.places.logs}.")
