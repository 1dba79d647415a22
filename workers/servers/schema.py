"""Dump the definitions of a database's tables from one server for another."""

from __future__ import annotations

import re

from results.domain.errors import CommandError, TrialError
from results.domain.messages import gettext_lazy as _
from workers.postgres.server import Server

# Lines that pg_dump writes for psql and servers of its own version, even where it dumps an older server.
_FOREIGN = re.compile(r"^(\\(un)?restrict .*|SET transaction_timeout = 0;)\n", re.MULTILINE)
_LIMIT_S = 600.0
_NO_SUCH_PROGRAM = 127


async def dump(server: Server, database: str, *options: str) -> str:
    """Return pg_dump's script for a database without its data, for a server of the same version.

    Raises TrialError where there is no pg_dump, CommandError with its message.

    options: further options of pg_dump
    """
    program = f"{server.installation.client_bin}/pg_dump"
    words = (program, "--schema-only", "--no-owner", "--no-publications", "--no-subscriptions", *options, database)
    try:
        result = await server.remote.run(*words, env=server.environment(local=True), timeout_s=_LIMIT_S)
    except CommandError as error:
        if error.exit_status != _NO_SUCH_PROGRAM:
            raise
        raise TrialError(
            _("Agent {agent} has no pg_dump.", agent=server.remote.address.name),
            where="arrange",
            why=_("There is none in {folder}, where psql is.", folder=server.installation.client_bin),
            todo=_("Install all of PostgreSQL's client programs."),
        ) from error
    return _FOREIGN.sub("", result.stdout)
