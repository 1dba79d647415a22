"""What a workload, topology or collector declares of itself, and what its parser is given. Pure values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from results.metrics import Metric
from results.parameters import Parameter, Scalar
from results.parsed import Part

LONGEST_RUN_S = 7 * 86400.0
_MARGIN_S = 3600.0
_LATE_S, _LATE_SHARE = 3.0, 0.02  # how long before the window's end the last sample may lie


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

    def cut_short(self, last_s: float) -> str:
        """Why a series says nothing of the window's end, for a Gap; '' when its last sample, last_s seconds after the
        window's start, lies near enough to the end."""
        length_s = self.window[1] - self.window[0]
        if length_s - last_s <= max(_LATE_S, _LATE_SHARE * length_s):
            return ""
        return f"the last sample lies {last_s:.1f} s into a window of {length_s:.1f} s"


def watch_limit_s(duration_s: float, warmup_s: float, parameters: Mapping[str, Scalar]) -> float:
    """When a collector may be taken for forgotten, seconds after its start: never within a run. A run by transactions
    (the parameter `transactions`) has no duration known before; a week is the longest that a plan allows."""
    by_transactions = bool(parameters.get("transactions"))
    return (LONGEST_RUN_S if by_transactions else duration_s + warmup_s) + _MARGIN_S


class Parse(Protocol):
    def __call__(self, reading: Reading) -> Part: ...
