"""What trials ran in, and how two sides of a comparison differ in it besides what is compared."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
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
    ranked,
)
from results.domain.environment.plan_differences import Dimensions, judge_plans
from results.domain.environment.rules import Cause

Key = tuple[str, str, str]  # panel, x, series
_OF_MEASUREMENTS = ("label", "node")  # these tell values of the same trials apart
NO_PARTS: Mapping[str, Collection[str]] = {}


@dataclass(frozen=True, eq=False)
class TrialEnvironment:
    """What some attempts ran in; told from others by identity."""

    environment: Environment
    dimensions: Mapping[str, Any]  # of one of their configurations


def environments_of(attempts: Sequence[int]) -> dict[int, TrialEnvironment]:
    """Return attempt → what it ran in, in the order given; the same object for all that ran in the same. An environment
    without layers is empty. One query, none without attempts."""
    if not attempts:
        return {}
    rows = sql.rows(_LayerRow, sql.load(__file__), {"attempts": sql.array(attempts)})
    layers = {row.hash: row for row in rows if row.hash is not None}
    contents: dict[tuple[str, ...], Mapping[str, Any]] = {}
    environments: dict[int, TrialEnvironment] = {}
    for row in rows:
        if row.hash is None:
            one = TrialEnvironment(_environment(row, layers, contents), row.dimensions or {})
            environments |= dict.fromkeys(row.attempts or (), one)
    return {attempt: environments[attempt] for attempt in attempts if attempt in environments}


class Side(NamedTuple):
    """What is behind one side of a comparison."""

    attempts: tuple[int, ...]
    trials: tuple[int, ...]
    levels: Mapping[str, str]  # dimension → level, of what tells the sides apart
    plans: tuple[Dimensions, ...] = ()  # of its configurations, where the sides may differ in them


class Pair(NamedTuple):
    """A cell and its base: (panel, x, series) of either, and what else differs."""

    key: Key
    base: Key
    difference: EnvironmentDifference


class EnvironmentComparison:
    """Compares many pairs of sides that share their environments."""

    def __init__(
        self,
        environments: Mapping[int, TrialEnvironment],
        parts: Mapping[str, Collection[str]] = NO_PARTS,
        *,
        client_overhead: bool,
    ) -> None:
        """environments: of each attempt, see `environments_of`.
        parts: of factors that set several dimensions at once, these.
        client_overhead: of the metric that is compared."""
        self._environments = environments
        self._parts, self._client_overhead = parts, client_overhead
        self._layers: Known = {}
        self._intended_of: dict[frozenset[str], frozenset[str]] = {}
        self._environment_differences: dict[Any, EnvironmentDifference] = {}
        self._differences: dict[Any, EnvironmentDifference] = {}

    def difference(self, left: Side, right: Side) -> EnvironmentDifference:
        """Return what differs between them but for their levels."""
        intended = self._intended(left.levels, right.levels)
        environment = self._environment_difference(left, right, intended)
        plans = judge_plans(left.plans, right.plans, intended, layers=all(environment.recorded), but=self._parts.keys())
        if not plans:
            return environment
        question = (id(environment), plans)
        if question not in self._differences:
            judgements = ranked((*environment.judgements, *plans))
            self._differences[question] = replace(environment, judgements=judgements)
        return self._differences[question]

    def _intended(self, left: Mapping[str, str], right: Mapping[str, str]) -> frozenset[str]:
        """Return the dimensions that are meant to differ: those of the levels that do, and what these set."""
        axes = frozenset(name for name, _ in left.items() ^ right.items() if name not in _OF_MEASUREMENTS)
        if axes not in self._intended_of:
            self._intended_of[axes] = axes.union(*(self._parts.get(name, ()) for name in axes))
        return self._intended_of[axes]

    def _environment_difference(self, left: Side, right: Side, intended: frozenset[str]) -> EnvironmentDifference:
        sides = [self._different(side.attempts) for side in (left, right)]
        question = (*map(tuple, sides), intended)
        if question not in self._environment_differences:
            base, other = ([one.environment for one in side] for side in sides)
            self._environment_differences[question] = judge_environments(
                base, other, intended, self._layers, client_overhead=self._client_overhead
            )
        return self._environment_differences[question]

    def _different(self, attempts: Iterable[int]) -> list[TrialEnvironment]:
        """Return what the attempts ran in, each environment once."""
        return list(dict.fromkeys(filter(None, map(self._environments.get, attempts))))


@dataclass(frozen=True)
class NotableDifference:
    """A difference that a reader must know, on one line for all roles that have it."""

    kind: str
    key: str
    nodes: tuple[str, ...]
    left: tuple[Any, ...]
    right: tuple[Any, ...]
    why: str
    matters: bool


@dataclass(frozen=True)
class SeriesEnvironment:
    """A series against its base, over all their cells.

    intended: (dimension, base's level, series' level).
    cells: how many were compared.
    comparable: of these, how many where nothing that matters differs besides.
    left_trial, right_trial: an example of each side, where they differ if any do."""

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
    def notable(self) -> tuple[NotableDifference, ...]:
        """What a reader must know, that which matters first."""
        same: dict[tuple[str, ...], list[KeyJudgement]] = {}
        for one in self.difference.judgements:
            if one.warn:
                same.setdefault((one.kind, one.key, repr(one.left), repr(one.right)), []).append(one)
        return tuple(_notable(judgements) for judgements in same.values())

    @property
    def counts(self) -> dict[str, int]:
        """Cause → number of keys; none that are 0."""
        return {cause: len(judgements) for cause in Cause if (judgements := self.difference.of(cause))}


def _notable(judgements: Sequence[KeyJudgement]) -> NotableDifference:
    """Return one difference for all roles that have it.

    judgements: of roles that have the same difference."""
    first = judgements[0]
    nodes = tuple(one.node for one in judgements)
    return NotableDifference(first.kind, first.key, nodes, first.left, first.right, first.why, first.matters)


def series_environments(pairs: Iterable[Pair], sides: Mapping[Key, Side]) -> tuple[SeriesEnvironment, ...]:
    """Return one for each series and base, over all their cells.

    sides: of each cell of the pairs."""
    groups: dict[tuple[str, str], list[Pair]] = {}
    for pair in pairs:
        groups.setdefault((pair.key[2], pair.base[2]), []).append(pair)
    return tuple(_series_environment(series, base, cells, sides) for (series, base), cells in groups.items())


def _series_environment(series: str, base: str, pairs: Sequence[Pair], sides: Mapping[Key, Side]) -> SeriesEnvironment:
    example = next((pair for pair in pairs if not pair.difference.comparable), pairs[0])
    left, right = sides[example.base], sides[example.key]
    return SeriesEnvironment(
        series=series,
        base=base,
        intended=tuple(
            (name, left.levels.get(name, ""), level)
            for name, level in right.levels.items()
            if left.levels.get(name) != level
        ),
        difference=merged(list({id(pair.difference): pair.difference for pair in pairs}.values())),
        cells=len(pairs),
        comparable=sum(pair.difference.comparable for pair in pairs),
        left_trial=left.trials[0],
        right_trial=right.trials[0],
    )


def planned(left: Sequence[TrialEnvironment], right: Sequence[TrialEnvironment]) -> set[str]:
    """Return the dimensions that the plans have otherwise on the two sides, or vary within one."""
    every = [one.dimensions for one in (*left, *right)]
    names = {name for dimensions in every for name in dimensions}
    return {name for name in names if any(d.get(name) != every[0].get(name) for d in every)}


def _environment(
    row: _LayerRow, layers: Mapping[str, _LayerRow], contents: dict[tuple[str, ...], Mapping[str, Any]]
) -> Environment:
    """Return what one row ran in.

    contents: made before; equal layers are the same object in all environments."""
    hashes_of: dict[tuple[str, str], list[str]] = {}
    for node, digest in row.uses or ():
        hashes_of.setdefault((node, layers[digest].kind or ""), []).append(digest)
    environment: dict[tuple[str, str], Mapping[str, Any]] = {}
    for (node, kind), hashes in hashes_of.items():
        key = (kind, *sorted(hashes))
        if key not in contents:
            contents[key] = environment_of((kind, kind, layers[h].content or {}) for h in key[1:])[kind, kind]
        environment[node, kind] = contents[key]
    return environment


@dataclass(frozen=True)
class _LayerRow:
    attempts: tuple[int, ...] | None
    dimensions: Mapping[str, Any] | None
    uses: tuple[tuple[str, str], ...] | None
    hash: str | None
    kind: str | None
    content: Mapping[str, Any] | None
