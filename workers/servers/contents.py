"""Compare the data of servers, table by table."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from results.domain.measurement.parsed_trial import Check
from results.domain.messages import SEMICOLON, linked
from results.domain.messages import gettext_lazy as _
from workers.interfaces import Stage
from workers.postgres.server import Server
from workers.servers.nodes import all_of

_CONTENTS = (Path(__file__).parent / "contents.sql").read_text()
_EXISTS = "SELECT FROM pg_database WHERE datname = :'name'"
_MOST_SHOWN = 5


async def contents(server: Server, database: str, *, digest: bool) -> tuple[str, ...]:
    """Return a line for each table: its name, its rows, and with digest a checksum of all values.

    Empty where there is no such database. Raises CommandError.
    """
    if not await server.query(_EXISTS, variables={"name": database}):
        return ()
    variables = {"digest": "on" if digest else "off"}
    output = await server.execute(_CONTENTS, database=database, variables=variables, timeout_s=None)
    return tuple(output.splitlines())


async def read_all(stage: Stage, nodes: Iterable[str], *, digest: bool) -> dict[str, tuple[str, ...]]:
    """Return the contents of the trial's database on each of these nodes. Raises CommandError."""
    names = list(nodes)
    lines = await all_of(contents(stage.servers[node], stage.database, digest=digest) for node in names)
    return dict(zip(names, lines, strict=True))


def record(stage: Stage, contents_by_node: dict[str, tuple[str, ...]]) -> None:
    """Record a Check for every node but the primary: its data are the primary's."""
    expected = contents_by_node["primary"]
    for node, lines in contents_by_node.items():
        if node != "primary":
            differing = sorted(set(expected) ^ set(lines))
            actual = linked(SEMICOLON, differing[:_MOST_SHOWN]) if differing else _summary(lines)
            stage.recorder.check(
                Check(_("data as on the primary"), node, _summary(expected), actual, lines == expected)
            )


def _summary(lines: tuple[str, ...]) -> str:
    rows = sum(int(line.split("|")[1]) for line in lines)
    return _("{tables} tables, {rows} rows", tables=len(lines), rows=rows)
