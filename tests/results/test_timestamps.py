"""How timestamps are read."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import DataError, connection

from results.timestamps import UtcLoader


def read(text: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s::timestamptz", [text])
        return cursor.fetchone()[0]


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-27 20:15:59.448123+00", datetime(2026, 11, 27, 20, 15, 59, 448123, UTC)),
        ("2026-11-27 20:15:59.4+00", datetime(2026, 11, 27, 20, 15, 59, 400000, UTC)),
        ("2026-11-27 20:15:59+00", datetime(2026, 11, 27, 20, 15, 59, 0, UTC)),
        ("2026-11-27 20:15:59+05:30", datetime(2026, 11, 27, 14, 45, 59, 0, UTC)),
        ("0001-01-01 00:00:00+00", datetime(1, 1, 1, tzinfo=UTC)),
    ],
)
def test_a_timestamp_is_read_to_the_microsecond_and_in_utc(db: None, text: str, moment: datetime) -> None:
    assert read(text) == moment
    assert read(text).tzinfo is UTC


@pytest.mark.parametrize("text", ["infinity", "0044-03-15 00:00:00+00 BC", "12000-01-01 00:00:00+00"])
def test_a_moment_that_python_has_none_for_is_refused(db: None, text: str) -> None:
    with pytest.raises(DataError, match="timestamp"):
        read(text)


def test_connections_read_so(db: None) -> None:
    with connection.cursor() as cursor:
        assert cursor.connection.adapters.get_loader(1184, 0) is UtcLoader
