"""The queue moves to another Redis when its Sentinels say so, and pages go on; other brokers by setting."""

from __future__ import annotations

import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from kombu import Connection
from redis.sentinel import MasterNotFoundError

from bootstrap import ports
from results.domain.errors import TeitenError
from tests.brokers import Queue, until, watched_redis
from webapp.api import limits
from webapp.health import check_queue, queue_client
from webapp.management import exposure, parts
from webapp.queue_servers import queue_server
from workers.app import app


@pytest.fixture
def queue(tmp_path: Path, settings: Any) -> Iterator[Queue]:
    with watched_redis(tmp_path) as queue:
        settings.TEITEN_REDIS_URL, settings.CELERY_BROKER_URL = queue.url, queue_server(queue.url).url
        yield queue


def test_pages_and_doctor_find_the_primary_by_its_sentinels(queue: Queue) -> None:
    check_queue()
    with queue_client(2) as found:
        assert found.info()["role"] == "master"
    assert list(exposure.queue()) == [(True, "asks for a password")]
    assert all(ok for ok, _text in parts.queue())
    assert limits.counted("the tests", 10, time.time()).count == 1
    queue.strike_primary(signal.SIGKILL)
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
            {"master_name": "m", "password of Sentinels": "s"},
        ),
    ],
)
def test_a_queue_s_url_as_celery_takes_it(url: str, celery_url: str, options: dict[str, Any]) -> None:
    server = queue_server(url)
    celery_options = dict(server.options)
    password = celery_options.pop("sentinel_kwargs", {}).get("password")
    assert server.url == celery_url
    assert celery_options | ({"password of Sentinels": password} if password else {}) == options
    assert app.conf.task_publish_retry is False  # with Redis, as here


def test_a_sentinel_that_hangs_up_is_asked_once() -> None:
    callers = []
    with socket.create_server((ports.HOST, 0)) as listener:

        def hang_up() -> None:
            with suppress(OSError):  # of the listener that is shut down
                while True:
                    caller, _address = listener.accept()
                    caller.close()
                    callers.append(caller)

        thread = threading.Thread(target=hang_up, daemon=True)
        thread.start()
        server = queue_server(f"sentinel://{ports.HOST}:{listener.getsockname()[1]}/?master=teiten")
        broker = Connection(server.url, transport_options=dict(server.options))
        with pytest.raises(MasterNotFoundError):
            broker.transport.establish_connection()
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()
    assert len(callers) == 1


@pytest.mark.parametrize("url", ["sentinel://a", "sentinel://a:x/?master=m", "amqp://a", "a", "redis//a"])
def test_a_url_of_no_queue_is_refused(url: str) -> None:
    with pytest.raises(TeitenError) as refused:
        queue_server(url)
    assert refused.value.where == "TEITEN_REDIS_URL"


def test_amqp_is_taken_as_broker_and_one_that_is_away_is_named(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    url = queue_server("amqp://u:p@127.0.0.1:1/teiten", "TEITEN_BROKER_URL").url
    monkeypatch.setattr(app.conf, "broker_write_url", url)  # first: it follows the setting, to which it goes back
    settings.CELERY_BROKER_URL = url
    with app.connection_for_write() as broker:
        assert (broker.transport_cls, broker.virtual_host, broker.port) == ("amqp", "teiten", 1)
    with pytest.raises(TeitenError, match="The broker does not answer"):
        check_queue()
    [(ok, text)] = exposure.queue()
    assert not ok and "TEITEN_BROKER_URL" in text
    with pytest.raises(TeitenError):
        queue_server("redis://a", "TEITEN_BROKER_URL")
