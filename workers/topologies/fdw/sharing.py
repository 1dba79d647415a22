"""Move each large table of the primary to the shards: it becomes a partitioned table of foreign partitions.

The last step comments each shard's database with the part that it holds (`parts.label`). A database without this
comment was not finished, and is built anew."""

from __future__ import annotations

from typing import Any

from results.domain.errors import TrialError, VerifyError
from results.domain.measurement.parsed_trial import Check
from results.domain.messages import gettext_lazy as _
from workers.interfaces import Stage
from workers.postgres.database import DROP_DATABASE
from workers.postgres.server import SUPERUSER, Server
from workers.servers import nodes, schema

from . import statements
from .parts import Part, is_complete, label, parts
from .spec import FIRST_WITH_ASYNC

_LONGEST_NAME = 63


def shards_of(stage: Stage) -> tuple[str, ...]:
    return stage.spec.servers[1:]


async def drop_incomplete(stage: Stage) -> None:
    """Drop the primary's kept databases of which a part is lost, and every other database of the shards."""
    primary, names = stage.primary, shards_of(stage)
    shard_databases = await nodes.all_of(_databases(stage.servers[node]) for node in names)
    kept = {name: identity for name, identity in (await _identities(primary)).items() if name.startswith("reuse_")}
    complete = {name for name, identity in kept.items() if is_complete(name, shard_databases, identity)}
    await nodes.all_of(_drop(primary, name) for name in kept if name not in complete)
    for node, databases in zip(names, shard_databases, strict=True):
        await nodes.all_of(_drop(stage.servers[node], name) for name in databases if name not in complete)


async def is_shared_out(stage: Stage) -> bool:
    """Tell whether these shards hold the trial's database already."""
    shard_databases = await nodes.all_of(_databases(stage.servers[node]) for node in shards_of(stage))
    return is_complete(stage.database, shard_databases, (await _identities(stage.primary))[stage.database])


async def map_servers(stage: Stage, *, known: bool) -> None:
    """Define the shards as foreign servers of the primary's database, with the plan's options.

    known: an earlier trial defined them, with other ports and options.
    Raises TrialError where postgres_fdw is not installed.
    """
    for node in shards_of(stage):
        if not known:
            await _create_mapping(stage, node)
        options = await _options(stage, node)
        settings = ", ".join(f"{'SET' if known else 'ADD'} {name} :'{name}'" for name in options)
        script = f'ALTER SERVER :"shard" OPTIONS ({settings});'
        await stage.primary.execute(script, database=stage.database, variables={"shard": node, **options})


async def share_out(stage: Stage) -> dict[str, int]:
    """Move every large table, and return table → rows. Raises VerifyError where there is none or one that cannot be
    moved, CommandError with the servers' messages."""
    primary, database, names = stage.primary, stage.database, shards_of(stage)
    await primary.execute("ANALYZE;", database=database)
    least = str(stage.spec.topology_parameters["least_rows"])
    tables = await primary.query(statements.LARGE, database=database, variables={"least_rows": least})
    _require_movable(stage, tables)
    create = 'CREATE DATABASE :"name" TEMPLATE template0;'
    await nodes.all_of(stage.servers[node].execute(create, variables={"name": database}) for node in names)
    moved = {table["name"]: await _move(stage, table) for table in tables}
    await nodes.all_of(stage.servers[node].execute("VACUUM ANALYZE;", database=database) for node in names)
    identity = (await _identities(primary))[database]
    for number, node in enumerate(names, 1):
        variables = {"name": database, "comment": label(number, len(names), identity)}
        await stage.servers[node].execute("COMMENT ON DATABASE :\"name\" IS :'comment';", variables=variables)
    return moved


def _require_movable(stage: Stage, tables: list[dict[str, Any]]) -> None:
    if not tables:
        least = stage.spec.topology_parameters["least_rows"]
        raise VerifyError(
            _("There is no table to move to the shards."),
            where="arrange",
            why=_(
                "No table of the workload has {least} rows or more and a primary key of one whole number.", least=least
            ),
            todo=_("Choose another workload, a larger scale, or a lower topology.least_rows."),
        )
    for table in tables:
        if table["foreign_keys"]:
            raise VerifyError(
                _("The table {table} cannot lie on other servers.", table=table["name"]),
                where="arrange",
                why=_("It has foreign keys: {keys}.", keys=table["foreign_keys"]),
                todo=_("Load the data without foreign keys."),
            )


