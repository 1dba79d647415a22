"""Who reads. A private run is seen by its author and by administrators: to all others it is as if it were not there.

Said once a request, and asked in two places: where raw SQL is run (`results.sql`) and where rows are read by the ORM
(`results.models.visible`). No page, endpoint or query has to think of it, so none can forget to. Where nobody is said
to read, in workers and commands, everything is there."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache

NOBODY = -1  # no id of a user


@dataclass(frozen=True)
class Viewer:
    """user_id: NOBODY of an anonymous visitor. sees_all: of an administrator."""

    user_id: int = NOBODY
    sees_all: bool = False


EVERYTHING = Viewer(sees_all=True)
_viewer: ContextVar[Callable[[], Viewer]] = ContextVar("viewer", default=lambda: EVERYTHING)


def read_as(find: Callable[[], Viewer]) -> None:
    """Say who reads from now on, in this thread, until it is said again: also while an answer is streamed.

    find: asked once, when something is read that may be private"""
    _viewer.set(cache(find))


def hidden_from() -> int | None:
    """Return the id of the user for whom the private runs of all others are not there; None for one who sees all."""
    viewer = _viewer.get()()
    return None if viewer.sees_all else viewer.user_id


# %s: the id of the user. There is an index of private runs alone, and they are few.
HIDDEN = "SELECT id FROM results_run WHERE private AND created_by_id IS DISTINCT FROM {viewer}"
