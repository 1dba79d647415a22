"""The factors of a plan as written: their levels, what each sets, and the combinations that are left out."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from results.domain.kinds.conditions import CONDITIONS, NAME
from results.domain.kinds.host_factors import BUILT_IN
from results.domain.kinds.parameters import Parameter, Scalar
from results.domain.kinds.specs import WorkloadSpec
from results.domain.messages import gettext_lazy as _
from results.domain.nearest import did_you_mean, nearest, suggestion
from results.domain.plan.checks import MAXIMUM_CONFIGURATIONS
from results.domain.plan.fields import SETTING, Fields, flat
from results.domain.plan.values import Factor, Level, label_of, targets

_TOPOLOGY = next(parameter.default for parameter in CONDITIONS if parameter.name == "topology")
_SURELY = 0.8  # a setting's name is not taken for a parameter's: work_mem is no warmup_s


def read_factors(fields: Fields, workload: WorkloadSpec) -> tuple[Factor, ...]:
    reader = _FactorReader(fields, workload)
    factors: list[Factor] = []
    for name, levels in fields.mapping_at("factors").items():
        if not re.fullmatch(NAME, name):
            what = _("{name!r} is no name for a factor.", name=name)
            fields.problem("factors", what, _("Letters, digits and spaces."))
        elif not isinstance(levels, list) or not levels:
            fields.problem(f"factors.{name}", _("A factor needs a list of levels."), _("Write it as [ …, … ]."))
        else:
            factors.append(reader.factor(name, levels))
    _each_target_once(fields, factors)
    return tuple(factors)


def read_excluded(fields: Fields, factors: Sequence[Factor]) -> tuple[Mapping[str, str], ...]:
    """Combinations of levels that are not run: factor → level label."""
    labels = {factor.name: {level.label for level in factor.levels} for factor in factors}
    combinations: list[Mapping[str, str]] = []
    entries = fields.list_at("exclude")
    if len(entries) > MAXIMUM_CONFIGURATIONS:
        what = _(
            "{count:,} combinations are left out; at most {most:,} are taken.",
            count=len(entries),
            most=MAXIMUM_CONFIGURATIONS,
        )
        todo = _("Leave a factor out of a combination: then it means all levels of that one.")
        fields.problem("exclude", what, todo)
        return ()
    for index, entry in enumerate(entries):
        where = f"exclude[{index}]"
        if not isinstance(entry, Mapping) or not entry:
            what = _("{entry} is not a combination.", entry=repr(entry))
            fields.problem(where, what, _("Write factor = level."))
            continue
        excluded = {factor: label_of(level) for factor, level in flat(entry)}
        for factor, label in excluded.items():
            if factor not in labels:
                fields.problem(where, _("There is no factor {factor!r}.", factor=factor), suggestion(factor, labels))
            elif label not in labels[factor]:
                what = _("Factor {factor!r} has no level {level!r}.", factor=factor, level=label)
                fields.problem(where, what, suggestion(label, sorted(labels[factor])))
        combinations.append(excluded)
    return tuple(combinations)


def without_levels(factors: Iterable[Factor], wrong: Collection[tuple[str, int]]) -> Iterator[Factor]:
    """The factors without some of their levels, which are given by (factor, place); those of which any are left."""
    for factor in factors:
        levels = tuple(level for place, level in enumerate(factor.levels) if (factor.name, place) not in wrong)
        if levels:
            yield Factor(factor.name, levels)


def _each_target_once(fields: Fields, factors: Sequence[Factor]) -> None:
    owner: dict[str, str] = {}
    for factor in factors:
        for target in sorted(factor.targets):
            if target in owner:
                what = _("{target!r} is also set by factor {factor!r}.", target=target, factor=owner[target])
                fields.problem(f"factors.{factor.name}", what, _("Vary it once."))
            owner[target] = factor.name


class _FactorReader:
    """Reads factors against what a workload and the topologies let vary."""

    def __init__(self, fields: Fields, workload: WorkloadSpec) -> None:
        self.fields, self.workload = fields, workload
        self.known = self.targets_with(str(fields.mapping.get("topology", _TOPOLOGY)))

    def targets_with(self, topology: str) -> dict[str, Parameter]:
        """What may be varied; where topologies share the name of a parameter, it is this one's."""
        topologies = self.fields.kinds.topologies.values()
        return targets(self.workload, sorted(topologies, key=lambda spec: spec.name == topology))

    def factor(self, name: str, written: Sequence[object]) -> Factor:
        levels: list[Level] = []
        for entry in written:
            before = len(self.fields.problems)
            level = self.composite(name, entry) if isinstance(entry, Mapping) else self.single(name, entry)
            if level is None:
                continue
            if len(self.fields.problems) > before:
                self.fields.wrong_levels.add((name, len(levels)))
            levels.append(level)
        if len({level.label for level in levels}) < len(levels):
            self.fields.problem(f"factors.{name}", _("Two levels are the same."), _("Each level once."))
        return Factor(name, tuple(levels))

    def single(self, factor: str, value: object) -> Level:
        """A level that is a value of the target that the factor is called after."""
        before = len(self.fields.problems)
        checked = self.target(f"factors.{factor}", factor, value, self.known)
        wrong = len(self.fields.problems) > before  # then the value is a stand-in, the same for every wrong level
        return Level(label_of(value if wrong else checked), {factor: checked})

    def composite(self, factor: str, level: Mapping[str, Any]) -> Level | None:
        """A level that has a label and sets several targets at once."""
        where, label, values = f"factors.{factor}", level.get("label"), level.get("values")
        if not isinstance(label, str) or not re.fullmatch(NAME, label) or not isinstance(values, Mapping):
            todo = _("Write { label = '…', values = { target = … } }.")
            self.fields.problem(where, _("{level} is not a level.", level=repr(dict(level))), todo)
            return None
        known = self.targets_with(str(values["topology"])) if "topology" in values else self.known
        return Level(label, {target: self.target(where, target, value, known) for target, value in flat(values)})

    def target(self, where: str, target: str, value: object, known: Mapping[str, Parameter]) -> Scalar:
        if target.startswith("setting."):
            return self.fields.setting(where, target.removeprefix("setting."), value)
        if target.startswith("host."):
            return self.fields.host_level(where, target.removeprefix("host."), value)
        if target not in known:
            what = _("{target!r} is nothing that can be varied.", target=target)
            self.fields.problem(where, what, _instead(target, known))
            return ""
        checked = self.fields.checked(where, known[target], value)
        if target == "topology":
            self.fields.kind("topology", str(checked), self.fields.kinds.topologies)
        return checked


def _instead(target: str, known: Mapping[str, Parameter]) -> str:
    """What may have been meant by a target that is none: settings and host factors need their prefix."""
    if near := nearest(target, [*known, *(f"host.{name}" for name in BUILT_IN)], _SURELY):
        return did_you_mean(near)
    if SETTING.fullmatch(target) and "_" in target:
        return _("If it is a setting of PostgreSQL, write setting.{target}.", target=target)
    return _("{meant} Besides setting.<name> and host.<name>.", meant=suggestion(target, known))
