"""Clusters that stay on an agent: made once for each installation and initdb options, started with a trial's settings.

A cluster lives in `<data_dir>/clusters/<installation>-<hash>/`: `data` (PGDATA), `log`, `sock`, `port`, and `made`, a
marker that initdb succeeded. `data/teiten.conf`, included last, begins with the hash of all settings, by which a
running server is recognized as usable."""

from __future__ import annotations

import math
import posixpath
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from results.domain.errors import AgentError, CommandError, TrialError
from results.domain.matrix import InstallationRef
from results.domain.matrix.clusters import digest, folder_name, initdb_options
from results.domain.messages import gettext_lazy as _
from results.domain.secrets import masked_end
from workers.postgres.configuration import configuration, host_based_access
from workers.postgres.server import RECOVERS, Server, start_error, unique_name
from workers.remote.clock import SECONDS
from workers.remote.command import CommandResult
from workers.remote.connection import ENTER, Remote, link_error

_HERE = Path(__file__).parent
FREE_PORT = (_HERE / "free_port.sh").read_text()
NO_REMOVAL = ENTER + (_HERE / "no_removal.sh").read_text()
_ENSURE = SECONDS + RECOVERS + FREE_PORT + NO_REMOVAL + (_HERE / "cluster_ensure.sh").read_text()
_STOP = SECONDS + RECOVERS + (_HERE / "cluster_stop.sh").read_text()
LINKED = 5  # the exit status of scripts that make clusters where there is a link on the way
_FOREIGN_SOCKETS = 6
STOP_S = 120.0  # the shutdown checkpoint may write all buffers
_LONGEST_SOCKET = 100  # bytes; the kernel's limit is 107
_SOCKET_FILE = "/.s.PGSQL.65535"


async def ensure(
    remote: Remote,
    installation: InstallationRef,
    *,
    initdb: Sequence[str] = (),
    settings: Mapping[str, str] | None = None,
    listen: str = "",
    hba: Sequence[str] = (),
    name: str = "",
) -> Server:
    """Return a running server with exactly these settings, in one round trip.

    It is reused where it runs with them already, else restarted, started or made. Raises TrialError with the tool's
    message where initdb fails or the server does not start; then none is left running. Raises AgentError where a link
    lies on the way to its files.

    listen: as listen_addresses; '' for its private socket only
    hba: further lines of pg_hba.conf
    name: tells apart several clusters of one installation (roles of a topology)
    """
    directory = directory_of(remote, installation, initdb, name)
    sockets = socket_dir(remote, directory)
    conf = configuration(settings or {}, socket_dir=sockets, listen=listen)
    access = host_based_access(hba)
    cpus = remote.address.layout.cpus
    settings_hash = digest(conf, access, cpus) if cpus else digest(conf, access)
    wal, patience = wal_dir(remote, directory), str(math.ceil(STOP_S))
    words = (installation.bin_dir, directory, sockets, settings_hash, conf, access, wal, cpus, patience)
    options = initdb_options(installation, initdb)
    result = await remote.script(_ENSURE, *words, *options, check=False, timeout_s=900)
    if result.exit_status != 0:
        raise _error(remote, installation, result, directory)
    how, port, ended = result.stdout.split()[-3:]
    return Server(
        remote=remote,
        installation=installation,
        data_dir=f"{directory}/data",
        port=int(port),
        socket_dir=sockets,
        host=_client_host(remote, listen) or sockets,
        how=how,
        forced=StoppedServer(f"{directory}/data", ended, STOP_S).forced,
    )


@dataclass(frozen=True)
class StoppedServer:
    """A server that ran and was stopped.

    how: fast; immediate or killed, where it did not end within patience_s
    """

    data_dir: str
    how: str
    patience_s: float

    @property
    def forced(self) -> str:
        """A sentence for a server that had to be forced to stop; '' for one that stopped by itself."""
        if self.how == "fast":
            return ""
        values = {"folder": self.data_dir, "seconds": self.patience_s}
        if self.how == "immediate":
            return _("The server in {folder} did not end within {seconds:g} s and was stopped at once.", **values)
        return _("The server in {folder} did not end within {seconds:g} s and was killed.", **values)


async def stop_others(remote: Remote, keep: Server | Sequence[Server] | None = None) -> list[StoppedServer]:
    """Stop every server below the agent's data directory and storage places but those to keep. Raises CommandError."""
    words = [server.data_dir for server in ([keep] if isinstance(keep, Server) else keep or ())]
    return await _stop(remote, STOP_S, "but", words)


