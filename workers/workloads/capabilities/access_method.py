"""The table access method on trial: how the trial's server came by it, and the same in clusters of one's own."""

from __future__ import annotations

from dataclasses import dataclass

from results.domain.errors import VerifyError
from workers.interfaces import Stage
from workers.postgres.server import Server
from workers.workloads.capabilities.sections import sections

FIRST_WITH_ACCESS_METHODS = 120000
SQL = sections(__file__)
_BUILT_IN = "pg_catalog"


@dataclass(frozen=True)
class AccessMethod:
    """name: as in pg_am. extension: the one that brings it; '' when it is built in, or made of a handler that is."""

    name: str
    schema: str = _BUILT_IN
    handler: str = ""
    extension: str = ""

    async def make(self, server: Server, database: str) -> None:
        """Sees to it that a database has it. Raises CommandError."""
        if server.installation.version_num >= FIRST_WITH_ACCESS_METHODS:
            await server.execute(SQL["make"], database=database, variables=vars(self))


async def on_trial(stage: Stage) -> AccessMethod:
    """The access method that the plan asks for, else the server's default one. Raises VerifyError where the server
    lacks it, or where no other cluster could be given it."""
    server, wanted = stage.primary, stage.spec.access_method
    if server.installation.version_num < FIRST_WITH_ACCESS_METHODS:
        if wanted in ("", "heap"):
            return AccessMethod("heap")
        raise _lacking(stage, "Table access methods exist since PostgreSQL 12.")
    rows = await server.query(SQL["definition"], database=stage.database, variables={"name": wanted})
    if not rows:
        raise _lacking(stage, "pg_am does not name it among the table access methods.")
    found = AccessMethod(**rows[0])
    if not found.extension and found.schema != _BUILT_IN:
        raise VerifyError(
            f"The access method {found.name} cannot be made in another cluster.",
            where="access_method",
            why=f"Its handler {found.schema}.{found.handler} belongs to no extension and is not built in.",
            todo="Make it an extension: the checks run in clusters of their own.",
        )
    return found


def _lacking(stage: Stage, why: str) -> VerifyError:
    return VerifyError(
        f"PostgreSQL {stage.spec.installation.name} has no table access method {stage.spec.access_method}.",
        where="access_method",
        why=why,
        todo="Choose one that the installation has: its agent's page lists them.",
    )
