"""What happens to the agents of six trials that are held: to their logins, servers and programs."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg

from tests.faults import trials, watching
from tests.faults.conftest import Held
from tests.faults.processes import children, kill, until
from workers.postgres.server import SUPERUSER
from workers.remote.address import Address


def ssh_cut(held: Held) -> None:
    """Every login that there is ends; the next one succeeds."""
    kill(_sessions(held))


def sshd_restarted(held: Held) -> None:
    sessions = _sessions(held)
    held.fleet.sshd.stop()
    kill(sessions)
    held.fleet.sshd.start()


def rebooted(held: Held) -> None:
    """All that runs on the agents ends at once, supervisors of jobs too. Then they answer again."""
    sessions = _sessions(held)
    held.fleet.sshd.kill()
    kill([*watching.jobs_of(held.agents), *_of_servers(held), *sessions])
    held.fleet.sshd.start()


def servers_killed(held: Held) -> None:
    """With all of their processes, as where the system has no memory left."""
    kill(_of_servers(held))


def session_killed(held: Held) -> None:
    """One process of a server, which ends all others then and starts anew, as where one of them crashed."""
    kill(pid for pid, _ in _sessions_of_pgbench(held))


def pgbench_killed(held: Held) -> None:
    seen: list[int] = []

    def running() -> list[int]:
        seen[:] = [pid for pid in watching.jobs_of(held.agents) if _program(pid) == "pgbench"]
        return seen

    until(running, held.why)  # the checkpoint is written once its job has started, which may still be a shell
    kill(seen)


def locked(held: Held) -> None:
    """Somebody takes a lock on the accounts, and keeps it."""
    agent = _agent(held, "measure")
    database = _sessions_of_pgbench(held)[0][1]
    with closing(session(agent, database)) as somebody:  # its end is the trial's to bring about
        somebody.execute("LOCK TABLE pgbench_accounts")
        held.let_go()
        until(lambda: trials.ended(held.trials["measure"]), held.why)


def servers_stopped(held: Held) -> None:
    """The processes of all servers do nothing more, and do not end either."""
    for pid in _of_servers(held):
        os.kill(pid, signal.SIGSTOP)
    held.let_go()
    held.outcomes()


def _agent(held: Held, phase: str) -> Address:
    return next(agent for agent in held.agents if agent.name == phase)


def session(agent: Address, database: str) -> psycopg.Connection[Any]:
    """A session of the superuser on the server that runs on an agent."""
    [postmaster] = watching.servers(agent)
    port, sockets = Path(f"/proc/{postmaster}/cwd/postmaster.pid").read_text().splitlines()[3:5]
    return psycopg.connect(host=sockets, port=int(port), user=SUPERUSER, dbname=database)


def _sessions_of_pgbench(held: Held) -> list[tuple[int, str]]:
    """Process and database of each session of pgbench on the measured server that changes something, once there is one.
    The session in which it looks for the scale, which ends at once, changes nothing."""
    query = "SELECT pid, datname FROM pg_stat_activity WHERE application_name = 'pgbench' AND backend_xid IS NOT NULL"
    seen: list[tuple[int, str]] = []
    with session(_agent(held, "measure"), "postgres") as asking:
        asking.autocommit = True

        def sessions() -> list[tuple[int, str]]:
            seen[:] = asking.execute(query).fetchall()
            return seen

        until(sessions, held.why)
    return seen


def _sessions(held: Held) -> list[int]:
    """The processes of sshd that have a login each."""
    return children(held.fleet.sshd.pid)


def _of_servers(held: Held) -> list[int]:
    return _family(server for agent in held.agents for server in watching.servers(agent))


def _family(parents: Iterable[int]) -> list[int]:
    """Processes, each followed by its children."""
    return [pid for parent in parents for pid in (parent, *children(parent))]


def _program(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:  # it has ended
        return ""