async def stop_all_but(remotes: Iterable[Remote], kept: Iterable[tuple[Remote, str]] = ()) -> list[StoppedServer]:
    """Stop every server of Teiten on these agents but those kept, lest they take processors and memory from the load.

    Two agents may be one machine. Raises CommandError.

    kept: an agent and a data directory there, for each
    """
    pairs = [(agent.address.machine, data_dir) for agent, data_dir in kept]
    stopped: list[StoppedServer] = []
    for remote in {remote.address.name: remote for remote in remotes}.values():
        words = [data_dir for machine, data_dir in pairs if machine == remote.address.machine]
        stopped += await _stop(remote, STOP_S, "but", words)
    return stopped


async def stop(server: Server, patience_s: float = STOP_S) -> StoppedServer | None:
    """Stop one server, whatever state it is in; return None where it did not run. Raises CommandError."""
    return next(iter(await _stop(server.remote, patience_s, "only", [server.data_dir])), None)


async def _stop(remote: Remote, patience_s: float, which: str, words: Sequence[str]) -> list[StoppedServer]:
    stopped: list[StoppedServer] = []
    for home in remote.address.homes:
        answer = await remote.script(
            _STOP, f"{home}/clusters", str(math.ceil(patience_s)), which, *words, timeout_s=patience_s + 60
        )
        ended = [line.partition(" ") for line in answer.stdout.splitlines()]
        stopped += [StoppedServer(data_dir, how, patience_s) for how, _space, data_dir in ended]
    return stopped


async def drop(remote: Remote, server: Server) -> None:
    """Stop the server, whatever state it is in, and remove its cluster with all data. Raises CommandError."""
    try:
        await server.stop("immediate")
    finally:
        await remote.remove(posixpath.dirname(server.data_dir))
        for home in remote.address.homes:
            for kind in ("wal", "tablespaces"):
                await remote.remove(f"{home}/{kind}/{server.cluster_name}")


def directory_of(remote: Remote, installation: InstallationRef, initdb: Sequence[str], name: str = "") -> str:
    """Return the directory of the cluster of this installation and these initdb options.

    Raises AgentError where the agent has no data directory.
    """
    if not remote.address.data_dir:
        raise AgentError(
            _("The agent has no data directory."),
            where=remote.address.place,
            todo=_("Set its data directory in Teiten."),
        )
    layout = remote.address.layout
    folder = folder_name(installation, name, initdb, layout.variant)
    return f"{layout.data or remote.address.data_dir}/clusters/{folder}"


def wal_dir(remote: Remote, directory: str) -> str:
    """Return the folder of the cluster's WAL; '' where it is in the cluster's directory."""
    wal = remote.address.layout.wal
    return f"{wal}/wal/{unique_name(directory)}" if wal else ""


def socket_dir(remote: Remote, directory: str) -> str:
    """Return the folder for sockets: inside the directory, unless the path would be too long for a socket.

    Then it is the account's own in /tmp: another account's may outlive the directory that it was made for.
    """
    inside = f"{directory}/sock"
    fits = len((inside + _SOCKET_FILE).encode()) <= _LONGEST_SOCKET
    # cluster_ensure.sh uses it only where it belongs to the account, and no link stands in its place.
    return inside if fits else f"/tmp/teiten-{digest(remote.address.user, directory, length=12)}"  # noqa: S108


def _client_host(remote: Remote, listen: str) -> str:
    first = listen.split(",")[0].strip()
    return remote.address.host if first in ("*", "0.0.0.0", "::") else first  # noqa: S104  # compared with


def _error(
    remote: Remote, installation: InstallationRef, result: CommandResult, directory: str
) -> AgentError | TrialError:
    if result.exit_status == LINKED:
        return link_error(remote, directory, result.stderr, "work")
    if result.exit_status == _FOREIGN_SOCKETS:
        return AgentError(
            _(
                "The folder {folder}, which the server needs for its socket, is refused.",
                folder=socket_dir(remote, directory),
            ),
            where=remote.address.place,
            why=_("It belongs to another account, or is a link: {error}.", error=masked_end(result.stderr)),
            todo=_(
                "Find out who made it, then remove it on the agent; or give the agent a data directory with a shorter "
                "path, whose sockets lie in itself."
            ),
        )
    if result.exit_status == 4:
        return start_error(installation, remote, result.stderr)
    if result.exit_status == 3:
        return TrialError(
            _(
                "initdb of PostgreSQL {installation} failed on {agent}.",
                installation=installation.name,
                agent=remote.address.name,
            ),
            where=remote.phase or "prepare",
            why=masked_end(result.stderr, 1200),
            todo=_("Look at the initdb options of the plan, the space left, and the agent's account (never root)."),
        )
    return CommandError(
        _("The cluster of PostgreSQL {installation} could not be prepared.", installation=installation.name),
        command=result.command,
        exit_status=result.exit_status,
        stdout=result.stdout,
        stderr=result.stderr,
        host=remote.address.place,
    )
