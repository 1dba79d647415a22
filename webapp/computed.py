"""The comparisons and trends that this process computed last, for all who ask for the same.

Another visitor, the JSON of a page, Why and the trials behind a cell ask for what was computed a moment ago. It is
computed anew when the state of its runs is another one, as an answer is made anew whose ETag is, and for a browser that
reloads a page without its cache."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import replace
from threading import Lock
from typing import Any, TypeVar

from cachetools import TTLCache
from django.conf import settings

from results.queries.comparison.compare import Comparison, compare
from results.queries.comparison.freshness import Freshness, freshness
from results.queries.shared.selection import Selection
from results.queries.trends.families import Family, FollowedRuns, TrendSelection, known_families
from results.queries.trends.trends import Trend, trend
from results.queries.trends.trends_state import trends_state
from results.viewer import hidden_from

T = TypeVar("T")
# What a result takes besides its values, in values of 0.7 kB: what can be chosen, a cell or point with its verdict, a
# family with its dimensions.
_RESULT, _CELL, _FAMILY = 500, 4, 8
_anew: ContextVar[bool] = ContextVar("anew", default=False)


def cache(most: int) -> TTLCache[str, Any]:
    """Return a cache without results.

    most: values that its results may have together"""
    return TTLCache(most, settings.TEITEN_KEPT_S, getsizeof=_size)


def compute_anew(anew: bool) -> None:
    """Say whether what is asked for in this thread from now on is computed anew."""
    _anew.set(anew)


def compared(selection: Selection, known: Freshness | None = None) -> Comparison:
    """As `compare`. One query where it was computed before, none where the freshness of its runs is known already; one
    more than `compare` where it is kept."""
    known = replace(known or freshness(selection.runs), listed="")
    key = f"{selection}\n{known}"
    return _kept("comparison", key, lambda: compare(selection, known), lambda: freshness(selection.runs) == known)


def families_of(runs: FollowedRuns, state: str) -> Sequence[Family]:
    """As `known_families`.

    state: see `trends_state`"""
    return _kept("families", state, lambda: known_families(runs), lambda: trends_state(runs) == state)


def trend_of(selection: TrendSelection, runs: FollowedRuns, families: Sequence[Family], state: str) -> Trend:
    """As `trend`.

    state: see `trends_state`"""
    key = f"{selection}\n{state}"
    return _kept("trend", key, lambda: trend(selection, runs, families), lambda: trends_state(runs) == state)


def _kept(what: str, key: str, compute: Callable[[], T], unchanged: Callable[[], bool]) -> T:
    """Return the result that is kept under a key, for whom the same runs are there; else compute it, and keep it unless
    it is large.

    unchanged: whether it still is of the state that the key says: what is read by several queries may be of two states,
        and the first may come back, as where a run is made private and public again"""
    key = f"{what} {hidden_from()} {key}"
    with _lock:
        result: T | None = None if _anew.get() else kept.get(key)
    if result is None:
        result = compute()
        if _size(result) <= kept.maxsize and unchanged():
            with _lock:
                kept[key] = result
    return result


def _size(result: Any) -> int:
    if isinstance(result, (Comparison, Trend)):
        lines = [result] if isinstance(result, Comparison) else result.lines
        return _RESULT + sum(_CELL + len(point.values) for line in lines for point in line.points)
    return _RESULT + _FAMILY * len(result)


kept = cache(settings.TEITEN_COMPUTED)
_lock = Lock()
