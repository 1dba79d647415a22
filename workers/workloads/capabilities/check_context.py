"""The context of a check: a database of its own whose tables are stored by the access method on trial, and comparisons.

A check returns when it is done. What it reports on the way (`report_missing`, `report_not_chosen`, `expect_refusal`)
makes the outcome less than yes; an error ends it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from results.domain.errors import CommandError
from results.domain.messages import COMMA, OR, Message, linked
from results.domain.messages import gettext_lazy as _
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


class CheckContext:
    """What one check works with, and what it reports.

    role: prefix of the names of the check's own clusters and databases.
    servers: all whose logs belong to this check.
    row_count: rows of the test tables.
    compared: each comparison that held, in words.
    findings: what makes the outcome less than yes.
    remarks: for the message, whatever the outcome.
    """

    def __init__(self, scratch: Scratch, role: str, database: Database, rows: int) -> None:
        self.scratch, self.role, self.database, self.row_count = scratch, role, database, rows
        self.servers: list[Server] = [database.server]
        self.compared: list[str] = []
        self.findings: list[Finding] = []
        self.remarks: list[str] = []

    @property
    def version(self) -> int:
        return self.scratch.spec.installation.version_num

    def report_missing(self, what: str, refusal: Refusal | None = None, *, statement: str = "") -> None:
        """Report that a part of the capability is missing. refusal or statement: what decided."""
        sqlstate, statement = (refusal.sqlstate, refusal.statement) if refusal else ("", statement)
        self.findings.append(Finding(Outcome.PARTLY, what, statement, sqlstate))

    def report_not_chosen(self, what: str, statement: str) -> None:
        """Report that the planner chose another plan although all others were disabled."""
        self.findings.append(Finding(Outcome.CHOSE_NOT_TO, what, statement))

    def remark(self, what: str) -> None:
        """Add a sentence to the message, whatever the outcome."""
        self.remarks.append(what)

    @property
    def many(self) -> int:
        """Rows of a table whose size is measured: enough to make its fixed size negligible."""
        return max(self.row_count, _MANY)

    async def fill(self, count: int | None = None) -> dict[int, Item]:
        """Create the table items with `count` or row_count rows, and return them by id. Raises CommandError."""
        rows = items(count or self.row_count)
        await self.database.run(_ITEMS, rows=len(rows))
        return rows

    def expect_rows(self, what: str, expected: Iterable[object], actual: Iterable[str], *, statement: str) -> None:
        """Compare two sets of rows, whatever their order. Raises Differs.

        statement: that returned `actual`."""
        expected_rows = [str(row) for row in expected]
        if differences := difference(expected_rows, actual):
            words = _("{what}: {differences}.", what=_capital(what), differences=differences)
            raise Differs(words, statement=statement)
        self.compared.append(_("{what}: {number} rows", what=what, number=len(expected_rows)))

    def expect_value(self, what: str, expected: object, actual: object, *, statement: str) -> None:
        """Compare two single values. Raises Differs.

        statement: that returned `actual`."""
        if str(expected) != str(actual):
            words = _(
                "{what}: expected {expected}, found {actual}.", what=_capital(what), expected=expected, actual=actual
            )
            raise Differs(words, statement=statement)
        self.compared.append(_("{what}: {value}", what=what, value=expected))

    def expect_answers(self, what: str, expected: Sequence[str], actual: Sequence[str], *, statement: str) -> None:
        """Compare answers of which some are SQLSTATEs. An SQLSTATE other than the expected one fails differently.
        Raises Differs for any other difference."""
        others = other_sqlstates(expected, actual)
        if not others:
            return self.expect_value(what, " ".join(expected), " ".join(actual), statement=statement)
        states = [_("SQLSTATE {actual} where {due} is due", actual=actual, due=due) for due, actual in others]
        together = linked(COMMA, states)
        words = _("{what}: {states}.", what=_capital(what), states=together)
        self.findings.append(Finding(Outcome.FAILS_DIFFERENTLY, words, statement, others[0][1]))

    async def expect_table(
        self, expected: Iterable[object], what: str = "", *, table: str = "items", database: Database | None = None
    ) -> None:
        """Compare a table, read by a sequential scan, and check that every table of the database is stored by the
        access method. Raises Differs."""
        where = database or self.database
        both = SQL["rows"] + (SQL["others"] if self.version >= FIRST_WITH_ACCESS_METHODS else "")
        lines = await where.lines_by_scan(both, table=table, name=self.scratch.method.name)
        end = lines.index(END)
        statement = SQL["rows"].partition("\n")[0].replace(':"table"', table)
        self.expect_rows(what or table, expected, lines[:end], statement=statement)
        self._require_stored_by_method(lines[end + 1 :])

    async def expect_access_method(self) -> None:
        """Check that every table of the database is stored by the access method on trial. Raises Differs."""
        if self.version >= FIRST_WITH_ACCESS_METHODS:
            self._require_stored_by_method(await self.database.lines(SQL["others"], name=self.scratch.method.name))

    def _require_stored_by_method(self, others: Sequence[str]) -> None:
        if others:
            words = _("The table {stored}, not by {name}.", stored=others[0], name=self.scratch.method.name)
            raise Differs(words, statement=SQL["others"])

    async def expect_by_index(
        self, query: str, expected: Iterable[object], *, index: str, what: str = "", database: Database | None = None
    ) -> None:
        """Compare the rows of a query that is made to use this index; report where the planner does not use it. Raises
        Differs."""
        where = database or self.database
        nodes, rows = await where.plan_and_rows_by_index(query)
        if index not in query_plan.indexes(nodes):
            shape = query_plan.shape(nodes)
            words = _(
                "The planner does not use the index {index}, though all other plans are disabled: {plan}.",
                index=index,
                plan=shape,
            )
            self.report_not_chosen(words, f"EXPLAIN {query.strip()};")
        self.expect_rows(what or _("by {index}", index=index), expected, rows, statement=query)

    async def expect_refusal(self, script: str, due: str, what: str) -> None:
        """Run a script whose last statement must be refused with the SQLSTATE `due`.

        With another SQLSTATE it fails differently.
        what: 'a second row of the same key'.
        Raises Differs where the statement succeeds, CommandError where another one is refused.
        """
        statement = last_statement(script)
        try:
            await self.database.run(script)
        except CommandError as error:
            refusal = read(error.stderr)
            if refusal.sqlstate != due and not self._failed_differently(refusal, due, statement, what):
                raise
        else:
            raise Differs(_("It let {what} pass.", what=what), statement=statement)

    def _failed_differently(self, refusal: Refusal, due: str, statement: str, what: str) -> bool:
        if not fails_differently(refusal, due, statement):
            return False
        words = _(
            "It refuses {what} with SQLSTATE {sqlstate}, where {due} is due: {message}",
            what=what,
            sqlstate=refusal.sqlstate,
            due=due,
            message=refusal.message,
        )
        self.findings.append(Finding(Outcome.FAILS_DIFFERENTLY, words, refusal.statement, refusal.sqlstate))
        return True

    async def run_interleaved(
        self, steps: Sequence[sessions.Step], refused: Mapping[str, str] | None = None
    ) -> dict[str, str]:
        """Run sessions whose statements take turns, and return what each printed.

        refused: session → SQLSTATE that its last statement must be refused with; with another it fails differently.
        Raises Differs, NotTried, or the CommandError of another refusal.
        """
        expected_refusals = refused or {}
        has_turns = await self.database.run("SELECT to_regclass('turn') IS NOT NULL")
        await self.database.run(_TURNS["again" if has_turns.strip() == "t" else "make"])
        scripts = sessions.scripts(steps)
        running = (self.database.run(script) for script in scripts.values())
        outcomes = await asyncio.gather(*running, return_exceptions=True)
        results = dict(zip(scripts, outcomes, strict=True))
        last = {step.session: last_statement(step.sql) for step in steps}
        printed = {session: result for session, result in results.items() if isinstance(result, str)}
        self._fail_undue(results, expected_refusals, last)
        for session, state in expected_refusals.items():
            if session in printed:
                words = _(
                    "It let session {session} pass, which should have been refused with SQLSTATE {sqlstate}.",
                    session=session,
                    sqlstate=state,
                )
                raise Differs(words, statement=last[session])
        return printed

    def _fail_undue(
        self, results: Mapping[str, str | BaseException], expected_refusals: Mapping[str, str], last: Mapping[str, str]
    ) -> None:
        """Raise the error of a session that should have succeeded.

        last: session → its last statement."""
        failures: list[BaseException] = []
        for session, result in results.items():
            if isinstance(result, BaseException) and not self._was_due(
                session, result, expected_refusals, last[session]
            ):
                failures.append(result)
        if failures:
            raise _cause(failures)

    def _was_due(
        self, session: str, error: BaseException, expected_refusals: Mapping[str, str], statement: str
    ) -> bool:
        """Tell whether the session's refusal was expected, perhaps with another SQLSTATE."""
        if session not in expected_refusals or not isinstance(error, CommandError):
            return False
        refusal, due = read(error.stderr), expected_refusals[session]
        what = _("the last statement of session {session}", session=session)
        in_time = refusal.sqlstate != sessions.WAITED_IN_VAIN
        return refusal.sqlstate == due or (in_time and self._failed_differently(refusal, due, statement, what))

    async def extension(self, name: str) -> None:
        """Create an extension in the database. Raises NotTried where the installation does not have it."""
        if not await self.database.lines("SELECT name FROM pg_available_extensions WHERE name = :'name'", name=name):
            raise NotTried(_("The installation has no extension {name}.", name=name))
        await self.database.run('CREATE EXTENSION :"name"', name=name)

    async def program(self, name: str) -> str:
        """Return the path of a client program: the installation's, else the one beside psql. Raises NotTried."""
        folders = dict.fromkeys((self.scratch.spec.installation.bin_dir, self.scratch.spec.installation.client_bin))
        for folder in folders:
            result = await self.scratch.remote.run("test", "-x", f"{folder}/{name}", check=False)
            if result.exit_status == 0:
                return f"{folder}/{name}"
        places = linked(OR, folders)
        raise NotTried(_("There is no {program} in {folders}.", program=name, folders=places))


def _cause(failures: Iterable[BaseException]) -> BaseException:
    """Return the error for which the other sessions waited in vain."""
    causes = [failure for failure in failures if _sqlstate_of(failure) != sessions.WAITED_IN_VAIN]
    return causes[0] if causes else NotTried(_("The sessions did not come to the end of their statements in time."))


def _sqlstate_of(error: BaseException) -> str:
    return read(error.stderr).sqlstate if isinstance(error, CommandError) else ""


def _capital(what: str) -> str:
    """Return the words as a sentence begins; where they are a message, its translations are as before."""
    words = f"{what[:1].upper()}{what[1:]}"
    if not isinstance(what, Message):
        return words
    capital = str.__new__(Message, words)
    capital.id, capital.plural, capital.number, capital.values = what.id, what.plural, what.number, what.values
    return capital
