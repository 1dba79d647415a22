"""Several primaries with the same data, for native replication."""

from __future__ import annotations

from pathlib import Path

from results.domain.errors import TrialError
from workers.interfaces import Stage
from workers.postgres import cluster, password
from workers.servers import access, contents
from workers.servers.nodes import all_of, stop_others

from .spec import POOLER, SPEC

_COPY = (Path(__file__).parent / "copy.sh").read_text()


async def start(stage: Stage, connection: str) -> None:
    """Every server runs for itself; all have one password. Every other server of Teiten on the agents is stopped.
    Raises TrialError with the server's own words."""
    nodes = stage.spec.servers
    asked = [node for node in stage.spec.nodes if node == POOLER]

    async def one(node: str) -> bool:
        peers = (*asked, *nodes[1:]) if node == "primary" else asked
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

    listening = dict(zip(nodes, await all_of(one(node) for node in nodes), strict=True))
    stage.servers = {node: stage.servers[node] for node in nodes}
    await stop_others(stage, [(server.remote, server.data_dir) for server in stage.servers.values()])
    if any(listening.values()):
        for node in nodes[1:]:
            await password.share(stage.primary, stage.servers[node])
    for node in nodes:
        if listening[node]:
            await access.hand_out(stage, node)


async def copy(stage: Stage) -> None:
    """Every server has the primary's data in the trial's database: it is compared, and copied where it differs. Raises
    TrialError with the tools' own words."""
    nodes = stage.spec.servers
    found = await contents.read_all(stage, nodes, digest=True)
    stale = [node for node in nodes if found[node] != found["primary"]]
    await all_of(_copy(stage, node) for node in stale)
    found |= await contents.read_all(stage, stale, digest=True)
    stage.recorder.note("copies", {node: "copied" if node in stale else "kept" for node in nodes[1:]})
    contents.record(stage, found)


async def _copy(stage: Stage, node: str) -> None:
    remote, server = stage.agents[node], stage.servers[node]
    words = (server.installation.client_bin, stage.database, server.socket_dir, str(server.port))
    result = await remote.script(_COPY, *words, env=await _reach(stage, node), check=False, timeout_s=None)
    if result.exit_status != 0:
        raise TrialError(
            f"The data of {node} could not be copied from the primary.",
            where="arrange",
            why=result.stderr.strip()[-1200:],
            todo="Look at the space left, and whether the agents reach each other's servers.",
        )


async def _reach(stage: Stage, node: str) -> dict[str, str]:
    """How the node's agent reaches the primary: libpq's variables."""
    remote, source = stage.agents[node], stage.primary
    if remote.address.name == stage.agents["primary"].address.name:
        return source.environment(local=True)
    file = f"{stage.job_dir(remote)}/pgpass-source"
    await password.hand_to(remote, source, file)
    return source.environment() | {"PGPASSFILE": file}
