"""The password of a server that is reached by TCP: made on the server's agent, one for each cluster.

It lies in the cluster's directory (`password`, for the agent's account alone) and, while an attempt runs, in a file for
libpq on the client's agent. It is never part of a command, a log or a bundle."""

from __future__ import annotations

import posixpath
from dataclasses import replace
from pathlib import Path

from workers.postgres.configuration import FIRST_WITH_SCRAM
from workers.postgres.server import SUPERUSER, Server
from workers.remote.connection import Remote

_HERE = Path(__file__).parent
_FIND = (_HERE / "password.sh").read_text()
_GIVE = (_HERE / "password.sql").read_text()


async def handed_to(client: Remote, server: Server, path: str, port: int | None = None) -> Server:
    """The server as a client knows it that finds the password in the file `path` on its own agent: written here, for
    the account alone. port: of another server with the same password, as a standby has it. Raises CommandError."""
    password = await password_of(server)
    # Any host: an address of version 6 holds the colons that separate fields.
    await client.put(path, f"*:{port or server.port}:*:{SUPERUSER}:{password}\n", 0o600, secret=True)
    return replace(server, password_file=path)


async def password_of(server: Server) -> str:
    """The superuser's password, made where there is none yet. Raises CommandError."""
    directory = posixpath.dirname(server.data_dir)
    found = (await server.remote.script(_FIND, directory)).stdout.strip()
    if not found:
        await _give(server)
        found = (await server.remote.get(f"{directory}/password")).decode().strip()
    return found


async def share(source: Server, server: Server) -> None:
    """Gives a server the password of another. Raises CommandError."""
    new = f"{posixpath.dirname(server.data_dir)}/password.new"
    await server.remote.put(new, await password_of(source), 0o600, secret=True)
    await _give(server)


async def _give(server: Server) -> None:
    """The password that lies in `password.new` becomes the superuser's."""
    directory = posixpath.dirname(server.data_dir)
    scram = server.installation.version_num >= FIRST_WITH_SCRAM
    new = f"{directory}/password.new"
    await server.execute(_GIVE, variables={"file": new, "encryption": "scram-sha-256" if scram else "on"})
    # Only now: a file that is there is the server's password.
    await server.remote.run("mv", "-f", "--", new, f"{directory}/password")
