"""The queue moves to another Redis when its Sentinels say so, and pages go on; other brokers by setting."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bootstrap import ports
from bootstrap.system import redis_server
from results.domain.errors import TeitenError
from tests.faults.processes import free_port
from webapp.api import limits
from webapp.health import check_queue, queue_client
from webapp.management import exposure, parts
from webapp.queue_servers import client, queue_server
from workers.app import app

PASSWORD = "of-the-tests"
PATIENCE_S = 240


@dataclass
class Queue:
    """Two Redis, of which one is the primary, and a Sentinel that watches them. url: for TEITEN_REDIS_URL."""

    url: str
    servers: dict[int, subprocess.Popen[bytes]]
    primary: int

    def primary_now(self) -> int:
        pool: Any = client(self.url, socket_timeout=2).connection_pool
        return int(pool.get_master_address()[1])


@pytest.fixture
def queue(tmp_path: Path, settings: Any) -> Iterator[Queue]:
    first, second, sentinel = free_port(), free_port(), free_port()
    common = ("--bind", ports.HOST, "--save", "", "--requirepass", PASSWORD, "--masterauth", PASSWORD)
    config = tmp_path / "sentinel.conf"
    watched = [
        f"port {sentinel}",
        f"bind {ports.HOST}",
        f"sentinel monitor teiten {ports.HOST} {first} 1",
        f"sentinel auth-pass teiten {PASSWORD}",
        "sentinel down-after-milliseconds teiten 1000",
        "sentinel failover-timeout teiten 5000",
    ]
    config.write_text("\n".join(watched) + "\n")
    with ExitStack() as stack:
        servers = {
            port: stack.enter_context(redis_at(tmp_path, "--port", str(port), *common, *more))
            for port, more in ((first, ()), (second, ("--replicaof", f"{ports.HOST} {first}")))
        }
        for port in servers:
            until(lambda port=port: redis_of(port).ping())
        until(lambda: redis_of(second).info("replication")["master_link_status"] == "up")
        stack.enter_context(redis_at(tmp_path, str(config), "--sentinel"))
        url = f"sentinel://:{PASSWORD}@{ports.HOST}:1,{ports.HOST}:{sentinel}/0?master=teiten"
        settings.TEITEN_REDIS_URL, settings.CELERY_BROKER_URL = url, queue_server(url).url
        until(lambda: client(url, socket_timeout=2).ping())
        until(lambda: redis_of(sentinel, password=None).sentinel_slaves("teiten"))
        yield Queue(url, servers, first)


@contextmanager
def redis_at(folder: Path, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    first = () if words[0].endswith(".conf") else ("--dir", str(folder))
    with subprocess.Popen([redis_server(), *words, *first], stdout=subprocess.DEVNULL) as server:
        try:
            yield server
        finally:
            server.kill()


def redis_of(port: int, password: str | None = PASSWORD) -> Any:
    return client(f"redis://{ports.HOST}:{port}/0", password=password, socket_timeout=2)


def until(is_true: Callable[[], Any]) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    last: object = None
    while time.monotonic() < deadline_s:
        try:
            if is_true():
                return
        except Exception as error:  # noqa: BLE001  (servers that start or move)
            last = error
        time.sleep(0.1)
    raise AssertionError(f"waited in vain: {last}")


def test_pages_and_doctor_find_the_primary_by_its_sentinels(queue: Queue) -> None:
    check_queue()
    with queue_client(2) as found:
        assert found.info()["role"] == "master"
    assert list(exposure.queue()) == [(True, "asks for a password")]
    assert all(ok for ok, _text in parts.queue())
    assert limits.counted("the tests", 10, time.time()).count == 1
    queue.servers[queue.primary].kill()
    until(lambda: queue.primary_now() != queue.primary)
    until(lambda: queue_client(2).ping())
    check_queue()
    until(lambda: limits.counted("the tests", 10, time.time()))


@pytest.mark.parametrize(
    ("url", "celery_url", "options"),
    [
        ("redis://:p@a:6379/1", "redis://:p@a:6379/1", {}),
        ("sentinel://a/?master=m", "sentinel://a:26379/0", {"master_name": "m"}),
        (
            "sentinel://:p@a:1,b:2/3?master=m&sentinel_password=s",
            "sentinel://:p@a:1/3;sentinel://:p@b:2/3",
            {"master_name": "m", "sentinel_kwargs": {"password": "s"}},
        ),
    ],
)
def test_a_queue_s_url_as_celery_takes_it(url: str, celery_url: str, options: dict[str, Any]) -> None:
    server = queue_server(url)
    assert (server.url, dict(server.options)) == (celery_url, options)


@pytest.mark.parametrize("url", ["sentinel://a", "sentinel://a:x/?master=m", "amqp://a", "a", "redis//a"])
def test_a_url_of_no_queue_is_refused(url: str) -> None:
    with pytest.raises(TeitenError) as refused:
        queue_server(url)
    assert refused.value.where == "TEITEN_REDIS_URL"


def test_amqp_is_taken_as_broker_and_one_that_is_away_is_named(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.CELERY_BROKER_URL = queue_server("amqp://u:p@127.0.0.1:1/teiten", "TEITEN_BROKER_URL").url
    monkeypatch.setattr(app.conf, "broker_write_url", settings.CELERY_BROKER_URL)
    with app.connection_for_write() as broker:
        assert (broker.transport_cls, broker.virtual_host, broker.port) == ("amqp", "teiten", 1)
    with pytest.raises(TeitenError, match="The broker does not answer"):
        check_queue()
    [(ok, text)] = exposure.queue()
    assert not ok and "TEITEN_BROKER_URL" in text
    with pytest.raises(TeitenError):
        queue_server("redis://a", "TEITEN_BROKER_URL")
