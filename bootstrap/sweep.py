"""End processes that would be left: of the agent's folder, of an earlier start that was killed, of this start."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

from bootstrap import processes
from bootstrap.account import Account, Accounts
from bootstrap.places import Places
from bootstrap.processes import Process

# The name of a variable.
TOKEN = "TEITEN_SESSION"  # noqa: S105
_LONGEST_PID_FILE = 1000
# An attempt has a folder below jobs/, with a folder for each of its jobs: measure, sar-primary, …
_PID_FILES = ("**/jobs/*/*/pid", "**/jobs/*/pid")


def agent_home(places: Places, account: Account) -> list[str]:
    """End the jobs and the PostgreSQL servers below the agent's folder; return descriptions of their processes."""
    home = places.agent
    jobs = list(_jobs(home))
    names = [_name(process) for process in jobs]
    processes.end(jobs)
    postmasters = list(_postmasters(home))
    names += [_name(process) for process in postmasters]
    processes.end(postmasters, signal.SIGINT, grace_s=15)
    if account.dedicated:
        remaining = list(_of_account(account))  # wherever they work: the account is this folder's alone
        names += [_name(process) for process in remaining]
        processes.end(remaining)
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
            process_lines.append(f"{_name(process)} in {where}")
    return process_lines


def _postmasters(home: Path) -> Iterator[Process]:
    """Yield the PostgreSQL servers whose data directory is below home.

    The process must work in it, lest a stale pid file names another process.
    """
    for path in home.rglob("postmaster.pid"):
        process = processes.find(_first_number(path))
        if process and processes.folder(process.pid) == path.parent.resolve():
            yield process


def _unlock(root: Path) -> None:
    """Remove PostgreSQL's lock file from data directories below root in which no process works.

    PostgreSQL takes the lock of a killed server for valid where its process id is another process's now, or a zombie's,
    which in a container can remain for ever.
    """
    working_directories = {processes.folder(process.pid) for process in processes.all_processes()}
    for path in root.rglob("postmaster.pid"):
        if path.parent.resolve() not in working_directories and processes.is_pid_taken(_first_number(path)):
            path.unlink()


def _first_number(path: Path) -> int:
    first = _text(path).split("\n", 1)[0].strip()
    return int(first) if first.isdigit() else 0


def _text(path: Path) -> str:
    """Return the beginning of a file; '' for a link and what is no file: it is in a folder of the agent's."""
    if path.is_symlink() or not path.is_file():
        return ""
    with path.open("rb") as file:
        return file.read(_LONGEST_PID_FILE).decode("utf-8", "replace")


def _jobs(home: Path) -> Iterator[Process]:
    """Yield all processes in the process groups of jobs below home.

    One process of a group must show by its folder or command that the group is still the job's.
    """
    groups: dict[int, list[Process]] = {}
    for process in processes.all_processes():
        groups.setdefault(processes.group(process.pid), []).append(process)
    for path in (path for pattern in _PID_FILES for path in home.glob(pattern)):
        text = _text(path).strip()
        members = groups.get(int(text), []) if text.isdigit() else []
        if any(_within(p.pid, home) or str(path.parent) in processes.command(p.pid) for p in members):
            yield from members


def _of_account(account: Account) -> Iterator[Process]:
    return (process for process in processes.all_processes() if processes.owner(process.pid) == account.uid)


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


def _name(process: Process) -> str:
    return f"{process.pid} ({processes.command(process.pid)[:100]})"
