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
    """dedicated: made for the agent alone (we are root); else it is whoever runs this."""

    name: str
    uid: int
    gid: int
    dedicated: bool

    @property
    def spawn(self) -> dict[str, Any]:
        """Arguments of subprocess.Popen that make a child run as this account."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []} if self.dedicated else {}

    def own(self, path: Path, mode: int) -> None:
        """Gives a file or folder to the account, with this mode."""
        if self.dedicated:
            os.chown(path, self.uid, self.gid)
        path.chmod(mode)

    def reaches(self, folder: Path) -> bool:
        """Whether the account can enter this folder."""
        if not self.dedicated:
            return True
        return subprocess.run(["test", "-x", str(folder)], cwd="/", **self.spawn).returncode == 0


def current() -> Account | None:
    """The agent's account where it exists already; never makes one."""
    if os.geteuid() != 0:
        entry = pwd.getpwuid(os.geteuid())
        return Account(entry.pw_name, entry.pw_uid, entry.pw_gid, dedicated=False)
    try:
        entry = pwd.getpwnam(NAME)
    except KeyError:
        return None
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid, dedicated=True)


def ensure() -> Account:
    """The agent's account, made with useradd when we are root. Raises BootstrapError."""
    found = current()
    if found is None:
        _add()
        found = current()
    assert found is not None
    # sshd complains into every command's output when the account's home is missing.
    home = Path(pwd.getpwuid(found.uid).pw_dir)
    if found.dedicated and not home.is_dir():
        home.mkdir(mode=0o700)
        found.own(home, 0o700)
    return found


def _add() -> None:
    say(f"Adding the account {NAME}: the demo's agent, which runs PostgreSQL without privileges.")
    tool = shutil.which("useradd") or "/usr/sbin/useradd"
    words = [tool, "--system", "--user-group", "--create-home", "--home-dir", f"/var/lib/{NAME}"]
    done = subprocess.run([*words, "--shell", "/bin/bash", NAME], capture_output=True, text=True)
    if done.returncode != 0:
        raise BootstrapError(
            f"The account {NAME} could not be added.", where="useradd", why=done.stderr.strip(), todo="Add it by hand."
        )
