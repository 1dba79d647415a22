"""One database of a scratch cluster: statements, rows, plans, refusals."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from results.errors import CommandError
from workers.postgres.server import Server
from workers.workloads.capabilities.outcome import Differs, Late

_HERE = Path(__file__).parent
_SCAN = (_HERE / "scan.sql").read_text()
_INDEX = (_HERE / "index.sql").read_text()
_VERBOSE = "\\set VERBOSITY verbose\n"
_STATE = re.compile(r"(?:ERROR|FATAL): +([0-9A-Z]{5}):")
END = "~ end ~"  # between two answers of one script
_POLL_S = 0.02
PATIENCE_S = 60.0


@dataclass(frozen=True)
class Database:
    """A database and its server. Statements are constants of the checks, values go in as psql variables."""

    server: Server
    name: str

    async def run(self, sql: str, **variables: object) -> str:
        """Runs a psql script in one session; what it printed. Raises CommandError."""
        words = {name: str(value) for name, value in variables.items()}
        return await self.server.execute(sql, database=self.name, variables=words)

    async def lines(self, sql: str, **variables: object) -> list[str]:
        """One text for each row. Raises CommandError."""
        printed = await self.run(sql, **variables)
        return printed.removesuffix("\n").split("\n") if printed else []

    async def number(self, sql: str, **variables: object) -> float:
        return float(await self.run(sql, **variables))

    async def scanned(self, sql: str, **variables: object) -> list[str]:
        """The rows of a query that may use no index and no parallel worker. Raises CommandError."""
        return await self.lines(_SCAN + sql, **variables)

    async def by_index(self, query: str) -> tuple[set[str], list[str]]:
        """(the indexes that the plan names, the rows) of a query that uses an index wherever one serves. Raises
        CommandError."""
        lines = await self.lines(f"{_INDEX}EXPLAIN (FORMAT JSON) {query};\n\\echo {END}\n{query}")
        end = lines.index(END)
        nodes = _nodes(json.loads("".join(lines[:end]))[0]["Plan"])
        return {str(node["Index Name"]) for node in nodes if "Index Name" in node}, lines[end + 1 :]

    async def plan(self, query: str, *, before: str = "", analyze: bool = False) -> list[dict[str, Any]]:
        """Every node of a query's plan, from the top. before: settings. Raises CommandError."""
        explain = f"EXPLAIN (FORMAT JSON{', ANALYZE' if analyze else ''}) "
        return list(_nodes(json.loads(await self.run(before + explain + query))[0]["Plan"]))

    async def refuses(self, sql: str, state: str, what: str, **variables: object) -> None:
        """Raises Differs unless the server refuses the script with this SQLSTATE. what: 'a second row of the same
        key'."""
        try:
            await self.run(_VERBOSE + sql, **variables)
        except CommandError as error:
            if refusal(error) != state:
                raise
        else:
            raise Differs(f"It let {what} pass.")

    async def until(self, condition: str, what: str, **variables: object) -> None:
        """Until a SELECT says t. what: 'the standby had not caught up'. Raises Late."""
        deadline = time.monotonic() + PATIENCE_S
        while (await self.run(condition, **variables)).strip() != "t":
            if time.monotonic() > deadline:
                raise Late(f"After {PATIENCE_S:g} s {what}.")
            await asyncio.sleep(_POLL_S)


def refusal(error: CommandError) -> str:
    """The SQLSTATE that a verbose psql told of; '' without one."""
    found = _STATE.search(error.stderr)
    return found[1] if found else ""


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("Plans", ()):
        yield from _nodes(child)
