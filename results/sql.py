"""The only raw cursor: a SQL text into dataclasses or arrays, and rows in by COPY."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import psycopg
from django.db import connection
from numpy.typing import NDArray
from psycopg import sql as compose

T = TypeVar("T")
_ITEMS = {20: ">i8", 23: ">i4", 701: ">f8"}  # oid of bigint, integer, double precision → how one is sent


@cache
def load(module_file: str, name: str = "") -> str:
    """The `.sql` file beside a module: `load(__file__)` for comparison.py reads comparison.sql."""
    path = Path(module_file)
    return (path.parent / f"{name or path.stem}.sql").read_text(encoding="utf-8")


def rows(cls: type[T], text: str, params: Mapping[str, Any] | None = None) -> list[T]:
    """Runs one query; its columns are the fields of the dataclass, by name. Arrays become tuples."""
    assert is_dataclass(cls)
    known = {field.name for field in fields(cls)}
    with connection.cursor() as cursor:
        cursor.execute(text, params or {})
        names = [column.name for column in cursor.description]
        if unknown := set(names) - known:
            raise TypeError(f"{cls.__name__} has no field {', '.join(sorted(unknown))}")
        return [cls(**dict(zip(names, map(_frozen, row), strict=True))) for row in cursor.fetchall()]


def columns(text: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Runs one query of one row, by the names of its columns. What `array_send` sends becomes an array without nulls:
    thousands of numbers take a fraction of the time that they take as text. Parameters are bound by the server, which
    must be able to tell their types."""
    with connection.cursor() as cursor:
        # Django's own cursor gets its answers as text, in which bytes are twice as long.
        cursor.cursor = psycopg.Cursor(connection.connection)
        cursor.cursor.format = psycopg.pq.Format.BINARY
        cursor.execute(text, params)
        names = [column.name for column in cursor.description]
        (row,) = cursor.fetchall()
    return {name: array(value) if isinstance(value, bytes) else value for name, value in zip(names, row, strict=True)}


def execute(text: str, params: Mapping[str, Any] | None = None) -> int:
    """Runs one statement; the number of rows it touched."""
    with connection.cursor() as cursor:
        cursor.execute(text, params or {})
        return int(cursor.rowcount)


def copy(table: str, columns: Sequence[str], records: Iterable[Sequence[Any]]) -> int:
    """COPY rows into a table, inside the present transaction; how many."""
    statement = compose.SQL("COPY {} ({}) FROM STDIN").format(
        compose.Identifier(table), compose.SQL(", ").join(map(compose.Identifier, columns))
    )
    count = 0
    with connection.cursor() as cursor, cursor.copy(statement) as target:
        for record in records:
            target.write_row([list(value) if isinstance(value, tuple) else value for value in record])
            count += 1
    return count


def array(sent: bytes) -> NDArray[Any]:
    """PostgreSQL's array_send(): dimensions, whether there are nulls, oid; length and first index; then each item after
    its size."""
    dimensions, nulls, oid = struct.unpack_from(">iiI", sent)
    if dimensions > 1 or nulls or oid not in _ITEMS:
        raise TypeError(f"This is no list of numbers: {dimensions} dimensions, nulls {nulls}, oid {oid}.")
    items = np.dtype([("size", ">i4"), ("item", _ITEMS[oid])])
    found = np.frombuffer(sent, items, offset=20)["item"] if dimensions else np.zeros(0, _ITEMS[oid])
    return found.astype(found.dtype.newbyteorder("="))


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
