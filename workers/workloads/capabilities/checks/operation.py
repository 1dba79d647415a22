"""Base backup with point-in-time recovery, streaming and logical replication, recovery from a crash."""

from __future__ import annotations

import asyncio
import posixpath
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from results.domain.errors import CommandError
from results.domain.messages import gettext_lazy as _
from workers.postgres.server import Server
from workers.workloads.capabilities.capability import Capability, Group
from workers.workloads.capabilities.check_context import CheckContext
from workers.workloads.capabilities.contents import Item, word
from workers.workloads.capabilities.database import Database
from workers.workloads.capabilities.log import is_out_of_resource
from workers.workloads.capabilities.outcome import Differs, NotTried
from workers.workloads.capabilities.sections import sections

SQL = sections(__file__)
_HERE = Path(__file__).parent
_BACKUP = (_HERE / "backup.sh").read_text()
_KILL = (_HERE / "kill.sh").read_text()
_FIRST_RECOVERY_SETTINGS = 120000  # before, they stand in recovery.conf
_FIRST_PG_PROMOTE = 120000
_ARCHIVE = {"archive_mode": "on", "archive_command": 'mkdir -p ../archive && cp "%p" "../archive/%f"'}
_NO_ARCHIVE = {"archive_mode": "off"}
_TARGET = "the_target"


async def base_backup(context: CheckContext) -> None:
    """The backup is recovered to a restore point: what came before it is there, what came after is not."""
    rows, db = await context.fill(), context.database
    await db.run(SQL["key"])
    role = await _backup(context, "restored")
    rows = _changed(rows)
    await db.run(SQL["change"] + SQL["second table"] + SQL["backup: target"] + SQL["backup: too late"])
    segment = (await db.run(SQL["backup: switch"])).strip()
    await db.until(
        SQL["backup: archived"], _("the segment {segment} was not archived", segment=segment), segment=segment
    )
    home = posixpath.basename(posixpath.dirname(db.server.data_dir))
    recovery = {
        "restore_command": f'cp "../../{home}/archive/%f" "%p"',
        "recovery_target_name": _TARGET,
        "recovery_target_action": "promote",
    }
    restored = await _recovering(context, role, recovery, signal="recovery.signal")
    await restored.until(SQL["promoted"], _("the restored server was still in recovery"))
    await context.expect_table(rows.values(), _("at the target"), database=restored)
    await context.expect_table(
        [r for r in rows.values() if r.id <= 100], _("the other table"), table="later", database=restored
    )
    await context.expect_by_index(SQL["some"], _some(rows), index="items_pkey", database=restored)
    await _written(context, rows, restored)


async def streaming(context: CheckContext) -> None:
    """A standby follows rows that were there before it and changes that come after, then takes over."""
    rows, db = await context.fill(), context.database
    await db.run(SQL["key"])
    role = await _backup(context, "standby")
    primary = db.server
    conninfo = {"primary_conninfo": f"host='{primary.socket_dir}' port={primary.port} user=teiten"}
    standby = await _recovering(context, role, conninfo, signal="standby.signal")
    await db.until(SQL["streaming"], _("no standby was streaming"))
    rows = _changed(rows)
    await db.run(SQL["change"] + SQL["second table"] + SQL["vacuum"])
    lsn = (await db.run(SQL["wal"])).strip()
    await standby.until(SQL["replayed"], _("the standby had not replayed {lsn}", lsn=lsn), lsn=lsn)
    await context.expect_table(rows.values(), _("on the standby"), database=standby)
    await context.expect_table(
        [r for r in rows.values() if r.id <= 100], _("the other table"), table="later", database=standby
    )
    await context.expect_by_index(SQL["some"], _some(rows), index="items_pkey", what=_("by its key"), database=standby)
    await _promote(context, standby)
    await _written(context, rows, standby)


async def logical(context: CheckContext) -> None:
    """Rows that are there and changes that come later go from one database to another."""
    rows, db = await context.fill(), context.database
    await db.run(SQL["key"])
    target = await context.scratch.database(db.server, "subscriber")
    await target.run(SQL["logical: table"])
    await db.run(SQL["logical: publish"])
    server = db.server
    await target.run(
        SQL["logical: subscribe"],
        **{"from": f"host='{server.socket_dir}' port={server.port} user=teiten dbname={db.name}"},
    )
    await target.until(SQL["logical: copied"], _("the first copy of the table was not over"))
    await context.expect_table(rows.values(), _("as first copied"), database=target)
    rows = _changed(rows)
    await _applied(db, SQL["change"])
    await context.expect_table(rows.values(), _("after INSERT, UPDATE and DELETE"), database=target)
    await _applied(db, SQL["logical: empty"])
    await context.expect_table([Item(i, 0, "again") for i in range(1, 51)], _("after TRUNCATE"), database=target)


