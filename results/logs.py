"""How log lines are written: as text or as JSON, with what they are about, and without passwords and keys."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any

from pythonjsonlogger.core import RESERVED_ATTRS
from pythonjsonlogger.json import JsonFormatter

from results.domain.secrets import masked_text, masked_values

ABOUT = ("run", "trial", "attempt", "agents")
_OBJECTS = ("request", "data")  # of Django and Celery, which stand in the message already
_about: ContextVar[Mapping[str, Any]] = ContextVar("about", default=MappingProxyType({}))


@contextmanager
def about(**fields: Any) -> Iterator[None]:
    """Have every line of the block say what it is about.

    fields: of ABOUT"""
    token = _about.set({**_about.get(), **fields})
    try:
        yield
    finally:
        _about.reset(token)


class AboutFilter(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        record.__dict__.update(_about.get())
        return True


class TextFormatter(logging.Formatter):
    def formatMessage(self, record: logging.LogRecord) -> str:
        fields = [f"{name}={_text(getattr(record, name))}" for name in ABOUT if hasattr(record, name)]
        return super().formatMessage(record) + (f" [{' '.join(fields)}]" if fields else "")

    def format(self, record: logging.LogRecord) -> str:
        return masked_text(super().format(record))


def _text(value: Any) -> str:
    return ",".join(value) if isinstance(value, list) else str(value)


class LineFormatter(JsonFormatter):
    """One JSON object a line."""

    def __init__(self) -> None:
        super().__init__(
            ["levelname", "name", "message"],
            timestamp="time",
            rename_fields={"levelname": "level", "name": "logger"},
            reserved_attrs=[*RESERVED_ATTRS, *_OBJECTS],
        )

    def process_log_record(self, log_data: dict[str, Any]) -> dict[str, Any]:
        fields: dict[str, Any] = masked_values(super().process_log_record(log_data))
        return fields
