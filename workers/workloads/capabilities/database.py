"""One database of a scratch cluster: statements, rows, plans."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path

from results.domain.messages import gettext_lazy as _
from workers.postgres.server import Server
from workers.workloads.capabilities import query_plan
from workers.workloads.capabilities.outcome import Late
from workers.workloads.capabilities.refusal import TELLING

_HERE = Path(__file__).parent
_SCAN = (_HERE / "scan.sql").read_text()
_INDEX = (_HERE / "index.sql").read_text()
END = "~ end ~"  # between two answers of one script
_POLL_S = 0.02
PATIENCE_S = 60.0


@dataclass(frozen=True)
class Database:
    """A database and its server. Statements are constants of the checks, values go in as psql variables."""

    server: Server
    name: str

    async def run(self, sql: str, **variables: object) -> str:
        """Run a psql script in one session, and return its output. Raises CommandError, read by `refusal.read`."""
        words = {name: str(value) for name, value in variables.items()}
        return await self.server.execute(TELLING + sql, database=self.name, variables=words)

    async def lines(self, sql: str, **variables: object) -> list[str]:
        """Return one text for each row. Raises CommandError."""
        printed = await self.run(sql, **variables)
        return printed.removesuffix("\n").split("\n") if printed else []

    async def number(self, sql: str, **variables: object) -> float:
        return float(await self.run(sql, **variables))

    async def lines_by_scan(self, sql: str, **variables: object) -> list[str]:
        """Return the rows of a query without indexes and parallel workers. Raises CommandError."""
        return await self.lines(_SCAN + sql, **variables)

    async def plan_and_rows_by_index(self, query: str) -> tuple[list[query_plan.Node], list[str]]:
        """Return (the plan's nodes, the rows) of a query that uses an index wherever it can. Raises CommandError."""
        lines = await self.lines(f"{_INDEX}EXPLAIN (FORMAT JSON) {query};\n\\echo {END}\n{query}")
        end = lines.index(END)
        return query_plan.nodes("".join(lines[:end])), lines[end + 1 :]

    async def plan(self, query: str, *, before: str = "", analyze: bool = False) -> list[query_plan.Node]:
        """Return every node of a query's plan, from the top. Raises CommandError.

        before: SET statements."""
        explain = f"EXPLAIN (FORMAT JSON{', ANALYZE' if analyze else ''}) "
        return query_plan.nodes(await self.run(before + explain + query))

    async def until(self, condition: str, what: str, **variables: object) -> None:
        """Wait until a SELECT returns t. Raises Late.

        what: for the message, 'the standby had not caught up'."""
        deadline = time.monotonic() + PATIENCE_S
        while (await self.run(condition, **variables)).strip() != "t":
            if time.monotonic() > deadline:
                raise Late(_("After {seconds:g} s {what}.", seconds=PATIENCE_S, what=what), statement=condition)
            await asyncio.sleep(_POLL_S)
