"""The definitions of a database's tables, taken from one server for another."""

from __future__ import annotations

import re

from results.domain.errors import CommandError, TrialError
from workers.postgres.server import Server

# What pg_dump writes for its own psql and for its own version's servers, whichever server the dump is of.
_FOREIGN = re.compile(r"^(\\(un)?restrict .*|SET transaction_timeout = 0;)\n", re.MULTILINE)
_LIMIT_S = 600.0
_NO_SUCH_PROGRAM = 127


async def dumped(server: Server, database: str, *options: str) -> str:
    """What pg_dump says of a database, without its data, as a script for a server of the same version. options:
    further ones of pg_dump. Raises TrialError where there is no pg_dump, CommandError with its words."""
    program = f"{server.installation.client_bin}/pg_dump"
    words = (program, "--schema-only", "--no-owner", "--no-publications", "--no-subscriptions", *options, database)
    try:
        result = await server.remote.run(*words, env=server.environment(local=True), timeout_s=_LIMIT_S)
    except CommandError as error:
        if error.exit_status != _NO_SUCH_PROGRAM:
            raise
        raise TrialError(
            f"Agent {server.remote.address.name} has no pg_dump.",
            where="arrange",
            why=f"There is none in {server.installation.client_bin}, where psql is.",
            todo="Install PostgreSQL's client programs whole.",
        ) from error
    return _FOREIGN.sub("", result.stdout)
