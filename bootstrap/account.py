"""The unprivileged account that is the demo's agent: PostgreSQL refuses to run as root."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bootstrap.errors import BootstrapError, say

NAME = "teiten-agent"


@dataclass(frozen=True)
class Account:
    """An account of this machine.

    dedicated: made for the agent alone, where we are root; else it is the account that runs this
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


def current() -> Account | None:
    """Return the agent's account, None where it does not exist yet."""
    if os.geteuid() != 0:
        entry = pwd.getpwuid(os.geteuid())
        return Account(entry.pw_name, entry.pw_uid, entry.pw_gid, dedicated=False)
    try:
        entry = pwd.getpwnam(NAME)
    except KeyError:
        return None
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid, dedicated=True)


def ensure() -> Account:
    """Return the agent's account, added with useradd where we are root. Raises BootstrapError."""
    account = current()
    if account is None:
        _add()
        account = current()
    assert account is not None
    # sshd complains into every command's output when the account's home is missing.
    home = Path(pwd.getpwuid(account.uid).pw_dir)
    if account.dedicated and not home.is_dir():
        home.mkdir(mode=0o700)
        account.give(home, 0o700)
    return account


def _add() -> None:
    say(f"Adding the account {NAME}: the demo's agent, which runs PostgreSQL without privileges.")
    tool = shutil.which("useradd") or "/usr/sbin/useradd"
    command = [tool, "--system", "--user-group", "--create-home", "--home-dir", f"/var/lib/{NAME}"]
    result = subprocess.run([*command, "--shell", "/bin/bash", NAME], capture_output=True, text=True)
    if result.returncode != 0:
        raise BootstrapError(
            f"The account {NAME} could not be added.",
            where="useradd",
            why=result.stderr.strip(),
            todo="Add it by hand.",
        )
