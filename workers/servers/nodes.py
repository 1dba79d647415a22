"""The nodes of a topology: start them at once, each a cluster of its own; connect them; wait for their states."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Mapping
from typing import Any, TypeVar

from results.domain.kinds import specs
from workers.interfaces import Stage
from workers.postgres import cluster, password
from workers.postgres.server import Server
from workers.remote.connection import Remote
from workers.servers import access

T = TypeVar("T")
_POLL_S = 0.05


def cluster_name(stage: Stage, node: str) -> str:
    """Return the name by which clusters of topologies and their nodes are told apart."""
    return specs.cluster_name(stage.spec.topology, node)


def directory_of(stage: Stage, node: str) -> str:
    """Return the cluster's directory of a node."""
    return cluster.directory_of(
        stage.agents[node], stage.installation(node), stage.spec.initdb, cluster_name(stage, node)
    )


async def start(
    stage: Stage, settings: Mapping[str, Mapping[str, str]], peers: Mapping[str, Collection[str]], connection: str
) -> list[str]:
    """Start a server for each node, put them into `stage.servers`, and stop every other server of Teiten on the agents.

    Returns the nodes that listen on TCP, whose clients need a password (`access.hand_out`). Raises VerifyError, and
    TrialError with the server's message.

    settings: node → settings, which the plan's settings override
    peers: node → the nodes that connect to it
    """

    async def start_node(node: str) -> tuple[Server, bool]:
        listen, lines = access.listening(stage, node, peers.get(node, ()), connection)
        server = await cluster.ensure(
            stage.agents[node],
            stage.installation(node),
            initdb=stage.spec.initdb,
            settings={**settings[node], **stage.spec.settings},
            listen=listen,
            hba=lines,
            name=cluster_name(stage, node),
        )
        return server, bool(listen)

    nodes = stage.spec.servers
    started = dict(zip(nodes, await all_of(start_node(node) for node in nodes), strict=True))
    stage.servers.update({node: server for node, (server, _) in started.items()})
    await stop_others(stage, [(server.remote, server.data_dir) for server in stage.servers.values()])
    return [node for node, (_, listens) in started.items() if listens]


async def stop_others(stage: Stage, kept: Iterable[tuple[Remote, str]] = ()) -> None:
    """Stop every server of Teiten on the stage's agents but those kept (`cluster.stop_all_but`).

    One that had to be forced is recorded as a gap. Raises CommandError.
    """
    nodes = {server.data_dir: node for node, server in stage.servers.items()}
    for stopped in await cluster.stop_all_but(stage.agents.values(), kept):
        if stopped.forced:
            stage.recorder.gap("server", nodes.get(stopped.data_dir, ""), stopped.forced)


async def reach(stage: Stage, node: str, other: str, source: str = "") -> dict[str, str]:
    """Return the libpq variables by which programs on one node's agent reach the server of another node.

    Raises CommandError.

    source: the node whose cluster has that server's password, where its data are a copy of it
    """
    remote, server = stage.agents[node], stage.servers[other]
    if remote.address.name == stage.agents[other].address.name:
        return server.environment(local=True)
    file = f"{directory_of(stage, node)}/password-of-{other}"
    await password.hand_to(remote, stage.servers[source or other], file, port=server.port)
    return server.environment() | {"PGPASSFILE": file}


def conninfo(environment: Mapping[str, str], **more: str) -> str:
    """Return a connection string of libpq's variables and further keywords, without empty ones."""
    keywords = {
        "host": environment["PGHOST"],
        "port": environment["PGPORT"],
        "user": environment["PGUSER"],
        "passfile": environment.get("PGPASSFILE", ""),
        **more,
    }
    return " ".join(f"{name}='{_escaped(value)}'" for name, value in keywords.items() if value)


async def wait_until(
    read_state: Callable[[], Awaitable[T]], is_done: Callable[[T], bool], patience_s: float
) -> tuple[bool, T]:
    """Read a state until it is the expected one, or has not changed for patience_s.

    Returns whether it is the expected one, and the last state.
    """
    previous: object = None
    changed_s = time.monotonic()
    while True:
        state = await read_state()
        if is_done(state):
            return True, state
        if state != previous:
            previous, changed_s = state, time.monotonic()
        if time.monotonic() - changed_s > patience_s:
            return False, state
        await asyncio.sleep(_POLL_S)


async def all_of(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Run all of it at once and to its end, then raise the first failure.

    Were others cancelled at the first failure, a server could still start after the teardown.
    """
    results: list[T] = []
    for result in await asyncio.gather(*work, return_exceptions=True):
        if isinstance(result, BaseException):
            raise result
        results.append(result)
    return results


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("'", "\\'")
