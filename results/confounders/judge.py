"""Two environments key by key: what differs as intended, what does no harm, and what stands between them."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from results.confounders.rules import (
    BUILDS,
    CHECKED_BUILD,
    COMPILED,
    TOLD_DEFAULTS,
    Cause,
    follows_from,
    rule_of,
    rule_of_absent,
)
from results.confounders.values import normal, options
from results.environment import LayerKind, flatten

Place = tuple[str, str]  # (role, kind of layer)
Environment = Mapping[Place, Mapping[str, Any]]  # → dotted key → value
_ORDER = {cause: place for place, cause in enumerate(Cause)}
_MEMORY_TOLERANCE = 0.01
_QUANTITIES = (LayerKind.SETTINGS, LayerKind.DATA, LayerKind.TOPOLOGY)  # elsewhere 6.1 is not 6.10
_CHECKSUMS = "data_checksums"
_BUILD = ("primary", LayerKind.BUILD)


@dataclass(frozen=True)
class KeyJudgement:
    """One key that is not simply equal. left, right: its values, more than one where a side's trials differ among
    themselves; None for one that lacks it. warn: a reader must see it. dimension: what it follows from, if intended."""

    node: str
    kind: str
    key: str
    left: tuple[Any, ...]
    right: tuple[Any, ...]
    cause: Cause
    why: str
    warn: bool = False
    dimension: str = ""

    @property
    def varies(self) -> bool:
        """Within a side."""
        return len(self.left) > 1 or len(self.right) > 1

    @property
    def matters(self) -> bool:
        return self.cause is Cause.CONFOUNDER


@dataclass(frozen=True)
class EnvironmentDifference:
    """judgements: of every key that is not simply equal, those that matter first; equal ones too where they were asked
    for. same: how many keys are equal. recorded: of the left and of the right side something is known."""

    judgements: tuple[KeyJudgement, ...]
    same: int
    recorded: tuple[bool, bool] = (True, True)

    @cached_property
    def comparable(self) -> bool:
        return not any(judgement.matters for judgement in self.judgements)

    def of(self, *causes: Cause) -> list[KeyJudgement]:
        return [judgement for judgement in self.judgements if judgement.cause in causes]


def environment_of(layers: Iterable[tuple[str, str, Mapping[str, Any]]]) -> Environment:
    """(role, kind, content) of each layer → one environment; layers of one role and kind are put together."""
    found: dict[Place, dict[str, Any]] = {}
    for node, kind, content in layers:
        found.setdefault((node, kind), {}).update(flatten(content))
    return found


Known = dict[Hashable, tuple[list["KeyJudgement"], int]]


def judge_environments(
    left: Sequence[Environment],
    right: Sequence[Environment],
    intended: Collection[str] = (),
    known: Known | None = None,
    *,
    equal: bool = False,
) -> EnvironmentDifference:
    """All environments of one side against all of the other. intended: dimensions that are meant to differ
    ('version', 'setting.work_mem', 'agent.primary'). known: one dictionary for many calls over the same layer objects,
    so that two layers are compared once. equal: judgements of equal keys as well."""
    recorded = (any(left), any(right))
    unknown = tuple(_nothing_known(left, right))
    if not all(recorded):
        return EnvironmentDifference(unknown, 0, recorded)
    left, right = ([environment for environment in side if environment] for side in (left, right))
    found = _Judge(left, right, frozenset(intended), {} if known is None else known, equal).verdict()
    return replace(found, judgements=(*unknown, *found.judgements)) if unknown else found


def merged(differences: Sequence[EnvironmentDifference]) -> EnvironmentDifference:
    """Several pairs of one comparison as one: of each key all values, and the judgement that matters most."""
    if len(differences) == 1:
        return differences[0]
    found: dict[tuple[str, str, str], KeyJudgement] = {}
    for difference in differences:
        for one in difference.judgements:
            place = (one.node, one.kind, one.key)
            other = found.get(place, one)
            worse = min(one, other, key=lambda judgement: _ORDER[judgement.cause])
            left, right = _distinct((*other.left, *one.left)), _distinct((*other.right, *one.right))
            found[place] = replace(worse, left=tuple(left), right=tuple(right))
    return EnvironmentDifference(
        tuple(sorted(found.values(), key=_rank)),
        min((difference.same for difference in differences), default=0),
        (all(d.recorded[0] for d in differences), all(d.recorded[1] for d in differences)),
    )


def _rank(judgement: KeyJudgement) -> tuple[object, ...]:
    return _ORDER[judgement.cause], not judgement.warn, judgement.kind, judgement.key, judgement.node


def _nothing_known(left: Sequence[Environment], right: Sequence[Environment]) -> Iterable[KeyJudgement]:
    """Of one side, or of single trials beside others."""
    if not all((*left, *right)) and any((*left, *right)):
        whole = "one side" if not any(left) or not any(right) else "some trials"
        why = f"Nothing is recorded of what {whole} ran in, so nobody can tell what else differs."
        sides = [_known(map(bool, side)) for side in (left, right)]
        yield KeyJudgement("", "", "", sides[0], sides[1], Cause.CONFOUNDER, why, warn=True)


def _known(recorded: Iterable[bool]) -> tuple[str, ...]:
    """Of a side's trials; of a side without any nothing is recorded."""
    return tuple("recorded" if one else "not recorded" for one in sorted({*recorded} or {False}, reverse=True))


