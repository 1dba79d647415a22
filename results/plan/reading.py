"""A plan's TOML or form → Plan, checked against the kinds; every problem is found, not only the first."""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

from results.conditions import CONDITIONS, NAME, TEXTS
from results.errors import PlanError, Problem
from results.host import level_text
from results.parameters import Parameter, Scalar
from results.plan.values import DEFAULT_COLLECTORS, Factor, Kinds, Level, Plan, label_of, setting_text, targets
from results.reserved import initdb_problem, setting_is_reserved
from results.specs import WorkloadSpec

AGENT = r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}"
SETTING = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)?")
MAXIMUM_TRIALS = 100_000
_MOST_COMBINATIONS = 1000

_FIELDS = {parameter.name: parameter for parameter in (*TEXTS, *CONDITIONS)}
_CONDITIONS = {parameter.name: parameter for parameter in CONDITIONS}
_TABLES = ("agents", "parameters", "topology_parameters", "settings", "host", "factors")
_LISTS = ("initdb", "collectors", "required_collectors", "exclude")


def read(text: str, kinds: Kinds) -> Plan:
    """TOML → Plan. Raises PlanError with every problem found."""
    try:
        mapping = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PlanError([Problem("TOML", f"The file is not TOML: {error}.", "Mend that line.")]) from error
    return from_mapping(mapping, kinds)


def from_mapping(mapping: Mapping[str, Any], kinds: Kinds) -> Plan:
    """A plan in the structure of its TOML → Plan, checked against the kinds. Raises PlanError with all problems."""
    reader = _Reader(mapping, kinds)
    plan = reader.plan()
    if reader.problems:
        raise PlanError(list(dict.fromkeys(reader.problems)))
    return plan


