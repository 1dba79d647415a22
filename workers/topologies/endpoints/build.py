"""Connect to the endpoints of a cluster, and run the plan's commands before and after the trial."""

from __future__ import annotations

from results.domain.errors import CommandError, VerifyError
from results.domain.measurement.parsed_trial import Check
from results.domain.messages import gettext_lazy as _
from workers.interfaces import Stage
from workers.postgres import verify
from workers.postgres.server import Server
from workers.remote.job import Job
from workers.servers import nodes

from .listing import Endpoint, endpoints

_COMMAND_LIMIT_S = 1800.0
_DATABASE_LIMIT_S = 12.0
_DATABASE = "SELECT FROM pg_database WHERE datname = :'name'"


class Endpoints:
    """The topology of `workers.interfaces.Topology`, `ArrangingTopology` and `ReleasingTopology`."""

    async def build(self, stage: Stage) -> None:
        """Stop servers of Teiten on the agents, run the command before the trial, and connect to every endpoint.
        Raises CommandError with the command's output, VerifyError for an endpoint that does not answer."""
        await nodes.stop_others(stage)
        await _run_command(stage, "before")
        parameters = stage.spec.topology_parameters
        for node, endpoint in _endpoints_by_node(stage):
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
        await nodes.all_of(_require_answer(stage, node) for node, _endpoint in _endpoints_by_node(stage))

    async def arrange(self, stage: Stage) -> None:
        """Wait until every endpoint has the trial's database, which is loaded through the first. Raises VerifyError
        for an endpoint without it, CommandError."""
        await nodes.all_of(_require_database(stage, node) for node, _endpoint in _endpoints_by_node(stage))

    async def verify(self, stage: Stage) -> None:
        """Record Checks of every endpoint's version, role, planned settings, access methods and trial database."""
        for node, endpoint in _endpoints_by_node(stage):
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
            address = f"{endpoint.host}:{endpoint.port}"
            stage.recorder.check(
                Check(
                    _("endpoint"),
                    node,
                    endpoint.role,
                    _("{role} at {address}", role=endpoint.role, address=address),
                    True,
                )
            )

    async def release(self, stage: Stage) -> None:
        """Run the command after the trial. Raises CommandError with its output."""
        await _run_command(stage, "after")

    async def tear_down(self, stage: Stage) -> None:
        """Do nothing: the cluster is not Teiten's."""


def _endpoints_by_node(stage: Stage) -> list[tuple[str, Endpoint]]:
    listed_endpoints = endpoints(str(stage.spec.topology_parameters["endpoints"]))
    return list(zip(stage.spec.nodes, listed_endpoints, strict=True))


async def _require_answer(stage: Stage, node: str) -> None:
    server = stage.servers[node]
    try:
        await server.execute("SELECT 1;")
    except CommandError as error:
        raise VerifyError(
            _("The endpoint {host}:{port} does not answer.", host=server.host, port=server.port),
            where="topology.endpoints",
            why=error.stderr.strip() or error.why,
            todo=_(
                "Try psql there from {agent}; the password stands in ~/.pgpass of its account.",
                agent=server.remote.address.name,
            ),
        ) from error


async def _require_database(stage: Stage, node: str) -> None:
    server = stage.servers[node]

    async def has_database() -> bool:
        return bool(await server.query(_DATABASE, variables={"name": stage.database}))

    present, _last = await nodes.wait_until(has_database, bool, _DATABASE_LIMIT_S)
    if not present:
        raise VerifyError(
            _(
                "The endpoint {host}:{port} has no database {database}.",
                host=server.host,
                port=server.port,
                database=stage.database,
            ),
            where="topology.endpoints",
            why=_(
                "The data were loaded through the first endpoint, and {seconds:g} s later are not here.",
                seconds=_DATABASE_LIMIT_S,
            ),
            todo=_(
                "List endpoints of one cluster only, and check that its replication works; servers without "
                "replication each need their own database {database}.",
                database=stage.database,
            ),
        )


async def _run_command(stage: Stage, when: str) -> None:
    text = str(stage.spec.topology_parameters[when])
    if not text.strip():
        return
    job = await Job.start(stage.client, f"{stage.job_dir(stage.client)}/{when}", text, deadline_s=_COMMAND_LIMIT_S)
    finished = await job.finished()
    stage.recorder.add(f"topology/{when}.txt", f"{finished.stdout}{finished.stderr}")
    what = {"before": _("The command before the trial"), "after": _("The command after the trial")}[when]
    finished.require(what, text, where=f"topology.{when}", todo=_("See its output above."))


TOPOLOGY = Endpoints()
