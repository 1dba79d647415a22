"""Raw SQL, nowhere else used: queries into dataclasses or named tuples, and rows in by COPY. What is read are the rows
that are there for the viewer (`results.viewer`), of the server that is read now (`results.reading`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, LiteralString, NamedTuple, TypeVar

from django.db import connection, connections
from psycopg import Copy
from psycopg import sql as compose

from results import reading
from results.viewer import HIDDEN, hidden_from

_OF_RUNS = (
    "run|runimport|configuration|trial|attempt|attemptvalues|measurement|series|packedhistogram|histogram|document"
    "|checkedbuild|layeruse|noise|alert"
)
_AFTER = (
    "CROSS|FOR|FULL|GROUP|HAVING|INNER|JOIN|LEFT|LIMIT|NATURAL|ON|ORDER|RETURNING|RIGHT|UNION|USING|WHERE"  # a table
)
_ALIAS = rf"(?:\s+(?:AS\s+)?(?!(?:{_AFTER})\b)(?P<alias>\w+))?"
_FROM = re.compile(rf"\bFROM\s+results_(?P<table>{_OF_RUNS})\b{_ALIAS}")
_BINARY_HEAD, _BINARY_END = b"PGCOPY\n\xff\r\n\0" + bytes(8), b"\xff\xff"
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
    with connections[reading.alias()].cursor() as cursor:
        cursor.execute(*_for_viewer(text, params or {}))
        names = [column.name for column in cursor.description]
        if unknown := set(names) - known:
            raise TypeError(f"{cls.__name__} has no field {', '.join(sorted(unknown))}")
        return [cls(**dict(zip(names, map(_list_as_tuple, row), strict=True))) for row in cursor.fetchall()]


def tuples(cls: type[N], text: str, params: Mapping[str, Any]) -> list[N]:
    """Run one query of many rows; its columns are the fields of the NamedTuple, in their order. Takes a third of the
    time of `rows`."""
    with connections[reading.alias()].cursor() as cursor:
        cursor.execute(*_for_viewer(text, params))
        names = tuple(column.name for column in cursor.description)
        if names != cls._fields:
            raise TypeError(f"{cls.__name__} has the fields {', '.join(cls._fields)}, not {', '.join(names)}")
        return list(map(cls._make, cursor.fetchall()))


def _for_viewer(text: str, params: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Return a query and its parameters, of the rows that are there for the viewer."""
    viewer = hidden_from()
    return (text, params) if viewer is None else (_of_visible_runs(text), {**params, "viewer": viewer})


@lru_cache(1_000)
def _of_visible_runs(text: str) -> str:
    """Return a query in which each table that begins a FROM, and belongs to runs, lacks the rows of those that are
    hidden from the viewer. What is joined to it belongs to the same runs, or to runs that lend nothing while they are
    private."""
    return _FROM.sub(_visible_rows, text)


def _visible_rows(match: re.Match[str]) -> str:
    table, alias = match["table"], match["alias"] or f"results_{match['table']}"
    run_id = f"{alias}.{'id' if table == 'run' else 'run_id'}"
    hidden = HIDDEN.format(viewer="%(viewer)s")
    return f"{match[0]} JOIN (SELECT) AS visible ON {run_id} NOT IN ({hidden})"


def array(numbers: Iterable[float]) -> str:
    """Return the text of an array, to be cast in SQL: psycopg takes a list item by item, 10 ms for 6,000 of them."""
    return f"{{{','.join(map(str, numbers))}}}"


def execute(text: str, params: Mapping[str, Any] | None = None) -> int:
    """Run a statement and return the number of rows that it affected."""
    reading.from_primary()
    with connection.cursor() as cursor:
        cursor.execute(text, params or {})
        return int(cursor.rowcount)


def copy(table: str, columns: Sequence[str], records: Iterable[Sequence[Any]]) -> int:
    """COPY rows into a table, inside the current transaction; return how many. Without any nothing is sent. Raises the
    errors that queries do."""
    rows_left = iter(records)
    first = next(rows_left, None)
    if first is None:
        return 0
    reading.from_primary()
    count = 0
    with _copy_into(table, columns) as target:
        for record in chain([first], rows_left):
            target.write_row(list(map(_copied, record)))
            count += 1
    return count


def copy_binary(table: str, columns: Sequence[str], rows: Sequence[bytes]) -> None:
    """COPY rows in COPY's binary format, some together, into a table, inside the current transaction. Without any
    nothing is sent. Raises the errors that queries do."""
    if not rows:
        return
    reading.from_primary()
    with _copy_into(table, columns, " (FORMAT binary)") as target:
        for part in (_BINARY_HEAD, *rows, _BINARY_END):
            target.write(part)


@contextmanager
def _copy_into(table: str, columns: Sequence[str], options: LiteralString = "") -> Iterator[Copy]:
    statement = compose.SQL("COPY {} ({}) FROM STDIN").format(
        compose.Identifier(table), compose.SQL(", ").join(map(compose.Identifier, columns))
    )
    statement += compose.SQL(options)
    with connection.wrap_database_errors, connection.cursor() as cursor, cursor.copy(statement) as target:
        yield target


def _copied(value: Any) -> Any:
    """Return a value as it is written: an array of numbers as text, see `array`, one of texts for psycopg to quote."""
    if not isinstance(value, (list, tuple)):
        return value
    return list(value) if value and isinstance(value[0], str) else array(value)


def _list_as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
