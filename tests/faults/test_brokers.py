"""Worker and beat go on, without a new start, when the server that messages wait in is another one or starts anew."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from bootstrap import ports
from tests.brokers import PASSWORD, RABBITMQ, rabbitmq, watched_redis
from tests.faults import fleet
from tests.faults.processes import Program, free_port, until
from tests.restarting import made

_RECEIVED = re.compile(r"Task workers\.tasks\.dispatch\[(.+?)\] received")
_PATIENCE_S = 240.0
_COUNT = """
import sys
from workers import tasks
for _ in sys.stdin:
    print(*sorted(tasks.messages_waiting()), flush=True)
"""


_REFUSED = """
from results.domain.errors import TeitenError
from workers import tasks
for ask in (tasks.messages_waiting, tasks.answering_workers, lambda: tasks.require_broker(20)):
    try:
        ask()
    except TeitenError as error:
        print(error.where, error.what)
assert not tasks._send(tasks.dispatch) and tasks._messages_for_trials() == 0
"""


@dataclass
class Pair:
    """A worker that serves everything but trials, and beat."""

    worker: Program
    beat: Program

    def until_dispatched(self) -> None:
        """Beat sends the dispatcher's message, and the worker takes it and ends the task: all from here on."""
        before = len(self.worker.printed())

        def is_dispatched() -> bool:
            printed = self.worker.printed()[before:]
            return any(f"[{task}] succeeded" in printed for task in _RECEIVED.findall(printed))

        until(is_dispatched, self._last_words, _PATIENCE_S)

    def _last_words(self) -> str:
        return "\n".join(part.printed()[-3000:] for part in (self.worker, self.beat))


@pytest.fixture(scope="module")
def database_url() -> Iterator[str]:
    """A warehouse with Teiten's tables, for TEITEN_DATABASE_URL."""
    with made() as warehouse:
        url = fleet.database_url(warehouse)
        migrate = [sys.executable, "manage.py", "migrate", "--verbosity=0"]
        subprocess.run(migrate, check=True, cwd=fleet.ROOT, env=os.environ | {"TEITEN_DATABASE_URL": url})
        yield url


@contextmanager
def pair(database_url: str, folder: Path, queue: Mapping[str, str]) -> Iterator[Pair]:
    """Both run until the block ends. queue: the settings that say where messages wait."""
    more = {"TEITEN_DATABASE_URL": database_url, "TEITEN_BUNDLE_DIR": str(folder / "bundles")}
    environment = os.environ | more | queue
    parts = Pair(fleet.control(environment, folder), fleet.beat(environment, folder))
    with ExitStack() as stack:
        for one in (parts.worker, parts.beat):
            stack.callback(one.stop)
            one.start()
        yield parts


@contextmanager
def counter(queue: Mapping[str, str]) -> Iterator[Callable[[], list[str]]]:
    """A process that tells the queues whose messages it has counted, however often it is asked, as a web process is."""
    words = [sys.executable, "manage.py", "shell", "--no-imports", "--verbosity=0", "--command", _COUNT]
    environment = os.environ | queue
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True, cwd=fleet.ROOT, env=environment) as process:
        assert process.stdin and process.stdout
        ask, answers = process.stdin, process.stdout

        def count() -> list[str]:
            ask.write("\n")
            ask.flush()
            return answers.readline().split()

        yield count


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "paused"])
def test_worker_and_beat_go_to_the_primary_that_the_sentinel_names(
    database_url: str, tmp_path: Path, how: signal.Signals
) -> None:
    with watched_redis(tmp_path) as queue, pair(database_url, tmp_path, {"TEITEN_REDIS_URL": queue.url}) as parts:
        parts.until_dispatched()
        queue.strike_primary(how)
        parts.until_dispatched()


def test_beat_that_is_asked_to_end_during_a_query_ends_after_it(database_url: str, tmp_path: Path) -> None:
    with (
        watched_redis(tmp_path) as queue,
        pair(database_url, tmp_path, {"TEITEN_REDIS_URL": queue.url}) as parts,
        psycopg.connect(database_url) as holding,
        psycopg.connect(database_url, autocommit=True) as looking,
    ):
        parts.until_dispatched()
        holding.execute("LOCK TABLE django_celery_beat_periodictasks IN ACCESS EXCLUSIVE MODE")
        waiting = "SELECT FROM pg_locks WHERE NOT granted AND relation = 'django_celery_beat_periodictasks'::regclass"
        until(lambda: looking.execute(waiting).fetchone() is not None, parts._last_words)
        beat = parts.beat.ask_to_end()
        woken = _woken(beat.pid)
        try:
            until(lambda: _woken(beat.pid) > woken + 5, parts._last_words)  # it looks for signals ten times a second
            holding.rollback()
            assert beat.wait(60) == 0
        finally:
            beat.kill()


def _woken(pid: int) -> int:
    """How often the process' first thread has gone on after it had waited."""
    status = Path(f"/proc/{pid}/task/{pid}/status").read_text()
    return int(status.partition("\nvoluntary_ctxt_switches:")[2].split()[0])


@pytest.mark.skipif(not RABBITMQ.exists(), reason="RabbitMQ is not installed: apt-get install rabbitmq-server")
def test_worker_and_beat_go_on_when_rabbitmq_starts_anew(database_url: str, tmp_path: Path) -> None:
    nobody = f"redis://{ports.HOST}:{free_port()}/0"
    with rabbitmq(tmp_path) as broker:
        settings = {"TEITEN_BROKER_URL": broker.url, "TEITEN_REDIS_URL": nobody}
        with pair(database_url, tmp_path, settings) as parts, counter(settings) as count:
            parts.until_dispatched()
            assert count() == ["agents", "control", "trials"]
            for end in (broker.server.kill, broker.server.stop):
                end()
                broker.server.start()
                assert count() == ["agents", "control", "trials"]
                parts.until_dispatched()


@pytest.mark.skipif(not RABBITMQ.exists(), reason="RabbitMQ is not installed: apt-get install rabbitmq-server")
def test_a_rabbitmq_that_refuses_or_is_away_is_named(database_url: str, tmp_path: Path) -> None:
    words = [sys.executable, "manage.py", "shell", "--no-imports", "--verbosity=0", "--command", _REFUSED]
    with rabbitmq(tmp_path) as broker:
        away = f"amqp://{ports.HOST}:{free_port()}//"
        for url in (broker.url.replace(PASSWORD, "wrong"), f"{broker.url}no-such-host", away):
            environment = os.environ | {"TEITEN_DATABASE_URL": database_url, "TEITEN_BROKER_URL": url}
            ended = subprocess.run(words, cwd=fleet.ROOT, env=environment, capture_output=True, text=True)
            assert ended.returncode == 0, ended.stderr
            line = "TEITEN_BROKER_URL The broker does not answer, or refuses Teiten."
            assert ended.stdout.splitlines() == [line] * 3, ended.stderr
