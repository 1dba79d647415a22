"""Builds a primary, a cascading standby, and standbys that stream from it."""

from __future__ import annotations

from workers.interfaces import Stage
from workers.replication import standby
from workers.servers import checks, nodes


class Cascading:
    """The topology of `workers.interfaces.Topology` and `ArrangingTopology`."""

    async def build(self, stage: Stage) -> None:
        """Starts or reuses the primary. Raises TrialError with the server's own words when it does not start."""
        await standby.start_primary(stage, ("cascade", *_standbys(stage)), connection=_connection(stage))

    async def arrange(self, stage: Stage) -> None:
        """The cascading standby, then all that follow it, kept or cloned, have caught up. Raises TrialError."""
        standbys, connection = _standbys(stage), _connection(stage)
        first = await standby.attach(stage, "cascade", "primary", standbys, connection)
        await standby.keep_slots(stage, "cascade", standbys)
        ways = await nodes.all_of(standby.attach(stage, node, "cascade", connection=connection) for node in standbys)
        stage.recorder.note("standbys", {"cascade": first, **dict(zip(standbys, ways, strict=True))})

    async def verify(self, stage: Stage) -> None:
        """What must hold of the primary, and of each standby: it streams from where it should, and has replayed all."""
        await checks.record_primary(stage)
        upstreams = {"cascade": "primary"} | dict.fromkeys(_standbys(stage), "cascade")
        for node_checks in await nodes.all_of(standby.checks(stage, *pair, "async") for pair in upstreams.items()):
            for check in node_checks:
                stage.recorder.check(check)

    async def tear_down(self, stage: Stage) -> None:
        """Stops every server of Teiten on the agents; their data stays for the next trial."""
        await nodes.stop_others(stage)


def _standbys(stage: Stage) -> tuple[str, ...]:
    return stage.spec.servers[2:]


def _connection(stage: Stage) -> str:
    return str(stage.spec.topology_parameters["connection"])


TOPOLOGY = Cascading()
