"""Two environments key by key: what differs as intended, what does no harm, and what stands between them."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from results.domain.environment.layers import LayerKind, flatten
from results.domain.environment.reasons import Difference, Reasoning
from results.domain.environment.rules import BUILDS, CLIENT_PROGRAMS, OWN_CLIENTS, Cause, compiles_queries
from results.domain.environment.values import major_of, normal
from results.domain.messages import Message
from results.domain.messages import gettext_lazy as _
from results.domain.secrets import masked_values

Place = tuple[str, str]  # (role, kind of layer)
Environment = Mapping[Place, Mapping[str, Any]]  # → dotted key → value
_ORDER = {cause: place for place, cause in enumerate(Cause)}
_BUILD = ("primary", LayerKind.BUILD)
_CLIENT = ("client", LayerKind.CLIENT)
_ONE_SIDE_UNKNOWN = _("Nothing is recorded of what one side ran in, so nobody can tell what else differs.")
_SOME_UNKNOWN = _("Nothing is recorded of what some trials ran in, so nobody can tell what else differs.")
_RECORDED, _NOT_RECORDED = _("recorded"), _("not recorded")


@dataclass(frozen=True)
class KeyJudgement:
    """One key that is not simply equal.

    left, right: its values, more than one where a side's trials differ among themselves; None for one that lacks it.
    warn: a reader must see it.
    dimension: what it follows from, if intended."""

    node: str
    kind: str
    key: str
    left: tuple[Any, ...]
    right: tuple[Any, ...]
    cause: Cause
    why: str
    warn: bool = False
    dimension: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.why, Message):  # as of a citation
            object.__setattr__(self, "why", Message(self.why))

    @property
    def varies(self) -> bool:
        """Within a side."""
        return len(self.left) > 1 or len(self.right) > 1

    @property
    def matters(self) -> bool:
        return self.cause is Cause.CONFOUNDER


@dataclass(frozen=True)
class EnvironmentDifference:
    """How what two sides ran in differs.

    judgements: of every key that is not simply equal, those that matter first; equal ones too where they were asked
        for.
    same: how many keys are equal.
    recorded: of the left and of the right side something is known."""

    judgements: tuple[KeyJudgement, ...]
    same: int
    recorded: tuple[bool, bool] = (True, True)

    @cached_property
    def comparable(self) -> bool:
        return not any(judgement.matters for judgement in self.judgements)

    def of(self, *causes: Cause) -> list[KeyJudgement]:
        return [judgement for judgement in self.judgements if judgement.cause in causes]


def environment_of(layers: Iterable[tuple[str, str, Mapping[str, Any]]]) -> Environment:
    """(role, kind, content) of each layer → one environment; layers of one role and kind are put together.

    Settings that were stored before 1.0 may hold passwords, which are hidden."""
    environment: dict[Place, dict[str, Any]] = {}
    for node, kind, content in layers:
        flat = masked_values(flatten(content)) if kind == LayerKind.SETTINGS else flatten(content)
        environment.setdefault((node, kind), {}).update(flat)
    return environment


Known = dict[Hashable, tuple[list["KeyJudgement"], int]]


def judge_environments(
    left: Sequence[Environment],
    right: Sequence[Environment],
    intended: Collection[str] = (),
    known: Known | None = None,
    *,
    equal: bool = False,
    client_overhead: bool = True,
) -> EnvironmentDifference:
    """All environments of one side against all of the other.

    intended: dimensions that are meant to differ ('version', 'setting.work_mem', 'agent.primary').
    known: one dictionary for many calls over the same layer objects, so that two layers are compared once.
    equal: judgements of equal keys as well.
    client_overhead: pgbench's own work is part of what is compared, see `Metric`."""
    recorded = (any(left), any(right))
    unknown = tuple(_nothing_known(left, right))
    if not all(recorded):
        return EnvironmentDifference(unknown, 0, recorded)
    left, right = ([environment for environment in side if environment] for side in (left, right))
    judge = _Judge(left, right, frozenset(intended), {} if known is None else known, equal, client_overhead)
    compared = judge.verdict()
    return replace(compared, judgements=(*unknown, *compared.judgements)) if unknown else compared


