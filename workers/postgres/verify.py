"""What must hold of a server before the clock starts, asked in one round trip."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from results.domain.measurement.parsed_trial import Check
from workers.postgres import settings as server_settings
from workers.postgres.server import Server
from workers.postgres.settings import Setting

_STATE = (Path(__file__).parent / "verify.sql").read_text()
# relam of a table is the access method's from 12 on; before, every table is a heap and relam 0.
_FROM_12 = "LEFT JOIN pg_am AS a ON a.oid = c.relam"
_BEFORE_12 = "CROSS JOIN (VALUES ('heap'::name)) AS a(amname)"


@dataclass(frozen=True)
class State:
    """What a server says of itself. tables: user table → access method. busy: what autovacuum is at in the database."""

    standby: bool
    version_num: int
    settings: Mapping[str, Setting]
    tables: Mapping[str, str]
    busy: tuple[str, ...]


async def state_of(server: Server, database: str) -> State:
    """Role, settings, tables and autovacuum of one database, in one query. Raises CommandError."""
    source = _FROM_12 if server.installation.version_num >= 120000 else _BEFORE_12
    row: dict[str, Any] = (await server.query(_STATE.replace("/* access methods */", source), database=database))[0]
    return State(
        standby=row["standby"],
        version_num=int(row["version_num"]),
        settings=server_settings.from_rows(row["settings"]),
        tables={table["name"]: table["am"] or "none" for table in row["tables"]},
        busy=tuple(row["busy"]),
    )


async def server_checks(
    server: Server,
    database: str,
    *,
    role: str,
    settings: Mapping[str, str],
    access_method: str = "",
    stored_by: Mapping[str, str] | None = None,
    standby: bool = False,
) -> list[Check]:
    """Every check of one server in one round trip: version, role, settings in force, access method of every user
    table. role: the node that the checks are filed under; stored_by: tables that are to have another access method.
    Raises CommandError."""
    state = await state_of(server, database)
    return [
        check_version(state, node=role, expected=server.installation.version_num),
        check_role(state, node=role, standby=standby),
        *server_settings.check_settings(settings, state.settings, node=role),
        check_access_method(state, node=role, wanted=access_method, stored_by=stored_by),
    ]


def check_version(state: State, *, node: str, expected: int) -> Check:
    """The server that answers is of the installation that was asked for, by its major version: betas and forks are
    free in the rest."""
    same = _major(state.version_num) == _major(expected)
    return Check("server version", node, str(expected), str(state.version_num), same)


def check_role(state: State, *, node: str, standby: bool = False) -> Check:
    """The server is a primary, or a standby."""
    names = {True: "standby", False: "primary"}
    return Check("role", node, names[standby], names[state.standby], state.standby == standby)


def check_access_method(
    state: State, *, node: str, wanted: str = "", stored_by: Mapping[str, str] | None = None
) -> Check:
    """Every user table is stored by the wanted access method ('' = the server's default one), or by the one that
    stored_by gives it."""
    default = state.settings.get("default_table_access_method")
    expected = wanted or (default.value if default else "heap")
    special = {table: am for table, am in (stored_by or {}).items() if am and am != expected}
    others = [f"{table}: {am}" for table, am in sorted(state.tables.items()) if am != special.get(table, expected)]
    others += [f"{table}: missing" for table in sorted(special.keys() - state.tables.keys())]
    named = ", ".join([expected, *(f"{table}: {am}" for table, am in sorted(special.items()))])
    actual = ", ".join(others[:5]) if others else f"{named} ({len(state.tables)} tables)"
    return Check("access method of every table", node, named, actual, not others)


def check_autovacuum(state: State, *, node: str) -> Check:
    """Autovacuum works on nothing in the database."""
    return Check("autovacuum at rest", node, "at rest", "; ".join(state.busy) or "at rest", not state.busy)


async def settle(server: Server, database: str, *, deadline_s: float = 60) -> State:
    """A checkpoint, then waits until autovacuum is at rest in the database or the deadline has passed: the state at
    the end says which. Raises CommandError."""
    await server.execute("CHECKPOINT;")
    until = time.monotonic() + deadline_s
    while (state := await state_of(server, database)).busy and time.monotonic() < until:
        await asyncio.sleep(0.5)
    return state


def _major(version_num: int) -> int:
    return version_num // (10000 if version_num >= 100000 else 100)
