"""Whether anything that a trend shows has changed: asked before it is made anew."""

from __future__ import annotations

from dataclasses import dataclass

from results import sql
from results.queries.trends.families import FollowedRuns


@dataclass(frozen=True)
class _Stored:
    state: str


def trends_state(followed: FollowedRuns) -> str:
    """Return a text that is another one as soon as a trend of these runs could be. One query, which reads no trial
    but those of runs that go on."""
    (stored,) = sql.rows(_Stored, sql.load(__file__), {"runs": sql.array(followed.ids)})
    return f"{followed}\n{stored.state}"
