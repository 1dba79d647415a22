"""The parts of a plan as written: looked up, checked, and what is wrong with them collected."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from results.domain.errors import Problem
from results.domain.kinds.host_factors import level_text
from results.domain.kinds.parameters import Parameter, Scalar
from results.domain.kinds.reserved_names import setting_is_reserved
from results.domain.messages import Message
from results.domain.messages import gettext_lazy as _
from results.domain.nearest import suggestion
from results.domain.plan.values import Kinds, setting_text

_KINDS = {"workload": _("workload"), "topology": _("topology")}
SETTING = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)?")


class Fields:
    """One mapping and the kinds that it is checked against. A wrong part becomes a problem and a stand-in, so that
    reading goes on.

    wrong_levels: (factor, place among its levels) of those whose value is such a stand-in."""

    def __init__(self, mapping: Mapping[str, Any], kinds: Kinds) -> None:
        self.mapping, self.kinds = mapping, kinds
        self.problems: list[Problem] = []
        self.wrong_levels: set[tuple[str, int]] = set()

    def problem(self, field_name: str, what: str, todo: str = "") -> None:
        self.problems.append(Problem(field_name, what, todo))

    def value(self, name: str, parameter: Parameter) -> Scalar:
        if name not in self.mapping:
            if name == "name":
                self.problem(name, _("The plan has no name."), _("Give it one."))
            return parameter.default
        return self.checked(name, parameter, self.mapping[name])

    def checked(self, where: str, parameter: Parameter, value: object) -> Scalar:
        try:
            return parameter.check(value)
        except ValueError as error:
            self.problem(where, _("{fault}.", fault=error.args[0]), parameter.advice(value))
            return parameter.default

    def kind(self, where: str, name: str, known: Mapping[str, Any]) -> Any:
        if name not in known:
            what = _("There is no {kind} {name!r}.", kind=_KINDS[where], name=name)
            self.problem(where, what, suggestion(name, sorted(known)))
            return None
        return known[name]

    def mapping_at(self, name: str) -> Mapping[str, Any]:
        value = self.mapping.get(name, {})
        if not isinstance(value, Mapping):
            self.problem(name, no_table(value), write_as_table(name))
            return {}
        return value

    def list_at(self, name: str, default: Iterable[Any] = ()) -> list[Any]:
        value = self.mapping.get(name, list(default))
        if not isinstance(value, list):
            self.problem(name, _("{value} is not a list.", value=repr(value)), _("Write it as [ …, … ]."))
            return []
        return value

    def setting(self, where: str, name: str, value: object) -> str:
        if not SETTING.fullmatch(name):
            what = _("{name!r} is not the name of a setting.", name=name)
            self.problem(where, what, _("As in postgresql.conf."))
        elif setting_is_reserved(name):
            self.problem(where, _("{setting} is set by Teiten itself.", setting=name), _("Leave it out."))
        try:
            return setting_text(value)
        except ValueError as error:
            self.problem(where, _("{fault}.", fault=error.args[0]), _("As in postgresql.conf."))
            return ""

    def host_level(self, where: str, name: str, value: object) -> str:
        label, wrong = level_text(name, value)
        if wrong:
            self.problem(where, wrong, _("The agents' pages name host factors and their levels."))
        return label


def no_table(value: object) -> Message:
    return _("{value} is not a table.", value=repr(value))


def write_as_table(name: str) -> Message:
    return _("Write it as [{name}].", name=name)


def flat(values: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """Return (dotted name, value) of each target: TOML reads a bare `setting.work_mem = …` as nested tables."""
    targets: list[tuple[str, Any]] = []
    for key, value in values.items():
        targets += flat(value, f"{prefix}{key}.") if isinstance(value, Mapping) else [(f"{prefix}{key}", value)]
    return targets
