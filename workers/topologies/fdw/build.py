"""Builds a primary and the servers on which its large tables lie."""

from __future__ import annotations

import json

from results.domain.measurement.parsed_trial import Check
from workers.interfaces import Stage
from workers.postgres import verify
from workers.servers import access, checks, nodes

from . import sharing, statements
from .plans import scans
from .sharing import shards_of


class Fdw:
    """The topology of `workers.interfaces.Topology` and `ArrangingTopology`."""

    async def build(self, stage: Stage) -> None:
        """Starts or reuses every server; kept data of which a part is lost are dropped, to be loaded anew. Raises
        TrialError with the server's own words when one does not start."""
        connection = str(stage.spec.topology_parameters["connection"])
        settings: dict[str, dict[str, str]] = {node: {} for node in stage.spec.servers}
        listening = await nodes.start(stage, settings, dict.fromkeys(shards_of(stage), ("primary",)), connection)
        for node in listening:
            await access.hand_out(stage, node)
        await sharing.forget_the_broken(stage)

    async def arrange(self, stage: Stage) -> None:
        """The large tables lie on the shards, from an earlier trial or moved there now. Raises TrialError, VerifyError
        and CommandError with the servers' own words."""
        known = await sharing.is_shared_out(stage)
        await sharing.map_servers(stage, known=known)
        rows = {} if known else await sharing.share_out(stage)
        stage.recorder.note("shards", {"how": "kept" if known else "moved", "rows": rows})

    async def verify(self, stage: Stage) -> None:
        """What must hold of every server; that each foreign partition gives a row; that a range of all keys is read
        from every shard, at once where that is asked for."""
        await checks.record_primary(stage)
        for server in await nodes.all_of(_server(stage, node) for node in shards_of(stage)):
            for check in server:
                stage.recorder.check(check)
        for check in await _reached(stage):
            stage.recorder.check(check)
        parts = await stage.primary.query(statements.SHARED, database=stage.database)
        for name, key in dict.fromkeys((part["name"], part["key"]) for part in parts):
            stage.recorder.check(await _planned(stage, name, key))

    async def tear_down(self, stage: Stage) -> None:
        """Stops every server of Teiten on the agents; their data stays for the next trial."""
        await nodes.stop_others(stage)


async def _server(stage: Stage, node: str) -> list[Check]:
    return await verify.server_checks(
        stage.servers[node],
        stage.database,
        role=node,
        settings=stage.spec.settings,
        access_method=stage.spec.access_method,
    )


async def _reached(stage: Stage) -> list[Check]:
    """One Check for each shard: how many foreign partitions on it answer. Raises CommandError when one does not."""
    answered = (await stage.primary.execute(statements.REACHED, database=stage.database)).splitlines()
    expected = len(answered) // len(shards_of(stage))
    return [
        Check("queries from primary", node, _partitions(expected), _partitions(count), count == expected > 0)
        for node in shards_of(stage)
        for count in [answered.count(node)]
    ]


def _partitions(count: int) -> str:
    return f"{count} foreign partition{'' if count == 1 else 's'}"


async def _planned(stage: Stage, name: str, key: str) -> Check:
    words = {"name": name, "key": key}
    ends = await nodes.all_of(
        stage.servers[node].query(statements.ENDS, database=stage.database, variables=words)
        for node in shards_of(stage)
    )
    bounds = [value for [row] in ends for value in (row["first"], row["last"]) if value is not None]
    words |= {"first": str(min(bounds, default=0)), "last": str(max(bounds, default=0))}
    text = await stage.primary.execute(statements.PLAN, database=stage.database, variables=words)
    stage.recorder.add(f"topology/{name.replace('/', '-')}.json", text)
    every, at_once = scans(json.loads(text))
    shards = len(shards_of(stage))
    wanted = shards if stage.spec.topology_parameters["async_capable"] else 0
    expected = f"{shards}, {wanted} of them at once"
    actual = f"{every}, {at_once} of them at once"
    return Check(f"foreign scans of a range of {name}", "primary", expected, actual, expected == actual)


TOPOLOGY = Fdw()
