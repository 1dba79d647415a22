"""Single values that tests change, add and delete as rows of the view of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from results import sql


def allow() -> None:
    """Make the view of the current database one that can be written to."""
    sql.execute(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


@contextmanager
def refused() -> Iterator[None]:
    """Inside the block the database is as Teiten makes it."""
    sql.execute("DROP FUNCTION tests_change_measurement CASCADE")
    try:
        yield
    finally:
        allow()
