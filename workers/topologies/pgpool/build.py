"""Build servers with the same data, and pgpool-II in front of them."""

from __future__ import annotations

from workers.interfaces import Stage
from workers.replication import standby
from workers.servers import checks, contents, nodes

from . import pooler, primaries
from .spec import POOLER, STREAMING


class Pgpool:
    """The topology of `workers.interfaces.Topology` and `ArrangingTopology`."""

    async def build(self, stage: Stage) -> None:
        """Find pgpool-II, then start or reuse the primary, or all primaries of native replication. Raises VerifyError
        without pgpool-II, TrialError with the server's message when one does not start."""
        if _pooled(stage):
            await pooler.find(stage)
        if _streaming(stage):
            peers = (POOLER,) if _pooled(stage) else ()
            await standby.start_primary(stage, _others(stage), connection=_connection(stage), peers=peers)
        else:
            await primaries.start(stage, _connection(stage))

    async def arrange(self, stage: Stage) -> None:
        """Give every other server the primary's data, and start pgpool-II with all of them up. Raises TrialError."""
        if _streaming(stage):
            await _attach(stage)
        else:
            await primaries.copy(stage)
        if _pooled(stage):
            await pooler.start(stage)

    async def verify(self, stage: Stage) -> None:
        """Record a Check of each server, and of pgpool-II."""
        await checks.record_primary(stage)
        if _streaming(stage):
            for standby_checks in await nodes.all_of(
                standby.checks(stage, node, "primary", "async") for node in _others(stage)
            ):
                for check in standby_checks:
                    stage.recorder.check(check)
        else:
            await nodes.all_of(checks.record_primary(stage, node) for node in _others(stage))
        if _pooled(stage):
            for check in await pooler.checks(stage):
                stage.recorder.check(check)

    async def tear_down(self, stage: Stage) -> None:
        """Stop every server of Teiten on the agents; their data stay for the next trial. pgpool-II ends with the
        attempt, whose job it is."""
        await nodes.stop_others(stage)


async def _attach(stage: Stage) -> None:
    peers = (POOLER,) if _pooled(stage) else ()
    standbys = _others(stage)
    ways = await nodes.all_of(standby.attach(stage, node, "primary", peers, _connection(stage)) for node in standbys)
    stage.recorder.note("standbys", dict(zip(standbys, ways, strict=True)))
    contents.record(stage, await contents.read_all(stage, stage.spec.servers, digest=False))


def _others(stage: Stage) -> tuple[str, ...]:
    return stage.spec.servers[1:]


def _pooled(stage: Stage) -> bool:
    return POOLER in stage.spec.nodes


def _streaming(stage: Stage) -> bool:
    return stage.spec.topology_parameters["mode"] == STREAMING


def _connection(stage: Stage) -> str:
    return str(stage.spec.topology_parameters["connection"])


TOPOLOGY = Pgpool()
