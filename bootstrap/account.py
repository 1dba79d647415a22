"""The unprivileged accounts of a state folder: the agent's and the warehouse's. PostgreSQL refuses to run as root."""

from __future__ import annotations

import hashlib
import os
import pwd
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bootstrap.errors import BootstrapError, say

_TRIES, _WAIT_S = 100, 0.2
_NO_SUCH_ACCOUNT = 6


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
    """Remove the accounts that were made for a state folder, with their homes. None of their processes may run."""
    for account in (accounts.agent, accounts.warehouse):
        if account.dedicated:
            _call("userdel", "--remove", account.name)


def take_over(folder: Path, account: Account) -> None:
    """Give an account what an earlier version of Teiten gave to another one, with all files of that one below."""
    former = folder.stat().st_uid
    if not account.dedicated or former == account.uid:
        return
    for parent, folders, files in os.walk(folder):
        for path in (os.path.join(parent, name) for name in (*folders, *files)):
            if os.lstat(path).st_uid == former:
                os.lchown(path, account.uid, account.gid)
    os.lchown(folder, account.uid, account.gid)


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
