"""What a check is given: a database of its own whose tables are stored by the access method on trial, and the means to
compare contents. A check returns when all is as it should be; `lacks` and `notes` say more, errors say less."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from results.errors import CommandError
from workers.postgres.server import Server
from workers.workloads.capabilities import sessions
from workers.workloads.capabilities.access_method import FIRST_WITH_ACCESS_METHODS, SQL
from workers.workloads.capabilities.contents import Item, difference, items
from workers.workloads.capabilities.database import END, Database, refusal
from workers.workloads.capabilities.outcome import Differs, NotTried
from workers.workloads.capabilities.scratch import Scratch
from workers.workloads.capabilities.sections import sections

_ITEMS = (Path(__file__).parent / "items.sql").read_text()
_MANY = 5000
_TURNS = sections(sessions.__file__)


class Lab:
    """role: names the check's own clusters and databases. servers: all whose logs tell of this check. rows: how many
    the test tables have."""

    def __init__(self, scratch: Scratch, role: str, database: Database, rows: int) -> None:
        self.scratch, self.role, self.database, self.row_count = scratch, role, database, rows
        self.servers: list[Server] = [database.server]
        self.compared: list[str] = []
        self.lacking: list[str] = []
        self.noted: list[str] = []

    @property
    def version(self) -> int:
        return self.scratch.spec.installation.version_num

    def lacks(self, what: str) -> None:
        """The capability is there, and this part of it is not."""
        self.lacking.append(what)

    def notes(self, what: str) -> None:
        """Worth a word, whatever the outcome."""
        self.noted.append(what)

    @property
    def many(self) -> int:
        """Rows of a table whose size is measured: enough that what every table has at least weighs little."""
        return max(self.row_count, _MANY)

    async def fill(self, count: int | None = None) -> dict[int, Item]:
        """Makes the table items, of row_count rows unless told otherwise; its rows by id. Raises CommandError."""
        rows = items(count or self.row_count)
        await self.database.run(_ITEMS, rows=len(rows))
        return rows

    def same(self, what: str, expected: Iterable[object], found: Iterable[str]) -> None:
        """Compares two contents row for row, whatever their order. Raises Differs."""
        wanted = [str(row) for row in expected]
        if told := difference(wanted, found):
            raise Differs(f"{what[:1].upper()}{what[1:]}: {told}.")
        self.compared.append(f"{what}: {len(wanted)} rows")

    def equal(self, what: str, expected: object, found: object) -> None:
        """Compares two single values. Raises Differs."""
        if str(expected) != str(found):
            raise Differs(f"{what[:1].upper()}{what[1:]}: expected {expected}, found {found}.")
        self.compared.append(f"{what}: {expected}")

    async def holds(
        self, expected: Iterable[object], what: str = "", *, table: str = "items", database: Database | None = None
    ) -> None:
        """Compares a table, read from its beginning to its end, and checks that every table of the database is stored
        by the access method. Raises Differs."""
        where = database or self.database
        both = SQL["rows"] + (SQL["others"] if self.version >= FIRST_WITH_ACCESS_METHODS else "")
        lines = await where.scanned(both, table=table, name=self.scratch.method.name)
        end = lines.index(END)
        self.same(what or table, expected, lines[:end])
        self._stored_alike(lines[end + 1 :])

    async def own_method(self) -> None:
        """Checks that every table of the database is stored by the access method on trial. Raises Differs."""
        if self.version >= FIRST_WITH_ACCESS_METHODS:
            self._stored_alike(await self.database.lines(SQL["others"], name=self.scratch.method.name))

    def _stored_alike(self, others: Sequence[str]) -> None:
        if others:
            raise Differs(f"The table {others[0]}, not by {self.scratch.method.name}.")

    async def answers(
        self, query: str, expected: Iterable[object], *, index: str, what: str = "", database: Database | None = None
    ) -> None:
        """Compares the rows of a query that is made to use this index, and checks that it did. Raises Differs."""
        where = database or self.database
        used, rows = await where.by_index(query)
        if index not in used:
            raise Differs(f"The planner does not use the index {index}, even where it may do nothing else.")
        self.same(what or f"by {index}", expected, rows)

    async def in_turns(
        self, steps: Sequence[sessions.Step], refused: Mapping[str, str] | None = None
    ) -> dict[str, str]:
        """Runs sessions whose statements take turns; what each printed. refused: session → the SQLSTATE that its last
        statement must be refused with. Raises Differs, NotTried, or the CommandError of another refusal."""
        wanted = refused or {}
        has_turns = await self.database.run("SELECT to_regclass('turn') IS NOT NULL")
        await self.database.run(_TURNS["again" if has_turns.strip() == "t" else "make"])
        scripts = sessions.scripts(steps)
        done = await asyncio.gather(*(self._session(script) for script in scripts.values()), return_exceptions=True)
        said = dict(zip(scripts, done, strict=True))
        failures = {
            session: result
            for session, result in said.items()
            if isinstance(result, BaseException) and _refusal_of(result) != wanted.get(session)
        }
        if failures:
            raise _cause(failures.values())
        for session, state in wanted.items():
            if isinstance(said[session], str):
                raise Differs(f"It let session {session} pass, which should have been refused with SQLSTATE {state}.")
        return {session: result for session, result in said.items() if isinstance(result, str)}

    async def _session(self, script: str) -> str:
        return await self.database.run("\\set VERBOSITY verbose\n" + script)

    async def extension(self, name: str) -> None:
        """Makes an extension in the database. Raises NotTried where the installation has none of this name."""
        if not await self.database.lines("SELECT name FROM pg_available_extensions WHERE name = :'name'", name=name):
            raise NotTried(f"The installation has no extension {name}.")
        await self.database.run('CREATE EXTENSION :"name"', name=name)

    async def program(self, name: str) -> str:
        """The path of a client program: the installation's own, else one beside the psql in use. Raises NotTried."""
        folders = dict.fromkeys((self.scratch.spec.installation.bin_dir, self.scratch.spec.installation.client_bin))
        for folder in folders:
            found = await self.scratch.remote.run("test", "-x", f"{folder}/{name}", check=False)
            if found.exit_status == 0:
                return f"{folder}/{name}"
        raise NotTried(f"There is no {name} in {' or '.join(folders)}.")


def _cause(failures: Iterable[BaseException]) -> BaseException:
    """The failure for which the others waited in vain."""
    causes = [failure for failure in failures if _refusal_of(failure) != sessions.WAITED_IN_VAIN]
    return causes[0] if causes else NotTried("The sessions did not come to the end of their statements in time.")


def _refusal_of(error: BaseException) -> str:
    return refusal(error) if isinstance(error, CommandError) else ""
