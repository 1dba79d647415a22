"""The nodes of an arrangement: started at once, each a cluster of its own; how one reaches another; patience."""

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
    """Tells the clusters of topologies and their nodes apart."""
    return specs.cluster_name(stage.spec.topology, node)


def directory_of(stage: Stage, node: str) -> str:
    """The cluster's directory of a node of this arrangement."""
    return cluster.directory_of(
        stage.agents[node], stage.installation(node), stage.spec.initdb, cluster_name(stage, node)
    )


async def start(
    stage: Stage, settings: Mapping[str, Mapping[str, str]], peers: Mapping[str, Collection[str]], connection: str
) -> list[str]:
    """A running server for each node, put into `stage.servers`; every other server of Teiten on the agents is stopped.
    settings: node → what it has set under the plan's own settings. peers: node → the nodes that connect to it. Returns
    those that listen, whose passwords may be handed out. Raises TrialError with the server's own words, VerifyError."""

    async def one(node: str) -> tuple[Server, bool]:
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
    started = dict(zip(nodes, await all_of(one(node) for node in nodes), strict=True))
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
    """How programs on the agent of one node reach the server of another: libpq's variables. source: the node whose
    cluster keeps that server's password, where its data comes from there. Raises CommandError."""
    remote, server = stage.agents[node], stage.servers[other]
    if remote.address.name == stage.agents[other].address.name:
        return server.environment(local=True)
    file = f"{directory_of(stage, node)}/password-of-{other}"
    await password.hand_to(remote, stage.servers[source or other], file, port=server.port)
    return server.environment() | {"PGPASSFILE": file}


def conninfo(environment: Mapping[str, str], **more: str) -> str:
    """A connection string of libpq's variables and further keywords; what is empty is left out."""
    words = {
        "host": environment["PGHOST"],
        "port": environment["PGPORT"],
        "user": environment["PGUSER"],
        "passfile": environment.get("PGPASSFILE", ""),
        **more,
    }
    return " ".join(f"{name}='{_escaped(value)}'" for name, value in words.items() if value)


async def patiently(ask: Callable[[], Awaitable[T]], fits: Callable[[T], bool], patience_s: float) -> tuple[bool, T]:
    """Asks until the answer fits, or has not changed for so long: whether it fits, and the last answer."""
    before: object = None
    since = time.monotonic()
    while True:
        state = await ask()
        if fits(state):
            return True, state
        if state != before:
            before, since = state, time.monotonic()
        if time.monotonic() - since > patience_s:
            return False, state
        await asyncio.sleep(_POLL_S)


async def all_of(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """All of it at once and to its end, whatever fails: a server that still starts would outlive the teardown. Then
    raises the first failure."""
    results: list[T] = []
    for one in await asyncio.gather(*work, return_exceptions=True):
        if isinstance(one, BaseException):
            raise one
        results.append(one)
    return results


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("'", "\\'")
