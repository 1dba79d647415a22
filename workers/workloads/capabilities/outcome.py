"""The outcome of a check, and the errors that end one early. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from results.domain.errors import TeitenError
from results.domain.messages import BLANK, SEMICOLON, linked


class Outcome(StrEnum):
    """The outcome of a check, lightest first.

    chose-not-to: the planner chose another plan, however cheap this one was made.
    fails-differently: what had to fail did, with another SQLSTATE than expected.
    unknown: it could not be tried, which says nothing about the access method.
    """

    YES = "yes"
    PARTLY = "partly"
    CHOSE_NOT_TO = "chose-not-to"
    FAILS_DIFFERENTLY = "fails-differently"
    CANNOT = "cannot"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Finding:
    """One reason why an outcome is not yes.

    words: the server's message, or a description.
    statement: the SQL or command that decided; '' where none did.
    sqlstate: the server's; '' where it raised no error.
    """

    outcome: Outcome
    words: str
    statement: str = ""
    sqlstate: str = ""


@dataclass(frozen=True)
class Verdict:
    """The result of a check.

    message: all findings, the deciding one first.
    compared: the comparisons that held.
    statement, sqlstate: of the deciding finding.
    """

    outcome: Outcome
    message: str = ""
    compared: str = ""
    statement: str = ""
    sqlstate: str = ""


_LIGHTEST_FIRST = tuple(Outcome)


def weigh(findings: Sequence[Finding], notes: Sequence[str] = (), compared: Sequence[str] = ()) -> Verdict:
    """Return the verdict: the heaviest finding decides, the first of several; yes without any.

    notes: for the message, unless the check ended early.
    compared: the comparisons that held.
    """
    heaviest = max(findings, key=lambda finding: _LIGHTEST_FIRST.index(finding.outcome), default=None)
    if heaviest is None:
        return Verdict(Outcome.YES, in_a_row(notes), listed(compared))
    others = [finding.words for finding in findings if finding is not heaviest]
    more = notes if heaviest.outcome not in (Outcome.CANNOT, Outcome.UNKNOWN) else ()
    message = in_a_row([heaviest.words, *others, *more])
    statement = heaviest.statement.strip()
    return Verdict(heaviest.outcome, message, listed(compared), statement, heaviest.sqlstate)


def in_a_row(sentences: Sequence[str]) -> str:
    return linked(BLANK, sentences)


def listed(parts: Sequence[str]) -> str:
    return linked(SEMICOLON, parts)


class Differs(TeitenError):
    """The server's answer is wrong: other contents, no refusal.

    statement: the SQL that was answered."""

    kind = "differs"

    def __init__(self, what: str, *, statement: str = "") -> None:
        super().__init__(what)
        self.statement = statement


class Late(TeitenError):
    """A condition was not met in time: unknown, unless a server's log says why.

    statement: the SQL polled."""

    kind = "late"

    def __init__(self, what: str, *, statement: str = "") -> None:
        super().__init__(what)
        self.statement = statement


class NotTried(TeitenError):
    """The check needs something that the installation or the agent does not have."""

    kind = "not-tried"
