"""Asking the server of a trial itself, once the trial is over, and spoiling the data that the next one finds."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from results import models
from results.domain.matrix import InstallationRef, find_installation
from workers.postgres import cluster
from workers.postgres.server import Server
from workers.remote.address import Address
from workers.remote.connection import connected

T = TypeVar("T")
_PATIENCE_S = 120
_SESSIONS = """
SELECT pid FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type IN ('client backend', 'parallel worker')
"""


@dataclass(frozen=True)
class Afterwards:
    """The trials' clusters on the agent. version: of the installation. settings: as the trial's, or the server
    restarts."""

    address: Address
    installations: Sequence[InstallationRef]

    def query(self, version: str, sql: str, database: str = "bench") -> list[dict[str, Any]]:
        """Rows of one SELECT, asked once the trial's sessions have ended: only then they hand in all they counted."""

        async def ask(server: Server) -> list[dict[str, Any]]:
            async with asyncio.timeout(_PATIENCE_S):
                while await server.query(_SESSIONS, database=database):
                    await asyncio.sleep(0.05)
            return await server.query(sql, database=database)

        return self._with(version, {}, ask)

    def run_psql(self, version: str, script: str, database: str, settings: Mapping[str, str]) -> str:
        """Runs a psql script; what it printed."""
        return self._with(version, settings, lambda server: server.execute(script, database=database))

    @contextmanager
    def spoiled(
        self, attempt: models.Attempt, version: str, script: str, *, mend: str = "", **settings: str
    ) -> Iterator[None]:
        """Runs a script on the data that the attempt leaves to the next ones (policy reuse); afterwards `mend`, and the
        data are dropped: no other test may find them."""
        database = attempt.notes["data"]["database"]
        self.run_psql(version, script, database, settings)
        try:
            yield
        finally:
            self.run_psql(version, mend, database, settings)
            self.run_psql(version, f"DROP DATABASE {database};", "postgres", settings)

    def _with(self, version: str, settings: Mapping[str, str], work: Callable[[Server], Awaitable[T]]) -> T:
        installation = find_installation(version, self.installations)
        assert installation is not None

        async def done() -> T:
            async with connected(self.address) as remote:
                return await work(await cluster.ensure(remote, installation, settings=settings))

        return asyncio.run(done())
