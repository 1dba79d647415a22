"""Builds one server on the agent of the role `primary`."""

from __future__ import annotations

from workers.interfaces import Stage
from workers.postgres import cluster, verify
from workers.postgres.configuration import access_line


class Single:
    """The topology of `workers.interfaces.Topology`."""

    async def build(self, stage: Stage) -> None:
        """Starts or reuses the server; every other server of Teiten on the agent is stopped first, so that it takes
        neither memory nor processors. Raises TrialError with the server's own words when it does not start."""
        spec, remote = stage.spec, stage.agents["primary"]
        listen, access = _reached_by(stage)
        server = await cluster.ensure(
            remote, spec.installation, initdb=spec.initdb, settings=spec.settings, listen=listen, hba=access
        )
        stage.servers["primary"] = server
        await cluster.stop_others(remote, keep=server)

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
    wanted = stage.spec.topology_parameters["connection"]
    if client.name != server.name:
        return "*", [access_line(client.host)]
    if wanted == "tcp":
        return "127.0.0.1", ["host all all 127.0.0.1/32 trust"]
    return "", []


TOPOLOGY = Single()
