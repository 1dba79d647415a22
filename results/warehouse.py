"""The warehouse that is away for a while: which errors say so, and verbs that outlast it."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

from django.db import Error, InterfaceError, OperationalError, connection

from results import sql
from results.domain.errors import AwayError

log = logging.getLogger(__name__)
P = ParamSpec("P")
T = TypeVar("T")

PATIENCE_S = 600.0  # how long a worker keeps what it has to store; docs/operations.md tells it
_SHORTEST_PAUSE_S, _LONGEST_PAUSE_S = 0.1, 2.0
# SQLSTATEs. Of the connection: 08 connection exception, 57P shutdown and start, 53300 too many connections.
# Of one transaction, which may well do a moment later: 40 deadlock and serialization, 53 out of a resource.
_OF_THE_CONNECTION, _PASSING = ("08", "57P", "53300"), ("40", "53")
_NOT_RUNNING = ("Connection refused", "No such file or directory", "the database system is", "terminating connection")
_away: deque[float] = deque(maxlen=1)  # when this process last found it so, by time.monotonic()
_UPTIME = "SELECT extract(epoch FROM clock_timestamp() - pg_postmaster_start_time())::double precision AS seconds"


@dataclass(frozen=True)
class _Uptime:
    seconds: float


def is_away(error: BaseException) -> bool:
    """Whether the error says that the warehouse could not be reached, or broke off the connection."""
    if isinstance(error, InterfaceError):
        return True
    state = _sqlstate(error)
    return isinstance(error, OperationalError) and (not state or state.startswith(_OF_THE_CONNECTION))


def does_not_run(error: BaseException) -> bool:
    """Whether the error says that the warehouse does not run, for this process as for every other. One that does not
    answer at all may be there for others."""
    text = str(error)
    return is_away(error) and any(words in text for words in _NOT_RUNNING) and "timeout" not in text


def away(error: BaseException) -> AwayError:
    """The same in the words for a person."""
    known = connection.settings_dict
    return AwayError(
        "The warehouse does not answer.",
        where=f"PostgreSQL at {known['HOST'] or 'the local socket'}:{known['PORT'] or 5432}, database {known['NAME']}",
        why=str(error).strip(),
        todo="Start it, or set TEITEN_DATABASE_URL; manage.py doctor says what else is not well.",
    )


def outlast(verb: Callable[P, T], *words: P.args, **named: P.kwargs) -> T:
    """Calls the verb until the warehouse has answered, on a new connection each time, for PATIENCE_S: see
    `outlast_for`."""
    return outlast_for(PATIENCE_S, verb, *words, **named)


def outlast_for(patience_s: float, verb: Callable[P, T], *words: P.args, **named: P.kwargs) -> T:
    """The same for so long; then raises AwayError. The verb must be one that does no harm when it is done twice: a
    connection that breaks off at a COMMIT tells nobody whether that was done. Not within a transaction."""
    began_s = time.monotonic()
    pause_s = 0.0  # a connection that has only grown stale is made anew at once
    while True:
        try:
            answer = verb(*words, **named)
        except Error as error:
            if connection.in_atomic_block or not (is_away(error) or _sqlstate(error).startswith(_PASSING)):
                raise
            hang_up()
            if time.monotonic() - began_s + pause_s > patience_s:
                raise away(error) from error
            if pause_s == _SHORTEST_PAUSE_S:
                log.warning("the warehouse is away, and waited for: %s", error)
        else:
            if pause_s > _SHORTEST_PAUSE_S:
                log.warning("the warehouse is back after %.1f s", time.monotonic() - began_s)
            return answer
        time.sleep(pause_s)
        pause_s = min(max(2 * pause_s, _SHORTEST_PAUSE_S), _LONGEST_PAUSE_S)


def hang_up() -> None:
    """After an error of the connection: closes it; this thread's next use makes another."""
    _away.append(time.monotonic())
    if not connection.in_atomic_block:
        connection.close()


def there_s() -> float:
    """For how long everybody could reach the warehouse, in seconds: since its start, and since this process last found
    it away."""
    (row,) = sql.rows(_Uptime, _UPTIME)
    return min([row.seconds, *(time.monotonic() - at_s for at_s in _away)])


def _sqlstate(error: BaseException) -> str:
    return getattr(error.__cause__, "sqlstate", None) or ""
