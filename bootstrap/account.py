"""The unprivileged accounts of a state folder: the agent's and the warehouse's. PostgreSQL refuses to run as root."""

from __future__ import annotations

import contextlib
import hashlib
import os
import pwd
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bootstrap import processes, trees
from bootstrap.errors import BootstrapError, say
from bootstrap.processes import Process

_TRIES, _WAIT_S = 100, 0.2
_SHUTDOWN_S = 15
_NO_SUCH_ACCOUNT = 6
_SOCKETS = Path("/tmp")  # noqa: S108  (where those of servers lie whose own path is too long: workers/postgres/cluster.py)


@dataclass(frozen=True)
class Account:
    """An account of this machine.

    dedicated: made for this state folder, where we are root; else it is the account that runs this
    """

    name: str
    uid: int
    gid: int
    dedicated: bool

    @property
    def spawn(self) -> dict[str, Any]:
        """Arguments of subprocess.Popen that run a child as this account."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []} if self.dedicated else {}

    def give(self, path: Path, mode: int) -> None:
        """Give a file or folder to the account, with this mode."""
        if self.dedicated:
            os.chown(path, self.uid, self.gid)
        path.chmod(mode)

    def can_enter(self, folder: Path) -> bool:
        """Return whether the account can enter this folder."""
        if not self.dedicated:
            return True
        return subprocess.run(["test", "-x", str(folder)], cwd="/", **self.spawn).returncode == 0

    def end_processes(self) -> list[str]:
        """End every process of a dedicated account, PostgreSQL's servers in good order; return their descriptions.

        Nothing of what its jobs have written is read.
        """
        if not self.dedicated:
            return []
        owned = self._processes()
        names = [processes.name(process) for process in owned]
        processes.end(_postmasters(owned), signal.SIGINT, _SHUTDOWN_S)
        processes.end(owned)
        for _ in range(_TRIES):
            # One signal to all of them, so that none is missed that starts another one before it ends.
            kill = ["sh", "-c", "kill -s KILL -- -1"]
            subprocess.run(kill, cwd="/", stderr=subprocess.DEVNULL, **self.spawn)
            if not self._processes():
                break
            time.sleep(_WAIT_S)
        return names

    def _processes(self) -> list[Process]:
        return [process for process in processes.all_processes() if processes.owner(process.pid) == self.uid]


@dataclass(frozen=True)
class Accounts:
    """The accounts of one state folder.

    agent: runs whatever plans bring: servers under test, scripts, commands
    warehouse: runs the warehouse; another one than the agent's where we are root, else the same
    """

    agent: Account
    warehouse: Account

    @property
    def are_apart(self) -> bool:
        return self.agent.uid != self.warehouse.uid


def current(state: Path) -> Accounts | None:
    """Return the accounts of a state folder, None where they do not exist yet."""
    if os.geteuid() != 0:
        entry = pwd.getpwuid(os.geteuid())
        own = Account(entry.pw_name, entry.pw_uid, entry.pw_gid, dedicated=False)
        return Accounts(own, own)
    agent, warehouse = (_find(name) for name in _names(state))
    return Accounts(agent, warehouse) if agent and warehouse else None


def ensure(state: Path) -> Accounts:
    """Return the accounts of a state folder, added with useradd where we are root. Raises BootstrapError."""
    accounts = current(state)
    if accounts is None:
        for name in _names(state):
            if _find(name) is None:
                _add(name)
        accounts = current(state)
    assert accounts is not None
    # sshd complains into every command's output when the account's home is missing.
    home = Path(pwd.getpwuid(accounts.agent.uid).pw_dir)
    if accounts.agent.dedicated and not home.is_dir():
        home.mkdir(mode=0o700)
        accounts.agent.give(home, 0o700)
    return accounts


def remove(accounts: Accounts) -> None:
    """Remove the accounts that were made for a state folder, with their homes and their servers' socket folders.

    None of their processes may run.
    """
    for account in (accounts.agent, accounts.warehouse):
        if account.dedicated:
            _remove_sockets(account)
            trees.remove(Path(pwd.getpwuid(account.uid).pw_dir))  # userdel does not cope with every depth
            _call("userdel", "--remove", account.name)


def _remove_sockets(account: Account) -> None:
    for folder in _SOCKETS.glob("teiten-*"):
        with contextlib.suppress(FileNotFoundError):  # other accounts' come and go meanwhile
            if folder.lstat().st_uid == account.uid:
                trees.remove(folder)


def take_over(folder: Path, account: Account) -> None:
    """Give an account what an earlier version of Teiten gave to another one, with all files of that one below."""
    former = folder.stat().st_uid
    if account.dedicated and former != account.uid:
        trees.give(folder, former, account.uid, account.gid)


def _postmasters(owned: list[Process]) -> list[Process]:
    """Return the processes of PostgreSQL that no other one of PostgreSQL's has started."""
    programs = {process.pid: processes.program(process.pid) for process in owned}
    servers = {pid for pid, program in programs.items() if program is not None and program.name == "postgres"}
    return [p for p in owned if p.pid in servers and processes.parent(p.pid) not in servers]


def _names(state: Path) -> tuple[str, str]:
    """Return the names of the agent's and the warehouse's account: no other state folder's jobs share them."""
    mark = hashlib.sha256(str(state).encode()).hexdigest()[:8]
    return f"teiten-agent-{mark}", f"teiten-data-{mark}"


def _find(name: str) -> Account | None:
    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        return None
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid, dedicated=True)


def _add(name: str) -> None:
    say(f"Adding the account {name}, without privileges: the demo's agent and its warehouse run apart.")
    options = ["--system", "--user-group", "--create-home", "--home-dir", f"/var/lib/{name}", "--shell", "/bin/bash"]
    _call("useradd", *options, name)


def _call(program: str, *words: str) -> None:
    """Run a program that changes accounts; wait where another one is at it. Raises BootstrapError."""
    tool = shutil.which(program) or f"/usr/sbin/{program}"
    for _ in range(_TRIES):
        result = subprocess.run([tool, *words], capture_output=True, text=True)
        if "cannot lock" not in result.stderr:
            break
        time.sleep(_WAIT_S)
    if result.returncode != 0 and not (program == "userdel" and result.returncode == _NO_SUCH_ACCOUNT):
        raise BootstrapError(
            f"{program} failed for the account {words[-1]}.",
            where=program,
            why=result.stderr.strip(),
            todo="Do it by hand, or start Teiten as an ordinary user.",
        )
