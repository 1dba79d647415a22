"""Whether anything that a comparison shows has changed: asked before it is made anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from results import sql

OTHERS = 10  # runs of a plan, and four times as many of all plans
EARLIER = 6  # likewise, before those compared


@dataclass(frozen=True)
class Freshness:
    """What a comparison of some runs depends on.

    state: a text that is another one as soon as a comparison of the runs could be.
    listed: likewise of what a page lists besides, of the newest runs that are not in `state`.
    references: names of all.
    others: the newest finished runs of the same plans beside these; they say how far the levels of runs lie apart.
    earlier: the last ones that had finished when the newest of these began; they say how much single values vary. A
        later run changes no verdict within a run, then."""

    state: str
    listed: str
    references: tuple[str, ...]
    others: tuple[int, ...] = ()
    earlier: tuple[int, ...] = ()


NOTHING_KNOWN = Freshness("", "", ())


def freshness(run_ids: Sequence[int], latest: int = 0) -> Freshness:
    """Of these runs and of the `latest` newest, which a page offers besides. One query, that reads no trial but the
    newest of each run, and counts those of the runs that are compared."""
    return freshness_of_each([run_ids], latest)[0]


def freshness_of_each(groups: Sequence[Sequence[int]], latest: int = 0) -> list[Freshness]:
    """Of the runs of each group, as `freshness`. One query, none without a group."""
    if not groups:
        return []
    compared = [(number, run_id) for number, run_ids in enumerate(groups, 1) for run_id in run_ids]
    parameters = {
        "groups": sql.array([number for number, _ in compared]),
        "runs": sql.array([run_id for _, run_id in compared]),
        "count": len(groups),
        "latest": latest,
        "others": OTHERS,
        "earlier": EARLIER,
    }
    return sql.rows(Freshness, sql.load(__file__), parameters)