def merged(differences: Sequence[EnvironmentDifference]) -> EnvironmentDifference:
    """Several pairs of one comparison as one: of each key all values, and the judgement that matters most."""
    if len(differences) == 1:
        return differences[0]
    worst: dict[tuple[str, str, str], KeyJudgement] = {}
    for difference in differences:
        for one in difference.judgements:
            position = (one.node, one.kind, one.key)
            other = worst.get(position, one)
            worse = min(one, other, key=lambda judgement: _ORDER[judgement.cause])
            left, right = _distinct((*other.left, *one.left)), _distinct((*other.right, *one.right))
            worst[position] = replace(worse, left=tuple(left), right=tuple(right))
    return EnvironmentDifference(
        ranked(worst.values()),
        min((difference.same for difference in differences), default=0),
        (all(d.recorded[0] for d in differences), all(d.recorded[1] for d in differences)),
    )


def ranked(judgements: Iterable[KeyJudgement]) -> tuple[KeyJudgement, ...]:
    """Return them in reading order, those that matter first."""
    return tuple(sorted(judgements, key=_rank))


def _rank(judgement: KeyJudgement) -> tuple[object, ...]:
    return _ORDER[judgement.cause], not judgement.warn, judgement.kind, judgement.key, judgement.node


def _nothing_known(left: Sequence[Environment], right: Sequence[Environment]) -> Iterable[KeyJudgement]:
    """Of one side, or of single trials beside others."""
    if not all((*left, *right)) and any((*left, *right)):
        why = _ONE_SIDE_UNKNOWN if not any(left) or not any(right) else _SOME_UNKNOWN
        sides = [_known(map(bool, side)) for side in (left, right)]
        yield KeyJudgement("", "", "", sides[0], sides[1], Cause.CONFOUNDER, why, warn=True)


def _known(recorded: Iterable[bool]) -> tuple[str, ...]:
    """Of a side's trials; of a side without any nothing is recorded."""
    return tuple(_RECORDED if one else _NOT_RECORDED for one in sorted({*recorded} or {False}, reverse=True))


class _Judge:
    def __init__(
        self,
        left: Sequence[Environment],
        right: Sequence[Environment],
        intended: frozenset[str],
        known: Known,
        keep_equal: bool,
        client_overhead: bool,
    ) -> None:
        self.sides = (left, right)
        self.known, self.keep_equal = known, keep_equal
        self.intended = intended | BUILDS if intended & BUILDS or self._same_major(intended) else intended
        if intended & BUILDS and self._own_clients():
            self.intended |= {CLIENT_PROGRAMS}
        self.rules = Reasoning(
            self.intended,
            versions=[_values(side, _BUILD, "version_num") for side in self.sides],
            initdb=[_values(side, _BUILD, "initdb") for side in self.sides],
            compiles=any(_compiles(environment) for side in self.sides for environment in side),
            client_overhead=client_overhead,
        )

    def _same_major(self, intended: frozenset[str]) -> bool:
        """Return whether runs are compared that measured builds of one major version: a plan that is run again follows
        them."""
        builds = [one[_BUILD] for side in self.sides for one in side if _BUILD in one]
        majors = {major_of(build.get("version_num"), str(build.get("version", ""))) for build in builds}
        return "run" in intended and len(majors) == 1

    def _own_clients(self) -> bool:
        """Return whether all plans have each PostgreSQL measured with its own psql and pgbench: the clients are part of
        what is compared."""
        return all(environment.get(_CLIENT, {}).get(OWN_CLIENTS) for side in self.sides for environment in side)

    def verdict(self) -> EnvironmentDifference:
        judgements: list[KeyJudgement] = []
        same = 0
        places: set[Place] = set()
        for environment in (*self.sides[0], *self.sides[1]):
            places.update(environment)
        for place in sorted(places):
            of_layer, equal = self.once(place)
            judgements += of_layer
            same += equal
        return EnvironmentDifference(ranked(judgements), same)

    def once(self, place: Place) -> tuple[list[KeyJudgement], int]:
        """A layer is decided by itself, the build, and of settings the defaults: environments that have all of these in
        common are one."""
        deciding = (place, _BUILD, (place[0], LayerKind.DEFAULTS))
        sides: list[dict[tuple[int, ...], Environment]] = []
        for side in self.sides:
            sides.append({tuple(id(one.get(layer)) for layer in deciding): one for one in side})
        # a role that is not there is told by what else is
        roles = tuple(frozenset(_roles(side)) for side in self.sides)
        rules = (self.intended, self.rules.compiles, self.rules.client_overhead)
        key = (place, *(tuple(side) for side in sides), roles, self.keep_equal, rules)
        if key not in self.known:
            self.known[key] = self.place(place, [list(side.values()) for side in sides])
        return self.known[key]

    def place(self, place: Place, sides: Sequence[Sequence[Environment]]) -> tuple[list[KeyJudgement], int]:
        """One layer of both sides: judgements, and how many keys are equal."""
        having = [[environment for environment in side if place in environment] for side in sides]
        complete = all(len(some) == len(side) for some, side in zip(having, sides, strict=True))
        judgements = [] if complete else [self.missing(place)]
        if place[1] == LayerKind.DEFAULTS or not all(having):
            return judgements, 0  # defaults are read together with the settings
        left, right = _layers_of(place, having)
        if not self.keep_equal and len(left) == 1 and left == right:
            return judgements, len(left[0].values)
        of_keys, equal = self.keys(place, left, right)
        return judgements + of_keys, equal

    def keys(self, place: Place, left: Sequence[_Layer], right: Sequence[_Layer]) -> tuple[list[KeyJudgement], int]:
        """The keys of one layer: judgements, and how many are equal."""
        node, kind = place
        judgements: list[KeyJudgement] = []
        equal = 0
        for key in sorted({key for layer in (*left, *right) for key in layer.values}):
            one, other = (tuple(_distinct(layer.values.get(key) for layer in side)) for side in (left, right))
            if len(one) == 1 and one == other:
                equal += 1
                if self.keep_equal:
                    judgements.append(KeyJudgement(node, kind, key, one, other, Cause.SAME, ""))
                continue
            chosen = any(key in layer.chosen for layer in (*left, *right))
            reason = self.rules.reason(Difference(node, kind, key, one, other, chosen))
            judgements.append(KeyJudgement(node, kind, key, one, other, *reason))
        return judgements, equal

    def missing(self, place: Place) -> KeyJudgement:
        """Of a layer that not all trials have."""
        node, kind = place
        left, right = (_known(place in environment for environment in side) for side in self.sides)
        everywhere = all(node in _roles(side) for side in self.sides)
        on_both = _RECORDED in left and _RECORDED in right
        reason = self.rules.missing(node, kind, role_everywhere=everywhere, on_both_sides=on_both)
        return KeyJudgement(node, kind, "", left, right, *reason)


