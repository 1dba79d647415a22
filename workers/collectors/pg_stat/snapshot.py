"""Two snapshots of a server's cumulative statistics → what happened between them. Pure."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from results.domain import json_text
from results.domain.errors import ParseError
from results.domain.measurement.parsed_trial import Measurement
from results.domain.messages import gettext_lazy as _

_ViewRow = Mapping[str, Any]
_OWN_STATEMENT = re.compile(r"/\* teiten \*/|^SET (teiten\.|application_name = 'teiten)")
LISTED_STATEMENTS = 500  # how many snapshot.sql asks for
_TOP_STATEMENTS = 20
_LONGEST_LABEL = 120
_DATABASE = (
    # (column of pg_stat_database, metric)
    ("blks_read", "blocks.read"),
    ("blks_hit", "blocks.hit"),
    ("xact_commit", "transactions.committed"),
    ("xact_rollback", "transactions.rolled_back"),
    ("temp_bytes", "temp.bytes"),
    ("deadlocks", "deadlocks"),
)
_WAL = (("wal_records", "wal.records"), ("wal_fpi", "wal.full_page_images"))


@dataclass(frozen=True)
class Snapshot:
    """A server's cumulative statistics at one moment.

    at_s: epoch seconds on the server's clock.
    block_size: in bytes.
    postmaster_started: epoch seconds.
    wal_bytes: the LSN in bytes.
    views: name → rows.
    """

    at_s: float
    block_size: int
    postmaster_started: float
    wal_bytes: float
    views: Mapping[str, list[_ViewRow]]

    def row(self, view: str) -> _ViewRow:
        """The view's only row; {} where this version has no such view."""
        rows = self.views.get(view) or [{}]
        return rows[0]


