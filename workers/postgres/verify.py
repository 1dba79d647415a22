"""Check what must hold of a server before the clock starts, in one round trip."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from results.domain.measurement.parsed_trial import Check
from results.domain.messages import COMMA, SEMICOLON, linked
from results.domain.messages import gettext_lazy as _
from workers.postgres import settings as server_settings
from workers.postgres.server import Server
from workers.postgres.settings import Setting

_STATE = (Path(__file__).parent / "verify.sql").read_text()
# relam of a table is the access method's from 12 on; before, every table is a heap and relam 0.
_FROM_12 = "LEFT JOIN pg_am AS a ON a.oid = c.relam"
_BEFORE_12 = "CROSS JOIN (VALUES ('heap'::name)) AS a(amname)"


@dataclass(frozen=True)
class State:
    """The state of a server and one of its databases.

    standby: whether it is in recovery
    tables: user table → access method
    busy: what autovacuum works on in the database
    """

    standby: bool
    version_num: int
    settings: Mapping[str, Setting]
    tables: Mapping[str, str]
    busy: tuple[str, ...]


async def read_state(server: Server, database: str) -> State:
    """Return the state of a server and one database, in one query. Raises CommandError."""
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
    """Return every check of one server: version, role, settings in force, access method of every user table.

    Raises CommandError.

    role: the node of the checks
    stored_by: table → access method, of tables that do not use `access_method`
    """
    state = await read_state(server, database)
    return [
        check_version(state, node=role, expected=server.installation.version_num),
        check_role(state, node=role, standby=standby),
        *server_settings.check_settings(settings, state.settings, node=role),
        check_access_method(state, node=role, access_method=access_method, stored_by=stored_by),
    ]


def check_version(state: State, *, node: str, expected: int) -> Check:
    """Check that the server's major version is the installation's; betas and forks may differ in the rest."""
    passed = _major(state.version_num) == _major(expected)
    return Check(_("server version"), node, str(expected), str(state.version_num), passed)


def check_role(state: State, *, node: str, standby: bool = False) -> Check:
    """Check that the server is a primary, or a standby."""
    names = {True: "standby", False: "primary"}
    return Check(_("role"), node, names[standby], names[state.standby], state.standby == standby)


def check_access_method(
    state: State, *, node: str, access_method: str = "", stored_by: Mapping[str, str] | None = None
) -> Check:
    """Check that every user table has this access method, or the one that stored_by gives for it.

    access_method: '' for the server's default
    """
    default = state.settings.get("default_table_access_method")
    expected = access_method or (default.value if default else "heap")
    exceptions = {table: am for table, am in (stored_by or {}).items() if am and am != expected}
    mismatches: list[str] = [
        f"{table}: {am}" for table, am in sorted(state.tables.items()) if am != exceptions.get(table, expected)
    ]
    mismatches += [_("{table}: missing", table=table) for table in sorted(exceptions.keys() - state.tables.keys())]
    description = linked(COMMA, [expected, *(f"{table}: {am}" for table, am in sorted(exceptions.items()))])
    if mismatches:
        actual = linked(COMMA, mismatches[:5])
    else:
        actual = _("{methods} ({count} tables)", methods=description, count=len(state.tables))
    return Check(_("access method of every table"), node, description, actual, not mismatches)


def check_autovacuum(state: State, *, node: str) -> Check:
    """Check that autovacuum works on nothing in the database."""
    at_rest = _("at rest")
    return Check(_("autovacuum at rest"), node, at_rest, linked(SEMICOLON, state.busy) or at_rest, not state.busy)


async def settle(server: Server, database: str, *, deadline_s: float = 60) -> State:
    """Run a checkpoint, and wait until autovacuum is at rest in the database; return the server's state.

    The state says whether autovacuum is at rest: after deadline_s it is not waited for. Raises CommandError.
    """
    await server.execute("CHECKPOINT;")
    until = time.monotonic() + deadline_s
    while (state := await read_state(server, database)).busy and time.monotonic() < until:
        await asyncio.sleep(0.5)
    return state


def _major(version_num: int) -> int:
    return version_num // (10000 if version_num >= 100000 else 100)
