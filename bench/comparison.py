"""Seconds, queries and bytes of a comparison of 500 cells × 2 versions × 6 replicates among 200,000 trials, asked of
gunicorn over HTTP by one client."""

from __future__ import annotations

import gzip
import http.client
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from urllib.parse import urlsplit, urlunsplit

from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from rich.console import Console

from bench.figures import Figure
from bootstrap import ports
from results import models, sql

QUERY = "run=11&panel=scale,script"
LIMITS = {"queries": 6, "kB": 120, "ms": 120, "ms 304": 10}
REQUESTS = 20  # a round
PORT = 18937
ANSWERS = {"the JSON": f"/api/v1/comparison/?{QUERY}", "the page": f"/compare/?{QUERY}"}


def measure(rounds: int, seconds: float, console: Console) -> list[Figure]:
    call_command("collectstatic", interactive=False, verbosity=0)
    with warehouse(console):
        figures = [_queries(name, path, console) for name, path in ANSWERS.items()]
        with served() as ask:
            figures += _asked(ask, rounds, console)
    return figures


@contextmanager
def warehouse(console: Console) -> Iterator[None]:
    with own_database():
        begun = time.perf_counter()
        for statement in Path(__file__).with_suffix(".sql").read_text().split(";\n"):
            if statement.strip():
                sql.execute(statement)
        console.print(f"  {models.Trial.objects.count():,} trials made in {time.perf_counter() - begun:.0f} s")
        yield


@contextmanager
def own_database(name: str = "bench") -> Iterator[None]:
    """An empty one, removed in the end. Within another one's it is the one that Django is connected to."""
    usual = connection.settings_dict["NAME"]
    connection.settings_dict["TEST"]["NAME"] = f"test_{name}"
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    try:
        yield
    finally:
        connection.creation.destroy_test_db(usual, verbosity=0)


def _queries(name: str, path: str, console: Console) -> Figure:
    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, "testserver"]
    with CaptureQueriesContext(connection) as captured:
        answer = Client().get(path)
    assert answer.status_code == 200, answer.content[:500]
    for query in captured.captured_queries:
        console.print(f"  {name}: {query['time']} s  {' '.join(query['sql'].split())[:90]}", highlight=False)
    return Figure(f"queries of {name}", "queries", LIMITS["queries"], (float(len(captured)),))


@contextmanager
def served() -> Iterator[http.client.HTTPConnection]:
    """A connection to a gunicorn of one worker on that database."""
    with gunicorn(workers=1):
        yield http.client.HTTPConnection("127.0.0.1", PORT, timeout=60)


@contextmanager
def gunicorn(workers: int, port: int = PORT) -> Iterator[subprocess.Popen[bytes]]:
    """A gunicorn on that database."""
    address = urlsplit(os.environ["TEITEN_DATABASE_URL"])
    url = urlunsplit(address._replace(path=f"/{connection.settings_dict['NAME']}"))
    command = [str(Path(sys.executable).parent / "gunicorn"), "webapp.wsgi:application", "--bind", f"127.0.0.1:{port}"]
    command += ["--workers", str(workers), "--threads", "8", "--no-control-socket", "--log-level", "warning"]
    command += ["--keep-alive", "3600"]  # the one connection is kept while something else is asked, or made up
    environment = os.environ | {"TEITEN_DATABASE_URL": url, "TEITEN_LOG_LEVEL": "WARNING"}
    with subprocess.Popen(command, env=environment) as server:
        try:
            _wait_for(server, port)
            yield server
        finally:
            server.terminate()


def _wait_for(server: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + 30
    while not ports.accepts(port):
        if time.monotonic() > deadline or server.poll() is not None:
            raise SystemExit("gunicorn does not answer.")
        time.sleep(0.1)


def _asked(ask: http.client.HTTPConnection, rounds: int, console: Console) -> list[Figure]:
    figures = []
    for name, path in ANSWERS.items():
        _, headers, body = _get(ask, path, {})
        _, _, packed = _get(ask, path, {"Accept-Encoding": "gzip"})
        assert gzip.decompress(packed) if name == "the JSON" else True
        console.print(f"  {name}: {len(body) / 1000:.1f} kB, {len(packed) / 1000:.1f} kB where gzip is accepted")
        full = _rounds(ask, path, {"Cache-Control": "no-cache"}, 200, rounds)
        again = _rounds(ask, path, {"Cookie": f"csrftoken={'a' * 32}"}, 200, rounds)
        same = _rounds(ask, path, {"If-None-Match": headers["ETag"]}, 304, rounds)
        for what, took in ((f"{name}, made anew", full), (f"{name}, again", again), (f"{name}, 304", same)):
            p50, p95 = median(one.p50 for one in took), median(one.p95 for one in took)
            console.print(f"  {what}: p50 {p50:.1f} ms, p95 {p95:.1f} ms, medians of {len(took)} rounds of {REQUESTS}")
        if name == "the JSON":
            figures.append(Figure(f"{name} of 6,000 replicates", "kB", LIMITS["kB"], (len(body) / 1000,)))
            figures.append(Figure(f"{name}, p95 uncached", "ms", LIMITS["ms"], tuple(one.p95 for one in full)))
        figures.append(Figure(f"{name}, p95 of 304", "ms", LIMITS["ms 304"], tuple(one.p95 for one in same)))
    return figures


@dataclass(frozen=True)
class Round:
    """How long the answers of one round took, in ms."""

    p50: float
    p95: float


def _rounds(
    ask: http.client.HTTPConnection, path: str, headers: dict[str, str], status: int, rounds: int
) -> list[Round]:
    done = []
    for _ in range(min(rounds, 7)):
        took = []
        for _ in range(REQUESTS):
            begun = time.perf_counter()
            assert _get(ask, path, headers)[0] == status
            took.append(1000 * (time.perf_counter() - begun))
        done.append(Round(median(took), quantiles(took, n=20)[-1]))
    return done


def _get(ask: http.client.HTTPConnection, path: str, headers: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
    ask.request("GET", path, headers=headers)
    answer = ask.getresponse()
    return answer.status, dict(answer.headers), answer.read()
