"""Whether Teiten is alive and ready, as load balancers and containers ask: by any host name, over plain HTTP."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.db import connections
from django.test import Client

from results import bundle_files
from webapp import health

pytestmark = pytest.mark.django_db
ANYWHERE = {"host": "10.0.0.7:8000"}
OK = {"status": "ok"}


@pytest.fixture(autouse=True)
def _closed(settings: Any, tmp_path: Path) -> None:
    """Reading is closed, TLS required, and only one host name is known."""
    settings.TEITEN_OPEN_READING = False
    settings.ALLOWED_HOSTS = ["teiten.example.org"]
    settings.SECURE_SSL_REDIRECT = True
    settings.TEITEN_BUNDLE_DIR = tmp_path / "bundles"


def readiness(client: Client) -> tuple[int, dict[str, Any]]:
    answer = client.get("/readyz", headers=ANYWHERE)
    assert answer["Cache-Control"].startswith("max-age=0")
    return answer.status_code, answer.json()


def not_ready(client: Client, name: str) -> dict[str, str]:
    """What is said of the one dependency that is not ready."""
    status, answer = readiness(client)
    assert (status, answer["status"]) == (503, "not ready")
    problem: dict[str, str] = answer["checks"].pop(name)
    assert all(check == OK for check in answer["checks"].values()), answer
    assert problem.pop("status") == "not ready"
    return problem


def test_the_process_answers_without_a_query(client: Client, django_assert_num_queries: Any, settings: Any) -> None:
    settings.CELERY_BROKER_URL = "redis://127.0.0.1:1/0"
    with django_assert_num_queries(0):
        answer = client.get("/healthz", headers=ANYWHERE)
    assert (answer.status_code, answer.json(), answer.cookies) == (200, OK, {})
    assert client.head("/healthz").status_code == 200
    assert client.post("/healthz").status_code == client.post("/readyz").status_code == 405


def test_all_that_is_needed_is_named(client: Client, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):  # of the connection that pages use
        status, answer = readiness(client)
    assert status == 200
    assert answer == {"status": "ok", "checks": {"warehouse": OK, "redis": OK, "bundle folder": OK}}


def test_a_redis_that_is_away_is_named_without_its_address(client: Client, settings: Any) -> None:
    settings.CELERY_BROKER_URL = "redis://:secret@127.0.0.1:1/0"
    problem = not_ready(client, "redis")
    assert problem["what"] == "Redis does not answer, or refuses Teiten."
    assert problem["todo"].startswith("Start it, or set TEITEN_REDIS_URL.")
    assert "127.0.0.1" not in str(problem) and "secret" not in str(problem)


def test_a_redis_that_takes_connections_and_says_nothing_is_not_ready(client: Client, settings: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings.CELERY_BROKER_URL = f"redis://127.0.0.1:{silent.getsockname()[1]}/0"
        assert not_ready(client, "redis")["what"] == "Redis does not answer, or refuses Teiten."


def test_a_folder_in_which_nothing_can_be_written_is_not_ready(client: Client, settings: Any, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    settings.TEITEN_BUNDLE_DIR = tmp_path / "file" / "bundles"
    problem = not_ready(client, "bundle folder")
    assert problem["what"] == "No file can be written in the bundle folder."
    assert "TEITEN_BUNDLE_DIR" in problem["todo"]
    assert str(tmp_path) not in str(problem)


@pytest.fixture
def other_connection() -> Iterator[Any]:
    with closing(connections.create_connection("default")) as connection:
        yield connection


def test_a_warehouse_that_hangs_is_asked_once_however_many_ask(client: Client, other_connection: Any) -> None:
    with other_connection.cursor() as cursor:
        cursor.execute("BEGIN; LOCK TABLE django_migrations")
        for _ in range(2):
            assert not_ready(client, "warehouse")["what"] == "The warehouse has not answered within 3 s."
        cursor.execute("SELECT count(*) FROM pg_locks WHERE relation = 'django_migrations'::regclass AND NOT granted")
        assert cursor.fetchone() == (1,)
        cursor.execute("ROLLBACK")
    while readiness(client)[0] != 200:
        threading.Event().wait(0.05)


def test_a_bundle_folder_that_hangs_holds_one_thread_and_no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    answers, asked = threading.Event(), []

    def hang() -> str:
        asked.append(1)
        answers.wait()
        return ""

    monkeypatch.setattr(health, "PATIENCE_S", 0.1)
    monkeypatch.setattr(bundle_files, "why_no_room", hang)
    assert {health.why_no_trial_starts() for _ in range(3)} == {"does not answer"}
    assert asked == [1]
    answers.set()
    while health.why_no_trial_starts():
        threading.Event().wait(0.05)


def test_missing_migrations_are_counted(client: Client, other_connection: Any) -> None:
    with other_connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'sessions' RETURNING app, name, applied")
        row = cursor.fetchone()
        try:
            problem = not_ready(client, "warehouse")
        finally:
            cursor.execute("INSERT INTO django_migrations (app, name, applied) VALUES (%s, %s, %s)", row)
    assert problem == {"what": "The warehouse lacks 1 migrations.", "todo": "Run manage.py migrate."}
