"""The password of a server that clients reach by TCP: made on the server's agent, one for each cluster.

It is stored in the cluster's directory (`password`, readable for the agent's account alone) and, while an attempt runs,
in a file for libpq on the client's agent. It is never part of a command, a log or a bundle."""

from __future__ import annotations

import posixpath
from dataclasses import replace
from pathlib import Path

from workers.postgres.configuration import FIRST_WITH_SCRAM
from workers.postgres.server import SUPERUSER, Server
from workers.remote.connection import Remote

_HERE = Path(__file__).parent
_FIND = (_HERE / "password.sh").read_text()
_SET = (_HERE / "password.sql").read_text()


async def hand_to(client: Remote, server: Server, path: str, port: int | None = None) -> Server:
    """Write the server's password file for libpq on a client's agent; return the server with that file.

    Raises CommandError.

    path: of the file, readable for the client's account alone
    port: of another server with the same password, as a standby has it
    """
    password = await password_of(server)
    # Any host, since an IPv6 address contains the colons that separate fields.
    await client.put(path, f"*:{port or server.port}:*:{SUPERUSER}:{password}\n", 0o600, secret=True)
    return replace(server, password_file=path)


async def password_of(server: Server) -> str:
    """Return the superuser's password, made where there is none yet. Raises CommandError."""
    directory = posixpath.dirname(server.data_dir)
    password = (await server.remote.script(_FIND, directory)).stdout.strip()
    if not password:
        await _set(server)
        password = (await server.remote.get(f"{directory}/password")).decode().strip()
    return password


async def share(source: Server, server: Server) -> None:
    """Set a server's password to that of another server. Raises CommandError."""
    new = f"{posixpath.dirname(server.data_dir)}/password.new"
    await server.remote.put(new, await password_of(source), 0o600, secret=True)
    await _set(server)


async def _set(server: Server) -> None:
    """Make the password in the file `password.new` the superuser's."""
    directory = posixpath.dirname(server.data_dir)
    scram = server.installation.version_num >= FIRST_WITH_SCRAM
    new = f"{directory}/password.new"
    await server.execute(_SET, variables={"file": new, "encryption": "scram-sha-256" if scram else "on"})
    # Last, so that the file always holds the server's present password.
    await server.remote.run("mv", "-f", "--", new, f"{directory}/password")
