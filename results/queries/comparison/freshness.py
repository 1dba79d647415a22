"""Whether anything that a comparison shows has changed: asked before it is made anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from results import sql

OTHERS = 10  # runs of a plan, and four times as many of all plans


@dataclass(frozen=True)
class Freshness:
    """What a comparison of some runs depends on.

    state: a text that is another one as soon as a comparison of the runs could be.
    references: names of all.
    others: the newest finished runs of the same plans beside these; they say how far the levels of runs lie apart."""

    state: str
    references: tuple[str, ...]
    others: tuple[int, ...] = ()


NOTHING_KNOWN = Freshness("", ())


def freshness(run_ids: Sequence[int], latest: int = 0) -> Freshness:
    """Of these runs and of the `latest` newest, which a page offers besides. One query, that reads no trial but the
    newest of each run."""
    return sql.rows(Freshness, sql.load(__file__), {"runs": list(run_ids), "latest": latest, "others": OTHERS})[0]
