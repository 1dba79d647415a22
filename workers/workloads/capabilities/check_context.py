"""What a check is given: a database of its own whose tables are stored by the access method on trial, and the means to
compare contents. A check returns when it is through; what it found on the way (`lacks`, `declines`, `refuses`) makes it
less than a yes, an error breaks it off."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from results.domain.errors import CommandError
from workers.postgres.server import Server
from workers.workloads.capabilities import query_plan, sessions
from workers.workloads.capabilities.access_method import FIRST_WITH_ACCESS_METHODS, SQL
from workers.workloads.capabilities.contents import Item, difference, items
from workers.workloads.capabilities.database import END, Database
from workers.workloads.capabilities.outcome import Differs, Finding, NotTried, Outcome
from workers.workloads.capabilities.refusal import Refusal, fails_differently, last_statement, other_sqlstates, read
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
        self.findings: list[Finding] = []
        self.noted: list[str] = []

    @property
    def version(self) -> int:
        return self.scratch.spec.installation.version_num

    def lacks(self, what: str, refusal: Refusal | None = None, *, statement: str = "") -> None:
        """The capability is there, and this part of it is not. refusal or statement: what decided."""
        sqlstate, statement = (refusal.sqlstate, refusal.statement) if refusal else ("", statement)
        self.findings.append(Finding(Outcome.PARTLY, what, statement, sqlstate))

    def declines(self, what: str, statement: str) -> None:
        """The planner took another way, though this one cost nothing."""
        self.findings.append(Finding(Outcome.CHOSE_NOT_TO, what, statement))

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

    def same(self, what: str, expected: Iterable[object], found: Iterable[str], *, statement: str) -> None:
        """Compares two contents row for row, whatever their order. statement: what gave those found. Raises Differs."""
        wanted = [str(row) for row in expected]
        if told := difference(wanted, found):
            raise Differs(f"{_capital(what)}: {told}.", statement=statement)
        self.compared.append(f"{what}: {len(wanted)} rows")

    def equal(self, what: str, expected: object, found: object, *, statement: str) -> None:
        """Compares two single values. statement: what gave that found. Raises Differs."""
        if str(expected) != str(found):
            raise Differs(f"{_capital(what)}: expected {expected}, found {found}.", statement=statement)
        self.compared.append(f"{what}: {expected}")

    def tells(self, what: str, expected: Sequence[str], found: Sequence[str], *, statement: str) -> None:
        """Compares answers of which some are SQLSTATEs. Another SQLSTATE than the one that is due fails differently.
        Raises Differs for any other difference."""
        others = other_sqlstates(expected, found)
        if not others:
            return self.equal(what, " ".join(expected), " ".join(found), statement=statement)
        words = ", ".join(f"SQLSTATE {told} where {due} is due" for due, told in others)
        self.findings.append(Finding(Outcome.FAILS_DIFFERENTLY, f"{_capital(what)}: {words}.", statement, others[0][1]))

    async def holds(
        self, expected: Iterable[object], what: str = "", *, table: str = "items", database: Database | None = None
    ) -> None:
        """Compares a table, read from its beginning to its end, and checks that every table of the database is stored
        by the access method. Raises Differs."""
        where = database or self.database
        both = SQL["rows"] + (SQL["others"] if self.version >= FIRST_WITH_ACCESS_METHODS else "")
        lines = await where.scanned(both, table=table, name=self.scratch.method.name)
        end = lines.index(END)
        statement = SQL["rows"].partition("\n")[0].replace(':"table"', table)
        self.same(what or table, expected, lines[:end], statement=statement)
        self._stored_alike(lines[end + 1 :])

    async def own_method(self) -> None:
        """Checks that every table of the database is stored by the access method on trial. Raises Differs."""
        if self.version >= FIRST_WITH_ACCESS_METHODS:
            self._stored_alike(await self.database.lines(SQL["others"], name=self.scratch.method.name))

    def _stored_alike(self, others: Sequence[str]) -> None:
        if others:
            raise Differs(f"The table {others[0]}, not by {self.scratch.method.name}.", statement=SQL["others"])

    async def answers(
        self, query: str, expected: Iterable[object], *, index: str, what: str = "", database: Database | None = None
    ) -> None:
        """Compares the rows of a query that is made to use this index; the planner chose not to where it does not.
        Raises Differs."""
        where = database or self.database
        nodes, rows = await where.by_index(query)
        if index not in query_plan.indexes(nodes):
            words = f"The planner does not use the index {index}, though all else is off: {query_plan.shape(nodes)}."
            self.declines(words, f"EXPLAIN {query.strip()};")
        self.same(what or f"by {index}", expected, rows, statement=query)

    async def refuses(self, script: str, due: str, what: str) -> None:
        """Runs a script whose last statement has to be refused with the SQLSTATE `due`; with another, it fails
        differently. what: 'a second row of the same key'. Raises Differs where it is let pass, CommandError where
        anything else is refused."""
        statement = last_statement(script)
        try:
            await self.database.run(script)
        except CommandError as error:
            refusal = read(error.stderr)
            if refusal.sqlstate != due and not self._failed_differently(refusal, due, statement, what):
                raise
        else:
            raise Differs(f"It let {what} pass.", statement=statement)

    def _failed_differently(self, refusal: Refusal, due: str, statement: str, what: str) -> bool:
        if not fails_differently(refusal, due, statement):
            return False
        words = f"It refuses {what} with SQLSTATE {refusal.sqlstate}, where {due} is due: {refusal.message}"
        self.findings.append(Finding(Outcome.FAILS_DIFFERENTLY, words, refusal.statement, refusal.sqlstate))
        return True

    async def in_turns(
        self, steps: Sequence[sessions.Step], refused: Mapping[str, str] | None = None
    ) -> dict[str, str]:
        """Runs sessions whose statements take turns; what each printed. refused: session → the SQLSTATE that its last
        statement must be refused with; with another, it fails differently. Raises Differs, NotTried, or the
        CommandError of another refusal."""
        wanted = refused or {}
        has_turns = await self.database.run("SELECT to_regclass('turn') IS NOT NULL")
        await self.database.run(_TURNS["again" if has_turns.strip() == "t" else "make"])
        scripts = sessions.scripts(steps)
        at_work = (self.database.run(script) for script in scripts.values())
        done = await asyncio.gather(*at_work, return_exceptions=True)
        results = dict(zip(scripts, done, strict=True))
        last = {step.session: last_statement(step.sql) for step in steps}
        printed = {session: result for session, result in results.items() if isinstance(result, str)}
        self._fail_undue(results, wanted, last)
        for session, state in wanted.items():
            if session in printed:
                words = f"It let session {session} pass, which should have been refused with SQLSTATE {state}."
                raise Differs(words, statement=last[session])
        return printed

    def _fail_undue(
        self, results: Mapping[str, str | BaseException], wanted: Mapping[str, str], last: Mapping[str, str]
    ) -> None:
        """Raises the failure of a session that had none to come. last: session → its last statement."""
        failures: list[BaseException] = []
        for session, result in results.items():
            if isinstance(result, BaseException) and not self._was_due(session, result, wanted, last[session]):
                failures.append(result)
        if failures:
            raise _cause(failures)

    def _was_due(self, session: str, error: BaseException, wanted: Mapping[str, str], statement: str) -> bool:
        """Whether the session had to be refused, and was, if with another SQLSTATE."""
        if session not in wanted or not isinstance(error, CommandError):
            return False
        refusal, due = read(error.stderr), wanted[session]
        what = f"the last statement of session {session}"
        in_time = refusal.sqlstate != sessions.WAITED_IN_VAIN
        return refusal.sqlstate == due or (in_time and self._failed_differently(refusal, due, statement, what))

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
    causes = [failure for failure in failures if _sqlstate_of(failure) != sessions.WAITED_IN_VAIN]
    return causes[0] if causes else NotTried("The sessions did not come to the end of their statements in time.")


def _sqlstate_of(error: BaseException) -> str:
    return read(error.stderr).sqlstate if isinstance(error, CommandError) else ""


def _capital(what: str) -> str:
    return f"{what[:1].upper()}{what[1:]}"
