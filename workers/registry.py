"""Finds every topology, workload and collector by walking the three folders. A new kind is one new folder.

Specs and parsers are pure and imported at once; what acts on agents is imported only by whoever runs it.
"""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from results.errors import TeitenError
from results.metrics import Metric
from results.plan import Kinds
from results.specs import Parse

if TYPE_CHECKING:
    from workers.interfaces import Collector, Topology, Workload


@cache
def kinds() -> Kinds:
    """The specs of every kind, by name."""
    return Kinds(workloads=_specs("workloads"), topologies=_specs("topologies"), collectors=_specs("collectors"))


def known_metrics() -> list[Metric]:
    """Every metric that a workload or collector measures. Two may share a name: they then mean the same."""
    found = kinds()
    groups = [spec.metrics for spec in found.collectors.values()] + [spec.metrics for spec in found.workloads.values()]
    return [metric for group in groups for metric in group]


def workload(name: str) -> Workload:
    return _module("workloads", name, "execute").WORKLOAD


def topology(name: str) -> Topology:
    return _module("topologies", name, "build").TOPOLOGY


def collector(name: str) -> Collector:
    return _module("collectors", name, "collect").COLLECTOR


def workload_parser(name: str) -> Parse:
    return _module("workloads", name, "parse").parse


def collector_parser(name: str) -> Parse:
    return _module("collectors", name, "parse").parse


def _specs(folder: str) -> dict[str, Any]:
    package = import_module(f"workers.{folder}")
    names = sorted(found.name for found in pkgutil.iter_modules(package.__path__) if found.ispkg)
    specs = {name: import_module(f"workers.{folder}.{name}.spec").SPEC for name in names}
    for name, spec in specs.items():
        if spec.name != name:
            raise TeitenError(
                f"The spec is called {spec.name!r}.",
                where=f"workers/{folder}/{name}",
                todo="Call both the same.",
            )
    return specs


def _module(folder: str, name: str, part: str) -> ModuleType:
    try:
        return import_module(f"workers.{folder}.{name}.{part}")
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith(f"workers.{folder}.{name}"):
            raise
        raise TeitenError(
            f"This Teiten has no {name!r}.", where=f"workers/{folder}", todo="Update Teiten, or the plan."
        ) from error
