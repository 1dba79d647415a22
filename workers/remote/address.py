"""How to reach an agent. Pure; holds no secrets."""

from __future__ import annotations

from dataclasses import dataclass

from results.domain.matrix.clusters import variant


@dataclass(frozen=True)
class Layout:
    """Where and how servers are to live on an agent, for one attempt. '' = as ever.

    data: folder of the clusters. wal, tablespace: folders for these alone. cpus: of servers, job_cpus: of jobs, as
    taskset lists them. apart: what else tells clusters apart."""

    data: str = ""
    wal: str = ""
    tablespace: str = ""
    cpus: str = ""
    job_cpus: str = ""
    apart: tuple[str, ...] = ()

    @property
    def folders(self) -> dict[str, str]:
        """data, wal, tablespace → folder, of those that have one of their own."""
        parts = {"data": self.data, "wal": self.wal, "tablespace": self.tablespace}
        return {part: folder for part, folder in parts.items() if folder}

    @property
    def variant(self) -> tuple[str, ...]:
        """What clusters in one folder are told apart by; () as ever."""
        return variant(self.folders, self.apart)


@dataclass(frozen=True)
class Address:
    """Where an agent is and which of its directories are Teiten's.

    user: '' = the account that the worker runs as. key_path: '' = ssh-agent and the account's default keys.
    host_key: the accepted public key as an OpenSSH line ('ssh-ed25519 AAAA…'); '' = none accepted yet.
    data_dir: where clusters live, absolute. work_dir: where job directories live, absolute.
    search: where to look for PostgreSQL: roots, bin directories, or patterns such as /opt/pg*/bin.
    places: other folders in which clusters may live, absolute. layout: of this attempt.
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
        """Where an error happened, for reading: 'agent db1 (10.0.0.5:22)'."""
        return f"agent {self.name} ({self.host}:{self.port})"

    @property
    def machine(self) -> str:
        """What two agents on one machine have in common, however each is reached: its host key."""
        return self.host_key or self.name

    @property
    def homes(self) -> tuple[str, ...]:
        """Every folder in which clusters may live."""
        return tuple(dict.fromkeys(home for home in (self.data_dir, *self.places) if home))
