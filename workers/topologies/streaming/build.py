"""Build a primary and standbys that stream from it."""

from __future__ import annotations

from workers.interfaces import Stage
from workers.replication import standby
from workers.replication.standby_parameters import OFF
from workers.servers import checks, nodes

from .spec import expected_state_of

_SYNCHRONOUS = """
ALTER SYSTEM SET synchronous_commit = :'commit';
ALTER SYSTEM SET synchronous_standby_names = :'names';
SELECT pg_reload_conf() \\g /dev/null
"""


class Streaming:
    """The topology of `workers.interfaces.Topology` and `ArrangingTopology`."""

    async def build(self, stage: Stage) -> None:
        """Start or reuse the primary. Raises TrialError with the server's message when it does not start."""
        await standby.start_primary(stage, _standbys(stage), connection=_connection(stage))

    async def arrange(self, stage: Stage) -> None:
        """Attach every standby and wait until it has caught up; then set what commits wait for. Raises TrialError."""
        standbys = _standbys(stage)
        ways = await nodes.all_of(
            standby.attach(stage, node, "primary", connection=_connection(stage)) for node in standbys
        )
        stage.recorder.note("standbys", dict(zip(standbys, ways, strict=True)))
        parameters = stage.spec.topology_parameters
        if parameters["synchronous"] == OFF:
            return
        quorum = int(parameters["quorum"])
        names = f"{f'ANY {quorum}' if quorum else f'FIRST {len(standbys)}'} ({', '.join(standbys)})"
        await stage.primary.execute(_SYNCHRONOUS, variables={"commit": str(parameters["synchronous"]), "names": names})

    async def verify(self, stage: Stage) -> None:
        """Record a Check of the primary, and of each standby that it streams in the planned synchronous state and has
        replayed all."""
        await checks.record_primary(stage)
        expected_state = expected_state_of(stage.spec.topology_parameters)
        for standby_checks in await nodes.all_of(
            standby.checks(stage, node, "primary", expected_state) for node in _standbys(stage)
        ):
            for check in standby_checks:
                stage.recorder.check(check)

    async def tear_down(self, stage: Stage) -> None:
        """Stop every server of Teiten on the agents; their data stays for the next trial."""
        await nodes.stop_others(stage)


def _standbys(stage: Stage) -> tuple[str, ...]:
    return stage.spec.servers[1:]


def _connection(stage: Stage) -> str:
    return str(stage.spec.topology_parameters["connection"])


TOPOLOGY = Streaming()
