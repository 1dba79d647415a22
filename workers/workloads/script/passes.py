"""What psql printed while it ran queries pass by pass: how long each took, and its rows. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from results.domain.errors import ParseError
from results.domain.messages import gettext_lazy as _

_MARK = re.compile(r"teiten (begin|end) (\d+) (\d+)(?: (\S+))?")
_TIME = re.compile(r"Time: (\d+\.\d+) ms(?: \(.*\))?")
_COMPLAINT = re.compile(r"(?:psql:[^:]*:\d+: )?((?:ERROR|FATAL|PANIC|error):\s.*)")
_CONNECTION = re.compile(r"psql: (?:error|FATAL|could not)\b.*")
_CONTINUED = re.compile(r"\s+\S|LINE \d|(?:psql:[^:]*:\d+: )?(?:DETAIL|HINT|CONTEXT):")


@dataclass(frozen=True)
class Execution:
    """One query once, by one client.

    number: its place in the text, from 1.
    rows: of its last statement."""

    client: int
    turn: int
    number: int
    seconds: float
    rows: int


@dataclass(frozen=True)
class Client:
    """What one client did.

    begun: (pass, number) of the query that it did not end; None when it ended all it began."""

    executions: tuple[Execution, ...]
    begun: tuple[int, int] | None


def driver(queries: int, passes: int) -> str:
    """The psql script that runs the files 0001.sql … in the working directory, pass after pass; `read_client` reads
    what it prints. Holds nothing but numbers."""
    lines = ["\\timing on"]
    for turn in range(1, passes + 1):
        for number in range(1, queries + 1):
            lines += [
                "\\set ON_ERROR_STOP on",
                f"\\echo teiten begin {turn} {number}",
                "\\o /dev/null",
                f"\\i {file_name(number)}",
                "\\o",
                f"\\echo teiten end {turn} {number} :ROW_COUNT",
            ]
    return "\n".join(lines) + "\n"


def file_name(number: int) -> str:
    return f"{number:04d}.sql"


def read_client(text: str, client: int, file: str) -> Client:
    """Raises ParseError for an order that `driver` does not make, and for a query without a time."""
    executions: list[Execution] = []
    begun: tuple[int, int] | None = None
    milliseconds: list[float] = []
    for line_number, line in enumerate(text.split("\n")[:-1], 1):
        mark, time = _MARK.fullmatch(line), _TIME.fullmatch(line)
        if mark is None:
            if begun is not None and time is not None:
                milliseconds.append(float(time[1]))
            continue
        query = int(mark[2]), int(mark[3])
        if begun != (None if mark[1] == "begin" else query):
            raise ParseError(_("not what psql prints here"), file=file, line=line_number, text=line)
        if mark[1] == "end":
            if not milliseconds or not (mark[4] or "").isdigit():
                what = _("a query without a time or a count of rows")
                raise ParseError(what, file=file, line=line_number, text=line)
            executions.append(Execution(client, *query, sum(milliseconds) / 1000, int(mark[4])))
        begun = query if mark[1] == "begin" else None
        milliseconds = []
    return Client(tuple(executions), begun)


def complaint(stderr: str) -> str:
    """Return the first error of psql or the server, with the lines that belong to it; '' where there is none."""
    lines = stderr.splitlines()
    for index, line in enumerate(lines):
        match = _COMPLAINT.fullmatch(line)
        if match or _CONNECTION.fullmatch(line):
            message = [match[1] if match else line]
            for continued in lines[index + 1 : index + 7]:
                if not _CONTINUED.match(continued):
                    break
                message.append(re.sub(r"^psql:[^:]*:\d+: ", "", continued))
            return "\n".join(message)
    return ""
