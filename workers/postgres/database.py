"""Prepare the database of a trial, by the plan's policy, and its caches.

fresh:    dropped, made and loaded for every trial
template: loaded once into `tpl_<hash>`, copied for every trial
reuse:    loaded once into `reuse_<hash>`, used by every trial with the same data

A database that was loaded completely has a comment; one without it is incomplete and is made anew."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

from results.domain.errors import AgentError, CommandError, TeitenError, TrialError
from results.domain.messages import gettext_lazy as _
from workers.postgres import cluster
from workers.postgres.server import Server, without_time

log = logging.getLogger(__name__)
WORKING = "bench"
_LOADED = "loaded by Teiten"
_MADE = "made by Teiten"
_HERE = Path(__file__).parent
_PREWARM = (_HERE / "prewarm.sql").read_text()
_FILES = (_HERE / "prewarm_files.sql").read_text()
_SCRIPT_FAILED, _CONNECTION_LOST = 3, 2  # psql's exit status for an error in a statement; for a lost connection
_ANSWER_S = 30  # a server that says nothing for so long hangs
_FULL = re.compile(r"No space left on device|Disk quota exceeded|disk full", re.IGNORECASE)

Load = Callable[[str], Awaitable[None]]


class Prepared(NamedTuple):
    """A database that is ready for a trial.

    how: loaded, copied or reused
    seconds: time that it took
    """

    name: str
    how: str
    seconds: float


async def ensure_database(server: Server, policy: str, key_hash: str, load: Load) -> Prepared:
    """Return a loaded database by policy (fresh, template, reuse). A load that fails leaves no incomplete database,
    unless its server does not answer.

    Raises TrialError where the disk fills up, else what `load` or the server raises.

    key_hash: names the data
    load: fills an existing empty database of this name
    """
    began = time.monotonic()
    if policy == "fresh":
        await _load(server, WORKING, load, mark=False)
        return Prepared(WORKING, "loaded", time.monotonic() - began)
    name = f"{'tpl' if policy == 'template' else 'reuse'}_{_checked_hash(key_hash)}"
    loaded = await _is_loaded(server, name)
    if not loaded:
        await _load(server, name, load, mark=True)
    if policy == "template":
        await _copy(server, name)
        return Prepared(WORKING, "copied", time.monotonic() - began)
    return Prepared(name, "reused" if loaded else "loaded", time.monotonic() - began)


async def prewarm(server: Server, database: str) -> dict[str, Any]:
    """Bring every user table and index into memory; return {'how', 'why', 'bytes', 'relations', 'seconds'}.

    Raises CommandError.

    how: 'pg_prewarm', into shared_buffers as far as they reach; where the installation lacks it, 'sequential reads' of
        all files, which fill the operating system's cache only; 'nothing' where the files are out of reach
    why: the message of an installation without pg_prewarm
    """
    began = time.monotonic()
    why = ""
    try:
        output = (await server.execute(_PREWARM, database=database)).split()
    except CommandError as error:
        if error.exit_status != _SCRIPT_FAILED:
            raise
        why = error.why.splitlines()[0]
        if server.outside:
            return {"how": "nothing", "why": why, "relations": 0, "bytes": 0, "seconds": 0.0}
        paths = await server.execute(_FILES, database=database)
        output = (await server.remote.script(_READ, server.data_dir, stdin=paths, timeout_s=3600)).stdout.split()
    return {
        "how": "sequential reads" if why else "pg_prewarm",
        "why": why,
        "relations": int(output[0]),
        "bytes": int(output[1]),
        "seconds": round(time.monotonic() - began, 3),
    }


async def cold(server: Server) -> None:
    """Empty all caches: stop the server, write back and drop the operating system's caches, start the server.

    Raises TrialError, before anything is stopped, where the agent's account may not drop caches.
    """
    if server.outside:
        raise TrialError(
            _("The caches of {server} cannot be dropped.", server=server.host),
            where=server.remote.phase or "warm",
            why=_("The server is an external endpoint."),
            todo=_("Set the plan's cache to as-found or prewarm."),
        )
    test = await server.remote.script(_MAY_DROP, check=False)
    if test.exit_status != 0:
        raise TrialError(
            _("The caches of {server} cannot be dropped.", server=server.remote.address.name),
            where=server.remote.phase or "warm",
            why=_("Its account may neither write /proc/sys/vm/drop_caches nor use sudo without a password."),
            todo=_("Allow one of them on the agent, or set the plan's cache to as-found."),
        )
    await server.stop()
    try:
        await server.remote.script(_DROP, timeout_s=600)
    finally:
        await server.start()


async def _is_loaded(server: Server, name: str) -> bool:
    return await _comment_on(server, name) == _LOADED


async def _comment_on(server: Server, name: str) -> str | None:
    """Return the comment on a database, '' without one; None where there is no such database."""
    sql = "SELECT shobj_description(oid, 'pg_database') AS comment FROM pg_database WHERE datname = :'name'"
    rows = await server.query(sql, variables={"name": name})
    return (rows[0]["comment"] or "") if rows else None


async def _load(server: Server, name: str, load: Load, *, mark: bool) -> None:
    await _require_made_by_teiten(server, name)
    logged_bytes = await server.log_size()
    try:
        await server.execute(DROP_DATABASE + _CREATE_DATABASE, variables={"name": name, "comment": _MADE})
        await load(name)
        if mark:
            await server.execute(_MARK, variables={"name": name, "comment": _LOADED})
    except BaseException as error:
        full = await _discard(server, name, logged_bytes)
        if isinstance(error, TeitenError) and (full or _FULL.search(_all_output(error))):
            raise TrialError(
                _("The disk of {agent} filled up while the data was loaded.", agent=server.remote.address.name),
                where="load",
                why=_followed_by(error.why or error.what, full),
                todo=_("Free space below the agent's data directory, or lower the scale."),
            ) from error
        raise


async def _require_made_by_teiten(server: Server, name: str) -> None:
    """Raise TrialError for a database on an external endpoint that Teiten did not make: it must not be dropped."""
    if server.outside and await _comment_on(server, name) not in (None, _MADE, _LOADED):
        raise TrialError(
            _("The server has a database {name!r} that Teiten did not make.", name=name),
            where=server.host,
            why=_("A trial would drop it."),
            todo=_("Rename it, or mark it: COMMENT ON DATABASE {name} IS '{comment}'.", name=name, comment=_MADE),
        )


async def _copy(server: Server, template: str) -> None:
    # From 15 on, copying files is the choice that writes no WAL for the copy; before, it is the only one.
    strategy = " STRATEGY file_copy" if server.installation.version_num >= 150000 else ""
    create = f'CREATE DATABASE :"name" TEMPLATE :"template"{strategy};{_MARK}'
    await _require_made_by_teiten(server, WORKING)
    logged_bytes = await server.log_size()
    try:
        variables = {"name": WORKING, "template": template, "comment": _MADE}
        await server.execute(DROP_DATABASE + create, variables=variables)
    except CommandError as error:
        full = await _discard(server, WORKING, logged_bytes)
        if not full and not _FULL.search(_all_output(error)):
            raise
        raise TrialError(
            _("The disk of {agent} filled up while the data was copied.", agent=server.remote.address.name),
            where="load",
            why=_followed_by(error.why, full),
            todo=_("Free space below the agent's data directory, lower the scale, or use the data policy reuse."),
        ) from error


async def _discard(server: Server, name: str, logged_bytes: int) -> str:
    """Drop an incomplete database; return the server's own words where a full disk has brought it down, else ''.

    Then its whole cluster is removed: all of its data can be loaded again. A server that is gone for another reason, or
    refuses, or hangs, keeps the database: since it lacks the comment of a loaded one, the next trial makes it anew, or
    reports the same refusal.

    logged_bytes: size of the server's log before the load
    """
    try:
        await server.execute("SELECT 1", timeout_s=_ANSWER_S)
        await server.execute(DROP_DATABASE, variables={"name": name}, timeout_s=300)
    except CommandError as error:
        if server.outside:
            return ""
        lost = error.exit_status == _CONNECTION_LOST
        full = _line_of_full_disk(await server.log_tail(logged_bytes) if lost else _all_output(error))
        if full:
            await cluster.drop(server.remote, server)
        return full
    except AgentError as error:
        log.warning("the incomplete database %s stays on %s: %s", name, server.remote.address.name, error)
    return ""


def _followed_by(why: str, line: str) -> str:
    return _("{why} {line}", why=why, line=line) if why and line else why or line


def _line_of_full_disk(text: str) -> str:
    return next((without_time(line).strip() for line in text.splitlines() if _FULL.search(line)), "")


def _all_output(error: TeitenError) -> str:
    output = f"{error.stdout}\n{error.stderr}" if isinstance(error, CommandError) else ""
    return f"{error}\n{output}"


def _checked_hash(key_hash: str) -> str:
    if not re.fullmatch(r"[0-9a-zA-Z_]{1,40}", key_hash):
        raise ValueError(f"{key_hash!r} is no hash")
    return key_hash.lower()


DROP_DATABASE = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = :'name' \\g /dev/null
DROP DATABASE IF EXISTS :"name";
"""

_MARK = """
COMMENT ON DATABASE :"name" IS :'comment';
"""
_CREATE_DATABASE = f'CREATE DATABASE :"name" TEMPLATE template0;{_MARK}'

# Paths come on stdin, relative to PGDATA; a relation's further gigabytes are path.1, path.2 …
_READ = """
cd -- "$1" || exit
relations=0
size=0
while read -r path; do
    [ -f "$path" ] || continue
    relations=$((relations + 1))
    size=$((size + $(cat "$path" "$path".[0-9]* 2>/dev/null | wc -c)))
done
echo "$relations $size"
"""

_MAY_DROP = "[ -w /proc/sys/vm/drop_caches ] || sudo -n true"

_DROP = """
sync
if [ -w /proc/sys/vm/drop_caches ]
then echo 3 >/proc/sys/vm/drop_caches
else echo 3 | sudo -n tee /proc/sys/vm/drop_caches >/dev/null
fi
"""
