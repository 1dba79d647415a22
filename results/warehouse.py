"""A warehouse that cannot be reached for a while: which errors say so, and operations that are retried."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

import psycopg
from django.db import DatabaseError, Error, InterfaceError, OperationalError, connection

from results import sql
from results.domain.errors import AwayError
from results.domain.messages import gettext_lazy as _

log = logging.getLogger(__name__)
P = ParamSpec("P")
T = TypeVar("T")

PATIENCE_S = 600.0  # how long a worker retries to store something; stated in docs/operations.md
_SHORTEST_PAUSE_S, _LONGEST_PAUSE_S = 0.1, 2.0
# Prefixes of SQLSTATEs. Of the connection: 08 connection exception, 57P shutdown and start, 53300 too many connections.
# Of one transaction, which may succeed a moment later: 40 deadlock and serialization, 53 insufficient resources; and
# where a query's parallel worker could not start or was ended.
_CONNECTION_SQLSTATES, _TRANSIENT_SQLSTATES = ("08", "57P", "53300"), ("40", "53")
_NOT_RUNNING = ("Connection refused", "No such file or directory", "the database system is", "terminating connection")
_last_away_s: deque[float] = deque(maxlen=1)  # when this process last could not reach it, by time.monotonic()
_UPTIME = "SELECT extract(epoch FROM clock_timestamp() - pg_postmaster_start_time())::double precision AS seconds"


@dataclass(frozen=True)
class _Uptime:
    seconds: float


def is_away(error: BaseException) -> bool:
    """Return whether the error says that the warehouse could not be reached, or ended the connection."""
    if isinstance(error, InterfaceError):
        return True
    sqlstate = _sqlstate(error)
    if type(error) is DatabaseError:  # of libpq itself, such as a stream that breaks off in the middle
        return not sqlstate and isinstance(error.__cause__, psycopg.DatabaseError)
    return isinstance(error, OperationalError) and (not sqlstate or sqlstate.startswith(_CONNECTION_SQLSTATES))


def is_transient(error: BaseException) -> bool:
    """Return whether the error says that the warehouse could not do it at this moment, and may a moment later."""
    sqlstate = _sqlstate(error)
    return sqlstate.startswith(_TRANSIENT_SQLSTATES) or (sqlstate == "55000" and "parallel worker" in str(error))


def is_not_running(error: BaseException) -> bool:
    """Return whether the error says that the warehouse does not run.

    One that does not answer at all may be reachable for other processes.
    """
    text = str(error)
    return is_away(error) and any(words in text for words in _NOT_RUNNING) and "timeout" not in text


def away_error(error: BaseException) -> AwayError:
    """Return the error to show to a person."""
    database = connection.settings_dict
    host, port = database["HOST"] or _("the local socket"), database["PORT"] or 5432
    return AwayError(
        _("The warehouse does not answer."),
        where=_("PostgreSQL at {host}:{port}, database {name}", host=host, port=port, name=database["NAME"]),
        why=str(error).strip(),
        todo=_("Start it, or set TEITEN_DATABASE_URL; manage.py doctor says what else is not well."),
    )


def retry(operation: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call an operation, and retry it while the warehouse is away, for PATIENCE_S: see `retry_for`."""
    return retry_for(PATIENCE_S, operation, *args, **kwargs)


def retry_for(patience_s: float, operation: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call an operation until the warehouse has answered, on a new connection each time. Not within a transaction.

    Raises AwayError after `patience_s` seconds. The operation must be idempotent: when a connection breaks at a COMMIT,
    nobody knows whether it was done.
    """
    began_s = time.monotonic()
    pause_s = 0.0  # a connection that is only stale is replaced at once
    while True:
        try:
            result = operation(*args, **kwargs)
        except Error as error:
            if connection.in_atomic_block or not (is_away(error) or is_transient(error)):
                raise
            drop_connection()
            if time.monotonic() - began_s + pause_s > patience_s:
                raise away_error(error) from error
            if pause_s == _SHORTEST_PAUSE_S:
                log.warning("the warehouse is away, and waited for: %s", error)
        else:
            if pause_s > _SHORTEST_PAUSE_S:
                log.warning("the warehouse is back after %.1f s", time.monotonic() - began_s)
            return result
        time.sleep(pause_s)
        pause_s = min(max(2 * pause_s, _SHORTEST_PAUSE_S), _LONGEST_PAUSE_S)


def drop_connection() -> None:
    """Close this thread's connection after an error of it; the next query opens another."""
    _last_away_s.append(time.monotonic())
    if not connection.in_atomic_block:
        connection.close()


def reachable_for_s() -> float:
    """Return for how many seconds everybody could reach the warehouse, as far as this process knows.

    Since its start, and since this process last could not reach it.
    """
    (row,) = sql.rows(_Uptime, _UPTIME)
    return min([row.seconds, *(time.monotonic() - at_s for at_s in _last_away_s)])


def _sqlstate(error: BaseException) -> str:
    return getattr(error.__cause__, "sqlstate", None) or ""
