"""What a check comes to, and the ways in which it stops early. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from results.domain.errors import TeitenError


class Outcome(StrEnum):
    """chose-not-to: the planner took another way, however cheap this one was made. fails-differently: what had to fail
    did, with another SQLSTATE than it should. unknown: it could not be tried, which says nothing of the access
    method."""

    YES = "yes"
    PARTLY = "partly"
    CHOSE_NOT_TO = "chose-not-to"
    FAILS_DIFFERENTLY = "fails-differently"
    CANNOT = "cannot"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Finding:
    """One thing that keeps a check from a plain yes. words: the server's, or what was found. statement: the SQL (or
    the command) that decided, '' where none did. sqlstate: the server's, '' where it raised no error."""

    outcome: Outcome
    words: str
    statement: str = ""
    sqlstate: str = ""


@dataclass(frozen=True)
class Verdict:
    """message: the server's words, or what was found, that which decided first. compared: what was held against what.
    statement, sqlstate: of the finding that decided."""

    outcome: Outcome
    message: str = ""
    compared: str = ""
    statement: str = ""
    sqlstate: str = ""


_LIGHTEST_FIRST = tuple(Outcome)


def weigh(findings: Sequence[Finding], notes: Sequence[str] = (), compared: Sequence[str] = ()) -> Verdict:
    """Findings → the verdict: the heaviest decides, the first of several; yes without any. notes: worth a word, where
    nothing broke the check off."""
    heaviest = max(findings, key=lambda finding: _LIGHTEST_FIRST.index(finding.outcome), default=None)
    if heaviest is None:
        return Verdict(Outcome.YES, " ".join(notes), "; ".join(compared))
    others = [finding.words for finding in findings if finding is not heaviest]
    more = notes if heaviest.outcome not in (Outcome.CANNOT, Outcome.UNKNOWN) else ()
    message = " ".join((heaviest.words, *others, *more))
    statement = heaviest.statement.strip()
    return Verdict(heaviest.outcome, message, "; ".join(compared), statement, heaviest.sqlstate)


class Differs(TeitenError):
    """The server did something else than it should have: other contents, no refusal. `what` says so. statement: the
    SQL whose answer it was."""

    kind = "differs"

    def __init__(self, what: str, *, statement: str = "") -> None:
        super().__init__(what)
        self.statement = statement


class Late(TeitenError):
    """Something that ought to come about by itself did not within its time. `what` names it. It is no answer, unless a
    server's log says why. statement: the SQL that was asked over and over."""

    kind = "late"

    def __init__(self, what: str, *, statement: str = "") -> None:
        super().__init__(what)
        self.statement = statement


class NotTried(TeitenError):
    """The check needs something that is not there. `what` names it."""

    kind = "not-tried"
