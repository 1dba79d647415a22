"""Whether servers hold the same data, asked of each of them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from results.domain.measurement.parsed_trial import Check
from workers.interfaces import Stage
from workers.postgres.server import Server
from workers.servers.nodes import all_of

_CONTENTS = (Path(__file__).parent / "contents.sql").read_text()
_EXISTS = "SELECT FROM pg_database WHERE datname = :'name'"
_SHOWN = 5


async def contents(server: Server, database: str, *, digest: bool) -> tuple[str, ...]:
    """A line a table: its name, its rows, and with digest a sum over all their values. Empty where there is no such
    database. Raises CommandError."""
    if not await server.query(_EXISTS, variables={"name": database}):
        return ()
    variables = {"digest": "on" if digest else "off"}
    said = await server.execute(_CONTENTS, database=database, variables=variables, timeout_s=None)
    return tuple(said.splitlines())


async def of_each(stage: Stage, nodes: Iterable[str], *, digest: bool) -> dict[str, tuple[str, ...]]:
    """The contents of the trial's database on each of these nodes. Raises CommandError."""
    names = list(nodes)
    found = await all_of(contents(stage.servers[node], stage.database, digest=digest) for node in names)
    return dict(zip(names, found, strict=True))


def record(stage: Stage, found: dict[str, tuple[str, ...]]) -> None:
    """A Check for every node but the primary: it holds what the primary holds."""
    wanted = found["primary"]
    for node, lines in found.items():
        if node != "primary":
            differing = sorted(set(wanted) ^ set(lines))
            actual = "; ".join(differing[:_SHOWN]) if differing else _in_short(lines)
            stage.recorder.check(Check("data as on the primary", node, _in_short(wanted), actual, lines == wanted))


def _in_short(lines: tuple[str, ...]) -> str:
    rows = sum(int(line.split("|")[1]) for line in lines)
    return f"{len(lines)} tables, {rows} rows"
