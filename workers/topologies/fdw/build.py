"""Builds a primary and the servers on which its large tables lie."""

from __future__ import annotations

import json

from results.domain.measurement.parsed_trial import Check
from results.domain.messages import gettext_lazy as _
from results.domain.messages import ngettext_lazy
from workers.interfaces import Stage
from workers.postgres import verify
from workers.servers import access, checks, nodes

from . import sharing, statements
from .plans import scans
from .sharing import shards_of


class Fdw:
    """The topology of `workers.interfaces.Topology` and `ArrangingTopology`."""

    async def build(self, stage: Stage) -> None:
        """Start or reuse every server, and drop kept databases of which a part is lost: they are loaded anew. Raises
        TrialError with the server's message when one does not start."""
        connection = str(stage.spec.topology_parameters["connection"])
        settings: dict[str, dict[str, str]] = {node: {} for node in stage.spec.servers}
        listening = await nodes.start(stage, settings, dict.fromkeys(shards_of(stage), ("primary",)), connection)
        for node in listening:
            await access.hand_out(stage, node)
        await sharing.drop_incomplete(stage)

    async def arrange(self, stage: Stage) -> None:
        """Move the large tables to the shards, unless an earlier trial did. Raises TrialError, VerifyError and
        CommandError with the servers' messages."""
        shared_out = await sharing.is_shared_out(stage)
        await sharing.map_servers(stage, known=shared_out)
        rows = {} if shared_out else await sharing.share_out(stage)
        stage.recorder.note("shards", {"how": "kept" if shared_out else "moved", "rows": rows})

    async def verify(self, stage: Stage) -> None:
        """Record a Check of every server, that each foreign partition returns a row, and that a scan of all keys reads
        every shard, asynchronously where the plan asks for it."""
        await checks.record_primary(stage)
        for shard_checks in await nodes.all_of(_server_checks(stage, node) for node in shards_of(stage)):
            for check in shard_checks:
                stage.recorder.check(check)
        for check in await _shard_checks(stage):
            stage.recorder.check(check)
        parts = await stage.primary.query(statements.SHARED, database=stage.database)
        for name, key in dict.fromkeys((part["name"], part["key"]) for part in parts):
            stage.recorder.check(await _plan_check(stage, name, key))

    async def tear_down(self, stage: Stage) -> None:
        """Stop every server of Teiten on the agents; their data stays for the next trial."""
        await nodes.stop_others(stage)


async def _server_checks(stage: Stage, node: str) -> list[Check]:
    return await verify.server_checks(
        stage.servers[node],
        stage.database,
        role=node,
        settings=stage.spec.settings,
        access_method=stage.spec.access_method,
    )


async def _shard_checks(stage: Stage) -> list[Check]:
    """Return a Check of each shard's foreign partitions. Raises CommandError when one does not answer."""
    answers = (await stage.primary.execute(statements.REACHED, database=stage.database)).splitlines()
    expected = len(answers) // len(shards_of(stage))
    return [
        Check(_("queries from primary"), node, _partitions(expected), _partitions(count), count == expected > 0)
        for node in shards_of(stage)
        for count in [answers.count(node)]
    ]


def _partitions(count: int) -> str:
    return ngettext_lazy("{number:,} foreign partition", "{number:,} foreign partitions", count)


async def _plan_check(stage: Stage, name: str, key: str) -> Check:
    variables = {"name": name, "key": key}
    key_ranges = await nodes.all_of(
        stage.servers[node].query(statements.ENDS, database=stage.database, variables=variables)
        for node in shards_of(stage)
    )
    bounds = [value for [row] in key_ranges for value in (row["first"], row["last"]) if value is not None]
    variables |= {"first": str(min(bounds, default=0)), "last": str(max(bounds, default=0))}
    text = await stage.primary.execute(statements.PLAN, database=stage.database, variables=variables)
    stage.recorder.add(f"topology/{name.replace('/', '-')}.json", text)
    scan_count, async_count = scans(json.loads(text))
    shards = len(shards_of(stage))
    expected_async = shards if stage.spec.topology_parameters["async_capable"] else 0
    expected = _("{scans}, {at_once} of them at once", scans=shards, at_once=expected_async)
    actual = _("{scans}, {at_once} of them at once", scans=scan_count, at_once=async_count)
    return Check(_("foreign scans of a range of {name}", name=name), "primary", expected, actual, expected == actual)


TOPOLOGY = Fdw()
