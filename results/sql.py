"""Raw SQL, nowhere else used: queries into dataclasses or arrays, and rows in by COPY."""

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
# oid of bigint, integer, double precision → dtype of an item in PostgreSQL's binary format
_ITEM_TYPES = {20: ">i8", 23: ">i4", 701: ">f8"}


@cache
def load(module_file: str, name: str = "") -> str:
    """Return the text of the `.sql` file beside a module: `load(__file__)` in comparison.py reads comparison.sql."""
    path = Path(module_file)
    return (path.parent / f"{name or path.stem}.sql").read_text(encoding="utf-8")


def rows(cls: type[T], text: str, params: Mapping[str, Any] | None = None) -> list[T]:
    """Run a query and return its rows as the dataclass, columns by field name, arrays as tuples."""
    assert is_dataclass(cls)
    known = {field.name for field in fields(cls)}
    with connection.cursor() as cursor:
        cursor.execute(text, params or {})
        names = [column.name for column in cursor.description]
        if unknown := set(names) - known:
            raise TypeError(f"{cls.__name__} has no field {', '.join(sorted(unknown))}")
        return [cls(**dict(zip(names, map(_list_as_tuple, row), strict=True))) for row in cursor.fetchall()]


def columns(text: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Run a query of one row and return its columns by name, the results of `array_send` as numpy arrays.

    Thousands of values take a fraction of the time that they take as text. The server binds the parameters, and must be
    able to infer their types. An array must have no nulls.
    """
    with connection.cursor() as cursor:
        # Django's own cursor receives text, in which bytes are twice as long.
        cursor.cursor = psycopg.Cursor(connection.connection)
        cursor.cursor.format = psycopg.pq.Format.BINARY
        cursor.execute(text, params)
        names = [column.name for column in cursor.description]
        (row,) = cursor.fetchall()
    return {name: array(value) if isinstance(value, bytes) else value for name, value in zip(names, row, strict=True)}


def execute(text: str, params: Mapping[str, Any] | None = None) -> int:
    """Run a statement and return the number of rows that it affected."""
    with connection.cursor() as cursor:
        cursor.execute(text, params or {})
        return int(cursor.rowcount)


def copy(table: str, columns: Sequence[str], records: Iterable[Sequence[Any]]) -> int:
    """COPY rows into a table, inside the current transaction; return how many."""
    statement = compose.SQL("COPY {} ({}) FROM STDIN").format(
        compose.Identifier(table), compose.SQL(", ").join(map(compose.Identifier, columns))
    )
    count = 0
    with connection.cursor() as cursor, cursor.copy(statement) as target:
        for record in records:
            target.write_row([list(value) if isinstance(value, tuple) else value for value in record])
            count += 1
    return count


def array(data: bytes) -> NDArray[Any]:
    """Return what PostgreSQL's array_send() encoded.

    Its format: number of dimensions, whether there are nulls, oid; length and first index; then each item after its
    size.
    """
    dimensions, nulls, oid = struct.unpack_from(">iiI", data)
    if dimensions > 1 or nulls or oid not in _ITEM_TYPES:
        raise TypeError(f"This is no list of numbers: {dimensions} dimensions, nulls {nulls}, oid {oid}.")
    sized_item = np.dtype([("size", ">i4"), ("item", _ITEM_TYPES[oid])])
    items = np.frombuffer(data, sized_item, offset=20)["item"] if dimensions else np.zeros(0, _ITEM_TYPES[oid])
    return items.astype(items.dtype.newbyteorder("="))


def _list_as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
