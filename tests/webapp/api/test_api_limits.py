"""How many requests the API takes in a minute, counted by the tests' own Redis."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from tests.webapp.api.conftest import Visitor
from webapp.api import limits

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


def test_a_stream_says_what_is_left(limited: None, anonymous: APIClient) -> None:
    assert anonymous.get("/api/v1/measurements/?format=ndjson")["X-RateLimit-Remaining"] == "1"


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
