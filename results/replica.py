"""The standby that requests may be read from: how it is, and whether it has what somebody wrote."""

from __future__ import annotations

import logging
import re
import time
from dataclasses import dataclass

from django.db import Error as DatabaseError
from django.db import connections

from results import reading, sql, warehouse
from results.reading import REPLICA

log = logging.getLogger(__name__)
MOST_LAG_S = 10.0  # of a standby that is read; stated in docs/operations.md
_KNOWN_FOR_S = 1.0  # how long an answer of the standby counts, in each process
_AWAY_FOR_S = 5.0  # how long one that does not answer is left alone
_LSN = re.compile(r"[0-9A-F]{1,8}/[0-9A-F]{1,8}\Z")
_READ_ONLY = "25006"  # read_only_sql_transaction
_CLUSTER = "SELECT system_identifier::text AS identifier FROM pg_control_system()"
_WRITTEN = "SELECT pg_current_wal_insert_lsn()::text AS lsn"


@dataclass(frozen=True)
class ReplicaState:
    """How a standby is.

    is_standby: whether the server replays WAL at all
    receives: whether it is connected to what it gets WAL from
    replayed: LSN up to which it has
    lag_s: seconds since what it replayed last was committed; 0 where it has replayed all that it received
    """

    is_standby: bool
    receives: bool
    replayed: str
    lag_s: float

    @property
    def is_read(self) -> bool:
        return self.is_standby and self.receives and self.lag_s <= MOST_LAG_S


@dataclass(frozen=True)
class _Cluster:
    identifier: str


@dataclass(frozen=True)
class _Written:
    lsn: str


@dataclass
class _Known:
    """What this process knows of the standby. until_s: by time.monotonic()."""

    state: ReplicaState | None = None
    until_s: float = 0.0


_known = _Known()


def is_configured() -> bool:
    return REPLICA in connections.settings


def state() -> ReplicaState:
    """Ask the standby how it is. Raises django.db.Error."""
    with reading.decided():
        reading.from_replica()
        (row,) = sql.rows(ReplicaState, sql.load(__file__))
    return row


def clusters() -> tuple[str, str]:
    """Return the identifiers of the clusters of warehouse and standby: a standby has its primary's. Raises
    django.db.Error."""
    with reading.decided():
        (primary,) = sql.rows(_Cluster, _CLUSTER)
        reading.from_replica()
        (standby,) = sql.rows(_Cluster, _CLUSTER)
    return primary.identifier, standby.identifier


def is_usable(written: str = "") -> bool:
    """Return whether the standby answers, is not far behind, and has replayed what was written up to an LSN.

    written: '' for none; what is no LSN is none that a standby has reached
    """
    now_s = time.monotonic()
    if now_s >= _known.until_s:
        _look(now_s)
    if _known.state is None or not _known.state.is_read:
        return False
    if not written:
        return True
    if not _LSN.match(written):
        return False
    if _position(_known.state.replayed) < _position(written):
        _look(now_s)
    return _known.state is not None and _position(_known.state.replayed) >= _position(written)


def _look(now_s: float) -> None:
    try:
        _known.state, _known.until_s = state(), now_s + _KNOWN_FOR_S
    except DatabaseError as error:
        _give_up(error)


def _give_up(error: BaseException) -> None:
    log.warning("the replica is left alone for %g s: %s", _AWAY_FOR_S, error)
    _known.state, _known.until_s = None, time.monotonic() + _AWAY_FOR_S
    connections[REPLICA].close()


def written_lsn() -> str:
    """Return the LSN that a standby must have replayed to show what was committed so far."""
    with reading.decided():
        (row,) = sql.rows(_Written, _WRITTEN)
    return row.lsn


def is_of_replica(error: BaseException) -> bool:
    """Return whether the error is of the standby, where that is read: it went away, cancelled a query that stood in the
    way of its replay, or was to write. The warehouse may do the same."""
    if reading.alias() != REPLICA or not isinstance(error, DatabaseError):
        return False
    sqlstate = getattr(error.__cause__, "sqlstate", None) or ""
    return sqlstate == _READ_ONLY or warehouse.is_away(error) or warehouse.is_transient(error)


def read_again_from_primary(error: BaseException) -> None:
    """Read the warehouse from now on, after an error of the standby."""
    if warehouse.is_away(error):
        _give_up(error)
    else:
        log.warning("read again from the warehouse: %s", error)
    reading.from_primary()


def forget() -> None:
    """Ask the standby anew at the next request."""
    _known.state, _known.until_s = None, 0.0


def _position(lsn: str) -> int:
    """Return the byte position in the WAL: '1/A0' is 2^32 + 160."""
    high, _, low = lsn.partition("/")
    return (int(high, 16) << 32) + int(low, 16)
