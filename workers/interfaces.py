"""What each kind must offer: workload, topology, collector. A kind is a folder with `spec.py` (pure), a module that
acts on agents, and `parse.py` (pure); `workers.registry` finds it by walking. Nothing else needs an edit.

    workers/workloads/NAME/   spec.SPEC: WorkloadSpec     execute.WORKLOAD: Workload    parse.parse
    workers/topologies/NAME/  spec.SPEC: TopologySpec     build.TOPOLOGY: Topology
    workers/collectors/NAME/  spec.SPEC: CollectorSpec    collect.COLLECTOR: Collector  parse.parse

What is declared (`spec`) and read back (`parse(Reading) -> Part`) uses the pure values of `results.specs`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from results.matrix import TrialSpec
from results.parsed import Check
from workers.postgres.server import Server
from workers.remote.connection import Remote


class Recorder(Protocol):
    """Where a phase puts what it gathered: the bundle being written."""

    def add(self, path: str, content: bytes | str) -> None: ...
    def note(self, name: str, value: Any) -> None: ...
    def check(self, check: Check) -> None: ...
    def gap(self, source: str, node: str, reason: str) -> None: ...


@dataclass
class Stage:
    """Everything a kind may use while one attempt runs. Roles map to connections and servers; two roles on one
    machine share one connection. job_name: the directory under each agent's `<work_dir>/jobs` that is this attempt's
    own: whatever is left in it is ended and removed."""

    spec: TrialSpec
    agents: dict[str, Remote]
    servers: dict[str, Server]
    recorder: Recorder
    job_name: str
    database: str = "bench"
    facts: dict[str, Any] = field(default_factory=dict)

    def job_dir(self, remote: Remote) -> str:
        return f"{remote.address.work_dir}/jobs/{self.job_name}"

    @property
    def client(self) -> Remote:
        return self.agents["client"]

    @property
    def primary(self) -> Server:
        return self.servers["primary"]


class Topology(Protocol):
    async def build(self, stage: Stage) -> None:
        """Arrange running servers and put them into `stage.servers` by role. Reuses what fits."""

    async def verify(self, stage: Stage) -> None:
        """Record a Check for everything that must hold before the clock starts."""

    async def tear_down(self, stage: Stage) -> None:
        """Stop every server this topology started. Idempotent."""


class Workload(Protocol):
    async def load(self, stage: Stage, database: str) -> None:
        """Create the data in the (existing, empty) database."""

    async def verify(self, stage: Stage) -> None:
        """Record a Check for the data and whatever else the workload needs."""

    async def warm_up(self, stage: Stage) -> None:
        """Run the load for the spec's `warmup_s`, unwatched and uncounted. 0: do nothing."""

    async def measure(self, stage: Stage) -> None:
        """Run the load for the spec's duration and add its raw output to the recorder under `workload/`."""


class Collector(Protocol):
    async def start(self, stage: Stage, node: str) -> None:
        """Before the clock starts. Raises AgentError when it cannot watch: recorded as a gap."""

    async def stop(self, stage: Stage, node: str) -> None:
        """After the clock stopped: end what runs, add raw files under `collectors/NAME/NODE/`."""
