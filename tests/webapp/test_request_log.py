"""A line of the log for each request."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from django.test import Client

from tests.gunicorn import served

LOGGER = "webapp.request_log"


@pytest.fixture(autouse=True)
def _plain_static(settings: Any) -> None:
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = settings.STORAGES | {"staticfiles": plain}


def records(caplog: pytest.LogCaptureFixture) -> list[dict[str, object]]:
    names = ("levelname", "method", "path", "status")
    return [{name: vars(record)[name] for name in names} for record in caplog.records if record.name == LOGGER]


def test_it_has_method_path_status_and_duration(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, LOGGER)
    client.get("/account/nothing/?password=hunter2")
    (record,) = (record for record in caplog.records if record.name == LOGGER)
    assert records(caplog) == [{"levelname": "INFO", "method": "GET", "path": "/account/nothing/", "status": 404}]
    assert vars(record)["duration_ms"] > 0
    assert record.getMessage() == f"GET /account/nothing/ 404 in {vars(record)['duration_ms']} ms"


def test_a_path_cannot_begin_a_line_of_its_own(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, LOGGER)
    client.get("/account/x%0A2026-01-01%20ERROR")
    assert [record["path"] for record in records(caplog)] == ["/account/x%0A2026-01-01%20ERROR"]


def test_probes_fill_no_log(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, LOGGER)
    client.get("/healthz")
    assert [record["levelname"] for record in records(caplog)] == ["DEBUG"]


@pytest.mark.slow
def test_all_that_a_web_process_writes_is_json(transactional_db: None, tmp_path: Path) -> None:
    with served(tmp_path, TEITEN_LOG_FORMAT="json") as web, urlopen(f"{web.url}/account/sign-in/") as answer:
        assert answer.status == 200
    lines = [json.loads(line) for line in web.printed().splitlines() if not line.startswith("answered: ")]
    assert {"gunicorn.error", LOGGER} <= {line["logger"] for line in lines}
    (line,) = (line for line in lines if line["logger"] == LOGGER)
    assert (line["method"], line["path"], line["status"]) == ("GET", "/account/sign-in/", 200)
