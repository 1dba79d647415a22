"""Clusters that stay on an agent: made once for each installation and initdb options, started with a trial's settings.

A cluster lives in `<data_dir>/clusters/<installation>-<hash>/`: `data` (PGDATA), `log`, `sock`, `port`, and `made`, a
marker that initdb came to its end. `data/teiten.conf`, included last, begins with the hash of all settings, by which
a running server is known to fit."""

from __future__ import annotations

import math
import posixpath
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from results.domain.errors import AgentError, CommandError, TrialError
from results.domain.matrix import InstallationRef
from results.domain.matrix.clusters import digest, folder_name, initdb_options
from workers.postgres.configuration import configuration, host_based_access
from workers.postgres.server import Server, did_not_start, name_of
from workers.remote.clock import SECONDS
from workers.remote.command import CommandResult
from workers.remote.connection import Remote

_HERE = Path(__file__).parent
FREE_PORT = (_HERE / "free_port.sh").read_text()
NO_REMOVAL = (_HERE / "no_removal.sh").read_text()
_ENSURE = SECONDS + FREE_PORT + NO_REMOVAL + (_HERE / "cluster_ensure.sh").read_text()
_STOP = SECONDS + (_HERE / "cluster_stop.sh").read_text()
STOP_S = 120.0  # the checkpoint at a server's end may write all of its buffers
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
    """A running server with exactly these settings, in one round trip: reused where it runs with them already,
    else restarted, started or made. listen: '' = its private socket only, else as listen_addresses; hba: further lines
    of pg_hba.conf. name: tells apart several clusters of one installation (roles of a topology).

    Raises TrialError with the tool's own words when initdb fails or the server does not start; none is left running."""
    directory = directory_of(remote, installation, initdb, name)
    sockets = socket_dir(directory)
    conf = configuration(settings or {}, socket_dir=sockets, listen=listen)
    access = host_based_access(hba)
    cpus = remote.address.layout.cpus
    hashed = digest(conf, access, cpus) if cpus else digest(conf, access)
    wal, patience = wal_dir(remote, directory), str(math.ceil(STOP_S))
    words = (installation.bin_dir, directory, sockets, hashed, conf, access, wal, cpus, patience)
    options = initdb_options(installation, initdb)
    result = await remote.script(_ENSURE, *words, *options, check=False, timeout_s=900)
    if result.exit_status != 0:
        raise _failure(remote, installation, result)
    how, port, ended = result.stdout.split()[-3:]
    return Server(
        remote=remote,
        installation=installation,
        data_dir=f"{directory}/data",
        port=int(port),
        socket_dir=sockets,
        host=_host(remote, listen) or sockets,
        how=how,
        forced=Stopped(f"{directory}/data", ended, STOP_S).forced,
    )


@dataclass(frozen=True)
class Stopped:
    """A server that ran. how: fast, as asked; immediate or killed, where it did not end in patience_s."""

    data_dir: str
    how: str
    patience_s: float

    @property
    def forced(self) -> str:
        """What was done to a server that did not end by itself, in words; '' where it did."""
        if self.how == "fast":
            return ""
        done = "stopped at once" if self.how == "immediate" else "killed"
        return f"The server in {self.data_dir} did not end within {self.patience_s:g} s and was {done}."


async def stop_others(remote: Remote, keep: Server | Sequence[Server] | None = None) -> list[Stopped]:
    """Stops every server below the agent's data directory and storage places but those kept. Raises CommandError."""
    words = [server.data_dir for server in ([keep] if isinstance(keep, Server) else keep or ())]
    return await _stop(remote, STOP_S, "but", words)


async def stop_but(remotes: Iterable[Remote], kept: Iterable[tuple[Remote, str]] = ()) -> list[Stopped]:
    """Stops every server of Teiten on these agents but those kept, each an agent and a data directory there: what an
    earlier trial left would take processors and memory from the load. Two agents may be one machine. Raises
    CommandError."""
    pairs = [(agent.address.machine, data_dir) for agent, data_dir in kept]
    stopped: list[Stopped] = []
    for remote in {remote.address.name: remote for remote in remotes}.values():
        words = [data_dir for machine, data_dir in pairs if machine == remote.address.machine]
        stopped += await _stop(remote, STOP_S, "but", words)
    return stopped


async def stop(server: Server, patience_s: float = STOP_S) -> Stopped | None:
    """Stops one server, whatever state it is in; None where it does not run. Raises CommandError."""
    return next(iter(await _stop(server.remote, patience_s, "only", [server.data_dir])), None)


async def _stop(remote: Remote, patience_s: float, which: str, words: Sequence[str]) -> list[Stopped]:
    stopped: list[Stopped] = []
    for home in remote.address.homes:
        answer = await remote.script(
            _STOP, f"{home}/clusters", str(math.ceil(patience_s)), which, *words, timeout_s=patience_s + 60
        )
        ended = [line.partition(" ") for line in answer.stdout.splitlines()]
        stopped += [Stopped(data_dir, how, patience_s) for how, _, data_dir in ended]
    return stopped


async def drop(remote: Remote, server: Server) -> None:
    """Stops the server and removes its cluster with all data, wherever they lie, whatever state it is in. Raises
    CommandError."""
    try:
        await server.stop("immediate")
    finally:
        await remote.remove(posixpath.dirname(server.data_dir))
        for home in remote.address.homes:
            for kind in ("wal", "tablespaces"):
                await remote.remove(f"{home}/{kind}/{server.cluster_name}")


def directory_of(remote: Remote, installation: InstallationRef, initdb: Sequence[str], name: str = "") -> str:
    """Where the cluster of this installation and these initdb options lives. Raises AgentError without a data_dir."""
    if not remote.address.data_dir:
        raise AgentError(
            "The agent has no data directory.", where=remote.address.place, todo="Set its data directory in Teiten."
        )
    layout = remote.address.layout
    folder = folder_name(installation, name, initdb, layout.variant)
    return f"{layout.data or remote.address.data_dir}/clusters/{folder}"


def wal_dir(remote: Remote, directory: str) -> str:
    """Where the cluster's WAL lies; '' = in its own directory."""
    wal = remote.address.layout.wal
    return f"{wal}/wal/{name_of(directory)}" if wal else ""


def socket_dir(directory: str) -> str:
    """Where the sockets of what lives in a directory lie: inside, unless the path would be too long for a socket."""
    inside = f"{directory}/sock"
    fits = len((inside + _SOCKET_FILE).encode()) <= _LONGEST_SOCKET
    return inside if fits else f"/tmp/teiten-{digest(directory, length=12)}"


def _host(remote: Remote, listen: str) -> str:
    first = listen.split(",")[0].strip()
    return remote.address.host if first in ("*", "0.0.0.0", "::") else first


def _failure(remote: Remote, installation: InstallationRef, result: CommandResult) -> TrialError | CommandError:
    if result.exit_status == 4:
        return did_not_start(installation, remote, result.stderr)
    if result.exit_status == 3:
        return TrialError(
            f"initdb of PostgreSQL {installation.name} failed on {remote.address.name}.",
            where=remote.phase or "prepare",
            why=result.stderr.strip()[-1200:],
            todo="Look at the initdb options of the plan, the space left, and the agent's account (never root).",
        )
    return CommandError(
        f"The cluster of PostgreSQL {installation.name} could not be readied.",
        command=result.command,
        exit_status=result.exit_status,
        stdout=result.stdout,
        stderr=result.stderr,
        host=remote.address.place,
    )