class _Reader:
    """Reads one mapping; collects problems instead of stopping at the first."""

    def __init__(self, mapping: Mapping[str, Any], kinds: Kinds) -> None:
        self.mapping, self.kinds = mapping, kinds
        self.problems: list[Problem] = []

    def problem(self, field_name: str, what: str, todo: str = "") -> None:
        self.problems.append(Problem(field_name, what, todo))

    def plan(self) -> Plan:
        for key in self.mapping:
            if key not in _FIELDS and key not in _TABLES and key not in _LISTS:
                self.problem(
                    key,
                    f"There is no key {key!r} in a plan.",
                    f"Keys are {', '.join([*_FIELDS, *_TABLES, *_LISTS])}.",
                )
        fields = {name: self.value(name, parameter, self.mapping) for name, parameter in _FIELDS.items()}
        workload = self.kind("workload", str(fields["workload"]), self.kinds.workloads)
        factors = self.factors(workload)
        varied = {target for factor in factors for level in factor.levels for target in level.values}
        if not fields["installation"] and "installation" not in varied:
            self.problem("installation", "No PostgreSQL is named.", "Name a version or make `installation` a factor.")
        topology = self.kind("topology", str(fields["topology"]), self.kinds.topologies)
        plan = Plan(
            name=str(fields["name"]),
            description=str(fields["description"]),
            workload=str(fields["workload"]),
            replicates=int(fields["replicates"]),
            seed=int(fields["seed"]),
            conditions={name: fields[name] for name in _CONDITIONS},
            agents=self.agents(),
            parameters=self.table("parameters", workload.parameters if workload else ()),
            topology_parameters=self.table("topology_parameters", topology.parameters if topology else ()),
            settings=self.settings(),
            host={n: self.host_level(f"host.{n}", n, level) for n, level in self.mapping_at("host").items()},
            initdb=self.initdb(),
            collectors=self.collectors("collectors", DEFAULT_COLLECTORS),
            required_collectors=self.collectors("required_collectors", ()),
            factors=factors,
            exclude=self.exclude(factors),
            patience=float(fields["patience"]),
        )
        self.whole(plan)
        self.cold_stays_cold(plan, varied)
        if workload is not None and not self.problems:
            self.together(plan, workload)
        return plan

    def value(self, name: str, parameter: Parameter, mapping: Mapping[str, Any]) -> Scalar:
        if name not in mapping:
            if name == "name":
                self.problem(name, "The plan has no name.", "Give it one.")
            return parameter.default
        return self.checked(name, parameter, mapping[name])

    def checked(self, where: str, parameter: Parameter, value: object) -> Scalar:
        try:
            return parameter.check(value)
        except ValueError as error:
            self.problem(where, f"{error}.", parameter.help)
            return parameter.default

    def kind(self, where: str, name: str, known: Mapping[str, Any]) -> Any:
        if name not in known:
            self.problem(where, f"There is no {where} {name!r}.", f"There are {', '.join(sorted(known))}.")
            return None
        return known[name]

    def mapping_at(self, name: str) -> Mapping[str, Any]:
        value = self.mapping.get(name, {})
        if not isinstance(value, Mapping):
            self.problem(name, f"{value!r} is not a table.", f"Write it as [{name}].")
            return {}
        return value

    def list_at(self, name: str, default: Iterable[Any] = ()) -> list[Any]:
        value = self.mapping.get(name, list(default))
        if not isinstance(value, list):
            self.problem(name, f"{value!r} is not a list.", "Write it as [ …, … ].")
            return []
        return value

    def agents(self) -> dict[str, str]:
        roles = {"client", *(role for topology in self.kinds.topologies.values() for role in topology.roles)}
        numbered = re.compile(rf"({'|'.join(sorted(roles))})[1-9][0-9]?")
        found: dict[str, str] = {}
        for role, agent in self.mapping_at("agents").items():
            if role not in roles and not numbered.fullmatch(role):
                self.problem(
                    f"agents.{role}",
                    f"There is no role {role!r}.",
                    f"Roles are {', '.join(sorted(roles))}; with a number, one of several (client2).",
                )
            elif role == "client1":
                self.problem(
                    f"agents.{role}",
                    "The first client is called client, the others client2, client3 and so on.",
                    "Write client instead of client1.",
                )
            elif not isinstance(agent, str) or not re.fullmatch(AGENT, agent):
                self.problem(
                    f"agents.{role}",
                    f"{agent!r} is not the name of an agent.",
                    "Letters, digits, '.', '_', '-'.",
                )
            else:
                found[role] = agent
        if not found and "agents" not in {p.field.split(".")[0] for p in self.problems}:
            self.problem("agents", "No agent is named.", 'Write [agents] with primary = "…", and client = "…".')
        return found

    def table(self, name: str, parameters: Iterable[Parameter]) -> dict[str, Scalar]:
        known = {parameter.name: parameter for parameter in parameters}
        found: dict[str, Scalar] = {}
        for key, value in self.mapping_at(name).items():
            if key not in known:
                self.problem(f"{name}.{key}", f"There is no parameter {key!r}.", f"There are {', '.join(known)}.")
            else:
                found[key] = self.checked(f"{name}.{key}", known[key], value)
        return found

    def setting(self, where: str, name: str, value: object) -> str:
        if not SETTING.fullmatch(name):
            self.problem(where, f"{name!r} is not the name of a setting.", "As in postgresql.conf.")
        elif setting_is_reserved(name):
            self.problem(where, f"{name} is set by Teiten itself.", "Leave it out.")
        try:
            return setting_text(value)
        except ValueError as error:
            self.problem(where, f"{error}.", "As in postgresql.conf.")
            return ""

    def settings(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for name, value in self.mapping_at("settings").items():
            if isinstance(value, Mapping):  # TOML reads `a.b = 1` as a table
                found |= {
                    f"{name}.{k}": self.setting(f"settings.{name}.{k}", f"{name}.{k}", v) for k, v in value.items()
                }
            else:
                found[name] = self.setting(f"settings.{name}", name, value)
        return found

    def host_level(self, where: str, name: str, value: object) -> str:
        label, wrong = level_text(name, value)
        if wrong:
            self.problem(where, wrong, "The agents' pages name host factors and their levels.")
        return label

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
            if collector not in known:
                self.problem(name, f"There is no collector {collector!r}.", f"There are {', '.join(sorted(known))}.")
        return tuple(str(collector) for collector in chosen)

    def factors(self, workload: WorkloadSpec | None) -> tuple[Factor, ...]:
        if workload is None:
            return ()
        known = self.known(workload, str(self.mapping.get("topology", _FIELDS["topology"].default)))
        found: list[Factor] = []
        for name, levels in self.mapping_at("factors").items():
            where = f"factors.{name}"
            if not re.fullmatch(NAME, name):
                self.problem("factors", f"{name!r} is no name for a factor.", "Letters, digits and spaces.")
                continue
            if not isinstance(levels, list) or not levels:
                self.problem(where, "A factor needs a list of levels.", "Write it as [ …, … ].")
                continue
            read = tuple(level for level in (self.level(where, name, one, known, workload) for one in levels) if level)
            labels = [level.label for level in read]
            if len(set(labels)) < len(labels):
                self.problem(where, "Two levels are the same.", "Each level once.")
            found.append(Factor(name, read))
        self.overlaps(found)
        return tuple(found)

    def known(self, workload: WorkloadSpec, topology: str) -> dict[str, Parameter]:
        """What may be varied; where topologies share the name of a parameter, it is this one's."""
        return targets(workload, sorted(self.kinds.topologies.values(), key=lambda spec: spec.name == topology))

    def level(
        self, where: str, factor: str, level: object, known: Mapping[str, Parameter], workload: WorkloadSpec
    ) -> Level | None:
        if isinstance(level, Mapping):
            label, values = level.get("label"), level.get("values")
            if not isinstance(label, str) or not re.fullmatch(NAME, label) or not isinstance(values, Mapping):
                self.problem(
                    where,
                    f"{dict(level)!r} is not a level.",
                    "Write { label = '…', values = { target = … } }.",
                )
                return None
            if "topology" in values:
                known = self.known(workload, str(values["topology"]))
            return Level(label, {target: self.target(where, target, value, known) for target, value in _flat(values)})
        before = len(self.problems)
        value = self.target(where, factor, level, known)
        wrong = len(self.problems) > before  # then the value is a stand-in, the same for every wrong level
        return Level(label_of(level if wrong else value), {factor: value})

    def target(self, where: str, target: str, value: object, known: Mapping[str, Parameter]) -> Scalar:
        if target.startswith("setting."):
            return self.setting(where, target.removeprefix("setting."), value)
        if target.startswith("host."):
            return self.host_level(where, target.removeprefix("host."), value)
        if target not in known:
            todo = f"{', '.join(known)}, setting.<name> or host.<name>."
            self.problem(where, f"{target!r} is nothing that can be varied.", todo)
            return ""
        checked = self.checked(where, known[target], value)
        if target == "topology":
            self.kind("topology", str(checked), self.kinds.topologies)
        return checked

    def overlaps(self, factors: list[Factor]) -> None:
        owner: dict[str, str] = {}
        for factor in factors:
            for target in sorted({target for level in factor.levels for target in level.values}):
                if target in owner:
                    self.problem(
                        f"factors.{factor.name}",
                        f"{target!r} is also set by factor {owner[target]!r}.",
                        "Vary it once.",
                    )
                owner[target] = factor.name

    def exclude(self, factors: tuple[Factor, ...]) -> tuple[Mapping[str, str], ...]:
        labels = {factor.name: {level.label for level in factor.levels} for factor in factors}
        found: list[Mapping[str, str]] = []
        for index, entry in enumerate(self.list_at("exclude")):
            where = f"exclude[{index}]"
            if not isinstance(entry, Mapping) or not entry:
                self.problem(where, f"{entry!r} is not a combination.", "Write factor = level.")
                continue
            excluded = {factor: label_of(level) for factor, level in _flat(entry)}
            for factor, label in excluded.items():
                if factor not in labels:
                    self.problem(where, f"There is no factor {factor!r}.", f"There are {', '.join(labels) or 'none'}.")
                elif label not in labels[factor]:
                    self.problem(
                        where,
                        f"Factor {factor!r} has no level {label!r}.",
                        f"It has {', '.join(sorted(labels[factor]))}.",
                    )
            found.append(excluded)
        return tuple(found)

    def whole(self, plan: Plan) -> None:
        size = plan.replicates
        for factor in plan.factors:
            size *= len(factor.levels)
        if size > MAXIMUM_TRIALS:
            self.problem(
                "factors",
                f"The plan has {size:,} trials; at most {MAXIMUM_TRIALS:,} are taken.",
                "Fewer levels.",
            )
        missing = set(plan.required_collectors) - set(plan.collectors)
        if missing:
            self.problem(
                "required_collectors",
                f"{', '.join(sorted(missing))} is required but not collected.",
                "Add it to collectors.",
            )

    def together(self, plan: Plan, workload: WorkloadSpec) -> None:
        """What the workload finds wrong with its parameters together, in the first combinations of the factors."""
        names = {parameter.name for parameter in workload.parameters}
        owner = {t: factor.name for factor in plan.factors for level in factor.levels for t in level.values}
        touching = [factor.levels for factor in plan.factors if factor.name in {owner.get(name) for name in names}]
        found: dict[tuple[str, str], Problem] = {}
        for levels in itertools.islice(itertools.product(*touching), _MOST_COMBINATIONS):
            varied = {name: value for level in levels for name, value in level.values.items() if name in names}
            for one in workload.problems(workload.complete({**plan.parameters, **varied})):
                where = f"factors.{owner[one.field]}" if one.field in owner else f"parameters.{one.field}"
                found[where, one.what] = Problem(where, one.what, one.todo)
        self.problems += found.values()

    def cold_stays_cold(self, plan: Plan, varied: set[str]) -> None:
        """Only where both are the same in every trial: what a factor varies is for each trial to see to."""
        cold, warmup_s = plan.conditions["cache"] == "cold", float(plan.conditions["warmup_s"])
        if cold and warmup_s > 0 and not varied & {"cache", "warmup_s"}:
            self.problem(
                "cache",
                f"A warm-up of {warmup_s:g} s fills the caches that are to be cold.",
                "Set warmup_s to 0, or cache to prewarm or as-found.",
            )


def _flat(values: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """TOML reads a bare `setting.work_mem = …` as nested tables; targets are dotted names."""
    found: list[tuple[str, Any]] = []
    for key, value in values.items():
        found += _flat(value, f"{prefix}{key}.") if isinstance(value, Mapping) else [(f"{prefix}{key}", value)]
    return found