async def _move(stage: Stage, table: dict[str, Any]) -> int:
    """Move one table's rows to the shards, record a Check that none was lost, and return their number."""
    primary, database, names = stage.primary, stage.database, shards_of(stage)
    variables = {word: table[word] for word in ("name", "schema", "relation", "key")}
    [extent] = await primary.query(statements.EXTENT, database=database, variables=variables)
    method = str(stage.spec.topology_parameters["method"])
    shares = parts(
        method,
        len(names),
        key=table["key"],
        parent=table["parent"],
        first=extent["first"] or 0,
        last=extent["last"] or 0,
    )
    await primary.execute(statements.PARENT, database=database, variables={**variables, "method": method})
    for node, share in zip(names, shares, strict=True):
        part = f"{table['relation'][: _LONGEST_NAME - len(node) - 1]}_{node}"
        of_part = {**variables, "part": part, "bounds": share.bounds, "shard": node}
        await primary.execute(statements.PART, database=database, variables=of_part)
    before = await schema.dump(primary, database, "--section=pre-data", f"--table={table['name']}")
    after = await schema.dump(primary, database, "--section=post-data", f"--table={table['name']}")

    async def move_share(node: str, share: Part) -> int:
        server = stage.servers[node]
        await server.execute('CREATE SCHEMA IF NOT EXISTS :"schema";' + before, database=database, variables=variables)
        await _copy(stage, node, table["name"], share)
        await server.execute(after, database=database)
        [extent_on_shard] = await server.query(statements.EXTENT, database=database, variables=variables)
        return int(extent_on_shard["rows"])

    rows = await nodes.all_of(move_share(node, share) for node, share in zip(names, shares, strict=True))
    expected, actual = str(extent["rows"]), str(sum(rows))
    stage.recorder.check(
        Check(_("rows of {table} on all shards", table=table["name"]), "primary", expected, actual, expected == actual)
    )
    if expected != actual:
        raise TrialError(
            _("Rows of {table} were lost on their way to the shards.", table=table["name"]),
            where="arrange",
            why=_("There were {expected}, and {actual} arrived.", expected=expected, actual=actual),
            todo=_("Retry; look at the servers' logs, which are kept with the trial."),
        )
    await primary.execute(statements.REPLACE, database=database, variables=variables)
    return sum(rows)


async def _copy(stage: Stage, node: str, table: str, share: Part) -> None:
    environment = await nodes.reach(stage, "primary", node)
    arguments = (stage.primary.installation.client_bin, stage.database, table, share.condition)
    target = (environment["PGHOST"], environment["PGPORT"], environment.get("PGPASSFILE", ""))
    await stage.primary.remote.script(
        statements.MOVE, *arguments, *target, env=stage.primary.environment(local=True), timeout_s=None
    )


async def _create_mapping(stage: Stage, node: str) -> None:
    available = "SELECT FROM pg_available_extensions WHERE name = 'postgres_fdw'"
    if not await stage.primary.query(available):
        raise TrialError(
            _(
                "PostgreSQL {installation} on {agent} has no postgres_fdw.",
                installation=stage.spec.installation.name,
                agent=stage.primary.remote.address.name,
            ),
            where="arrange",
            todo=_("Choose an installation with PostgreSQL's contrib modules."),
        )
    variables = {"shard": node, "user": SUPERUSER}
    await stage.primary.execute(statements.MAPPING, database=stage.database, variables=variables)


async def _options(stage: Stage, node: str) -> dict[str, str]:
    parameters, environment = stage.spec.topology_parameters, await nodes.reach(stage, "primary", node)
    options = {
        "host": environment["PGHOST"],
        "port": environment["PGPORT"],
        "dbname": stage.database,
        "passfile": environment.get("PGPASSFILE", ""),
        "fetch_size": str(parameters["fetch_size"]),
        "use_remote_estimate": str(parameters["use_remote_estimate"]).lower(),
    }
    if stage.installation("primary").version_num >= FIRST_WITH_ASYNC:
        options["async_capable"] = str(parameters["async_capable"]).lower()
        options["batch_size"] = str(parameters["batch_size"])
    return options


async def _databases(server: Server) -> dict[str, str]:
    return {row["name"]: row["comment"] for row in await server.query(statements.DATABASES)}


async def _drop(server: Server, name: str) -> None:
    await server.execute(DROP_DATABASE, variables={"name": name})


async def _identities(primary: Server) -> dict[str, str]:
    return {row["name"]: row["identity"] for row in await primary.query(statements.IDENTITIES)}
