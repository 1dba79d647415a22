"""What psql says of a statement that the server refused, and how a refusal that was due is judged. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

TELLING = "\\set VERBOSITY verbose\n\\set ECHO errors\n"
"""Has psql tell the SQLSTATE of an error, and the statement."""
REFUSED = 3  # psql's exit status for an error in a statement; others tell of a lost connection, of no psql
_PLACE = re.compile(r"^psql(?::<stdin>:\d+|:\S*)?: (?:error: |info: )?")
_ERROR = re.compile(r"\b(?P<severity>ERROR|FATAL|PANIC): +(?:(?P<sqlstate>[0-9A-Z]{5}): )?")
_STATEMENT = "STATEMENT:  "
_LOCATION = "LOCATION:  "
_SQLSTATE = re.compile(r"(?!00000)[0-9A-Z]{5}")
_LINES = 4
_NO_ANSWER = ("53", "57", "58")  # classes of SQLSTATEs: out of a resource, stopped by somebody, the system's own errors


@dataclass(frozen=True)
class Refusal:
    """sqlstate: '' where psql told of none. message: the server's lines, without the SQLSTATE and without psql's place.
    statement: '' where psql told of none."""

    sqlstate: str
    message: str
    statement: str


def read(stderr: str) -> Refusal:
    """psql's words from the last error on, which is the one that it stopped at; without an error all of them."""
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
    """The place of the last line that begins with an error, else of the first that has one in it."""
    errors = [number for number, text in enumerate(lines) if _ERROR.match(text)]
    return errors[-1] if errors else next((n for n, text in enumerate(lines) if _ERROR.search(text)), 0)


def fails_differently(refusal: Refusal, due: str, statement: str) -> bool:
    """Whether the statement that had to be refused with the SQLSTATE `due` was refused with another. An error of a
    statement before it, in the same script, is none of that: that one had to succeed; nor is one that says nothing of
    the statement, such as a full disk."""
    other = bool(refusal.sqlstate) and refusal.sqlstate != due and not refusal.sqlstate.startswith(_NO_ANSWER)
    return other and _plain(refusal.statement) == _plain(statement)


def last_statement(script: str) -> str:
    """The last statement of a script of plain SQL, one a line or more: what comes behind the last semicolon but one."""
    statements = [part.strip() for part in script.rstrip().removesuffix(";").split(";\n")]
    return f"{statements[-1]};"


def other_sqlstates(expected: Sequence[str], actual: Sequence[str]) -> list[tuple[str, str]]:
    """(SQLSTATE that was due, SQLSTATE told) wherever two lists of answers differ in that alone; none where they
    differ in anything else."""
    if len(expected) != len(actual):
        return []
    pairs = [(due, told) for due, told in zip(expected, actual, strict=True) if due != told]
    alike = all(_SQLSTATE.fullmatch(due) and _SQLSTATE.fullmatch(told) for due, told in pairs)
    return pairs if alike else []


def _plain(statement: str) -> str:
    return " ".join(statement.split()).removesuffix(";").rstrip()
