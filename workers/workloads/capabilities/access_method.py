"""The table access method on trial, and how to create it in the clusters of the checks."""

from __future__ import annotations

from dataclasses import dataclass

from results.domain.errors import VerifyError
from results.domain.messages import gettext_lazy as _
from workers.interfaces import Stage
from workers.postgres.server import Server
from workers.workloads.capabilities.sections import sections

FIRST_WITH_ACCESS_METHODS = 120000
SQL = sections(__file__)
_BUILT_IN = "pg_catalog"


@dataclass(frozen=True)
class AccessMethod:
    """A table access method.

    name: as in pg_am.
    schema: of its handler.
    handler: name of its handler function.
    extension: that provides it; '' where it, or its handler, is built in.
    """

    name: str
    schema: str = _BUILT_IN
    handler: str = ""
    extension: str = ""

    async def make(self, server: Server, database: str) -> None:
        """Create it in a database that does not have it. Raises CommandError."""
        if server.installation.version_num >= FIRST_WITH_ACCESS_METHODS:
            await server.execute(SQL["make"], database=database, variables=vars(self))


async def find_access_method(stage: Stage) -> AccessMethod:
    """Return the plan's access method, or the server's default one. Raises VerifyError where the server does not have
    it, or where it cannot be created in another cluster."""
    server, requested = stage.primary, stage.spec.access_method
    if server.installation.version_num < FIRST_WITH_ACCESS_METHODS:
        if requested in ("", "heap"):
            return AccessMethod("heap")
        raise _missing(stage, _("Table access methods exist since PostgreSQL 12."))
    rows = await server.query(SQL["definition"], database=stage.database, variables={"name": requested})
    if not rows:
        raise _missing(stage, _("pg_am does not name it among the table access methods."))
    method = AccessMethod(**rows[0])
    if not method.extension and method.schema != _BUILT_IN:
        raise VerifyError(
            _("The access method {name} cannot be made in another cluster.", name=method.name),
            where="access_method",
            why=_(
                "Its handler {handler} belongs to no extension and is not built in.",
                handler=f"{method.schema}.{method.handler}",
            ),
            todo=_("Make it an extension: the checks run in clusters of their own."),
        )
    return method


def _missing(stage: Stage, why: str) -> VerifyError:
    return VerifyError(
        _(
            "PostgreSQL {installation} has no table access method {name}.",
            installation=stage.spec.installation.name,
            name=stage.spec.access_method,
        ),
        where="access_method",
        why=why,
        todo=_("Choose one that the installation has: its agent's page lists them."),
    )
