"""The database of a trial, by the plan's policy, and its caches.

fresh:    dropped, made and loaded for every trial.
template: loaded once into `tpl_<hash>`, copied for every trial.
reuse:    loaded once into `reuse_<hash>`, used by every trial with the same data.

A database that was loaded to its end carries a comment; one without it is half-made and is made anew."""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

from results.domain.errors import CommandError, TeitenError, TrialError
from workers.postgres import cluster
from workers.postgres.server import Server

WORKING = "bench"
_LOADED = "loaded by Teiten"
_OWN = "made by Teiten"
_HERE = Path(__file__).parent
_PREWARM = (_HERE / "prewarm.sql").read_text()
_FILES = (_HERE / "prewarm_files.sql").read_text()
_SCRIPT_FAILED, _CONNECTION_LOST = 3, 2  # psql's exit status for an error in a statement; for a lost connection
_FULL = re.compile(r"No space left on device|Disk quota exceeded|disk full", re.IGNORECASE)

Load = Callable[[str], Awaitable[None]]


class Prepared(NamedTuple):
    """A database ready for a trial. how: loaded, copied, reused. seconds: what that took."""

    name: str
    how: str
    seconds: float


async def ensure_database(server: Server, policy: str, key_hash: str, load: Load) -> Prepared:
    """A loaded database by policy (fresh, template, reuse). load(name) fills an existing empty database; key_hash names
    the data. A load that fails leaves no half-made database behind.

    Raises TrialError when the disk fills up, else what the load or the server says."""
    began = time.monotonic()
    if policy == "fresh":
        await _load(server, WORKING, load, mark=False)
        return Prepared(WORKING, "loaded", time.monotonic() - began)
    kept = f"{'tpl' if policy == 'template' else 'reuse'}_{_word(key_hash)}"
    loaded = await _is_loaded(server, kept)
    if not loaded:
        await _load(server, kept, load, mark=True)
    if policy == "template":
        await _copy(server, kept)
        return Prepared(WORKING, "copied", time.monotonic() - began)
    return Prepared(kept, "reused" if loaded else "loaded", time.monotonic() - began)


async def prewarm(server: Server, database: str) -> dict[str, Any]:
    """Brings every user table and index into memory: {'how', 'why', 'bytes', 'relations', 'seconds'}. how:
    pg_prewarm (into shared_buffers, as far as they reach); where the installation has none (`why` is its message),
    sequential reads of all files, which fill the operating system's cache only; nothing, where those are out of reach.
    Raises CommandError."""
    began = time.monotonic()
    why = ""
    try:
        said = (await server.execute(_PREWARM, database=database)).split()
    except CommandError as error:
        if error.exit_status != _SCRIPT_FAILED:
            raise
        why = error.why.splitlines()[0]
        if server.outside:
            return {"how": "nothing", "why": why, "relations": 0, "bytes": 0, "seconds": 0.0}
        paths = await server.execute(_FILES, database=database)
        said = (await server.remote.script(_READ, server.data_dir, stdin=paths, timeout_s=3600)).stdout.split()
    return {
        "how": "sequential reads" if why else "pg_prewarm",
        "why": why,
        "relations": int(said[0]),
        "bytes": int(said[1]),
        "seconds": round(time.monotonic() - began, 3),
    }


async def cold(server: Server) -> None:
    """Empties all caches: stops the server, writes back and drops the operating system's caches, starts the server.
    Raises TrialError, before anything is stopped, where the agent's account may not drop caches."""
    if server.outside:
        raise TrialError(
            f"The caches of {server.host} cannot be dropped.",
            where=server.remote.phase or "warm",
            why="It is not Teiten's server.",
            todo="Set the plan's cache to as-found or prewarm.",
        )
    allowed = await server.remote.script(_MAY_DROP, check=False)
    if allowed.exit_status != 0:
        raise TrialError(
            f"The caches of {server.remote.address.name} cannot be dropped.",
            where=server.remote.phase or "warm",
            why="Its account may neither write /proc/sys/vm/drop_caches nor use sudo without a password.",
            todo="Allow one of them on the agent, or set the plan's cache to as-found.",
        )
    await server.stop()
    try:
        await server.remote.script(_DROP, timeout_s=600)
    finally:
        await server.start()


