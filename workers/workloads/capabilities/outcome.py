"""What a check comes to, and the ways in which it stops early. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from results.errors import TeitenError


class Outcome(StrEnum):
    """unknown: it could not be tried, which says nothing of the access method."""

    YES = "yes"
    NO = "no"
    PARTLY = "partly"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Verdict:
    """message: the server's words, or what was found. compared: what was held against what."""

    outcome: Outcome
    message: str = ""
    compared: str = ""


class Differs(TeitenError):
    """The server did something else than it should have: other contents, another plan, no refusal. `what` says so."""

    kind = "differs"


class Late(TeitenError):
    """Something that ought to come about by itself did not within its time. `what` names it. It is no answer, unless a
    server's log says why."""

    kind = "late"


class NotTried(TeitenError):
    """The check needs something that is not there. `what` names it."""

    kind = "not-tried"
