"""Lines of the log: text or JSON, what they are about, and nothing secret in them."""

from __future__ import annotations

import asyncio
import json
import logging
import logging.config
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from io import StringIO
from typing import Any

import pytest
from django.conf import settings

from results import logs

ATTEMPT = {"run": 12, "trial": 345, "attempt": 2, "agents": ["db1", "db2"]}
log = logging.getLogger("tests.lines")


def lines(form: str) -> Iterator[StringIO]:
    """What is written with the settings' formatter and filter."""
    handler = settings.LOGGING["handlers"]["console"] | {"formatter": form}
    loggers = {log.name: {"handlers": ["console"], "propagate": False, "level": "INFO"}}
    written = StringIO()
    handlers = {"console": handler | {"stream": written}}
    logging.config.dictConfig(
        {name: settings.LOGGING[name] for name in ("version", "disable_existing_loggers", "filters", "formatters")}
        | {"handlers": handlers, "loggers": loggers}
    )
    yield written
    log.handlers.clear()


@pytest.fixture
def text() -> Iterator[StringIO]:
    yield from lines("text")


@pytest.fixture
def as_json() -> Iterator[StringIO]:
    yield from lines("json")


def read(written: StringIO) -> dict[str, Any]:
    (line,) = written.getvalue().splitlines()
    fields: dict[str, Any] = json.loads(line)
    return fields


def test_a_line_of_text_ends_with_the_attempt_that_it_is_about(text: StringIO) -> None:
    with logs.about(**ATTEMPT):
        log.warning("the lease is %s", "lost")
    log.warning("of nothing")
    first, second = text.getvalue().splitlines()
    assert first.endswith("WARNING tests.lines: the lease is lost [run=12 trial=345 attempt=2 agents=db1,db2]")
    assert second.endswith("WARNING tests.lines: of nothing")


def test_a_line_of_json_has_the_same_as_fields(as_json: StringIO) -> None:
    with logs.about(**ATTEMPT):
        log.error("the lease is %s", "lost")
    fields = read(as_json)
    assert fields.pop("time").endswith("+00:00")
    assert fields == {"level": "ERROR", "logger": "tests.lines", "message": "the lease is lost"} | ATTEMPT


def test_it_is_known_in_tasks_and_threads_of_the_attempt(text: StringIO) -> None:
    async def attempt() -> None:
        await asyncio.gather(asyncio.to_thread(log.warning, "thread"), asyncio.create_task(task()))
        with ThreadPoolExecutor(1) as thread:
            await asyncio.get_running_loop().run_in_executor(thread, copy_context().run, log.warning, "own thread")

    async def task() -> None:
        log.warning("task")

    with logs.about(**ATTEMPT):
        asyncio.run(attempt())
    assert len(text.getvalue().splitlines()) == text.getvalue().count(" trial=345 ") == 3


@pytest.mark.parametrize("form", ["text", "json"])
def test_no_secret_is_written(form: str, request: pytest.FixtureRequest) -> None:
    written = request.getfixturevalue({"text": "text", "json": "as_json"}[form])
    try:
        raise ValueError("postgresql://teiten:hunter2@db:5432/teiten")
    except ValueError:
        log.exception("could not connect: password=%s", "hunter2", extra={"api_secret": "hunter2"})
    assert "hunter2" not in written.getvalue()
    assert "password=(hidden)" in written.getvalue() and "Traceback" in written.getvalue()


def test_an_exception_is_one_line_of_json(as_json: StringIO) -> None:
    try:
        raise ValueError("first\nsecond")
    except ValueError:
        log.exception("failed")
    assert read(as_json)["exc_info"].endswith("ValueError: first\nsecond")
