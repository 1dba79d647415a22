"""End processes that would be left: of the agent's folder, of an earlier start that was killed, of this start."""

from __future__ import annotations

import os
import signal
import stat
from collections.abc import Iterator
from pathlib import Path

from bootstrap import processes, trees
from bootstrap.account import Account, Accounts
from bootstrap.places import Places
from bootstrap.processes import Process

# The name of a variable.
TOKEN = "TEITEN_SESSION"  # noqa: S105
_LONGEST_PID_FILE = 1000


def agent_home(places: Places, account: Account) -> list[str]:
    """End the account's processes where it is the agent's alone, wherever they work, then the jobs and the PostgreSQL
    servers below the agent's folder; return descriptions of them.

    Nothing changes the folder any more while it is looked through.
    """
    names = account.end_processes()
    home = places.agent
    jobs = list(_jobs(home))
    names += [processes.name(process) for process in jobs]
    processes.end(jobs)
    postmasters = list(_postmasters(home))
    names += [processes.name(process) for process in postmasters]
    processes.end(postmasters, signal.SIGINT, grace_s=15)
    _unlock(home)
    return names


def earlier_start(places: Places) -> None:
    """End the processes of a start that was killed: servers by their pid files, all others by its token."""
    for path in sorted(places.run.glob("*.pid"), reverse=True):
        pid, started = (int(word) for word in path.read_text(encoding="utf-8").split())
        process = Process(pid, started)
        if processes.is_alive(process):
            descendants = processes.descendants(pid) if path.stem == "sshd" else []
            # PostgreSQL takes SIGINT for a fast shutdown; Redis and sshd end by it as well.
            processes.end([process], signal.SIGINT, grace_s=15)
            processes.end(descendants)
        path.unlink()
    # Where the postmaster was killed, its children may run on and keep a new server from starting.
    processes.end([p for p in processes.all_processes() if _serves(p.pid, places)], signal.SIGQUIT)
    _unlock(places.warehouse)
    token = places.run / "session"
    if token.exists():
        end_session(token.read_text(encoding="utf-8"))
        token.unlink()


def end_session(token: str) -> None:
    """End every process that was started with this session's token in its environment."""
    processes.end(processes.with_variable(TOKEN, token))


def left_over(places: Places, accounts: Accounts) -> list[str]:
    """Return a line for each process of this state folder or of an account that was made for it."""
    excluded = set(processes.ancestors(processes.own_id()))
    roots = {str(places.state), str(places.ground)}
    owners = {account.uid for account in (accounts.agent, accounts.warehouse) if account.dedicated}
    process_lines = []
    for process in processes.all_processes():
        pid = process.pid
        where = str(processes.folder(pid) or "")
        in_command = any(root in processes.command(pid) or _below(where, root) for root in roots)
        in_environment = processes.environment(pid).get("TEITEN_STATE") in roots
        is_owned = processes.owner(pid) in owners
        if pid not in excluded and (in_command or in_environment or is_owned):
            process_lines.append(f"{processes.name(process)} in {where}")
    return process_lines


def _postmasters(home: Path) -> Iterator[Process]:
    """Yield the PostgreSQL servers whose data directory is below home.

    The process must work in it, lest a stale pid file names another process.
    """
    for path in _lock_files(home):
        process = processes.find(_first_number(path))
        if process and processes.folder(process.pid) == path.parent:
            yield process


def _unlock(root: Path) -> None:
    """Remove PostgreSQL's lock file from data directories below root in which no process works.

    PostgreSQL takes the lock of a killed server for valid where its process id is another process's now, or a zombie's,
    which in a container can remain for ever.
    """
    working_directories = {processes.folder(process.pid) for process in processes.all_processes()}
    for path in _lock_files(root):
        if path.parent not in working_directories and processes.is_pid_taken(_first_number(path)):
            path.unlink()


def _lock_files(root: Path) -> Iterator[Path]:
    """Yield where below root a data directory's lock file may be, by paths without links."""
    return (folder / "postmaster.pid" for folder in trees.folders(root.resolve()))


def _first_number(path: Path) -> int:
    """Return the number in a file's first line; 0 where there is none."""
    first = _text(path).split("\n", 1)[0].strip()
    return int(first) if first.isdecimal() else 0


def _text(path: Path) -> str:
    """Return the beginning of a file; '' for a link and what is no file: it is in a folder of the agent's."""
    try:
        # Not blocking, since it may be a pipe that nobody writes into.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return ""
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return ""
        return file.read(_LONGEST_PID_FILE).decode("utf-8", "replace")


def _jobs(home: Path) -> Iterator[Process]:
    """Yield all processes in the process groups of jobs below home.

    One process of a group must show by its folder or command that the group is still the job's.
    """
    groups: dict[int, list[Process]] = {}
    for process in processes.all_processes():
        groups.setdefault(processes.group(process.pid), []).append(process)
    for folder in trees.folders(home):
        # An attempt has a folder below jobs/, with a folder for each of its jobs: measure, sar-primary, …
        if "jobs" in (folder.parent.name, folder.parent.parent.name):
            members = groups.get(_first_number(folder / "pid"), [])
            if any(_within(p.pid, home) or str(folder) in processes.command(p.pid) for p in members):
                yield from members


def _in_warehouse(pid: int, places: Places) -> bool:
    """Return whether a process works in the warehouse's folder."""
    return _below(str(processes.folder(pid)), str(places.warehouse))


def _serves(pid: int, places: Places) -> bool:
    """Return whether it is one of the warehouse's processes, and not a shell that somebody left in its folder."""
    program = processes.program(pid)
    return program is not None and program.name == "postgres" and _in_warehouse(pid, places)


def _within(pid: int, home: Path) -> bool:
    paths = (processes.folder(pid), processes.program(pid))
    return any(path is not None and _below(str(path), str(home)) for path in paths)


def _below(path: str, root: str) -> bool:
    return path == root or path.startswith(f"{root}/")
