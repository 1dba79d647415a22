"""Acting beside a trial: on the warehouse, or on the agent behind Teiten's back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from django.db import connection

from results.domain.matrix import InstallationRef
from workers.postgres.server import SUPERUSER
from workers.remote.address import Address
from workers.remote.connection import connected
from workers.remote.job import Job

AT_WORK = ("progress", "measure*/stderr")  # what pgbench says once its clients are at work
_PATIENCE_S = 300
# a server that died earlier may have left its file, and its number to somebody else
_KILL = """
tries=0
until grep -qs -e "$1" "$2"/jobs/*/$3; do
    tries=$((tries + 1))
    [ "$tries" -lt 20000 ] || exit 1
    sleep 0.01
done
killed=
for file in $4; do
    pid=$(head -n 1 "$file") && [ "/proc/$pid/cwd" -ef "${file%/*}" ] && kill -s "$5" "$pid" && killed=$pid
done
[ -n "$killed" ]
"""


def on_agent(address: Address, script: str, *words: str) -> str:
    """Runs a shell script on the agent; what it printed. Raises CommandError."""

    async def act() -> str:
        async with connected(address) as remote:
            return (await remote.script(script, *words, timeout_s=_PATIENCE_S)).stdout

    return asyncio.run(act())


@contextmanager
def beside(work: Callable[[], object]) -> Iterator[None]:
    """Does the work in a thread while the block runs, and waits for its end. What it raises is the test's failure."""

    def whole() -> None:
        try:
            work()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as threads:
        done = threads.submit(whole)
        yield
        done.result()


@contextmanager
def killed_at(address: Address, text: str, files: str, pid_files: str, *, signal: str = "KILL") -> Iterator[None]:
    """Sends a signal to the agent's processes whose numbers are in the pid files (a pattern) and that work where these
    lie, as soon as a job's files (a pattern below its directory) hold the text."""
    with beside(lambda: on_agent(address, _KILL, text, address.work_dir, files, pid_files, signal)):
        yield


@contextmanager
def servers_killed_at(address: Address, text: str, files: str) -> Iterator[None]:
    """The same with all of the agent's servers."""
    with killed_at(address, text, files, f"{address.data_dir}/clusters/*/data/postmaster.pid"):
        yield


_WHERE = 'sed -n "4p;5p" "$1"/clusters/"$2"-????????/data/postmaster.pid'
_ASLEEP = """
until [ "$("$1" -X -A -t -d postgres -c "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'")" = 1 ]
do sleep 0.05
done
"""


def query_left(address: Address, installation: InstallationRef, name: str, database: str) -> None:
    """Leaves a query at work on a server that runs, as a trial does that is cancelled in mid-query. The client is
    ended as a job of a dead attempt; the server notices nothing.

    name: the cluster's, '' of a single server."""

    async def leave() -> None:
        async with connected(address) as remote:
            output = await remote.script(_WHERE, address.data_dir, "-".join(filter(None, (installation.name, name))))
            port, sockets = output.stdout.split()
            psql = f"{installation.client_bin}/psql"
            env = {"PGHOST": sockets, "PGPORT": port, "PGUSER": SUPERUSER}
            words = [psql, "-X", "-d", database, "-c", "SELECT pg_sleep(600)"]
            await Job.start(remote, f"{address.work_dir}/jobs/dead/query", words, deadline_s=600, env=env)
            await remote.script(_ASLEEP, psql, env=env, timeout_s=60)

    asyncio.run(leave())