@dataclass(frozen=True)
class _Layer:
    """One layer of a side, flattened.

    values: as they are in force: settings over the defaults, where those are recorded everywhere.
    chosen: keys that are not defaults of the build."""

    values: Mapping[str, Any]
    chosen: Mapping[str, Any]


def _compiles(environment: Environment) -> bool:
    """Return whether the trials' queries are compiled just in time: the build can, jit is on, and they run long enough
    or the plan sets when."""
    chosen = environment.get(("primary", LayerKind.SETTINGS), {})
    in_force = {**environment.get(("primary", LayerKind.DEFAULTS), {}), **chosen}
    if not environment.get(_BUILD, {}).get("jit") or normal(in_force.get("jit", "on")) != "on":
        return False
    workload = environment.get(("primary", LayerKind.DATA), {}).get("workload")
    return compiles_queries(workload, chosen)


def _layers_of(place: Place, sides: Sequence[Sequence[Environment]]) -> list[list[_Layer]]:
    """The different layers of each side; of settings with the defaults below them where those are known everywhere."""
    defaults = (place[0], LayerKind.DEFAULTS)
    with_defaults = place[1] == LayerKind.SETTINGS and all(defaults in one for side in sides for one in side)
    by_side: list[list[_Layer]] = []
    for side in sides:
        layers = [_Layer({**one[defaults], **one[place]} if with_defaults else one[place], one[place]) for one in side]
        by_side.append(_distinct(layers))
    return by_side


def _roles(side: Iterable[Environment]) -> set[str]:
    return {node for environment in side for node, _ in environment}


def _distinct(values: Iterable[Any]) -> list[Any]:
    """Different ones, in the order in which they come."""
    distinct: list[Any] = []
    for value in values:
        if value not in distinct:
            distinct.append(value)
    return distinct


def _values(side: Sequence[Environment], place: Place, key: str) -> list[Any]:
    return _distinct(environment[place].get(key) for environment in side if place in environment)
