"""A plan's TOML or form → Plan, checked against the kinds; every problem is found, not only the first."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from results.domain import toml_text
from results.domain.errors import PlanError, Problem
from results.domain.kinds.conditions import CONDITIONS, NEWEST, TEXTS
from results.domain.kinds.parameters import Scalar
from results.domain.kinds.reserved_names import initdb_problem
from results.domain.kinds.specs import TopologySpec, WorkloadSpec
from results.domain.messages import gettext_lazy as _
from results.domain.nearest import suggestion
from results.domain.plan.checks import (
    cold_cache_warmed,
    parameters_at_odds,
    required_but_not_collected,
    too_many_trials,
)
from results.domain.plan.factors import read_excluded, read_factors, without_levels
from results.domain.plan.fields import Fields
from results.domain.plan.values import DEFAULT_COLLECTORS, Factor, Kinds, Plan
from results.domain.states import Standing

AGENT = r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}"

_FIELDS = {parameter.name: parameter for parameter in (*TEXTS, *CONDITIONS)}
_TABLES = ("agents", "parameters", "topology_parameters", "settings", "host", "factors")
_LISTS = ("initdb", "collectors", "required_collectors", "exclude")
_KEYS = (*_FIELDS, *_TABLES, *_LISTS)


@dataclass(frozen=True)
class PlanDraft:
    """A plan as it was written, right or wrong.

    plan: what could be read. What is wrong is left out, or has its default.
    problems: what is wrong, each once.
    """

    plan: Plan
    problems: tuple[Problem, ...] = ()

    def complete(self) -> Plan:
        """Return the plan. Raises PlanError with every problem."""
        if self.problems:
            raise PlanError(self.problems)
        return self.plan


def read(text: str, kinds: Kinds) -> Plan:
    """TOML → Plan. Raises PlanError with every problem found."""
    return draft_of_toml(text, kinds).complete()


def from_mapping(mapping: Mapping[str, Any], kinds: Kinds) -> Plan:
    """A plan in the structure of its TOML → Plan, checked against the kinds. Raises PlanError with all problems."""
    return draft_of(mapping, kinds).complete()


def draft_of_toml(text: str, kinds: Kinds) -> PlanDraft:
    """TOML → what could be read of it. Raises PlanError for what is no TOML."""
    try:
        mapping = toml_text.loads(text)
    except tomllib.TOMLDecodeError as error:
        what = _("The file is not TOML: {error}.", error=error.args[0])
        raise PlanError([Problem("TOML", what, _("Correct that line."))]) from error
    return draft_of(mapping, kinds)


def draft_of(mapping: Mapping[str, Any], kinds: Kinds) -> PlanDraft:
    """A plan in the structure of its TOML → what could be read of it, and every problem found."""
    reader = _PlanReader(mapping, kinds)
    plan = reader.plan()
    if not reader.problems:
        return PlanDraft(plan)
    return PlanDraft(reader.readable(plan), tuple(dict.fromkeys(reader.problems)))


class _PlanReader(Fields):
    """Reads one mapping; collects problems instead of stopping at the first."""

    def plan(self) -> Plan:
        self.only_known_keys()
        values = {name: self.value(name, parameter) for name, parameter in _FIELDS.items()}
        workload: WorkloadSpec | None = self.kind("workload", str(values["workload"]), self.kinds.workloads)
        factors: tuple[Factor, ...] = ()
        if workload is not None:  # else what may be varied is not known
            factors = read_factors(self, workload)
            self.some_installation(values, factors)
        if not values["client_programs"] and _compares_installations(factors, str(values["installation"])):
            values["client_programs"] = NEWEST
        topology: TopologySpec | None = self.kind("topology", str(values["topology"]), self.kinds.topologies)
        plan = Plan(
            name=str(values["name"]),
            description=str(values["description"]),
            workload=str(values["workload"]),
            replicates=int(values["replicates"]),
            seed=int(values["seed"]),
            conditions={parameter.name: values[parameter.name] for parameter in CONDITIONS},
            agents=self.agents(),
            parameters=self.table("parameters", workload),
            topology_parameters=self.table("topology_parameters", topology),
            settings=self.settings(),
            host=self.host(),
            initdb=self.initdb(),
            collectors=self.collectors("collectors", DEFAULT_COLLECTORS),
            required_collectors=self.collectors("required_collectors", ()),
            factors=factors,
            exclude=read_excluded(self, factors) if workload is not None else (),
            patience=float(values["patience"]),
            standing=Standing(str(values["standing"])),
        )
        self.problems += [*too_many_trials(plan), *required_but_not_collected(plan), *cold_cache_warmed(plan)]
        if workload is not None and not self.doubtful({"parameters", "factors"}):
            self.problems += parameters_at_odds(plan, workload)
        return plan

    def readable(self, plan: Plan) -> Plan:
        """The plan without what is wrong in it. Of an unknown workload, what may be varied with any is kept."""
        factors, workload = plan.factors, plan.workload
        if workload not in self.kinds.workloads:
            workload = str(_FIELDS["workload"].default)
            of_any = Fields(self.mapping, self.kinds)
            factors = read_factors(of_any, self.kinds.workloads[workload])
            self.wrong_levels |= of_any.wrong_levels
        conditions = dict(plan.conditions)
        if conditions["topology"] not in self.kinds.topologies:
            conditions["topology"] = _FIELDS["topology"].default
        return replace(
            plan,
            workload=workload,
            conditions=conditions,
            factors=tuple(without_levels(factors, self.wrong_levels)),
            settings=self.without_wrong("settings", plan.settings),
            host=self.without_wrong("host", plan.host),
            initdb=tuple(option for option in plan.initdb if not initdb_problem(option)[0]),
        )

    def without_wrong(self, table: str, values: Mapping[str, str]) -> dict[str, str]:
        wrong = {problem.field for problem in self.problems}
        return {name: value for name, value in values.items() if f"{table}.{name}" not in wrong}

    def doubtful(self, tables: set[str]) -> bool:
        """Return whether anything is wrong in one of these tables, so that some of its values are stand-ins."""
        return any(problem.field.split(".")[0] in tables for problem in self.problems)

    def only_known_keys(self) -> None:
        for key in self.mapping:
            if key not in _KEYS:
                self.problem(key, _("There is no key {key!r} in a plan.", key=key), suggestion(key, _KEYS))

    def some_installation(self, values: Mapping[str, Scalar], factors: Iterable[Factor]) -> None:
        if not values["installation"] and not any("installation" in factor.targets for factor in factors):
            todo = _("Name a version or make `installation` a factor.")
            self.problem("installation", _("No PostgreSQL is named."), todo)

    def agents(self) -> dict[str, str]:
        roles = {"client"}.union(*(topology.role_names for topology in self.kinds.topologies.values()))
        agents: dict[str, str] = {}
        for role, agent in self.mapping_at("agents").items():
            before = len(self.problems)
            self.agent(role, agent, roles)
            if len(self.problems) == before:
                agents[role] = agent
        if not agents and not any(problem.field.split(".")[0] == "agents" for problem in self.problems):
            todo = _('Write [agents] with primary = "…", and client = "…".')
            self.problem("agents", _("No agent is named."), todo)
        return agents

    def agent(self, role: str, agent: object, roles: set[str]) -> None:
        where, known = f"agents.{role}", sorted(roles)
        if role not in roles and not re.fullmatch(rf"({'|'.join(known)})[1-9][0-9]?", role):
            todo = _("{meant} With a number, one of several (client2).", meant=suggestion(role, known))
            self.problem(where, _("There is no role {role!r}.", role=role), todo)
        elif role == "client1":
            what = _("The first client is called client, the others client2, client3 and so on.")
            self.problem(where, what, _("Write client instead of client1."))
        elif not isinstance(agent, str) or not re.fullmatch(AGENT, agent):
            what = _("{agent} is not the name of an agent.", agent=repr(agent))
            self.problem(where, what, _("Letters, digits, '.', '_', '-'."))

    def table(self, name: str, spec: WorkloadSpec | TopologySpec | None) -> dict[str, Scalar]:
        """The parameters that a kind declares, as far as the plan gives them; none of a kind that is not known."""
        if spec is None:
            return {}
        known = {parameter.name: parameter for parameter in spec.parameters}
        values: dict[str, Scalar] = {}
        for key, value in self.mapping_at(name).items():
            if key not in known:
                what = _("There is no parameter {parameter!r}.", parameter=key)
                self.problem(f"{name}.{key}", what, suggestion(key, known))
            else:
                values[key] = self.checked(f"{name}.{key}", known[key], value)
        return values

    def settings(self) -> dict[str, str]:
        settings: dict[str, str] = {}
        for name, value in self.mapping_at("settings").items():
            if isinstance(value, Mapping):  # TOML reads `a.b = 1` as a table
                for part, inner in value.items():
                    settings[f"{name}.{part}"] = self.setting(f"settings.{name}.{part}", f"{name}.{part}", inner)
            else:
                settings[name] = self.setting(f"settings.{name}", name, value)
        return settings

    def host(self) -> dict[str, str]:
        return {name: self.host_level(f"host.{name}", name, level) for name, level in self.mapping_at("host").items()}

    def initdb(self) -> tuple[str, ...]:
        options = self.list_at("initdb")
        for option in options:
            what, todo = initdb_problem(option)
            if what:
                self.problem("initdb", what, todo)
        return tuple(str(option) for option in options)

    def collectors(self, name: str, default: Iterable[str]) -> tuple[str, ...]:
        known = self.kinds.collectors
        chosen = self.list_at(name, default)
        for collector in chosen:
            if not isinstance(collector, str) or collector not in known:
                what = _("There is no collector {collector}.", collector=repr(collector))
                self.problem(name, what, suggestion(str(collector), sorted(known)))
        return tuple(str(collector) for collector in chosen)


def _compares_installations(factors: Iterable[Factor], base: str) -> bool:
    """Return whether trials of several installations are compared, and no factor says whose client programs to take.

    base: the plan's own installation, of levels that name none."""
    levels = [level.values for factor in factors for level in factor.levels]
    named = [str(values.get("installation", base)) for values in levels]
    several = len({*named} - {""}) > 1
    return several and not any(values.get("client_programs") for values in levels)
