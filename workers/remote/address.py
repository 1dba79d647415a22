"""How to reach an agent. Pure; holds no secrets."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Address:
    """Where an agent is and which of its directories are Teiten's.

    user: '' = the account that the worker runs as. key_path: '' = ssh-agent and the account's default keys.
    host_key: the accepted public key as an OpenSSH line ('ssh-ed25519 AAAA…'); '' = none accepted yet.
    data_dir: where clusters live, absolute. work_dir: where job directories live, absolute.
    search: where to look for PostgreSQL: roots, bin directories, or patterns such as /opt/pg*/bin.
    """

    name: str
    host: str
    port: int = 22
    user: str = ""
    key_path: str = ""
    host_key: str = ""
    jump: Address | None = None
    data_dir: str = ""
    work_dir: str = ""
    search: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """Where an error happened, for reading: 'agent db1 (10.0.0.5:22)'."""
        return f"agent {self.name} ({self.host}:{self.port})"