class _Reason(NamedTuple):
    """The last four fields of a judgement."""

    cause: Cause
    why: str
    warn: bool = False
    dimension: str = ""


class _Judge:
    def __init__(
        self,
        left: Sequence[Environment],
        right: Sequence[Environment],
        intended: frozenset[str],
        known: Known,
        keep_equal: bool,
    ) -> None:
        self.sides = (left, right)
        self.known, self.keep_equal = known, keep_equal
        self.intended = intended | BUILDS if intended & BUILDS else intended
        self.versions = [_values(side, _BUILD, "version_num") for side in self.sides]
        self.initdb = [_values(side, _BUILD, "initdb") for side in self.sides]

    def verdict(self) -> EnvironmentDifference:
        judgements: list[KeyJudgement] = []
        same = 0
        for place in sorted({place for side in self.sides for environment in side for place in environment}):
            found, equal = self.once(place)
            judgements += found
            same += equal
        judgements.sort(key=_rank)
        return EnvironmentDifference(tuple(judgements), same)

    def once(self, place: Place) -> tuple[list[KeyJudgement], int]:
        """A layer is decided by itself, the build, and of settings the defaults: environments that have all of these in
        common are one."""
        deciding = (place, _BUILD, (place[0], LayerKind.DEFAULTS))
        sides = [{tuple(id(e.get(p)) for p in deciding): e for e in side} for side in self.sides]
        # a role that is not there is told by what else is
        roles = tuple(frozenset(node for e in side for node, _ in e) for side in self.sides)
        key = (place, *(tuple(side) for side in sides), roles, self.intended, self.keep_equal)
        if key not in self.known:
            self.known[key] = self.place(place, [list(side.values()) for side in sides])
        return self.known[key]

    def place(self, place: Place, sides: Sequence[Sequence[Environment]]) -> tuple[list[KeyJudgement], int]:
        """One layer of both sides: judgements, and how many keys are equal."""
        having = [[environment for environment in side if place in environment] for side in sides]
        missing = [self.missing(place)] if having != [list(side) for side in sides] else []
        if place[1] == LayerKind.DEFAULTS or not all(having):
            return missing, 0  # defaults are read together with the settings
        defaults = (place[0], LayerKind.DEFAULTS)
        with_defaults = place[1] == LayerKind.SETTINGS and all(defaults in e for side in having for e in side)
        layers = [
            _distinct(_Layer({**e[defaults], **e[place]} if with_defaults else e[place], e[place]) for e in side)
            for side in having
        ]
        if not self.keep_equal and len(layers[0]) == len(layers[1]) == 1 and layers[0][0] == layers[1][0]:
            return missing, len(layers[0][0].values)
        judgements, equal = missing, 0
        for key in sorted({key for side in layers for layer in side for key in layer.values}):
            left, right = (_distinct(layer.values.get(key) for layer in side) for side in layers)
            if len(left) == 1 and left == right:
                equal += 1
                if self.keep_equal:
                    judgements.append(KeyJudgement(*place, key, tuple(left), tuple(right), Cause.SAME, ""))
            else:
                chosen = any(key in layer.chosen for side in layers for layer in side)
                cause, why, warn, dimension = self.cause(place, key, left, right, chosen)
                judgements.append(KeyJudgement(*place, key, tuple(left), tuple(right), cause, why, warn, dimension))
        return judgements, equal

    def missing(self, place: Place) -> KeyJudgement:
        node, kind = place
        left, right = (_known(place in environment for environment in side) for side in self.sides)
        roles = [{role for environment in side for role, _ in environment} for side in self.sides]
        made_by = follows_from(node, LayerKind.TOPOLOGY, "name", self.intended)
        if made_by and any(node not in side for side in roles):
            return KeyJudgement(
                node, kind, "", left, right, Cause.INTENDED, "The topology has this role.", False, made_by
            )
        if kind == LayerKind.HOST:
            varied = next((name for name in sorted(self.intended) if name.startswith("host.")), "")
            cause = Cause.INTENDED if varied else Cause.CONFOUNDER
            return KeyJudgement(node, kind, "", left, right, cause, _WHY[kind], not varied, varied)
        whole = "Some trials have" if "recorded" in left and "recorded" in right else "One side has"
        why = f"{whole} no such layer: the role has no machine of its own there, or it was not recorded."
        return KeyJudgement(node, kind, "", left, right, Cause.UNRECORDED, why)

    def cause(self, place: Place, key: str, left: Sequence[Any], right: Sequence[Any], chosen: bool) -> _Reason:
        """chosen: not on both sides a default of the build."""
        node, kind = place
        form = normal if kind in _QUANTITIES else repr
        one, other = {form(value) for value in left}, {form(value) for value in right}
        if one == other and len(one) == 1:
            return _Reason(Cause.EQUIVALENT, "The same, written in another way.")
        if kind == LayerKind.BUILD and key == "configure" and (found := self.configured(left, right)):
            return found
        if dimension := follows_from(node, kind, key, self.intended):
            if (kind, key) == (LayerKind.CLIENT, "version"):
                return _Reason(Cause.NOTED, "psql and pgbench came with the installation that is compared.")
            return _Reason(Cause.INTENDED, f"Follows from {dimension}.", False, dimension)
        if one == other:
            return _Reason(Cause.ALIKE, "Varies on both sides alike.")
        if kind == LayerKind.SETTINGS and (told := self.default(key, left, right, chosen)):
            return told
        if key == "memory.total_bytes" and _near([*left, *right]):
            return _Reason(Cause.HARMLESS, "Within 1 %: what the kernel keeps for itself.")
        if rule := rule_of(node, kind, key) or rule_of_absent(kind, [*left, *right]):
            return _Reason(rule.cause, rule.why)
        return _Reason(Cause.CONFOUNDER, _WHY.get(kind, "It may make a difference of its own."), True)

    def configured(self, left: Sequence[Any], right: Sequence[Any]) -> _Reason | None:
        one, other = ({options(value) for value in side} for side in (left, right))
        if one == other:
            return _Reason(Cause.HARMLESS, "The options differ in paths only.")
        if self.versions[0] == self.versions[1]:
            return None
        slow = [{word for word in CHECKED_BUILD if any(word in o for s in side for o in s)} for side in (one, other)]
        if slow[0] != slow[1]:
            words = ", ".join(sorted(slow[0] ^ slow[1]))
            return _Reason(Cause.CONFOUNDER, f"Only one side is a build for debugging ({words}).", True)
        if self.intended & BUILDS:
            return _Reason(Cause.NOTED, "The versions were built with other options: both are compared at once.")
        return None

    def default(self, key: str, left: Sequence[Any], right: Sequence[Any], chosen: bool) -> _Reason | None:
        """What a setting is where nobody set it."""
        since, words = TOLD_DEFAULTS.get(key, (0, ""))
        newest = [max((number for number in side if number), default=0) for side in self.versions]
        crossed = min(newest) < since <= max(newest)
        if not chosen and self.versions[0] == self.versions[1] and self.intended & BUILDS:
            return _Reason(Cause.INTENDED, "Follows from installation.", False, "installation")
        if key in COMPILED:
            return _Reason(
                Cause.CONFOUNDER, "Fixed when the server was compiled, and not a matter of its version.", True
            )
        if chosen:
            # initdb writes it into the cluster: no plan set it where both sides were made with the same options
            by_initdb = key == _CHECKSUMS and crossed and self.initdb[0] == self.initdb[1]
            return _Reason(Cause.DEFAULT, words, True) if by_initdb else None
        if self.versions[0] == self.versions[1]:
            return _Reason(Cause.NOTED, "The build brings another default.")
        if None in (*left, *right):
            return _Reason(Cause.DEFAULT, "In one version only, at its default.")
        why = words if crossed else "Nobody set it on either side."
        return _Reason(Cause.DEFAULT, why, crossed)


