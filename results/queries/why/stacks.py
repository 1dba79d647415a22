"""Sampled call stacks of trials and configurations, and how two of them differ."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from results import sql
from results.domain.environment.layers import KeyDifference, difference
from results.domain.measurement.call_stacks import Change, Stacks, changes, merged
from results.domain.messages import gettext_lazy as _
from results.queries.shared.ids import NotFound, known_id
from results.queries.shared.words import name_of

_KEY = re.compile(r"(c?)([1-9][0-9]{0,18})", re.ASCII)


@dataclass(frozen=True)
class Profile:
    """Stacks of one trial (key '57') or of all counted trials of one configuration together (key 'c12').

    trials: their ids.
    how: event and callers, more than one where they were not sampled alike."""

    key: str
    run_id: int
    run_name: str
    configuration_id: int
    levels: Mapping[str, str]
    dimensions: Mapping[str, Any]
    trials: tuple[int, ...]
    how: tuple[str, ...]
    stacks: Stacks

    @cached_property
    def samples(self) -> int:
        return sum(self.stacks.values())


@dataclass(frozen=True)
class Choice:
    """A configuration that has stacks.

    own: it is the one of the trial that was asked for."""

    id: int
    run_id: int
    run_name: str
    levels: Mapping[str, str]
    trials: tuple[int, ...]
    own: bool

    @property
    def key(self) -> str:
        return f"c{self.id}"


@dataclass(frozen=True)
class Comparison:
    """The call stacks of two trials, side by side.

    differs: dimensions that are not the same.
    alike: both were sampled in one and the same way; else shares of functions are not comparable."""

    a: Profile
    b: Profile
    differs: tuple[KeyDifference, ...]
    changes: tuple[Change, ...]

    @property
    def alike(self) -> bool:
        return len({*self.a.how, *self.b.how}) == 1


def profile(key: str) -> Profile:
    """Raises NotFound. One query."""
    match = _KEY.fullmatch(key)
    if match is None:
        raise NotFound(_("{key!r} is neither a trial ('57') nor a configuration ('c12').", key=key))
    what = "configuration" if match[1] else "trial"
    number = known_id(int(match[2]), what)
    where = {"trial_id": None, "configuration_id": None, f"{what}_id": number}
    rows = sql.rows(_StackRow, sql.load(__file__), where)
    if not rows:
        raise NotFound(
            _("There is no {kind} {number}, or no call stacks of it that count.", kind=name_of(what), number=number)
        )
    first = rows[0]
    return Profile(
        key=key,
        run_id=first.run_id,
        run_name=first.run_name,
        configuration_id=first.configuration_id,
        levels=first.levels,
        dimensions=first.dimensions,
        trials=tuple(dict.fromkeys(row.trial_id for row in rows)),
        how=tuple(sorted({row.label for row in rows})),
        stacks=merged(row.content for row in rows),
    )


def compared(a: str, b: str) -> Comparison:
    """Two keys of profiles. Raises NotFound. Two queries."""
    one, other = profile(a), profile(b)
    differs = tuple(difference(one.dimensions, other.dimensions))
    return Comparison(one, other, differs, tuple(changes(one.stacks, other.stacks)))


def choices(runs: Sequence[int] = (), *, trial_id: int | None = None, limit: int = 200) -> list[Choice]:
    """What can be compared: of these runs, of the trial's run, or of all. One query."""
    return sql.rows(
        Choice, sql.load(__file__, "stacks_choices"), {"runs": list(runs), "trial_id": trial_id, "limit": limit}
    )


@dataclass(frozen=True)
class _StackRow:
    trial_id: int
    run_id: int
    run_name: str
    configuration_id: int
    levels: Mapping[str, str]
    dimensions: Mapping[str, Any]
    label: str
    content: Mapping[str, int]
