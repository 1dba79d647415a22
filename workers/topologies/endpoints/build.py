"""Reaches the endpoints of a cluster, runs the commands before and after."""

from __future__ import annotations

from results.domain.errors import CommandError, VerifyError
from results.domain.measurement.parsed_trial import Check
from workers.interfaces import Stage
from workers.postgres import verify
from workers.postgres.server import Server
from workers.remote.job import Job
from workers.servers import nodes

from .listing import Endpoint, endpoints

_COMMAND_LIMIT_S = 1800.0
_PATIENCE_S = 12.0
_DATABASE = "SELECT FROM pg_database WHERE datname = :'name'"


class Endpoints:
    """The topology of `workers.interfaces.Topology`, `ArrangingTopology` and `ReleasingTopology`."""

    async def build(self, stage: Stage) -> None:
        """Runs the commands before, and asks every endpoint. Servers of Teiten on the agents are stopped.
        Raises CommandError with a command's own words, VerifyError for an endpoint that does not answer."""
        await nodes.stop_others(stage)
        await _command(stage, "before")
        parameters = stage.spec.topology_parameters
        for node, endpoint in _listed(stage):
            stage.servers[node] = Server(
                remote=stage.client,
                installation=stage.spec.installation,
                data_dir="",
                port=endpoint.port,
                socket_dir=endpoint.host,
                host=endpoint.host,
                user=str(parameters["user"]),
                outside=True,
                options={"PGSSLMODE": str(parameters["sslmode"]), "PGCONNECT_TIMEOUT": "10"},
            )
        await nodes.all_of(_answers(stage, node) for node, _ in _listed(stage))

    async def arrange(self, stage: Stage) -> None:
        """Waits until every endpoint has the trial's database, which is loaded through the first. Raises VerifyError
        where it does not come, CommandError."""
        await nodes.all_of(_has_database(stage, node) for node, _ in _listed(stage))

    async def verify(self, stage: Stage) -> None:
        """Version, role, settings that the plan names, and access methods of every endpoint; and that it has the
        trial's database."""
        for node, endpoint in _listed(stage):
            for check in await verify.server_checks(
                stage.servers[node],
                stage.database,
                role=node,
                settings=stage.spec.settings,
                access_method=stage.spec.access_method,
                stored_by=stage.stored_by,
                standby=endpoint.standby,
            ):
                stage.recorder.check(check)
            place = f"{endpoint.host}:{endpoint.port}"
            stage.recorder.check(Check("endpoint", node, endpoint.role, f"{endpoint.role} at {place}", True))

    async def release(self, stage: Stage) -> None:
        """Runs the commands after. Raises CommandError with a command's own words."""
        await _command(stage, "after")

    async def tear_down(self, stage: Stage) -> None:
        """Nothing: the cluster is not Teiten's."""


def _listed(stage: Stage) -> list[tuple[str, Endpoint]]:
    listed = endpoints(str(stage.spec.topology_parameters["endpoints"]))
    return list(zip(stage.spec.nodes, listed, strict=True))


async def _answers(stage: Stage, node: str) -> None:
    server = stage.servers[node]
    try:
        await server.execute("SELECT 1;")
    except CommandError as error:
        raise VerifyError(
            f"The endpoint {server.host}:{server.port} does not answer.",
            where="topology.endpoints",
            why=error.stderr.strip() or error.why,
            todo=f"Try psql there from {server.remote.address.name}; the password stands in ~/.pgpass of its account.",
        ) from error


async def _has_database(stage: Stage, node: str) -> None:
    server = stage.servers[node]

    async def look() -> bool:
        return bool(await server.query(_DATABASE, variables={"name": stage.database}))

    there, _ = await nodes.wait_until(look, bool, _PATIENCE_S)
    if not there:
        raise VerifyError(
            f"The endpoint {server.host}:{server.port} has no database {stage.database}.",
            where="topology.endpoints",
            why=f"The data were loaded through the first endpoint, and {_PATIENCE_S:g} s later they are not here.",
            todo="Name endpoints of one cluster only, and look whether its replication works; of servers that have "
            f"nothing in common, each needs its own database {stage.database}.",
        )


async def _command(stage: Stage, when: str) -> None:
    text = str(stage.spec.topology_parameters[when])
    if not text.strip():
        return
    job = await Job.start(stage.client, f"{stage.job_dir(stage.client)}/{when}", text, deadline_s=_COMMAND_LIMIT_S)
    finished = await job.finished()
    stage.recorder.add(f"topology/{when}.txt", f"{finished.stdout}{finished.stderr}")
    finished.require(f"The command {when} the trial", text, where=f"topology.{when}", todo="See its output above.")


TOPOLOGY = Endpoints()
