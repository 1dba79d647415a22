"""Build one server on the agent of the role `primary`."""

from __future__ import annotations

from workers.interfaces import Stage
from workers.postgres import cluster
from workers.servers import access, checks, nodes


class Single:
    """The topology of `workers.interfaces.Topology`."""

    async def build(self, stage: Stage) -> None:
        """Start or reuse the server, and stop every other server of Teiten on the agents, so that it takes neither
        memory nor processors. Raises TrialError with the server's message when it does not start, VerifyError for a
        kind of connection that these agents cannot have."""
        spec, remote = stage.spec, stage.agents["primary"]
        listen, lines = access.listening(stage, "primary", connection=str(spec.topology_parameters["connection"]))
        stage.servers["primary"] = await cluster.ensure(
            remote, spec.installation, initdb=spec.initdb, settings=spec.settings, listen=listen, hba=lines
        )
        await nodes.stop_others(stage, [(remote, stage.primary.data_dir)])
        if listen:
            await access.hand_out(stage, "primary")

    async def verify(self, stage: Stage) -> None:
        """Record Checks of the role, the effective settings and the access method of every table."""
        await checks.record_primary(stage)

    async def tear_down(self, stage: Stage) -> None:
        """Stop every server of Teiten on the agents; their data stays for the next trial."""
        await nodes.stop_others(stage)


TOPOLOGY = Single()