async def crash_recovery(context: CheckContext) -> None:
    """Killed with −9 while a transaction is open whose changes a checkpoint has written out."""
    rows, db = await context.fill(), context.database
    await db.run(SQL["key"] + SQL["crash: open"])
    unfinished = asyncio.ensure_future(db.run(SQL["crash: not committed"]))
    try:
        await _open(db, unfinished)
        await db.run(SQL["crash: checkpoint"])
        await db.run(SQL["crash: committed"])
        await context.scratch.remote.script(_KILL, db.server.data_dir)
    finally:
        unfinished.cancel()
        with suppress(asyncio.CancelledError, CommandError):
            await unfinished
    again = await context.scratch.start(context.role)
    where = Database(again, db.name)
    for i, row in list(rows.items()):
        if i % 4 == 1 and i % 7:
            rows[i] = replace(row, part=row.part + 7)
    rows |= {i: Item(i, 1, "committed") for i in range(2000001, 2000051)}
    await context.expect_table(rows.values(), _("after recovery"), database=where)
    await context.expect_by_index(SQL["some"], _some(rows), index="items_pkey", what=_("by its key"), database=where)
    await where.run(SQL["crash: afterwards"])
    rows = {i: replace(row, word="recovered") if i % 4 == 0 else row for i, row in rows.items()}
    await context.expect_table(
        rows.values(), _("after an update of what the open transaction had changed"), database=where
    )


async def _open(db: Database, unfinished: asyncio.Future[str]) -> None:
    """Until the open transaction has written; a refusal of it ends the waiting."""
    written = asyncio.ensure_future(
        db.until(SQL["crash: is open"], _("the transaction that stays open had not written"))
    )
    both: set[asyncio.Future[Any]] = {unfinished, written}
    await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    if not written.done():
        written.cancel()
        await unfinished
    await written


async def _backup(context: CheckContext, name: str) -> str:
    """A base backup of the lab's cluster, as the role of a cluster to start. Raises Differs, or NotTried where the
    machine or another version's program may be to blame."""
    role, program = f"{context.role}-{name}", await context.program("pg_basebackup")
    server, own = context.database.server, context.scratch.spec.installation.bin_dir
    words = (program, context.scratch.directory(role))
    try:
        await context.scratch.remote.script(_BACKUP, *words, env=server.environment(local=True), timeout_s=600)
    except CommandError as error:
        message = _("{program} failed: {error}", program=program, error=error.stderr.strip())
        if is_out_of_resource(error.stderr) or posixpath.dirname(program) != own:
            raise NotTried(message) from error
        raise Differs(message, statement=f"{program} -X stream -c fast --no-sync") from error
    return role


async def _recovering(context: CheckContext, role: str, recovery: Mapping[str, str], *, signal: str) -> Database:
    """Start a base backup with these settings of recovery, and return its database."""
    data = f"{context.scratch.directory(role)}/data"
    if context.version >= _FIRST_RECOVERY_SETTINGS:
        await context.scratch.remote.put(f"{data}/{signal}", "", 0o600)
        server = await _started(context, role, {**_NO_ARCHIVE, **recovery})
    else:
        lines = dict(recovery) | ({"standby_mode": "on"} if signal == "standby.signal" else {})
        text = "".join("{} = '{}'\n".format(name, value.replace("'", "''")) for name, value in lines.items())
        await context.scratch.remote.put(f"{data}/recovery.conf", text, 0o600)
        server = await _started(context, role, _NO_ARCHIVE)
    return Database(server, context.database.name)


async def _started(context: CheckContext, role: str, settings: Mapping[str, str]) -> Server:
    server = await context.scratch.start(role, settings)
    context.servers.append(server)
    return server


async def _promote(context: CheckContext, standby: Database) -> None:
    await context.database.server.stop()
    if context.version >= _FIRST_PG_PROMOTE:
        await standby.run(SQL["promote"])
    else:
        server = standby.server
        await server.remote.run(f"{server.installation.bin_dir}/pg_ctl", "promote", "-D", server.data_dir)
    await standby.until(SQL["promoted"], _("the standby was still in recovery"))


async def _written(context: CheckContext, rows: Mapping[int, Item], database: Database) -> None:
    await database.run(SQL["write"])
    after = {**rows, 1: replace(rows[1], word="promoted"), -2: Item(-2, 2, "afterwards")}
    await context.expect_table(after.values(), _("after promotion and more changes"), database=database)


async def _applied(db: Database, sql: str) -> None:
    await db.run(sql)
    lsn = (await db.run(SQL["wal"])).strip()
    await db.until(SQL["logical: sent"], _("the subscriber had not confirmed {lsn}", lsn=lsn), lsn=lsn)


def _changed(rows: Mapping[int, Item]) -> dict[int, Item]:
    kept = {i: row for i, row in rows.items() if i % 5}
    after = {i: replace(r, part=r.part + 1, word=word(r.word)) if i % 2 == 0 else r for i, r in kept.items()}
    return after | {-1: Item(-1, 1, "new")}


def _some(rows: Mapping[int, Item]) -> list[Item]:
    return [row for row in rows.values() if 100 <= row.id <= 300]


CHECKS = (
    Capability(
        "base_backup",
        _("Base backup, point-in-time recovery"),
        Group.OPERATION,
        base_backup,
        own_cluster=True,
        settings=_ARCHIVE,
    ),
    Capability("streaming", _("Streaming replication"), Group.OPERATION, streaming, own_cluster=True),
    Capability("logical", _("Logical replication"), Group.OPERATION, logical, own_cluster=True),
    Capability("crash_recovery", _("Recovery after a crash"), Group.OPERATION, crash_recovery, own_cluster=True),
)
