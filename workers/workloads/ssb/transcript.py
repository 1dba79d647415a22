"""What one client's psql printed → executions of queries. Pure.

Before each query stands a line '== pass query', then its rows, then psql's own 'Time: 12.345 ms', and '== done' only
where it did not fail: psql tells the time of a failed query too."""

from __future__ import annotations

import re
from dataclasses import dataclass

from results.domain.errors import ParseError
from results.domain.messages import gettext_lazy as _

_BEGINS = re.compile(r"== (\d{1,9}) (\S+)$", re.ASCII)
_DONE = "== done"
_TIME = re.compile(r"Time: (\d{1,18}\.\d{1,9}) ms(?: \(.*\))?$", re.ASCII)


@dataclass(frozen=True)
class Execution:
    """One query run to its end.

    number: the pass, from 1.
    answer: its rows as psql printed them."""

    client: int
    number: int
    query: str
    seconds: float
    answer: tuple[str, ...]

    @property
    def name(self) -> str:
        return _("client {client}, pass {number}", client=self.client, number=self.number)


@dataclass(frozen=True)
class Transcript:
    """What a pass of the queries printed.

    unfinished: what the client was at when it broke off, as 'q2.1 (client 1, pass 2)'; '' when at nothing."""

    executions: tuple[Execution, ...]
    unfinished: str = ""


def read_transcript(text: str, client: int, file: str) -> Transcript:
    """Raises ParseError for a line that belongs nowhere."""
    executions: list[Execution] = []
    current: tuple[int, str] | None = None
    answer: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        if match := _BEGINS.match(line):
            current, answer = (int(match[1]), match[2]), []
        elif current is None:
            raise ParseError(_("not a line of any query"), file=file, line=number, text=line)
        elif line == _DONE:
            time = _TIME.match(answer.pop() if answer else "")
            if time is None:
                what = _("{query} ended without its time", query=current[1])
                raise ParseError(what, file=file, line=number, text=line)
            executions.append(Execution(client, *current, float(time[1]) / 1000, tuple(answer)))
            current = None
        else:
            answer.append(line)
    if not current:
        return Transcript(tuple(executions))
    unfinished = _("{query} (client {client}, pass {number})", query=current[1], client=client, number=current[0])
    return Transcript(tuple(executions), unfinished)
