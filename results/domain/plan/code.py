"""What code a plan brings to its agents: scripts, queries, commands, and settings that name a program or a library.

Whoever runs code on an agent can do there what the agent's account can. Kinds declare which of their parameters are
code (`Parameter.code`). Pure.
"""

from __future__ import annotations

from dataclasses import dataclass

from results.domain.kinds.parameters import Parameter, Scalar
from results.domain.kinds.reaching_settings import reaches
from results.domain.kinds.reserved_names import initdb_setting
from results.domain.messages import gettext_lazy as _
from results.domain.plan.values import Kinds, Plan

_SETTING, _TOPOLOGY = "setting.", "topology."
_OUTSIDE = _("it drives servers that Teiten did not build, with the passwords that the agent's account has for them")


@dataclass(frozen=True)
class Code:
    """Something of a plan that can run any program, or reach more than Teiten's own servers.

    field: of the plan, dotted as in the TOML
    why: what it can do, a sentence without its full stop
    """

    field: str
    why: str


def code_of(plan: Plan, kinds: Kinds) -> tuple[Code, ...]:
    """Return everything in a plan that is code of its own, each field once."""
    found: dict[str, Code] = {}
    declared = declared_parameters(plan, kinds)
    for field, target, value in plan.fields():
        if why := _why(target, value, declared, kinds):
            found.setdefault(field, Code(field, why))
    for option in plan.initdb:
        setting = initdb_setting(option)
        if setting and (why := reaches(*setting)):
            found.setdefault("initdb", Code("initdb", _("{setting}: {why}", setting=setting[0], why=why)))
    return tuple(found.values())


def declared_parameters(plan: Plan, kinds: Kinds) -> dict[str, Parameter]:
    """Return target → parameter, of the workload and of every topology that a level may choose."""
    declared = {parameter.name: parameter for parameter in kinds.workloads[plan.workload].parameters}
    for topology in kinds.topologies.values():
        for parameter in topology.parameters:
            if parameter.code or f"{_TOPOLOGY}{parameter.name}" not in declared:
                declared[f"{_TOPOLOGY}{parameter.name}"] = parameter
    return declared


def _why(target: str, value: Scalar, declared: dict[str, Parameter], kinds: Kinds) -> str:
    if target.startswith(_SETTING):
        name = target.removeprefix(_SETTING)
        why = reaches(name, str(value))
        return _("{setting}: {why}", setting=name, why=why) if why else ""
    if target == "topology":
        topology = kinds.topologies.get(str(value))
        return _OUTSIDE if topology is not None and topology.outside else ""
    parameter = declared.get(target)
    return parameter.code if parameter is not None and str(value).strip() else ""
