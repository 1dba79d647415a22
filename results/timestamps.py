"""Reading timestamps of PostgreSQL: Python's own parser takes a tenth of the time of psycopg's regular expression."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.db.backends.postgresql.psycopg_any import BaseTzLoader


class UtcLoader(BaseTzLoader):
    """What Django reads a `timestamptz` by, where the connection is in UTC."""

    timezone = UTC

    def load(self, data: bytes) -> datetime:
        try:
            moment = datetime.fromisoformat(str(data, "ascii"))
        except ValueError:  # 'infinity', years before Christ or after 9999: psycopg knows what is to be said of them
            return super().load(data)
        return moment if moment.tzinfo is UTC else super().load(data)


def read_timestamps(connection: Any, **_: Any) -> None:
    """Let a new connection read its timestamps so."""
    if connection.timezone is UTC:
        connection.connection.adapters.register_loader("timestamptz", UtcLoader)
