"""Sharing out: each large table of the primary becomes a partitioned one, whose rows lie on the shards.

The database of that name on each shard says whose part it holds (`parts.label`), last of all: what was broken off is
known by its lack, and made anew."""

from __future__ import annotations

from typing import Any

from results.domain.errors import TrialError, VerifyError
from results.domain.measurement.parsed_trial import Check
from workers.interfaces import Stage
from workers.postgres.database import DROP_DATABASE
from workers.postgres.server import SUPERUSER, Server
from workers.servers import nodes, schema

from . import statements
from .parts import Part, label, parts, whole
from .spec import FIRST_WITH_ASYNC

_LONGEST_NAME = 63


def shards_of(stage: Stage) -> tuple[str, ...]:
    return stage.spec.servers[1:]


async def forget_the_broken(stage: Stage) -> None:
    """Drops the kept databases of the primary of which a part is lost, and what else the shards hold."""
    primary, names = stage.primary, shards_of(stage)
    held = await nodes.all_of(_databases(stage.servers[node]) for node in names)
    kept = {name: identity for name, identity in (await _identities(primary)).items() if name.startswith("reuse_")}
    sound = {name for name, identity in kept.items() if whole(name, held, identity)}
    await nodes.all_of(_drop(primary, name) for name in kept if name not in sound)
    for node, databases in zip(names, held, strict=True):
        await nodes.all_of(_drop(stage.servers[node], name) for name in databases if name not in sound)


async def is_shared_out(stage: Stage) -> bool:
    """Whether the trial's database lies on these very shards already."""
    held = await nodes.all_of(_databases(stage.servers[node]) for node in shards_of(stage))
    return whole(stage.database, held, (await _identities(stage.primary))[stage.database])


async def map_servers(stage: Stage, *, known: bool) -> None:
    """Tells the primary's database where the shards are, with the plan's options. known: an earlier trial did, with
    other ports and options. Raises TrialError where there is no postgres_fdw."""
    for node in shards_of(stage):
        if not known:
            await _mapped(stage, node)
        options = await _options(stage, node)
        words = ", ".join(f"{'SET' if known else 'ADD'} {name} :'{name}'" for name in options)
        script = f'ALTER SERVER :"shard" OPTIONS ({words});'
        await stage.primary.execute(script, database=stage.database, variables={"shard": node, **options})


async def share_out(stage: Stage) -> dict[str, int]:
    """Moves every large table; table → rows. Raises VerifyError where there is none or one that cannot be moved,
    CommandError with the servers' own words."""
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
        values = {"name": database, "said": label(number, len(names), identity)}
        await stage.servers[node].execute("COMMENT ON DATABASE :\"name\" IS :'said';", variables=values)
    return moved


def _require_movable(stage: Stage, tables: list[dict[str, Any]]) -> None:
    if not tables:
        least = stage.spec.topology_parameters["least_rows"]
        raise VerifyError(
            "There is no table to share out.",
            where="arrange",
            why=f"No table of the workload has {least} rows or more and a primary key of one whole number.",
            todo="Choose another workload, a larger scale, or a lower topology.least_rows.",
        )
    for table in tables:
        if table["foreign_keys"]:
            raise VerifyError(
                f"The table {table['name']} cannot lie on other servers.",
                where="arrange",
                why=f"It has foreign keys: {table['foreign_keys']}.",
                todo="Load the data without foreign keys.",
            )


async def _move(stage: Stage, table: dict[str, Any]) -> int:
    """One table's rows go to the shards; how many there are. Records a Check that none was lost."""
    primary, database, names = stage.primary, stage.database, shards_of(stage)
    words = {word: table[word] for word in ("name", "schema", "relation", "key")}
    [extent] = await primary.query(statements.EXTENT, database=database, variables=words)
    method = str(stage.spec.topology_parameters["method"])
    shares = parts(
        method,
        len(names),
        key=table["key"],
        parent=table["parent"],
        first=extent["first"] or 0,
        last=extent["last"] or 0,
    )
    await primary.execute(statements.PARENT, database=database, variables={**words, "method": method})
    for node, share in zip(names, shares, strict=True):
        part = f"{table['relation'][: _LONGEST_NAME - len(node) - 1]}_{node}"
        variables = {**words, "part": part, "bounds": share.bounds, "shard": node}
        await primary.execute(statements.PART, database=database, variables=variables)
    before = await schema.dump(primary, database, "--section=pre-data", f"--table={table['name']}")
    after = await schema.dump(primary, database, "--section=post-data", f"--table={table['name']}")

    async def one(node: str, share: Part) -> int:
        server = stage.servers[node]
        await server.execute('CREATE SCHEMA IF NOT EXISTS :"schema";' + before, database=database, variables=words)
        await _copy(stage, node, table["name"], share)
        await server.execute(after, database=database)
        [size_and_rows] = await server.query(statements.EXTENT, database=database, variables=words)
        return int(size_and_rows["rows"])

    rows = await nodes.all_of(one(node, share) for node, share in zip(names, shares, strict=True))
    expected, actual = str(extent["rows"]), str(sum(rows))
    stage.recorder.check(
        Check(f"rows of {table['name']} on all shards", "primary", expected, actual, expected == actual)
    )
    if expected != actual:
        raise TrialError(
            f"Rows of {table['name']} were lost on their way to the shards.",
            where="arrange",
            why=f"There were {expected}, and {actual} arrived.",
            todo="Retry; look at the servers' logs, which are kept with the trial.",
        )
    await primary.execute(statements.REPLACE, database=database, variables=words)
    return sum(rows)


async def _copy(stage: Stage, node: str, table: str, share: Part) -> None:
    environment = await nodes.reach(stage, "primary", node)
    words = (stage.primary.installation.client_bin, stage.database, table, share.condition)
    where = (environment["PGHOST"], environment["PGPORT"], environment.get("PGPASSFILE", ""))
    await stage.primary.remote.script(
        statements.MOVE, *words, *where, env=stage.primary.environment(local=True), timeout_s=None
    )


async def _mapped(stage: Stage, node: str) -> None:
    available = "SELECT FROM pg_available_extensions WHERE name = 'postgres_fdw'"
    if not await stage.primary.query(available):
        raise TrialError(
            f"PostgreSQL {stage.spec.installation.name} on {stage.primary.remote.address.name} has no postgres_fdw.",
            where="arrange",
            todo="Choose an installation with PostgreSQL's contrib modules.",
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
    return {row["name"]: row["said"] for row in await server.query(statements.DATABASES)}


async def _drop(server: Server, name: str) -> None:
    await server.execute(DROP_DATABASE, variables={"name": name})


async def _identities(primary: Server) -> dict[str, str]:
    return {row["name"]: row["identity"] for row in await primary.query(statements.IDENTITIES)}
