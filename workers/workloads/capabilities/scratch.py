"""Temporary clusters: created for one attempt on the primary's agent, and removed at its end whatever happens."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from results.domain.errors import CommandError
from workers.interfaces import Stage
from workers.postgres import cluster
from workers.postgres.server import Server
from workers.remote.clock import SECONDS
from workers.remote.connection import ENTER
from workers.workloads.capabilities.access_method import FIRST_WITH_ACCESS_METHODS, SQL, AccessMethod
from workers.workloads.capabilities.database import Database

_DROP = SECONDS + ENTER + (Path(__file__).parent / "scratch_drop.sh").read_text()
_MARK = "+scratch+"  # in no name of an installation
_DROP_S = 60.0
# Sizes that fit beside the trial's own server, what replication needs, and nothing that would make an answer depend on
# the plan. fsync: a killed process loses nothing that the operating system has.
_SETTINGS = {
    "shared_buffers": "64MB",
    "huge_pages": "off",
    "fsync": "off",
    "synchronous_commit": "on",
    "autovacuum": "off",
    "archive_mode": "off",
    "statement_timeout": "0",
    "lock_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
    "default_transaction_isolation": "read committed",
    "default_transaction_read_only": "off",
    "log_min_messages": "warning",
    "log_error_verbosity": "default",
    "wal_level": "logical",
    "hot_standby": "on",
    "max_wal_senders": "10",
    "max_replication_slots": "10",
    "max_worker_processes": "16",
    "max_parallel_workers": "8",
    "max_logical_replication_workers": "4",
    "synchronous_standby_names": "",
    "restart_after_crash": "on",
}


class Scratch:
    """The temporary clusters of one attempt. Their directories contain its name. Those that dead attempts left are
    removed at the beginning, when this attempt alone has the agent."""

    def __init__(self, stage: Stage, method: AccessMethod) -> None:
        self.method = method
        self.spec = stage.spec
        self.remote = stage.primary.remote
        self._running: dict[str, Server] = {}
        self._mark = f"{_MARK}{stage.job_name}-"
        self._initdb = tuple(dict.fromkeys((*stage.spec.initdb, "--no-sync")))

    async def __aenter__(self) -> Scratch:
        await self._remove(_MARK)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._remove(self._mark)

    async def server(self, role: str, settings: Mapping[str, str] | None = None) -> Server:
        """Return the cluster of this role, created and started where there is none, with the access method. Raises
        TrialError with the server's message when it does not start."""
        if role not in self._running:
            server = await self.start(role, settings)
            await self.method.make(server, "template1")
            self._running[role] = server
        return self._running[role]

    async def start(self, role: str, settings: Mapping[str, str] | None = None) -> Server:
        """Start the cluster in this role's directory, with these settings beyond the plan's. Raises TrialError with the
        server's message."""
        return await cluster.ensure(
            self.remote,
            self.spec.installation,
            initdb=self._initdb,
            settings={**self.spec.settings, **_SETTINGS, **(settings or {})},
            name=self._name(role),
        )

    def directory(self, role: str) -> str:
        """Return the directory of this role's cluster; its data directory is `data` in it."""
        return cluster.directory_of(self.remote, self.spec.installation, self._initdb, self._name(role))

    async def database(self, server: Server, name: str) -> Database:
        """Create a database whose tables are stored by the access method. Raises CommandError."""
        before = server.installation.version_num < FIRST_WITH_ACCESS_METHODS
        script = SQL["database before 12" if before else "database"]
        await server.execute(script, variables={"database": name, "name": self.method.name})
        return Database(server, name)

    async def drop_database(self, database: Database) -> bool:
        """Drop a database; False where the server fails to."""
        try:
            await database.server.execute(SQL["drop"], variables={"database": database.name}, timeout_s=_DROP_S)
        except CommandError:
            return False
        return True

    async def drop(self, role: str) -> None:
        """End and remove the cluster of this role and those whose names begin with it (`role-standby`)."""
        self._running.pop(role, None)
        await self._remove(f"{self._mark}{role}-")

    def _name(self, role: str) -> str:
        return f"{self._mark}{role}"

    async def _remove(self, mark: str) -> None:
        await self.remote.script(_DROP, f"{self.remote.address.data_dir}/clusters", mark, timeout_s=600)
