"""Raw SQL, nowhere else used: queries into dataclasses or named tuples, and rows in by COPY."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from django.db import connection
from psycopg import sql as compose

T = TypeVar("T")
N = TypeVar("N", bound="NamedTuple")


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


def tuples(cls: type[N], text: str, params: Mapping[str, Any]) -> list[N]:
    """Run one query of many rows; its columns are the fields of the NamedTuple, in their order. Takes a third of the
    time of `rows`."""
    with connection.cursor() as cursor:
        cursor.execute(text, params)
        names = tuple(column.name for column in cursor.description)
        if names != cls._fields:
            raise TypeError(f"{cls.__name__} has the fields {', '.join(cls._fields)}, not {', '.join(names)}")
        return list(map(cls._make, cursor.fetchall()))


def array(integers: Iterable[int]) -> str:
    """Return the text of an array, to be cast in SQL: psycopg takes a list item by item, 10 ms for 6,000 of them."""
    return f"{{{','.join(map(str, integers))}}}"


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


def _list_as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
