"""Paths of all files: one state folder, and a second one for files that must be reached, and not changed, by others."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from bootstrap import processes, trees
from bootstrap.account import Account, Accounts, ensure, take_over
from bootstrap.errors import BootstrapError

CHECKOUT = Path(__file__).resolve().parent.parent
VENV = CHECKOUT / ".venv"
_MARKER = "teiten-state"


def write_file(path: Path, content: str, mode: int = 0o644) -> None:
    """Write a file atomically: a start that is killed meanwhile leaves no file that the next one cannot read."""
    partial = path.with_name(f"{path.name}.new")
    partial.touch()
    partial.chmod(mode)
    partial.write_text(content, encoding="utf-8")
    partial.replace(path)


@dataclass(frozen=True)
class Places:
    """The folders of one state.

    state: for the account that runs Teiten alone
    ground: for files that the other accounts must reach; the state folder itself where they can enter that
    """

    state: Path
    ground: Path

    @property
    def secrets(self) -> Path:
        return self.state / "secrets"

    @property
    def logs(self) -> Path:
        return self.state / "logs"

    @property
    def run(self) -> Path:
        return self.state / "run"

    @property
    def bundles(self) -> Path:
        return self.state / "bundles"

    @property
    def redis(self) -> Path:
        return self.state / "redis"

    @property
    def proxy(self) -> Path:
        return self.state / "proxy"

    @property
    def key(self) -> Path:
        """The private key for logging in to the agent."""
        return self.secrets / "agent_key"

    @property
    def sshd(self) -> Path:
        return self.ground / "sshd"

    @property
    def warehouse(self) -> Path:
        return self.ground / "warehouse"

    @property
    def agent(self) -> Path:
        """The agent's folder, for its clusters and jobs."""
        return self.ground / "agent"

    @property
    def programs(self) -> Path:
        """PostgreSQL for agent and warehouse: neither account may write there, for the other one runs what is in it."""
        return self.ground / "pg"

    @property
    def old_programs(self) -> Path:
        """Older versions of PostgreSQL, for the tests."""
        return self.ground / "old"


def state_folder() -> Path:
    """Return TEITEN_STATE, or .teiten in the checkout; absolute."""
    return Path(os.environ.get("TEITEN_STATE") or CHECKOUT / ".teiten").absolute()


def known(state: Path) -> Places | None:
    """Return the places of an earlier start; None where this is no state folder of Teiten's."""
    if not (state / _MARKER).is_file():
        return None
    ground = (state / _MARKER).read_text(encoding="utf-8").strip()
    return Places(state, Path(ground) if ground else state)


def prepare(state: Path) -> tuple[Places, Accounts]:
    """Make the folders and accounts, or find those of an earlier start. Raises BootstrapError."""
    _make_state(state)
    accounts = ensure(state)
    places = known(state)
    if places is None:
        is_reachable = accounts.agent.can_enter(state)
        is_exposed = accounts.are_apart and exposed_folder(state, accounts.agent) is not None
        ground = state if is_reachable and not is_exposed else Path(f"/var/lib/teiten-agent-{_short_hash(state)}")
        if ground != state and ground.exists():
            _remove_left(ground, accounts)
        write_file(state / _MARKER, "" if ground == state else f"{ground}\n")
        places = Places(state, ground)
    private = (places.logs, places.run, places.secrets, places.redis, places.proxy, places.bundles)
    for folder, mode in ((places.ground, 0o711), (places.sshd, 0o755), *((folder, 0o700) for folder in private)):
        folder.mkdir(exist_ok=True)
        folder.chmod(mode)
    for folder, mode, account in _owned(places, accounts):
        if not folder.exists():
            folder.mkdir()
            account.give(folder, mode)
    return places, accounts


def give_to_accounts(places: Places, accounts: Accounts) -> None:
    """Give the accounts what an earlier version of Teiten gave to others. Only where nothing of an earlier start runs:
    its servers could not read their files any more."""
    for folder, mode, account in _owned(places, accounts):
        take_over(folder, account)
        account.give(folder, mode)


def _remove_left(ground: Path, accounts: Accounts) -> None:
    """Remove what is left of a state folder of this name that somebody deleted by hand: the passwords went with it."""
    for account in (accounts.agent, accounts.warehouse):
        account.end_processes()
    inside = [
        p for p in processes.all_processes() if (where := processes.folder(p.pid)) and where.is_relative_to(ground)
    ]
    processes.end(inside)
    trees.remove(ground)


def _owned(places: Places, accounts: Accounts) -> tuple[tuple[Path, int, Account], ...]:
    return (places.agent, 0o755, accounts.agent), (places.warehouse, 0o700, accounts.warehouse)


def exposed_folder(folder: Path, account: Account) -> Path | None:
    """Return the folder or one above it that others may write; a strict sshd takes no keys from there."""
    owners = {0, account.uid}
    parts = [folder.resolve(), *folder.resolve().parents]
    statuses = ((part, part.stat()) for part in parts)
    return next((part for part, s in statuses if s.st_uid not in owners or s.st_mode & 0o022), None)


def remove(places: Places) -> None:
    """Remove the state folder and the folder beside it."""
    for folder in {places.ground, places.state}:
        trees.remove(folder)


def _make_state(state: Path) -> None:
    try:
        state.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BootstrapError(
            f"{state} cannot be made.", where="state folder", why=str(error), todo="Set TEITEN_STATE to another folder."
        ) from None
    if state.stat().st_uid != os.geteuid():
        raise BootstrapError(
            f"{state} belongs to another user.",
            where="state folder",
            todo="Remove it as that user (make clean), or set TEITEN_STATE to another folder.",
        )
    if not (state / _MARKER).is_file() and any(state.iterdir()):
        raise BootstrapError(
            f"{state} holds files that are not Teiten's.",
            where="state folder",
            todo="Set TEITEN_STATE to a folder that is empty or does not exist.",
        )
    state.chmod(0o711)


def _short_hash(path: Path) -> str:
    return hashlib.sha256(str(path).encode()).hexdigest()[:10]
