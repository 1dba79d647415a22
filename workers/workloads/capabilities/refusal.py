"""Statements that the server refused, read from psql's messages, and the judgement of expected refusals. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

TELLING = "\\set VERBOSITY verbose\n\\set ECHO errors\n"
"""Makes psql print the SQLSTATE of an error, and the statement."""
REFUSED = 3  # psql's exit status for an error in a statement; others mean a lost connection or no psql
_PLACE = re.compile(r"^psql(?::<stdin>:\d+|:\S*)?: (?:error: |info: )?")
_ERROR = re.compile(r"\b(?P<severity>ERROR|FATAL|PANIC): +(?:(?P<sqlstate>[0-9A-Z]{5}): )?")
_STATEMENT = "STATEMENT:  "
_LOCATION = "LOCATION:  "
_SQLSTATE = re.compile(r"(?!00000)[0-9A-Z]{5}")
_LINES = 4
_NO_ANSWER = ("53", "57", "58")  # classes of SQLSTATEs: out of a resource, stopped by somebody, the system's own errors


@dataclass(frozen=True)
class Refusal:
    """A refused statement.

    sqlstate: '' where psql printed none.
    message: the server's lines, without the SQLSTATE and psql's file and line.
    statement: '' where psql printed none.
    """

    sqlstate: str
    message: str
    statement: str


def read(stderr: str) -> Refusal:
    """Read psql's messages from the last error on, at which it stopped; without an error all of them."""
    lines = [_PLACE.sub("", line) for line in stderr.splitlines() if line.strip()]
    sqlstate, message, statement = "", [], []
    for number, text in enumerate(lines[_begin(lines) :]):
        if text.startswith(_STATEMENT):
            statement = [text.removeprefix(_STATEMENT)]
        elif statement:
            statement.append(text)
        elif not text.startswith(_LOCATION):
            if number == 0 and (error := _ERROR.search(text)):
                sqlstate = error["sqlstate"] or ""
                text = text.replace(error[0], f"{error['severity']}:  ", 1)
            message.append(text)
    return Refusal(sqlstate, "\n".join(message[:_LINES]), "\n".join(statement))


def _begin(lines: Sequence[str]) -> int:
    """Return the index of the last line that begins with an error, else of the first that contains one."""
    errors = [number for number, text in enumerate(lines) if _ERROR.match(text)]
    return errors[-1] if errors else next((n for n, text in enumerate(lines) if _ERROR.search(text)), 0)


def fails_differently(refusal: Refusal, due: str, statement: str) -> bool:
    """Tell whether the statement that must be refused with the SQLSTATE `due` was refused with another.

    Not so for an error of an earlier statement of the script, which must succeed, nor for one about the machine, such
    as a full disk.
    """
    other = bool(refusal.sqlstate) and refusal.sqlstate != due and not refusal.sqlstate.startswith(_NO_ANSWER)
    return other and _plain(refusal.statement) == _plain(statement)


def last_statement(script: str) -> str:
    """Return the last statement of a script of plain SQL: what follows the last semicolon but one."""
    statements = [part.strip() for part in script.rstrip().removesuffix(";").split(";\n")]
    return f"{statements[-1]};"


def other_sqlstates(expected: Sequence[str], actual: Sequence[str]) -> list[tuple[str, str]]:
    """Return (expected SQLSTATE, actual SQLSTATE) wherever two lists of answers differ in these alone; none where they
    differ in anything else."""
    if len(expected) != len(actual):
        return []
    pairs = [(due, actual_state) for due, actual_state in zip(expected, actual, strict=True) if due != actual_state]
    all_sqlstates = all(_SQLSTATE.fullmatch(due) and _SQLSTATE.fullmatch(actual_state) for due, actual_state in pairs)
    return pairs if all_sqlstates else []


def _plain(statement: str) -> str:
    return " ".join(statement.split()).removesuffix(";").rstrip()
