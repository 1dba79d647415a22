"""Plan → configurations × replicates, blocked and shuffled from a stored seed. Pure."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from results.parameters import Scalar
from results.plan import Plan


@dataclass(frozen=True)
class InstallationRef:
    """One PostgreSQL build on an agent. name: as shown and as in plans; client_bin: where psql and pgbench are."""

    name: str
    bin_dir: str
    client_bin: str
    version: str
    version_num: int


@dataclass(frozen=True)
class TrialSpec:
    """One configuration, resolved: all that is needed to run a trial of it. JSON-ready both ways.

    parameters: complete (defaults filled in). agents: role → agent name. threads: pgbench threads, at least 1.
    access_method: '' = the server's default. initdb: extra initdb options."""

    workload: str
    parameters: Mapping[str, Scalar]
    topology: str
    topology_parameters: Mapping[str, Scalar]
    installation: InstallationRef
    agents: Mapping[str, str]
    settings: Mapping[str, str]
    access_method: str = ""
    initdb: tuple[str, ...] = ()
    data: str = "reuse"
    cache: str = "prewarm"
    warmup_s: float = 0
    duration_s: float = 60
    threads: int = 1
    collectors: tuple[str, ...] = ()
    required_collectors: tuple[str, ...] = ()
    host: Mapping[str, Scalar] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> TrialSpec:
        tuples = ("initdb", "collectors", "required_collectors")
        return cls(
            **{k: tuple(v) if k in tuples else v for k, v in value.items() if k != "installation"},
            installation=InstallationRef(**value["installation"]),
        )


@dataclass(frozen=True)
class Configuration:
    """One level of each factor. levels: factor → level label. values: target → value, the plan's fixed values
    overlaid by the levels' (targets as in `results.plan`)."""

    levels: Mapping[str, str]
    values: Mapping[str, Scalar]

    @property
    def name(self) -> str:
        """Short and unique within its plan: '16 · select-only · 4 clients' is for pages; this is 'a=1, b=2'."""
        return ", ".join(f"{factor}={label}" for factor, label in self.levels.items()) or "the only configuration"


@dataclass(frozen=True)
class Slot:
    """One trial's place: position in the run's order (from 0), block (from 1), index of its configuration."""

    position: int
    block: int
    configuration: int


def expand(plan: Plan) -> tuple[Configuration, ...]:
    """Every combination of the factors' levels that is not excluded, in the factors' own order."""
    base = plan.base_values()
    found: list[Configuration] = []
    for combination in itertools.product(*(factor.levels for factor in plan.factors)):
        levels = {f.name: level.label for f, level in zip(plan.factors, combination, strict=True)}
        if any(all(levels.get(k) == v for k, v in excluded.items()) for excluded in plan.exclude):
            continue
        values = dict(base)
        for level in combination:
            values.update(level.values)
        found.append(Configuration(levels, values))
    return tuple(found)


def order(configurations: int, blocks: Sequence[int], seed: int, first_position: int = 0) -> tuple[Slot, ...]:
    """Slots of the given blocks: each block holds every configuration once, in an order drawn from (seed, block),
    so that blocks added later leave the earlier ones as they were."""
    slots: list[Slot] = []
    for block in blocks:
        indices = list(range(configurations))
        random.Random(f"{seed}/{block}").shuffle(indices)
        slots.extend(Slot(first_position + len(slots) + i, block, index) for i, index in enumerate(indices))
    return tuple(slots)
