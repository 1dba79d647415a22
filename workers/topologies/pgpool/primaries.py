"""Several primaries with the same data, for native replication."""

from __future__ import annotations

from pathlib import Path

from results.domain.errors import TrialError
from results.domain.messages import gettext_lazy as _
from results.domain.secrets import masked_end
from workers.interfaces import Stage
from workers.postgres import cluster, password
from workers.servers import access, contents
from workers.servers.nodes import all_of, stop_others

from .spec import POOLER, SPEC

_COPY = (Path(__file__).parent / "copy.sh").read_text()


async def start(stage: Stage, connection: str) -> None:
    """Start every server as a primary, all with one password, and stop all other servers of Teiten on the agents.
    Raises TrialError with the server's message."""
    nodes = stage.spec.servers
    pooler = [node for node in stage.spec.nodes if node == POOLER]

    async def start_node(node: str) -> bool:
        peers = (*pooler, *nodes[1:]) if node == "primary" else pooler
        listen, lines = access.listening(stage, node, peers, connection)
        stage.servers[node] = await cluster.ensure(
            stage.agents[node],
            stage.installation(node),
            initdb=stage.spec.initdb,
            settings=stage.spec.settings,
            listen=listen,
            hba=lines,
            name=SPEC.cluster_name(stage.spec.topology_parameters, node),
        )
        return bool(listen)

    listening = dict(zip(nodes, await all_of(start_node(node) for node in nodes), strict=True))
    stage.servers = {node: stage.servers[node] for node in nodes}
    await stop_others(stage, [(server.remote, server.data_dir) for server in stage.servers.values()])
    if any(listening.values()):
        for node in nodes[1:]:
            await password.share(stage.primary, stage.servers[node])
    for node in nodes:
        if listening[node]:
            await access.hand_out(stage, node)


async def copy(stage: Stage) -> None:
    """Compare every server's trial database with the primary's, and copy it where it differs. Raises TrialError with
    the tools' messages."""
    nodes = stage.spec.servers
    digests = await contents.read_all(stage, nodes, digest=True)
    stale = [node for node in nodes if digests[node] != digests["primary"]]
    await all_of(_copy(stage, node) for node in stale)
    digests |= await contents.read_all(stage, stale, digest=True)
    stage.recorder.note("copies", {node: "copied" if node in stale else "kept" for node in nodes[1:]})
    contents.record(stage, digests)


async def _copy(stage: Stage, node: str) -> None:
    remote, server = stage.agents[node], stage.servers[node]
    arguments = (server.installation.client_bin, stage.database, server.socket_dir, str(server.port))
    result = await remote.script(_COPY, *arguments, env=await _reach(stage, node), check=False, timeout_s=None)
    if result.exit_status != 0:
        raise TrialError(
            _("The data of {node} could not be copied from the primary.", node=node),
            where="arrange",
            why=masked_end(result.stderr, 1200),
            todo=_("Check the free disk space, and that the agents reach each other's servers."),
        )


async def _reach(stage: Stage, node: str) -> dict[str, str]:
    """Return libpq's environment variables by which the node's agent reaches the primary."""
    remote, source = stage.agents[node], stage.primary
    if remote.address.name == stage.agents["primary"].address.name:
        return source.environment(local=True)
    file = f"{stage.job_dir(remote)}/pgpass-source"
    await password.hand_to(remote, source, file)
    return source.environment() | {"PGPASSFILE": file}
