"""Sample what the sessions of a server do at one moment, at little cost: one short query from a new session, and the
processor time of the server's processes from /proc."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from results.domain.errors import TeitenError
from results.domain.measurement.activity import Sessions
from results.domain.messages import gettext_lazy as _
from results.domain.secrets import masked_text
from workers.postgres.server import Server
from workers.remote.limits import SESSIONS

_ACTIVITY = (Path(__file__).parent / "activity.sql").read_text()
_LIMIT_S = 20.0
_LONGEST_TEXT, _MOST_PROCESSES = 200, 1000
_SAMPLING: Mapping[str, str] = {"PGAPPNAME": "teiten look", "PGCONNECT_TIMEOUT": "10"}
_TICKS = """
for pid in "$@"; do cat "/proc/$pid/stat"; done 2>/dev/null |
    awk '{ sub(/^.*\\) /, ""); ticks += $12 + $13 } END { print ticks + 0 }'
"""


@dataclass(frozen=True)
class Activity:
    """The sessions of a server at one moment.

    error: why the server could not be queried; '' where it was
    marks: values that change when a session makes progress
    ticks: of processor time that the sessions have used; None where the server's machine is out of reach
    """

    sessions: tuple[Sessions, ...] = ()
    error: str = ""
    marks: tuple[str, ...] = ()
    ticks: int | None = None

    def is_stalled_since(self, earlier: Activity) -> bool:
        """Return whether no session made progress since an earlier sample.

        They are the same sessions in the same state and have used no processor time; where that is not known, all of
        them wait.
        """
        if self.error or earlier.error:
            return bool(self.error and earlier.error)
        same = bool(self.sessions) and (self.sessions, self.marks) == (earlier.sessions, earlier.marks)
        if self.ticks is None or earlier.ticks is None:
            return same and all(sessions.wait for sessions in self.sessions)
        return same and self.ticks == earlier.ticks


async def sample(server: Server) -> Activity:
    """Return the present activity of a server. For one that does not answer `error` says why; nothing is raised."""
    sampled_server = replace(server, remote=server.remote.unlogged(), options={**server.options, **_SAMPLING})
    try:
        rows = await sampled_server.query(_ACTIVITY, timeout_s=_LIMIT_S)
        return Activity(
            sessions=tuple(_sessions(row) for row in rows[:SESSIONS]),
            marks=tuple(str(row["mark"]) for row in rows[:SESSIONS]),
            ticks=None if server.outside else await _ticks(sampled_server, rows),
        )
    except TeitenError as error:
        return Activity(error=_("it does not answer: {why}", why=masked_text(error.why or error.what)[:_LONGEST_TEXT]))
    except (
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
        OverflowError,
        OSError,
    ) as error:  # no answer of PostgreSQL's
        return Activity(error=_("its answer cannot be read: {why}", why=masked_text(str(error))[:_LONGEST_TEXT]))


def _sessions(row: Mapping[str, Any]) -> Sessions:
    state, wait = (" ".join(row[name].split())[:_LONGEST_TEXT] for name in ("state", "wait"))
    query = masked_text(" ".join(row["query"].split()))[:_LONGEST_TEXT]
    since_s = float(row["since_s"])
    datetime.fromtimestamp(since_s, UTC)  # as pages show it
    return Sessions(int(row["sessions"]), state, wait, since_s, query)


async def _ticks(server: Server, rows: list[dict[str, Any]]) -> int:
    pids = [str(int(pid)) for row in rows for pid in row["pids"]][:_MOST_PROCESSES]
    return int((await server.remote.script(_TICKS, *pids, timeout_s=_LIMIT_S)).stdout)
