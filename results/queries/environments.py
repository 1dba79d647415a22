"""What trials ran in, and how two sides of a comparison differ in it besides what is compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from results import sql
from results.domain.environment.difference import (
    Environment,
    EnvironmentDifference,
    KeyJudgement,
    Known,
    environment_of,
    judge_environments,
    merged,
)
from results.domain.environment.rules import Cause

Key = tuple[str, str, str]  # panel, x, series
_OF_MEASUREMENTS = ("label", "node")  # these tell values of the same trials apart


@dataclass(frozen=True)
class Ran:
    """What some attempts ran in. dimensions: of one of their configurations. factors: of its run."""

    environment: Environment
    dimensions: Mapping[str, Any]
    factors: tuple[str, ...]


def environments_of(attempts: Sequence[int]) -> dict[int, Ran]:
    """Attempt → what it ran in; the same object for all that ran in the same. An environment without layers is empty.
    One query, none without attempts."""
    if not attempts:
        return {}
    rows = sql.rows(_Row, sql.load(__file__), {"attempts": list(attempts)})
    layers = {row.hash: row for row in rows if row.hash is not None}
    contents: dict[tuple[str, ...], Mapping[str, Any]] = {}
    found: dict[int, Ran] = {}
    for row in rows:
        if row.hash is None:
            ran = Ran(_environment(row, layers, contents), row.dimensions or {}, row.factors or ())
            found |= dict.fromkeys(row.attempts or (), ran)
    return found


@dataclass(frozen=True)
class Side:
    """The attempts behind one side of a comparison, their trials, and the levels of what tells the sides apart."""

    attempts: tuple[int, ...]
    trials: tuple[int, ...]
    levels: Mapping[str, str]


class Pair(NamedTuple):
    """A cell and its base: (panel, x, series) of either, and what else differs."""

    key: Key
    base: Key
    difference: EnvironmentDifference


class Judged:
    """Compares many pairs of sides that share their environments."""

    def __init__(self, attempts: Iterable[int]) -> None:
        """One query."""
        self._ran = environments_of(list(dict.fromkeys(attempts)))
        self._layers: Known = {}
        self._pairs: dict[Any, EnvironmentDifference] = {}

    def difference(self, left: Side, right: Side) -> EnvironmentDifference:
        """What differs between them but for their levels."""
        sides = [self._sides(side.attempts) for side in (left, right)]
        axes = {
            name
            for name in (left.levels.keys() | right.levels.keys()) - set(_OF_MEASUREMENTS)
            if left.levels.get(name) != right.levels.get(name)
        }
        key = (*(tuple(map(id, side)) for side in sides), frozenset(axes))
        if key not in self._pairs:
            left_ran, right_ran = ([ran.environment for ran in side] for side in sides)
            self._pairs[key] = judge_environments(left_ran, right_ran, intended(axes, *sides), self._layers)
        return self._pairs[key]

    def _sides(self, attempts: Iterable[int]) -> list[Ran]:
        return list({id(ran): ran for attempt in attempts if (ran := self._ran.get(attempt))}.values())


@dataclass(frozen=True)
class Told:
    """A difference on one line, of all roles together that have it."""

    kind: str
    key: str
    nodes: tuple[str, ...]
    left: tuple[Any, ...]
    right: tuple[Any, ...]
    why: str
    matters: bool


@dataclass(frozen=True)
class SeriesEnvironment:
    """A series against its base, over all their cells. intended: (dimension, base's level, series' level). cells: how
    many were compared; comparable: of these, how many where nothing that matters differs besides. left_trial,
    right_trial: an example of each side, where they differ if any do."""

    series: str
    base: str
    intended: tuple[tuple[str, str, str], ...]
    difference: EnvironmentDifference
    cells: int
    comparable: int
    left_trial: int
    right_trial: int

    @property
    def withheld(self) -> int:
        """Cells without a verdict, because something that matters differs."""
        return self.cells - self.comparable

    @property
    def told(self) -> tuple[Told, ...]:
        """What a reader must know, that which matters first."""
        rows: dict[tuple[str, ...], list[KeyJudgement]] = {}
        for one in self.difference.judgements:
            if one.warn:
                rows.setdefault((one.kind, one.key, repr(one.left), repr(one.right)), []).append(one)
        return tuple(
            Told(g[0].kind, g[0].key, tuple(j.node for j in g), g[0].left, g[0].right, g[0].why, g[0].matters)
            for g in rows.values()
        )

    @property
    def counts(self) -> dict[str, int]:
        """Cause → number of keys; none that are 0."""
        return {cause: len(found) for cause in Cause if (found := self.difference.of(cause))}


def series_environments(pairs: Iterable[Pair], side: Callable[[Key], Side]) -> tuple[SeriesEnvironment, ...]:
    """One for each series and base, over all their cells. side: of a cell."""
    groups: dict[tuple[str, str], list[Pair]] = {}
    for pair in pairs:
        groups.setdefault((pair.key[2], pair.base[2]), []).append(pair)
    found = []
    for (series, base), cells in groups.items():
        example = next((pair for pair in cells if not pair.difference.comparable), cells[0])
        left, right = side(example.base), side(example.key)
        found.append(
            SeriesEnvironment(
                series=series,
                base=base,
                intended=tuple(
                    (name, left.levels.get(name, ""), level)
                    for name, level in right.levels.items()
                    if left.levels.get(name) != level
                ),
                difference=merged(list({id(pair.difference): pair.difference for pair in cells}.values())),
                cells=len(cells),
                comparable=sum(pair.difference.comparable for pair in cells),
                left_trial=left.trials[0],
                right_trial=right.trials[0],
            )
        )
    return tuple(found)


def intended(axes: Iterable[str], left: Sequence[Ran], right: Sequence[Ran]) -> set[str]:
    """The dimensions that are meant to differ where these tell the sides apart. A run, and a factor that sets several
    things at once, stand for all that the plans have otherwise."""
    names = set(axes)
    whole = {"run"} | {name for ran in (*left, *right) for name in ran.factors if name not in ran.dimensions}
    if names & whole:
        names |= planned(left, right)
    return names


def planned(left: Sequence[Ran], right: Sequence[Ran]) -> set[str]:
    """Dimensions that the plans have otherwise on the two sides, or vary within one."""
    every = [ran.dimensions for ran in (*left, *right)]
    names = {name for dimensions in every for name in dimensions}
    return {name for name in names if any(d.get(name) != every[0].get(name) for d in every)}


def _environment(
    row: _Row, layers: Mapping[str, _Row], contents: dict[tuple[str, ...], Mapping[str, Any]]
) -> Environment:
    """Equal layers are the same object in all environments."""
    by_place: dict[tuple[str, str], list[str]] = {}
    for node, digest in row.uses or ():
        by_place.setdefault((node, layers[digest].kind or ""), []).append(digest)
    found: dict[tuple[str, str], Mapping[str, Any]] = {}
    for (node, kind), hashes in by_place.items():
        key = (kind, *sorted(hashes))
        if key not in contents:
            contents[key] = environment_of((kind, kind, layers[h].content or {}) for h in key[1:])[kind, kind]
        found[node, kind] = contents[key]
    return found


@dataclass(frozen=True)
class _Row:
    attempts: tuple[int, ...] | None
    dimensions: Mapping[str, Any] | None
    factors: tuple[str, ...] | None
    uses: tuple[tuple[str, str], ...] | None
    hash: str | None
    kind: str | None
    content: Mapping[str, Any] | None
