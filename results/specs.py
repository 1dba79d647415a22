"""What a workload, topology or collector declares of itself, and what its parser is given. Pure values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from results.metrics import Metric
from results.parameters import Parameter, Scalar
from results.parsed import Part


@dataclass(frozen=True)
class WorkloadSpec:
    """disk_bytes: parameters → estimated size of the loaded data. headline: the metric that pages show first."""

    name: str
    title: str
    help: str
    parameters: tuple[Parameter, ...]
    metrics: tuple[Metric, ...]
    disk_bytes: Callable[[Mapping[str, Scalar]], int]
    headline: str = "tps"
    minimum_version: int = 90500

    def data_key(self, parameters: Mapping[str, Scalar]) -> dict[str, Scalar]:
        """The parameters that decide the loaded data: trials with equal keys may share it."""
        return {p.name: parameters.get(p.name, p.default) for p in self.parameters if p.loads}


@dataclass(frozen=True)
class TopologySpec:
    """roles: every role a node plays, the server that takes the load first; `client` is always there besides."""

    name: str
    title: str
    help: str
    roles: tuple[str, ...] = ("primary",)
    parameters: tuple[Parameter, ...] = ()


@dataclass(frozen=True)
class CollectorSpec:
    """on: which nodes it watches: `agents` (each machine once), `servers` (each PostgreSQL), `client`.
    needs: programs that must be on the agent."""

    name: str
    title: str
    help: str
    on: str
    metrics: tuple[Metric, ...]
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reading:
    """What a kind's `parse(reading) -> Part` gets. files: its own files, path below its own folder → text.
    window: start and end of the measured window, epoch seconds on the worker's clock;
    clock_offset_s: the node's clock minus the worker's. parameters: the workload's, complete."""

    node: str
    files: Mapping[str, str]
    parameters: Mapping[str, Scalar]
    window: tuple[float, float]
    clock_offset_s: float = 0.0
    notes: Mapping[str, Any] = field(default_factory=dict)


class Parse(Protocol):
    def __call__(self, reading: Reading) -> Part: ...
