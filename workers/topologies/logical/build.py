"""Builds a primary and subscribers to its tables.

Subscriptions are made for each trial and dropped after it, or before the next: a slot whose subscriber is gone would
keep WAL for ever."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from results.domain.errors import VerifyError
from results.domain.measurement.parsed_trial import Check
from workers.interfaces import Stage
from workers.postgres.database import DROP_DATABASE
from workers.postgres.server import Server
from workers.replication import standby
from workers.servers import access, checks, nodes, schema

from . import statements, subscriptions
from .spec import wanted_state

_OF_THE_PRIMARY = {"wal_level": "logical", "max_wal_senders": "32", "max_replication_slots": "32"}
_OF_A_SUBSCRIBER = {"max_logical_replication_workers": "8", "max_worker_processes": "16"}


class Logical:
    """The topology of `workers.interfaces.Topology` and `ArrangingTopology`."""

    async def build(self, stage: Stage) -> None:
        """Starts or reuses every server; what an earlier trial left of its subscriptions and copies is dropped. Raises
        TrialError with the server's own words when one does not start."""
        settings = {"primary": _OF_THE_PRIMARY} | dict.fromkeys(_subscribers(stage), _OF_A_SUBSCRIBER)
        connection = str(stage.spec.topology_parameters["connection"])
        listening = await nodes.start(stage, settings, {"primary": _subscribers(stage)}, connection)
        await subscriptions.ended(stage)
        await nodes.all_of(_emptied(stage.servers[node]) for node in _subscribers(stage))
        for node in listening:
            await access.hand_out(stage, node)

    async def arrange(self, stage: Stage) -> None:
        """Publishes every table; each subscriber gets the definitions, then a copy of the rows, until its subscription
        is ready; then commits wait as the plan says. Raises VerifyError where there is nothing to publish, TrialError
        and CommandError with the servers' own words."""
        primary, database = stage.primary, stage.database
        await primary.execute(statements.PUBLISH, database=database)
        tables = await primary.query(statements.PUBLISHED, database=database)
        if not tables:
            raise VerifyError(
                "There is no table to publish.",
                where="arrange",
                why=f"The workload {stage.spec.workload} makes its tables only while it is measured.",
                todo="Choose a workload that loads its data before.",
            )
        stage.recorder.note(
            "publication",
            {
                "tables": [table["name"] for table in tables],
                "replica identity full": [table["name"] for table in tables if table["whole_rows"]],
            },
        )
        definitions = [await schema.dump(primary, database, f"--section={part}") for part in ("pre-data", "post-data")]
        rows = await _rows(primary, database)
        await nodes.all_of(_joined(stage, node, definitions, rows) for node in _subscribers(stage))
        await subscriptions.awaited(stage, _subscribers(stage))

    async def verify(self, stage: Stage) -> None:
        """What must hold of every server, that the workload has made no table since, and of each subscription: every
        table is ready, it streams in the wanted synchronous state, and all that the primary has written is applied."""
        await nodes.all_of(checks.record_primary(stage, node) for node in stage.spec.servers)
        tables = await stage.primary.query(statements.PUBLISHED, database=stage.database)
        others = ", ".join(table["name"] for table in tables if not table["published"]) or "none"
        stage.recorder.check(Check("tables that are not published", "primary", "none", others, others == "none"))
        wanted = wanted_state(stage.spec.topology_parameters)
        for node in _subscribers(stage):
            await subscriptions.caught_up(stage, node)
            [copied] = await stage.servers[node].query(statements.COPIED, database=stage.database)
            unready, ready = copied["unready"], copied["ready"]
            actual = f"{unready} of {ready + unready} not ready" if unready else f"all {ready} ready"
            state = await standby.stream_state(stage, node, "primary")
            for check in (
                Check("subscription's tables", node, f"all {ready + unready} ready", actual, ready > 0 == unready),
                Check(
                    "changes from primary", node, "streaming", state["state"] or "none", state["state"] == "streaming"
                ),
                Check("synchronous state", node, wanted, state["sync_state"] or "none", state["sync_state"] == wanted),
            ):
                stage.recorder.check(check)

    async def tear_down(self, stage: Stage) -> None:
        """Ends the subscriptions and stops every server of Teiten on the agents; the data stays until the next
        trial."""
        try:
            await subscriptions.ended(stage)
        finally:
            await nodes.stop_others(stage)


def _subscribers(stage: Stage) -> tuple[str, ...]:
    return stage.spec.servers[1:]


async def _emptied(server: Server) -> None:
    for row in await server.query(statements.DATABASES):
        await server.execute(DROP_DATABASE, variables={"name": row["name"]})


async def _joined(stage: Stage, node: str, definitions: Sequence[str], rows: Mapping[str, int]) -> None:
    """The subscriber has every table with as many rows as the primary, and statistics of them as after a load.
    definitions: before the rows come; of keys and indexes, which are made faster when they are there."""
    server, database = stage.servers[node], stage.database
    await server.execute('CREATE DATABASE :"name" TEMPLATE template0;', variables={"name": database})
    before, after = definitions
    await server.execute(before, database=database)
    await subscriptions.made(stage, node)
    await server.execute(after, database=database)
    joined = await _rows(server, database)
    different = [
        f"{table}: {joined.get(table, 0)} of {count}" for table, count in rows.items() if joined.get(table, 0) != count
    ]
    expected = f"{sum(rows.values())} rows in {len(rows)} tables"
    actual = "; ".join(different[:5]) or f"{sum(joined.values())} rows in {len(joined)} tables"
    stage.recorder.check(Check("rows of every table", node, expected, actual, actual == expected))
    await server.execute("VACUUM ANALYZE;", database=database)


async def _rows(server: Server, database: str) -> dict[str, int]:
    """How many rows each table has."""
    lines = (await server.execute(statements.ROWS, database=database)).splitlines()
    return {name: int(count) for name, _, count in (line.rpartition("|") for line in lines)}


TOPOLOGY = Logical()
