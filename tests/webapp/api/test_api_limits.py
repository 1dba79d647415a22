"""How many requests the API takes in a minute, counted by the tests' own Redis."""

from __future__ import annotations

import gc
import socket
from typing import Any

import pytest
from django.db import connection
from rest_framework.test import APIClient

from tests.measured_runs import measured_run
from tests.webapp.api.conftest import Visitor
from webapp.api import limits, streams

pytestmark = pytest.mark.django_db
NOW_S = 1_700_000_015.5  # of a minute with 25 s left, and that no other test counts in


@pytest.fixture
def limited(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three requests with a token, two without; always in the same minute, which nothing was counted in."""
    settings.TEITEN_API_LIMIT, settings.TEITEN_API_LIMIT_ANONYMOUS, settings.TEITEN_OPEN_READING = 3, 2, True
    monkeypatch.setattr(limits.RateLimit, "clock", staticmethod(lambda: NOW_S))
    client = limits._client(settings.CELERY_BROKER_URL)
    for key in client.scan_iter(f"teiten:requests:{int(NOW_S // 60)}:*"):
        client.delete(key)


def test_an_address_gets_so_many_answers_and_then_waits(limited: None, anonymous: APIClient) -> None:
    answers = [anonymous.get("/api/v1/runs/") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert [answer["X-RateLimit-Remaining"] for answer in answers] == ["1", "0", "0"]
    assert {(answer["X-RateLimit-Limit"], answer["X-RateLimit-Reset"]) for answer in answers} == {("2", "25")}
    error = answers[2].json()["error"]
    assert (answers[2]["Retry-After"], error["kind"], error["retryable"]) == ("25", "limit", True)
    assert error["todo"].startswith("Ask again in 25 s")


def test_tokens_and_addresses_are_counted_apart(limited: None, visitor: Visitor, anonymous: APIClient) -> None:
    reader = visitor("read")
    statuses = [reader.get("/api/v1/schema/").status_code for _ in range(4)]
    assert statuses == [200, 200, 200, 429]
    assert visitor("run").get("/api/v1/runs/")["X-RateLimit-Remaining"] == "2"
    assert anonymous.get("/api/v1/runs/").status_code == 200
    assert anonymous.get("/api/v1/runs/", REMOTE_ADDR="192.0.2.7")["X-RateLimit-Remaining"] == "1"


def test_a_header_makes_nobody_another_address(limited: None, anonymous: APIClient) -> None:
    for number in range(2):
        anonymous.get("/api/v1/runs/", headers={"X-Forwarded-For": f"198.51.100.{number}"})
    assert anonymous.get("/api/v1/runs/", headers={"X-Forwarded-For": "198.51.100.9"}).status_code == 429


@pytest.mark.parametrize("spelling", ["2001:db8:0:7::{number}", "192.0.2.8:4000{number}", "::ffff:192.0.2.9"])
def test_another_address_of_a_network_or_another_port_is_nobody_else(
    spelling: str, limited: None, anonymous: APIClient
) -> None:
    addresses = [spelling.format(number=number) for number in range(3)]
    statuses = [anonymous.get("/api/v1/runs/", REMOTE_ADDR=address).status_code for address in addresses]
    assert statuses == [200, 200, 429]


def test_wrong_tokens_and_refused_requests_count_at_their_address(limited: None, anonymous: APIClient) -> None:
    wrong = {"Authorization": "Bearer teiten_guessed"}
    statuses = [anonymous.get("/api/v1/runs/", headers=wrong).status_code for _ in range(3)]
    assert statuses == [401, 401, 429]
    elsewhere = [anonymous.post("/api/v1/plans/", {}, REMOTE_ADDR="192.0.2.7").status_code for _ in range(3)]
    assert elsewhere == [401, 401, 429]


def test_a_stream_says_what_is_left(limited: None, anonymous: APIClient) -> None:
    answer: Any = anonymous.get("/api/v1/measurements/?format=ndjson")
    assert (answer["X-RateLimit-Remaining"], b"".join(answer)) == ("1", b"")


def test_without_a_limit_nothing_is_counted(settings: Any, anonymous: APIClient) -> None:
    settings.TEITEN_API_LIMIT_ANONYMOUS = 0
    assert "X-RateLimit-Limit" not in anonymous.get("/api/v1/runs/")


def test_a_redis_that_is_away_costs_no_answer(
    limited: None, settings: Any, anonymous: APIClient, caplog: pytest.LogCaptureFixture
) -> None:
    settings.CELERY_BROKER_URL = "redis://127.0.0.1:1/0"
    answer = anonymous.get("/api/v1/runs/")
    assert (answer.status_code, "X-RateLimit-Limit" in answer) == (200, False)
    assert "requests are not counted" in caplog.text


def test_a_caller_reads_so_many_streams_at_a_time_and_all_together_so_many(
    settings: Any, anonymous: APIClient, visitor: Visitor
) -> None:
    settings.TEITEN_API_STREAMS_EACH, settings.TEITEN_API_STREAMS = 1, 2
    first = _stream(anonymous)
    refused = _stream(anonymous)
    error = refused.json()["error"]
    assert (refused.status_code, refused["Retry-After"], error["kind"], error["retryable"]) == (
        429,
        "10",
        "limit",
        True,
    )
    assert error["what"] == "You read 1 streams already, as many as one may at a time."
    second = _stream(visitor("read"))
    full = _stream(anonymous, REMOTE_ADDR="192.0.2.7")
    assert (full.status_code, full["Retry-After"], full.json()["error"]["kind"]) == (503, "10", "limit")
    assert b"".join(first) == b"id\n"
    third = _stream(anonymous, REMOTE_ADDR="192.0.2.7")
    assert [answer.status_code for answer in (second, third)] == [200, 200]
    assert b"".join(second) + b"".join(third) == b"id\nid\n"
    assert not streams._open


def test_a_stream_that_is_wrong_or_forgotten_is_not_counted_on(settings: Any, anonymous: APIClient) -> None:
    settings.TEITEN_API_STREAMS_EACH = 1
    assert _stream(anonymous, "fields=nothing").status_code == 400
    assert anonymous.head("/api/v1/measurements/?format=csv").status_code == 200
    forgotten = _stream(anonymous)
    assert streams._open
    del forgotten
    gc.collect()
    assert not streams._open


def test_an_exported_run_is_a_stream(settings: Any, anonymous: APIClient, bundles: Any) -> None:
    settings.TEITEN_API_STREAMS_EACH = 1
    run = measured_run()
    export: Any = anonymous.get(f"/api/v1/runs/{run.pk}/export/")
    assert (export.status_code, _stream(anonymous).status_code) == (200, 429)
    assert b"".join(export).startswith(b"PK")
    assert b"".join(_stream(anonymous)).startswith(b"id\n")


def test_a_reader_who_takes_nothing_is_waited_for_two_minutes(anonymous: APIClient) -> None:
    reader, server = socket.socketpair()
    with reader, server:
        answer = _stream(anonymous, **{"gunicorn.socket": server})
        with connection.cursor() as cursor:
            cursor.execute("SHOW idle_in_transaction_session_timeout")
            assert (server.gettimeout(), cursor.fetchone()[0]) == (120, "2min")
        assert b"".join(answer) == b"id\n"


def test_a_stream_is_not_asked_for_in_pages(anonymous: APIClient) -> None:
    for name in ("page_size", "cursor"):
        answer = anonymous.get(f"/api/v1/measurements/?format=csv&{name}=10")
        assert (answer.status_code, answer.json()["error"]["where"]) == (400, name)


def _stream(client: APIClient, query: str = "fields=id", **extra: Any) -> Any:
    return client.get(f"/api/v1/measurements/?format=csv&{query}", **extra)
