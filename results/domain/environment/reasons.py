"""Why two values of a key differ, or a layer is missing: the rules in the order in which they are asked."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from results.domain.environment.layers import LayerKind
from results.domain.environment.rules import (
    BUILDS,
    BUILT_DEFAULTS,
    CHECKED_BUILD,
    CLIENT_BESIDE,
    CLIENT_MINOR,
    CLIENT_WITHIN,
    COMPILED,
    TOLD_DEFAULTS,
    Cause,
    follows_from,
    rule_of,
    rule_of_absent,
)
from results.domain.environment.values import client_major, normal, normal_setting, options
from results.domain.messages import gettext_lazy as _

_MEMORY_TOLERANCE = 0.01
_QUANTITIES = (LayerKind.DATA, LayerKind.TOPOLOGY)  # elsewhere 6.1 is not 6.10
_CHECKSUMS = "data_checksums"
_WHY: Mapping[str, str] = {
    LayerKind.HARDWARE: _("Another machine, or the machine was changed."),
    LayerKind.KERNEL: _("The kernel, or how it is set, differs."),
    LayerKind.STORAGE: _("The disk, its file system, or how it is mounted differs."),
    LayerKind.HOST: _("The plan had something set on the machine on one side, or otherwise on both."),
    LayerKind.BUILD: _("The servers were built otherwise."),
    LayerKind.SETTINGS: _("Set on one side, or otherwise on both."),
    LayerKind.DATA: _("They did not work on the same data."),
    LayerKind.CLIENT: _("The load was made otherwise."),
    LayerKind.TOOL: _("They did not run the same script."),
    LayerKind.TOPOLOGY: _("The servers are arranged otherwise."),
    LayerKind.ACCESS_METHOD: _("Tables are stored otherwise."),
}
_SOME_WITHOUT = _("Some trials have no such layer: the role has no machine of its own there, or it was not recorded.")
_ONE_SIDE_WITHOUT = _("One side has no such layer: the role has no machine of its own there, or it was not recorded.")


class Reason(NamedTuple):
    """The last four fields of a `KeyJudgement`."""

    cause: Cause
    why: str
    warn: bool = False
    dimension: str = ""


@dataclass(frozen=True)
class Difference:
    """A key that is not simply equal.

    left, right: as of `KeyJudgement`.
    chosen: not on both sides a default of the build."""

    node: str
    kind: str
    key: str
    left: tuple[Any, ...]
    right: tuple[Any, ...]
    chosen: bool

    @cached_property
    def forms(self) -> tuple[set[Hashable], set[Hashable]]:
        """The values of either side, those that mean the same as one."""
        if self.kind == LayerKind.SETTINGS:
            left, right = ({normal_setting(self.key, value) for value in side} for side in (self.left, self.right))
            return left, right
        form = normal if self.kind in _QUANTITIES else repr
        return {form(value) for value in self.left}, {form(value) for value in self.right}


class Reasoning:
    """What is known of two sides as a whole, and the rules that need it.

    intended: dimensions that are meant to differ.
    versions, initdb: of each side's servers.
    compiles: queries are compiled just in time, where the build can.
    client_overhead: pgbench's own work is part of what is compared."""

    def __init__(
        self,
        intended: frozenset[str],
        *,
        versions: Sequence[Sequence[Any]],
        initdb: Sequence[Sequence[Any]],
        compiles: bool,
        client_overhead: bool,
    ) -> None:
        self.intended, self.versions, self.initdb = intended, versions, initdb
        self.compiles, self.client_overhead = compiles, client_overhead

    def missing(self, node: str, kind: str, *, role_everywhere: bool, on_both_sides: bool) -> Reason:
        """Of a layer that not all trials have.

        role_everywhere: its role is there in some trial of both sides."""
        made_by = follows_from(node, LayerKind.TOPOLOGY, "name", self.intended)
        if made_by and not role_everywhere:
            return Reason(Cause.INTENDED, _("The topology has this role."), False, made_by)
        if kind == LayerKind.HOST:
            varied = next((name for name in sorted(self.intended) if name.startswith("host.")), "")
            return Reason(Cause.INTENDED if varied else Cause.CONFOUNDER, _WHY[kind], not varied, varied)
        return Reason(Cause.UNRECORDED, _SOME_WITHOUT if on_both_sides else _ONE_SIDE_WITHOUT)

    def reason(self, one: Difference) -> Reason:
        """By the first rule that has something to say."""
        of_sides = (_same_value, self.configured, self.compared, _alike, self.client, self.built, self.default)
        for rule in (*of_sides, _reserved_memory, _by_table):
            if reason := rule(one):
                return reason
        return Reason(Cause.CONFOUNDER, _WHY.get(one.kind, _("It may make a difference of its own.")), True)

    def configured(self, one: Difference) -> Reason | None:
        """How a build was configured."""
        if (one.kind, one.key) == (LayerKind.BUILD, "jit") and self.compiles:
            why = _("Only one side's build has LLVM and can compile queries (JIT), and these trials would use it.")
            return Reason(Cause.CONFOUNDER, why, True)
        if one.kind != LayerKind.BUILD or one.key != "configure":
            return None
        left, right = ({options(value) for value in side} for side in (one.left, one.right))
        if left == right:
            return Reason(Cause.HARMLESS, _("The options differ in paths only."))
        if self.same_version:
            return None
        debugging = _for_debugging(left) ^ _for_debugging(right)
        if debugging:
            why = _("Only one side is a build for debugging ({options}).", options=", ".join(sorted(debugging)))
            return Reason(Cause.CONFOUNDER, why, True)
        if self.intended & BUILDS:
            return Reason(Cause.NOTED, _("The versions were built with other options: both are compared at once."))
        return None

    def compared(self, one: Difference) -> Reason | None:
        """What follows from a dimension that is meant to differ."""
        dimension = follows_from(one.node, one.kind, one.key, self.intended)
        if not dimension:
            return None
        return Reason(Cause.INTENDED, _("Follows from {dimension}.", dimension=dimension), False, dimension)

    def client(self, one: Difference) -> Reason | None:
        """Which psql and pgbench made the load."""
        if (one.kind, one.key) != (LayerKind.CLIENT, "version"):
            return None
        left, right = ({client_major(version) for version in side} for side in (one.left, one.right))
        if left == right:
            return Reason(Cause.NOTED, CLIENT_MINOR)
        if not self.client_overhead:
            return Reason(Cause.NOTED, CLIENT_BESIDE)
        return Reason(Cause.CONFOUNDER, CLIENT_WITHIN, True)

    def built(self, one: Difference) -> Reason | None:
        """A default that hangs on what the build can do, in all versions of both sides."""
        if one.kind != LayerKind.SETTINGS or one.chosen or one.key not in BUILT_DEFAULTS:
            return None
        since, why = BUILT_DEFAULTS[one.key]
        new = all(number and number >= since for side in self.versions for number in side)
        return Reason(Cause.CONFOUNDER, why, True) if new else None

    def default(self, one: Difference) -> Reason | None:
        """What a setting is where nobody set it."""
        if one.kind != LayerKind.SETTINGS:
            return None
        if not one.chosen and self.same_version and self.intended & BUILDS:
            return Reason(
                Cause.INTENDED, _("Follows from {dimension}.", dimension="installation"), False, "installation"
            )
        if one.key in COMPILED:
            why = _("Fixed when the server was compiled, and not a matter of its version.")
            return Reason(Cause.CONFOUNDER, why, True)
        changed = self.changed_default(one.key)
        if one.chosen:
            return Reason(Cause.DEFAULT, changed, True) if changed and self.set_by_initdb(one.key) else None
        if self.same_version:
            return Reason(Cause.NOTED, _("The build brings another default."))
        if None in (*one.left, *one.right):
            return Reason(Cause.DEFAULT, _("In one version only, at its default."))
        return Reason(Cause.DEFAULT, changed or _("Nobody set it on either side."), bool(changed))

    @property
    def same_version(self) -> bool:
        return self.versions[0] == self.versions[1]

    def set_by_initdb(self, setting: str) -> bool:
        """initdb writes it into the cluster: no plan set it where both sides were made with the same options."""
        return setting == _CHECKSUMS and self.initdb[0] == self.initdb[1]

    def changed_default(self, setting: str) -> str:
        """What a reader must be told of a default that changed between the two sides' versions; '' of any other."""
        since, words = TOLD_DEFAULTS.get(setting, (0, ""))
        newest = [max((number for number in side if number), default=0) for side in self.versions]
        return words if min(newest) < since <= max(newest) else ""