def read_snapshot(text: str, file: str) -> Snapshot:
    """Read snapshot.sql's answer. Raises ParseError."""
    try:
        value = json_text.loads(text)
        return Snapshot(
            float(value["at"]),
            int(value["block_size"]),
            float(value["postmaster_started"]),
            float(value["wal_bytes"]),
            {str(name): list(rows) for name, rows in value["views"].items()},
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        what = _("not a snapshot of statistics: {error}", error=repr(error))
        raise ParseError(what, file=file, line=1, text=text[:200]) from None


def why_not_comparable(before: Snapshot, after: Snapshot) -> str:
    """Return why the two must not be subtracted; '' when they may."""
    if before.postmaster_started != after.postmaster_started:
        return _("the server was restarted in the measured window")
    for view in before.views:
        if before.row(view).get("stats_reset") != after.row(view).get("stats_reset"):
            return _("{view} was reset in the measured window", view=view)
    return ""


def differences(before: Snapshot, after: Snapshot, node: str) -> Iterator[Measurement]:
    """Compute every measurement that this version's snapshots give. Raises ParseError for a damaged snapshot."""
    try:
        for metric, label, value in _values(before, after):
            yield Measurement(metric, value, node, label)
    except (ValueError, KeyError, TypeError) as error:
        what = _("not a snapshot of statistics: {error}", error=repr(error))
        raise ParseError(what, file="after.json", line=1) from None


def _values(before: Snapshot, after: Snapshot) -> Iterator[tuple[str, str, float]]:
    yield "wal.bytes", "", after.wal_bytes - before.wal_bytes
    for view, columns in (("pg_stat_database", _DATABASE), ("pg_stat_wal", _WAL)):
        for column, metric in columns:
            if column in after.row(view):
                yield metric, "", _gained(before, after, view, column)
    hit, read = (_gained(before, after, "pg_stat_database", column) for column in ("blks_hit", "blks_read"))
    if hit + read > 0:
        yield "buffers.hit_ratio", "", 100.0 * hit / (hit + read)
    yield "blocks.written", "", _written(after) - _written(before)
    yield from _checkpoints(before, after)
    yield from _statements(before, after)


def _gained(before: Snapshot, after: Snapshot, view: str, column: str) -> float:
    return float(after.row(view).get(column) or 0) - float(before.row(view).get(column) or 0)


def _written(snapshot: Snapshot) -> float:
    """Return the blocks written by any process, extensions of files included, as in buffers_backend."""
    if "pg_stat_io" not in snapshot.views:
        row = snapshot.row("pg_stat_bgwriter")
        columns = ("buffers_checkpoint", "buffers_clean", "buffers_backend")
        return sum(float(row.get(column) or 0) for column in columns)
    rows = [row for row in snapshot.views["pg_stat_io"] if row["object"] == "relation"]
    return sum(_written_bytes(row) for row in rows) / snapshot.block_size


def _written_bytes(row: _ViewRow) -> float:
    # up to 17 operations are counted, of op_bytes each; from 18 one may be of many blocks, and bytes are counted
    if "write_bytes" in row:
        return float(row["write_bytes"] or 0) + float(row["extend_bytes"] or 0)
    return (float(row["writes"] or 0) + float(row["extends"] or 0)) * float(row["op_bytes"])


def _checkpoints(before: Snapshot, after: Snapshot) -> Iterator[tuple[str, str, float]]:
    if "pg_stat_checkpointer" in after.views:
        view, timed, requested = "pg_stat_checkpointer", "num_timed", "num_requested"
    else:
        view, timed, requested = "pg_stat_bgwriter", "checkpoints_timed", "checkpoints_req"
    by_time, by_request = _gained(before, after, view, timed), _gained(before, after, view, requested)
    yield "checkpoints", "timed", by_time
    yield "checkpoints", "requested", by_request
    yield "checkpoints", "", by_time + by_request


def _statements(before: Snapshot, after: Snapshot) -> Iterator[tuple[str, str, float]]:
    """Yield calls and mean time of the statements that took most time, most expensive first. Label: the statement."""
    spent: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for query, calls, total_ms in _gained_by_statements(before, after):
        spent[query][0] += calls
        spent[query][1] += total_ms
    for query in sorted(spent, key=lambda query: (-spent[query][1], query))[:_TOP_STATEMENTS]:
        calls, total_ms = spent[query]
        yield "statement.calls", _label(query), calls
        yield "statement.mean", _label(query), total_ms * 1000.0 / calls


def _gained_by_statements(before: Snapshot, after: Snapshot) -> Iterator[tuple[str, float, float]]:
    """Yield (text, calls, ms). A text may come several times: by user, by nesting level, for re-created tables.

    A statement that pg_stat_statements dropped and counted anew, of which calls or time decreased, is passed over.
    """
    earlier = {_statement_key(row): row for row in before.views.get("pg_stat_statements", ())}
    # A statement absent from a full list may have been too rare for it: its counts now are not of the window alone.
    all_known = len(earlier) < LISTED_STATEMENTS
    for row in after.views.get("pg_stat_statements", ()):
        old = earlier.get(_statement_key(row), {})
        query = " ".join(str(row["query"] or "").split())
        calls = float(row["calls"]) - float(old.get("calls", 0))
        total_ms = _total_ms(row) - _total_ms(old)
        counted = calls > 0 and total_ms >= 0 and (old or all_known)
        if counted and query and not _OWN_STATEMENT.search(query):
            yield query, calls, total_ms


def _label(query: str) -> str:
    """Return a label that is the same in every trial. Long texts are told apart by a hash of the text: a queryid
    depends on the tables' OIDs, and so on the trial."""
    if len(query) <= _LONGEST_LABEL:
        return query
    end = f"… #{hashlib.sha256(query.encode()).hexdigest()[:8]}"
    return query[: _LONGEST_LABEL - len(end)] + end


def _statement_key(row: _ViewRow) -> tuple[Any, ...]:
    return row.get("userid"), row.get("queryid"), row.get("toplevel")


def _total_ms(row: _ViewRow) -> float:
    # total_time up to 12, total_exec_time from 13
    return float(row.get("total_exec_time", row.get("total_time", 0)))
