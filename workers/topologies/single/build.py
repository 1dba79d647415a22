"""Builds one server on the agent of the role `primary`."""

from __future__ import annotations

from results.errors import VerifyError
from workers.interfaces import Stage
from workers.postgres import cluster, password, verify
from workers.postgres.configuration import access_line

_LOOPBACK = "127.0.0.1"


class Single:
    """The topology of `workers.interfaces.Topology`."""

    async def build(self, stage: Stage) -> None:
        """Starts or reuses the server; every other server of Teiten on the agent is stopped first, so that it takes
        neither memory nor processors. Raises TrialError with the server's own words when it does not start,
        VerifyError for a connection that cannot be."""
        spec, remote = stage.spec, stage.agents["primary"]
        listen, access = _reached_by(stage)
        server = await cluster.ensure(
            remote, spec.installation, initdb=spec.initdb, settings=spec.settings, listen=listen, hba=access
        )
        stage.servers["primary"] = server
        await cluster.stop_others(remote, keep=server)
        if listen:
            file = f"{stage.job_dir(stage.client)}/pgpass"
            stage.servers["primary"] = await password.handed_to(stage.client, server, file)

    async def verify(self, stage: Stage) -> None:
        """Role, effective settings, access method of every table."""
        for check in await verify.server_checks(
            stage.primary,
            stage.database,
            role="primary",
            settings=stage.spec.settings,
            access_method=stage.spec.access_method,
        ):
            stage.recorder.check(check)

    async def tear_down(self, stage: Stage) -> None:
        """Stops every server of Teiten on the agent; their data stays for the next trial."""
        await cluster.stop_others(stage.agents["primary"])


def _reached_by(stage: Stage) -> tuple[str, list[str]]:
    """listen_addresses ('' = Unix socket alone) and the lines of pg_hba.conf."""
    client, server = stage.client.address, stage.agents["primary"].address
    wanted, version = stage.spec.topology_parameters["connection"], stage.spec.installation.version_num
    if client.name != server.name:
        if wanted == "socket":
            raise VerifyError(
                f"There is no Unix socket between {client.name} and {server.name}.",
                where="topology.connection",
                why="The plan asks for the connection by socket, and its client and its server are two machines.",
                todo="Set connection to tcp or auto, or name one agent for both roles.",
            )
        return "*", [access_line(client.host, version)]
    if wanted == "tcp":
        return _LOOPBACK, [access_line(_LOOPBACK, version)]
    return "", []


TOPOLOGY = Single()
