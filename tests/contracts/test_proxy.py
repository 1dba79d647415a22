"""The proxy of docker-compose.yml is that of the demo, which the tests of the demo try."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import yaml
from django.urls import URLPattern, URLResolver, get_resolver

from bootstrap import proxy
from bootstrap.places import Places
from bootstrap.ports import HOST
from bootstrap.proxy import MAIN, TEMPLATE
from webapp.bodies import upload_of

ROOT = Path(__file__).parents[2]


def services() -> dict[str, Any]:
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
    return dict(compose["services"])


def test_compose_gives_the_proxy_its_configuration_and_the_addresses_in_it() -> None:
    proxy = services()["proxy"]
    files = [volume.partition(":")[0] for volume in proxy["volumes"] if volume.startswith("./")]
    assert files == [f"./{path.relative_to(ROOT)}" for path in (MAIN, TEMPLATE)]
    given = {name for name in proxy["environment"] if name.startswith("TEITEN_")}
    assert given == set(re.findall(r"\$\{(\w+)\}", TEMPLATE.read_text(encoding="utf-8")))


def test_the_proxy_lets_every_upload_through() -> None:
    [pattern] = re.findall(r"location ~ (\S+) \{", TEMPLATE.read_text(encoding="utf-8"))
    taken = [path for path, view in _routes(get_resolver().url_patterns) if upload_of(view)]
    assert len(taken) >= 5
    assert [path for path in taken if not re.search(pattern, f"/{path}")] == []


def _routes(patterns: list[URLPattern | URLResolver], above: str = "") -> Iterator[tuple[str, Any]]:
    for pattern in patterns:
        path = above + re.sub(r"<[^>]*>", "7", str(pattern.pattern))
        if isinstance(pattern, URLResolver):
            yield from _routes(pattern.url_patterns, path)
        else:
            yield path, pattern.callback


def test_nothing_but_the_proxy_is_reached_from_outside() -> None:
    assert [name for name, service in services().items() if "ports" in service] == ["proxy"]


@pytest.fixture
def dying() -> Iterator[socket.socket]:
    """A web server whose process dies of each request, after what was asked for is done."""
    with socket.create_server((HOST, 0)) as listener:
        Thread(target=_die_of_each, args=(listener,), daemon=True).start()
        yield listener
        listener.shutdown(socket.SHUT_RDWR)


def _die_of_each(listener: socket.socket) -> None:
    with suppress(OSError):
        while True:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)


@pytest.fixture
def port(dying: socket.socket, tmp_path: Path) -> Iterator[int]:
    """The port of an nginx before that web server."""
    places = Places(tmp_path, tmp_path)
    places.proxy.mkdir()
    with socket.create_server((HOST, 0)) as free:
        listen = free.getsockname()[1]
    command = proxy.command(places, listen, dying.getsockname()[1])
    if command is None:
        pytest.skip("nginx is not installed")
    with subprocess.Popen(command) as nginx:
        while nginx.poll() is None and not _listens(listen):
            time.sleep(0.01)
        yield listen
        nginx.terminate()


def _listens(port: int) -> bool:
    with suppress(OSError), socket.create_connection((HOST, port)):
        return True
    return False


@pytest.mark.parametrize("path", ["/api/v1/runs/", "/api/v1/trials/1/bundle/"])
def test_only_what_reads_is_asked_for_again_where_the_web_server_went_away(path: str, port: int) -> None:
    for method, again in (("GET", True), ("POST", False), ("PUT", False), ("PATCH", False), ("DELETE", False)):
        with closing(HTTPConnection(HOST, port)) as connection:
            connection.request(method, path, body=None if again else b"{}")
            answer = connection.getresponse()
            error = json.loads(answer.read())["error"]
        assert (answer.status, error["kind"], error["retryable"]) == (503, "away", again)
        assert answer.headers.get("Retry-After") == ("10" if again else None)
        assert ("whether it was done" in error["todo"]) is not again
        assert error.keys() == {"kind", "what", "where", "why", "todo", "retryable", "problems"}
