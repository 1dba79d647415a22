"""How many runs go on: the line in the head of every page."""

from __future__ import annotations

from dataclasses import dataclass

from results import sql


@dataclass(frozen=True)
class GoingRuns:
    """How many runs go on.

    running: of which a trial has begun.
    waiting: whose trials all wait, for an agent that is busy or away."""

    running: int
    waiting: int


def count_going() -> GoingRuns:
    """Return how many runs go on. One query."""
    return sql.rows(GoingRuns, sql.load(__file__))[0]
