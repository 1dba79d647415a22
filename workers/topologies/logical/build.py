"""Build a primary and subscribers to its tables.

Subscriptions are created for each trial and dropped after it, or before the next: a slot whose subscriber is gone
would keep WAL for ever."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from results.domain.errors import VerifyError
from results.domain.measurement.parsed_trial import Check
from results.domain.messages import COMMA, SEMICOLON, linked
from results.domain.messages import gettext_lazy as _
from workers.interfaces import Stage
from workers.postgres.database import DROP_DATABASE
from workers.postgres.server import Server
from workers.replication import standby
from workers.servers import access, checks, nodes, schema

from . import statements, subscriptions
from .spec import expected_state_of

_PRIMARY_SETTINGS = {"wal_level": "logical", "max_wal_senders": "32", "max_replication_slots": "32"}
_SUBSCRIBER_SETTINGS = {"max_logical_replication_workers": "8", "max_worker_processes": "16"}


class Logical:
    """The topology of `workers.interfaces.Topology` and `ArrangingTopology`."""

    async def build(self, stage: Stage) -> None:
        """Start or reuse every server, and drop subscriptions and copies that an earlier trial left. Raises TrialError
        with the server's message when one does not start."""
        settings = {"primary": _PRIMARY_SETTINGS} | dict.fromkeys(_subscribers(stage), _SUBSCRIBER_SETTINGS)
        connection = str(stage.spec.topology_parameters["connection"])
        listening = await nodes.start(stage, settings, {"primary": _subscribers(stage)}, connection)
        await subscriptions.drop_all(stage)
        await nodes.all_of(_drop_copies(stage.servers[node]) for node in _subscribers(stage))
        for node in listening:
            await access.hand_out(stage, node)

    async def arrange(self, stage: Stage) -> None:
        """Publish every table, copy definitions and rows to each subscriber, then set what commits wait for. Raises
        VerifyError where there is nothing to publish, TrialError and CommandError with the servers' messages."""
        primary, database = stage.primary, stage.database
        await primary.execute(statements.PUBLISH, database=database)
        tables = await primary.query(statements.PUBLISHED, database=database)
        if not tables:
            raise VerifyError(
                _("There is no table to publish."),
                where="arrange",
                why=_(
                    "The workload {workload} makes its tables only while it is measured.", workload=stage.spec.workload
                ),
                todo=_("Choose a workload that loads its data before."),
            )
        stage.recorder.note(
            "publication",
            {
                "tables": [table["name"] for table in tables],
                "replica identity full": [table["name"] for table in tables if table["whole_rows"]],
            },
        )
        definitions = [await schema.dump(primary, database, f"--section={part}") for part in ("pre-data", "post-data")]
        rows = await _row_counts(primary, database)
        await nodes.all_of(_subscribe(stage, node, definitions, rows) for node in _subscribers(stage))
        await subscriptions.make_commits_wait(stage, _subscribers(stage))

    async def verify(self, stage: Stage) -> None:
        """Record a Check of every server, of tables that the workload has created since, and of each subscription:
        every table is ready, it streams in the planned synchronous state, and all that the primary wrote is applied."""
        await nodes.all_of(checks.record_primary(stage, node) for node in stage.spec.servers)
        tables = await stage.primary.query(statements.PUBLISHED, database=stage.database)
        none = _("none")
        unpublished = linked(COMMA, (table["name"] for table in tables if not table["published"])) or none
        stage.recorder.check(
            Check(_("tables that are not published"), "primary", none, unpublished, unpublished == none)
        )
        expected_state = expected_state_of(stage.spec.topology_parameters)
        for node in _subscribers(stage):
            await subscriptions.wait_until_applied(stage, node)
            [tables_copied] = await stage.servers[node].query(statements.COPIED, database=stage.database)
            unready, ready = tables_copied["unready"], tables_copied["ready"]
            all_ready = _("all {count} ready", count=ready + unready)
            actual = _("{unready} of {count} not ready", unready=unready, count=ready + unready)
            state = await standby.stream_state(stage, node, "primary")
            for check in (
                Check(
                    _("subscription's tables"),
                    node,
                    all_ready,
                    actual if unready else all_ready,
                    ready > 0 == unready,
                ),
                Check(
                    _("changes from primary"), node, "streaming", state["state"] or none, state["state"] == "streaming"
                ),
                Check(
                    _("synchronous state"),
                    node,
                    expected_state,
                    state["sync_state"] or none,
                    state["sync_state"] == expected_state,
                ),
            ):
                stage.recorder.check(check)

    async def tear_down(self, stage: Stage) -> None:
        """Drop the subscriptions and stop every server of Teiten on the agents; the data stays until the next trial."""
        try:
            await subscriptions.drop_all(stage)
        finally:
            await nodes.stop_others(stage)


def _subscribers(stage: Stage) -> tuple[str, ...]:
    return stage.spec.servers[1:]


async def _drop_copies(server: Server) -> None:
    for row in await server.query(statements.DATABASES):
        await server.execute(DROP_DATABASE, variables={"name": row["name"]})


async def _subscribe(stage: Stage, node: str, definitions: Sequence[str], rows: Mapping[str, int]) -> None:
    """Copy every table to the subscriber, check the number of rows, and VACUUM ANALYZE as after a load.

    definitions: of tables, created before the rows are copied; of keys and indexes, created faster afterwards."""
    server, database = stage.servers[node], stage.database
    await server.execute('CREATE DATABASE :"name" TEMPLATE template0;', variables={"name": database})
    before, after = definitions
    await server.execute(before, database=database)
    await subscriptions.create(stage, node)
    await server.execute(after, database=database)
    counts = await _row_counts(server, database)
    different = [
        _("{table}: {actual} of {expected}", table=table, actual=counts.get(table, 0), expected=count)
        for table, count in rows.items()
        if counts.get(table, 0) != count
    ]
    expected, actual = _rows_in_tables(rows), _rows_in_tables(counts)
    if different:
        actual = linked(SEMICOLON, different[:5])
    stage.recorder.check(Check(_("rows of every table"), node, expected, actual, actual == expected))
    await server.execute("VACUUM ANALYZE;", database=database)


def _rows_in_tables(rows: Mapping[str, int]) -> str:
    return _("{rows} rows in {tables} tables", rows=sum(rows.values()), tables=len(rows))


async def _row_counts(server: Server, database: str) -> dict[str, int]:
    """Return table → number of rows."""
    lines = (await server.execute(statements.ROWS, database=database)).splitlines()
    return {name: int(count) for name, _bar, count in (line.rpartition("|") for line in lines)}


TOPOLOGY = Logical()