async def _is_loaded(server: Server, name: str) -> bool:
    return await _said_of(server, name) == _LOADED


async def _said_of(server: Server, name: str) -> str | None:
    """The comment on a database, '' without one; None where there is no such database."""
    sql = "SELECT shobj_description(oid, 'pg_database') AS said FROM pg_database WHERE datname = :'name'"
    rows = await server.query(sql, variables={"name": name})
    return (rows[0]["said"] or "") if rows else None


async def _load(server: Server, name: str, load: Load, *, mark: bool) -> None:
    await _require_own(server, name)
    try:
        await server.execute(DROP_DATABASE + _CREATE_DATABASE, variables={"name": name, "said": _OWN})
        await load(name)
        if mark:
            await server.execute("COMMENT ON DATABASE :\"name\" IS :'said';", variables={"name": name, "said": _LOADED})
    except BaseException as error:
        await _discard(server, name)
        if isinstance(error, TeitenError) and _FULL.search(_all_words(error)):
            raise TrialError(
                f"The disk of {server.remote.address.name} filled up while the data was loaded.",
                where="load",
                why=error.why or error.what,
                todo="Free space below the agent's data directory, or lower the scale.",
            ) from error
        raise


async def _require_own(server: Server, name: str) -> None:
    """On a server that is not Teiten's, a database of this name may be somebody's: only one that Teiten has marked is
    dropped. Raises TrialError."""
    if server.outside and await _said_of(server, name) not in (None, _OWN, _LOADED):
        raise TrialError(
            f"The server has a database {name!r} that Teiten did not make.",
            where=server.host,
            why="A trial would drop it.",
            todo=f"Rename it, or mark it: COMMENT ON DATABASE {name} IS '{_OWN}'.",
        )


async def _copy(server: Server, template: str) -> None:
    # From 15 on, copying files is the choice that writes no WAL for the copy; before, it is the only one.
    strategy = " STRATEGY file_copy" if server.installation.version_num >= 150000 else ""
    create = f'CREATE DATABASE :"name" TEMPLATE :"template"{strategy};{_MARK}'
    await _require_own(server, WORKING)
    try:
        words = {"name": WORKING, "template": template, "said": _OWN}
        await server.execute(DROP_DATABASE + create, variables=words)
    except CommandError as error:
        if not _FULL.search(_all_words(error)):
            raise
        await _discard(server, WORKING)
        raise TrialError(
            f"The disk of {server.remote.address.name} filled up while the data was copied.",
            where="load",
            why=error.why,
            todo="Free space below the agent's data directory, lower the scale, or use the data policy reuse.",
        ) from error


async def _discard(server: Server, name: str) -> None:
    """Drops a half-made database. A server that a full disk has brought down cannot do it: then its whole cluster goes,
    all of whose data can be loaded again. One that refuses for another reason keeps it: without the comment of a loaded
    one, the next trial makes it anew, or meets the same refusal and says so."""
    try:
        await server.execute(DROP_DATABASE, variables={"name": name}, timeout_s=300)
    except CommandError as error:
        if not server.outside and (error.exit_status == _CONNECTION_LOST or _FULL.search(_all_words(error))):
            await cluster.drop(server.remote, server)


def _all_words(error: TeitenError) -> str:
    output = f"{error.stdout}\n{error.stderr}" if isinstance(error, CommandError) else ""
    return f"{error}\n{output}"


def _word(key_hash: str) -> str:
    if not re.fullmatch(r"[0-9a-zA-Z_]{1,40}", key_hash):
        raise ValueError(f"{key_hash!r} is no hash")
    return key_hash.lower()


DROP_DATABASE = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = :'name' \\g /dev/null
DROP DATABASE IF EXISTS :"name";
"""

_MARK = """
COMMENT ON DATABASE :"name" IS :'said';
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
