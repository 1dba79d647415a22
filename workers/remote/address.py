"""The address of an agent and its directories. Pure; holds no secrets."""

from __future__ import annotations

from dataclasses import dataclass

from results.domain.matrix.clusters import variant
from results.domain.messages import gettext_lazy as _


@dataclass(frozen=True)
class Layout:
    """Storage places and processors of an agent's servers and jobs, for one attempt; '' for the usual ones.

    data: folder of the clusters
    wal, tablespace: folders for these alone
    cpus, job_cpus: processors of servers and of jobs, as lists for taskset
    apart: what else tells clusters apart
    """

    data: str = ""
    wal: str = ""
    tablespace: str = ""
    cpus: str = ""
    job_cpus: str = ""
    apart: tuple[str, ...] = ()

    @property
    def folders(self) -> dict[str, str]:
        """data, wal, tablespace → folder, of those that have a storage place."""
        parts = {"data": self.data, "wal": self.wal, "tablespace": self.tablespace}
        return {part: folder for part, folder in parts.items() if folder}

    @property
    def variant(self) -> tuple[str, ...]:
        """What tells clusters in one folder apart; () for usual ones."""
        return variant(self.folders, self.apart)


@dataclass(frozen=True)
class Address:
    """How to reach an agent, and which of its directories are Teiten's.

    user: '' for the account that the worker runs as
    key_path: private key; '' for ssh-agent and the account's default keys
    host_key: the accepted public key as an OpenSSH line ('ssh-ed25519 AAAA…'); '' where none is accepted yet
    jump: the jump host (bastion), if any
    data_dir: folder of clusters, absolute
    work_dir: folder of job directories, absolute
    search: where to look for PostgreSQL: roots, bin directories, or patterns such as /opt/pg*/bin
    places: further folders for clusters, absolute
    layout: of this attempt
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
    places: tuple[str, ...] = ()
    layout: Layout = Layout()

    @property
    def place(self) -> str:
        """The agent as error messages name it: 'agent db1 (10.0.0.5:22)'."""
        return _("agent {agent} ({host}:{port})", agent=self.name, host=self.host, port=self.port)

    @property
    def machine(self) -> str:
        """The machine's identity, the same for two agents on one machine: its host key."""
        return self.host_key or self.name

    @property
    def homes(self) -> tuple[str, ...]:
        """Every folder in which clusters may be."""
        return tuple(dict.fromkeys(home for home in (self.data_dir, *self.places) if home))
