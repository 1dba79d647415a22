"""Which errors say that the warehouse is away: those that libpq really raises."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
from django.db import DatabaseError, ProgrammingError, connection, transaction

from results import sql, warehouse
from webapp import problems

_READY = (("R", b"\0\0\0\0"), ("S", b"client_encoding\0UTF8\0"), ("Z", b"I"))
_COLUMN = struct.pack("!h", 1) + b"one\0" + struct.pack("!ihihih", 0, 0, 23, 4, -1, 0)


def message(kind: str, body: bytes) -> bytes:
    return kind.encode() + struct.pack("!i", len(body) + 4) + body


@contextmanager
def server(answer: bytes) -> Iterator[str]:
    """A server that takes one session, answers its first query so, and ends; how to reach it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            session, _ = listener.accept()
            with session:
                (length,) = struct.unpack("!i", session.recv(4))
                session.recv(length - 4)
                session.sendall(b"".join(message(*one) for one in _READY))
                session.recv(65536)
                session.sendall(answer)

        serving = threading.Thread(target=serve)
        serving.start()
        yield f"host=127.0.0.1 port={listener.getsockname()[1]} user=u dbname=d sslmode=disable gssencmode=disable"
        serving.join()


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        message("T", _COLUMN),
        message("E", b"SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0"),
        b"no message of the protocol",
    ],
    ids=["ended", "broken off", "shut down", "out of step"],
)
def test_a_session_that_breaks_off_says_that_the_warehouse_is_away(answer: bytes) -> None:
    with (
        server(answer) as address,
        psycopg.connect(address, autocommit=True) as session,
        pytest.raises(DatabaseError) as raised,
        connection.wrap_database_errors,
    ):
        session.execute("SELECT 1")
    assert warehouse.is_away(raised.value)


@pytest.mark.django_db(transaction=True)
def test_a_session_that_breaks_off_while_rows_are_copied_does_too() -> None:
    parameters = connection.get_connection_params() | {"cursor_factory": None, "context": None}

    def records(session: int) -> Iterator[tuple[int]]:
        yield (1,)
        with psycopg.connect(**parameters) as other:
            other.execute("SELECT pg_terminate_backend(%s, 10000)", [session])
        yield (2,)

    def copied() -> None:
        with connection.cursor() as cursor:
            cursor.execute("CREATE TEMPORARY TABLE numbers (one integer)")
        sql.copy("numbers", ["one"], records(connection.connection.info.backend_pid))

    try:
        with pytest.raises(DatabaseError) as raised:
            copied()
        assert warehouse.is_away(raised.value)
    finally:
        connection.close()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("sqlstate", "message"),
    [("53200", "out of memory"), ("40P01", "deadlock detected"), ("55000", "parallel worker failed to initialize")],
)
def test_what_it_cannot_do_at_the_moment_may_be_asked_again(sqlstate: str, message: str) -> None:
    statement = f"DO $$ BEGIN RAISE EXCEPTION '{message}' USING ERRCODE = '{sqlstate}'; END $$"
    with pytest.raises(DatabaseError) as raised, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
    assert warehouse.is_transient(raised.value)
    assert not warehouse.is_away(raised.value)
    answer = problems.api_exception(raised.value, {})
    assert answer is not None
    assert (answer.status_code, answer.data["error"]["retryable"]) == (503, True)


@pytest.mark.django_db
def test_what_the_warehouse_refuses_does_not() -> None:
    with pytest.raises(ProgrammingError) as raised, connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM no_such_table")
    assert not warehouse.is_away(raised.value)
    assert not warehouse.is_transient(raised.value)
    assert not warehouse.is_away(DatabaseError("Save with update_fields did not affect any rows."))