def _same_value(one: Difference) -> Reason | None:
    left, right = one.forms
    if left == right and len(left) == 1:
        return Reason(Cause.EQUIVALENT, _("The same, written in another way."))
    return None


def _alike(one: Difference) -> Reason | None:
    left, right = one.forms
    return Reason(Cause.ALIKE, _("Varies on both sides alike.")) if left == right else None


def _reserved_memory(one: Difference) -> Reason | None:
    if one.key == "memory.total_bytes" and _near([*one.left, *one.right]):
        return Reason(Cause.HARMLESS, _("Within 1 %: what the kernel keeps for itself."))
    return None


def _by_table(one: Difference) -> Reason | None:
    rule = rule_of(one.node, one.kind, one.key) or rule_of_absent(one.kind, [*one.left, *one.right])
    return Reason(rule.cause, rule.why) if rule else None


def _for_debugging(builds: Iterable[Collection[str]]) -> set[str]:
    """Options among those of these builds that make a server for debugging."""
    debugging: set[str] = set()
    for build in builds:
        debugging |= {word for word in CHECKED_BUILD if any(word in option for option in build)}
    return debugging


def _near(values: Sequence[Any]) -> bool:
    amounts = [value for value in values if isinstance(value, int | float)]
    return len(amounts) == len(values) and max(amounts) - min(amounts) <= _MEMORY_TOLERANCE * max(amounts)