_WHY: Mapping[str, str] = {
    LayerKind.HARDWARE: "Another machine, or the machine was changed.",
    LayerKind.KERNEL: "The kernel, or how it is set, differs.",
    LayerKind.STORAGE: "The disk, its file system, or how it is mounted differs.",
    LayerKind.HOST: "The plan had something set on the machine on one side, or otherwise on both.",
    LayerKind.BUILD: "The servers were built otherwise.",
    LayerKind.SETTINGS: "Set on one side, or otherwise on both.",
    LayerKind.DATA: "They did not work on the same data.",
    LayerKind.CLIENT: "The load was made otherwise.",
    LayerKind.TOOL: "They did not run the same script.",
    LayerKind.TOPOLOGY: "The servers are arranged otherwise.",
    LayerKind.ACCESS_METHOD: "Tables are stored otherwise.",
}


@dataclass(frozen=True)
class _Layer:
    """values: as they are in force: settings over the defaults, where those are recorded everywhere. chosen: keys that
    are not defaults of the build."""

    values: Mapping[str, Any]
    chosen: Mapping[str, Any]


def _distinct(values: Iterable[Any]) -> list[Any]:
    """Different ones, in the order in which they come."""
    found: list[Any] = []
    for value in values:
        if value not in found:
            found.append(value)
    return found


def _values(side: Sequence[Environment], place: Place, key: str) -> list[Any]:
    return _distinct(environment[place].get(key) for environment in side if place in environment)


def _near(values: Sequence[Any]) -> bool:
    numbers = [value for value in values if isinstance(value, int | float)]
    return len(numbers) == len(values) and max(numbers) - min(numbers) <= _MEMORY_TOLERANCE * max(numbers)
