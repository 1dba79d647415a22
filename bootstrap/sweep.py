"""Leaves no process behind: on the agent's folder, of an earlier start that was killed, and at the end of this one."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

from bootstrap import processes
from bootstrap.account import Account
from bootstrap.places import Places
from bootstrap.processes import Process

TOKEN = "TEITEN_SESSION"
# An attempt has a folder below jobs/, and each of its jobs one in that: measure, sar-primary, …
_PID_FILES = ("**/jobs/*/*/pid", "**/jobs/*/pid")


def agent_home(places: Places, account: Account) -> list[str]:
    """Ends the jobs and the PostgreSQL servers below the agent's folder. Returns what was ended, for reading."""
    home = places.agent
    jobs = list(_jobs(home))
    names = [_name(process) for process in jobs]
    processes.end(jobs)
    postmasters = list(_postmasters(home))
    names += [_name(process) for process in postmasters]
    processes.end(postmasters, signal.SIGINT, grace_s=15)
    if account.dedicated:
        rest = [p for p in _of_account(account) if _within(p.pid, home) and not _in_warehouse(p.pid, places)]
        names += [_name(process) for process in rest]
        processes.end(rest)
    _unlock(home)
    return names


def earlier_start(places: Places) -> None:
    """Ends what a start that was itself killed has left: servers by their pid files, the rest by its token."""
    for path in sorted(places.run.glob("*.pid"), reverse=True):
        pid, started = (int(word) for word in path.read_text(encoding="utf-8").split())
        found = Process(pid, started)
        if processes.alive(found):
            family = processes.descendants(pid) if path.stem == "sshd" else []
            # PostgreSQL takes SIGINT for a fast shutdown; Redis and sshd end by it as well.
            processes.end([found], signal.SIGINT, grace_s=15)
            processes.end(family)
        path.unlink()
    # Where PostgreSQL's first process was killed, others of it may live on and keep a new one from starting.
    processes.end([p for p in processes.every() if _serves(p.pid, places)], signal.SIGQUIT)
    _unlock(places.warehouse)
    token = places.run / "session"
    if token.exists():
        started_with(token.read_text(encoding="utf-8"))
        token.unlink()


def started_with(token: str) -> None:
    """Ends every process that was started with this session's token in its environment."""
    processes.end(processes.with_variable(TOKEN, token))


def left_over(places: Places, account: Account) -> list[str]:
    """Processes that still belong to this state folder or, where it is the agent's alone, run as its account."""
    own = set(processes.ancestors(processes.own_id()))
    roots = {str(places.state), str(places.ground)}
    found = []
    for process in processes.every():
        pid = process.pid
        where = str(processes.folder(pid) or "")
        named = any(root in processes.command(pid) or _below(where, root) for root in roots)
        ours = processes.environment(pid).get("TEITEN_STATE") in roots
        agents = account.dedicated and processes.owner(pid) == account.uid
        if pid not in own and (named or ours or agents):
            found.append(f"{_name(process)} in {where}")
    return found


def _postmasters(home: Path) -> Iterator[Process]:
    """PostgreSQL servers whose data directory lies below home: the process is in it, so a stale file harms nobody."""
    for path in home.rglob("postmaster.pid"):
        process = processes.find(_first_number(path))
        if process and processes.folder(process.pid) == path.parent.resolve():
            yield process


def _unlock(root: Path) -> None:
    """Removes PostgreSQL's lock file from data directories below root in which no process is. PostgreSQL itself takes
    the lock of a killed server for held where its number is another process's now, or that of a dead one whose parent
    has not asked for its end, which in a container can last for ever."""
    inside = {processes.folder(process.pid) for process in processes.every()}
    for path in root.rglob("postmaster.pid"):
        if path.parent.resolve() not in inside and processes.number_taken(_first_number(path)):
            path.unlink()


def _first_number(path: Path) -> int:
    first = path.read_text(encoding="utf-8", errors="replace").split("\n", 1)[0].strip()
    return int(first) if first.isdigit() else 0


def _jobs(home: Path) -> Iterator[Process]:
    """All processes in the process group of a job below home, where one of them shows by its folder or command that the
    group is the job's still."""
    groups: dict[int, list[Process]] = {}
    for process in processes.every():
        groups.setdefault(processes.group(process.pid), []).append(process)
    for path in (path for pattern in _PID_FILES for path in home.glob(pattern)):
        text = path.read_text(encoding="utf-8", errors="replace").strip()
        members = groups.get(int(text), []) if text.isdigit() else []
        if any(_within(p.pid, home) or str(path.parent) in processes.command(p.pid) for p in members):
            yield from members


def _of_account(account: Account) -> Iterator[Process]:
    return (process for process in processes.every() if processes.owner(process.pid) == account.uid)


def _in_warehouse(pid: int, places: Places) -> bool:
    """The warehouse runs the agent's programs, as the agent's account, in a folder of its own."""
    return _below(str(processes.folder(pid)), str(places.warehouse))


def _serves(pid: int, places: Places) -> bool:
    """Whether it is one of the warehouse's processes, and not a shell that somebody has left there."""
    program = processes.program(pid)
    return program is not None and program.name == "postgres" and _in_warehouse(pid, places)


def _within(pid: int, home: Path) -> bool:
    places = (processes.folder(pid), processes.program(pid))
    return any(place is not None and _below(str(place), str(home)) for place in places)


def _below(path: str, root: str) -> bool:
    return path == root or path.startswith(f"{root}/")


def _name(process: Process) -> str:
    return f"{process.pid} ({processes.command(process.pid)[:100]})"
