"""Plan, Factor, Level as values, and a plan as TOML."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import tomli_w

from results.domain.kinds.conditions import CONDITIONS
from results.domain.kinds.parameters import Parameter, Scalar
from results.domain.kinds.specs import CollectorSpec, TopologySpec, WorkloadSpec
from results.domain.messages import gettext_lazy as _
from results.domain.states import Standing

DEFAULT_COLLECTORS = ("latency_log", "sar", "pg_stat")


@dataclass(frozen=True)
class Kinds:
    """What the registry found: every workload, topology and collector by name."""

    workloads: Mapping[str, WorkloadSpec]
    topologies: Mapping[str, TopologySpec]
    collectors: Mapping[str, CollectorSpec]


@dataclass(frozen=True)
class Level:
    """One value of a factor. A composite level sets several targets at once, or none (`plan.aa`)."""

    label: str
    values: Mapping[str, Scalar]


@dataclass(frozen=True)
class Factor:
    name: str
    levels: tuple[Level, ...]

    @property
    def targets(self) -> set[str]:
        """Everything that one of its levels sets."""
        return {target for level in self.levels for target in level.values}


@dataclass(frozen=True)
class Plan:
    """A benchmark plan.

    agents: role → agent name.
    initdb: extra initdb options.
    exclude: combinations (factor → level label) left out.
    conditions: the targets of `CONDITIONS`, complete.
    patience: factor of every deadline; it changes no number.
    standing: what its runs begin as."""

    name: str
    description: str
    workload: str
    replicates: int
    seed: int
    conditions: Mapping[str, Scalar]
    agents: Mapping[str, str]
    parameters: Mapping[str, Scalar] = field(default_factory=dict)
    topology_parameters: Mapping[str, Scalar] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    host: Mapping[str, str] = field(default_factory=dict)
    initdb: tuple[str, ...] = ()
    collectors: tuple[str, ...] = DEFAULT_COLLECTORS
    required_collectors: tuple[str, ...] = ()
    factors: tuple[Factor, ...] = ()
    exclude: tuple[Mapping[str, str], ...] = ()
    patience: float = 1
    standing: Standing = Standing.EXPLORATORY

    def base_values(self) -> dict[str, Scalar]:
        """Every target that the plan fixes."""
        return {
            **self.conditions,
            **self.parameters,
            **{f"setting.{name}": value for name, value in self.settings.items()},
            **{f"topology.{name}": value for name, value in self.topology_parameters.items()},
            **{f"host.{name}": level for name, level in self.host.items()},
        }

    def fields(self) -> Iterator[tuple[str, str, Scalar]]:
        """Yield (field, target, value) of everything that the plan sets, or varies by a level."""
        tables = (
            ("", "", self.conditions),
            ("parameters.", "", self.parameters),
            ("topology_parameters.", "topology.", self.topology_parameters),
            ("settings.", "setting.", self.settings),
        )
        for field_prefix, target_prefix, values in tables:
            for name, value in values.items():
                yield f"{field_prefix}{name}", f"{target_prefix}{name}", value
        for factor in self.factors:
            for level in factor.levels:
                for target, value in level.values.items():
                    yield f"factors.{factor.name}", target, value

    def field_of(self, target: str) -> str:
        """The field of the plan that sets a target: the factor that varies it, or where it stands by itself."""
        name = target.removeprefix("parameters.")
        owner = next((factor.name for factor in self.factors if name in factor.targets), "")
        if owner:
            return f"factors.{owner}"
        return f"topology_parameters.{name.removeprefix('topology.')}" if name.startswith("topology.") else target

    def to_mapping(self) -> dict[str, Any]:
        """The plan as the TOML's own structure; `from_mapping` of it gives the same plan."""
        mapping: dict[str, Any] = {
            "name": self.name,
            "description": self.description,
            "workload": self.workload,
            "replicates": self.replicates,
            "seed": self.seed,
            **({"patience": self.patience} if self.patience != 1 else {}),
            **({"standing": self.standing.value} if self.standing != Standing.EXPLORATORY else {}),
            **self.conditions,
            "initdb": list(self.initdb),
            "collectors": list(self.collectors),
            "required_collectors": list(self.required_collectors),
            "agents": dict(self.agents),
            "parameters": dict(self.parameters),
            "topology_parameters": dict(self.topology_parameters),
            "settings": dict(self.settings),
            "host": dict(self.host),
            "factors": {
                factor.name: [_level_out(factor.name, level) for level in factor.levels] for factor in self.factors
            },
            "exclude": [dict(excluded) for excluded in self.exclude],
        }
        # An empty list of collectors says something: without it the default ones are taken.
        return {key: value for key, value in mapping.items() if value not in ("", [], {}) or key == "collectors"}

    @property
    def canonical(self) -> str:
        """The same text for plans that measure the same: their standing is left out. Factors keep their order, which is
        the order of the configurations."""
        mapping = self.to_mapping()
        mapping.pop("standing", None)
        factors = list(mapping.pop("factors", {}).items())
        return json.dumps([mapping, factors], sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    @property
    def hash(self) -> str:
        """SHA-256 of the canonical form, hex."""
        return hashlib.sha256(self.canonical.encode()).hexdigest()


def to_toml(plan: Plan) -> str:
    return tomli_w.dumps(plan.to_mapping(), multiline_strings=True)


def targets(workload: WorkloadSpec, topologies: Iterable[TopologySpec]) -> dict[str, Parameter]:
    """Every target with a declared parameter: what a factor may vary besides `setting.<name>`."""
    parameters = {parameter.name: parameter for parameter in CONDITIONS}
    parameters |= {parameter.name: parameter for parameter in workload.parameters}
    for topology in topologies:
        parameters |= {f"topology.{parameter.name}": parameter for parameter in topology.parameters}
    return parameters


def setting_text(value: object) -> str:
    """A setting's value as PostgreSQL writes it. Raises ValueError."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if not isinstance(value, (str, int, float)):
        raise ValueError(_("{value} is not text, a number or true/false", value=repr(value)))
    text = str(value)
    if any(character in text for character in "\x00\n\r"):
        raise ValueError(_("a setting must be one line"))
    return text


def label_of(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _level_out(factor: str, level: Level) -> Any:
    if set(level.values) == {factor} and level.label == label_of(level.values[factor]):
        return level.values[factor]
    return {"label": level.label, "values": dict(level.values)}
