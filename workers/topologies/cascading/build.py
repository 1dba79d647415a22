"""Build a primary, a cascading standby, and standbys that stream from it."""

from __future__ import annotations

from workers.interfaces import Stage
from workers.replication import standby
from workers.servers import checks, nodes


class Cascading:
    """The topology of `workers.interfaces.Topology` and `ArrangingTopology`."""

    async def build(self, stage: Stage) -> None:
        """Start or reuse the primary. Raises TrialError with the server's message when it does not start."""
        await standby.start_primary(stage, ("cascade", *_standbys(stage)), connection=_connection(stage))

    async def arrange(self, stage: Stage) -> None:
        """Attach the cascading standby, then those that stream from it, until all have caught up. Raises TrialError."""
        standbys, connection = _standbys(stage), _connection(stage)
        cascade_way = await standby.attach(stage, "cascade", "primary", standbys, connection)
        await standby.keep_slots(stage, "cascade", standbys)
        ways = await nodes.all_of(standby.attach(stage, node, "cascade", connection=connection) for node in standbys)
        stage.recorder.note("standbys", {"cascade": cascade_way, **dict(zip(standbys, ways, strict=True))})

    async def verify(self, stage: Stage) -> None:
        """Record a Check of the primary, and of each standby that it streams from its upstream and has replayed all."""
        await checks.record_primary(stage)
        upstreams = {"cascade": "primary"} | dict.fromkeys(_standbys(stage), "cascade")
        for standby_checks in await nodes.all_of(standby.checks(stage, *pair, "async") for pair in upstreams.items()):
            for check in standby_checks:
                stage.recorder.check(check)

    async def tear_down(self, stage: Stage) -> None:
        """Stop every server of Teiten on the agents; their data stays for the next trial."""
        await nodes.stop_others(stage)


def _standbys(stage: Stage) -> tuple[str, ...]:
    return stage.spec.servers[2:]


def _connection(stage: Stage) -> str:
    return str(stage.spec.topology_parameters["connection"])


TOPOLOGY = Cascading()
