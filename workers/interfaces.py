"""What each kind must offer: workload, topology, collector. A kind is a folder with `spec.py` (pure), a module that
acts on agents, and `parse.py` (pure); `workers.registry` finds it by walking. Nothing else needs an edit.

    workers/workloads/NAME/   spec.SPEC: WorkloadSpec     execute.WORKLOAD: Workload    parse.parse
    workers/topologies/NAME/  spec.SPEC: TopologySpec     build.TOPOLOGY: Topology
    workers/collectors/NAME/  spec.SPEC: CollectorSpec    collect.COLLECTOR: Collector  parse.parse

What is declared (`spec`) and read back (`parse(Reading) -> Part`) uses the pure values of `kinds.specs`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar, runtime_checkable

from results.domain.matrix import ONE_LOAD, InstallationRef, Load, TrialSpec, is_client
from results.domain.measurement.parsed_trial import Check
from workers.postgres.server import Server
from workers.remote.connection import Remote

T = TypeVar("T")
_OUTSIDE_S = 86400.0  # of a stage that is in no phase of a trial


class Recorder(Protocol):
    """Where a phase puts what it gathered: the bundle being written."""

    def add(self, path: str, content: bytes | str) -> None: ...
    def note(self, name: str, value: Any) -> None: ...
    def check(self, check: Check) -> None: ...
    def gap(self, source: str, node: str, reason: str) -> None: ...


class HostEvent(Protocol):
    """A host factor that is set on one agent while the load runs, and not before."""

    async def keep(self) -> None:
        """The value as found is on the agent's disk: from here on whoever comes next reverts it. Raises TrialError."""

    async def begin(self, *words: str) -> tuple[float, float]:
        """Sets the level: when its command began and ended, epoch seconds of the agent. words: what the operator's
        commands get. Raises VerifyError where the check does not find it in force."""

    async def require(self, *words: str) -> None:
        """Raises VerifyError where it is not in force any more."""

    async def revert(self) -> None:
        """Sets back all of the agent that is not at its own value. Raises AgentError where that cannot be."""


class Service(Protocol):
    """What a topology runs beside its servers, of a role that is neither PostgreSQL nor a pooler: started, verified and
    ended by the topology's own code."""

    async def log_tail(self) -> str:
        """The end of what it wrote, kept of a trial that failed. Raises AgentError."""


@dataclass
class Stage:
    """Everything a kind may use while one attempt runs. What a kind must remember from one phase to the next is a
    dataclass of its own (`keep`, `kept`).

    agents: role → connection; two roles on one machine share one.
    servers: node → PostgreSQL.
    job_name: the directory under each agent's `<work_dir>/jobs` that is this attempt's own: whatever is left in it is
        ended and removed.
    measured_s: expected length of the measured window; None = until the work is done.
    stored_by: tables whose access method is not the plan's (`WorkloadSpec.stored_by`).
    poolers: what takes load for the servers, as a server looks to its clients.
    services: node → what is neither.
    event: what the topology sets on a machine in mid-run, if anything (`TopologySpec.in_mid_run`).
    deadlines: phase → seconds.
    ends_s: when the present phase's deadline comes, by the monotonic clock; None outside of a trial.
    clock_offsets_s: role → the clock of its agent minus the worker's.
    window_s: start and end of the measured window, epoch seconds of the worker's clock, once it is over.
    serving: the node that takes writes now: another than the primary after a failover.
    logs_transactions: whether pgbench logs each transaction, for the collector latency_log.
    script_names: of the scripts that pgbench runs, in its own numbering."""

    spec: TrialSpec
    agents: dict[str, Remote]
    servers: dict[str, Server]
    recorder: Recorder
    job_name: str
    database: str = "bench"
    measured_s: float | None = None
    stored_by: Mapping[str, str] = field(default_factory=dict)
    poolers: dict[str, Server] = field(default_factory=dict)
    services: dict[str, Service] = field(default_factory=dict)
    event: HostEvent | None = None
    deadlines: Mapping[str, float] = field(default_factory=dict)
    ends_s: float | None = None
    clock_offsets_s: Mapping[str, float] = field(default_factory=dict)
    window_s: tuple[float, float] | None = None
    serving: str = "primary"
    logs_transactions: bool = False
    script_names: tuple[str, ...] = ()
    _kept: dict[tuple[type, str], Any] = field(default_factory=dict)

    def keep(self, value: object, node: str = "") -> None:
        """Keep a value for a kind's later phases, by its type: each kind has types of its own. node: whose it is, where
        the kind works on several."""
        self._kept[type(value), node] = value

    def kept(self, of: type[T], node: str = "") -> T:
        """Return the value of this type that an earlier phase kept. Raises LookupError where none did."""
        if (of, node) not in self._kept:
            raise LookupError(f"No phase of this attempt has kept a {of.__name__}{node and f' of {node}'}.")
        value: T = self._kept[of, node]
        return value

    def has_kept(self, of: type, node: str = "") -> bool:
        return (of, node) in self._kept

    @property
    def left_s(self) -> float:
        """Until the present phase's deadline: how long a job of this phase may take."""
        return _OUTSIDE_S if self.ends_s is None else max(1.0, self.ends_s - time.monotonic())

    @property
    def lifetime_s(self) -> float:
        """When what accompanies the trial over several phases may be taken for forgotten: never within it."""
        return sum(self.deadlines.values()) or _OUTSIDE_S

    def job_dir(self, remote: Remote) -> str:
        return f"{remote.address.work_dir}/jobs/{self.job_name}"

    @property
    def client_bin(self) -> str:
        """Where psql and pgbench are on the client's agent."""
        return self.spec.client_bin_of("client")

    @property
    def loads(self) -> tuple[Load, ...]:
        """Who drives which server, at least one."""
        return self.spec.loads or ONE_LOAD

    @property
    def clients(self) -> list[Remote]:
        """Each agent that puts load on, once."""
        return list({agent.address.name: agent for role, agent in self.agents.items() if is_client(role)}.values())

    def installation(self, node: str) -> InstallationRef:
        """What the server of this node is, or is to be, made of."""
        return self.spec.installation_of(node)

    def clock_offset_s(self, role: str) -> float:
        """The clock of the role's agent minus the worker's."""
        return self.clock_offsets_s.get(role, 0.0)

    def environment(self, load: Load) -> dict[str, str]:
        """How the clients of a load reach their server, for libpq."""
        server = self.poolers.get(load.server) or self.servers[load.server]
        found = server.environment()
        if server.password_file:
            found["PGPASSFILE"] = self.password_file(self.agents[load.client], load.server)
        return found

    def password_file(self, client: Remote, node: str) -> str:
        """Where on a client's agent the password of a node's server lies, if one is needed."""
        return f"{self.job_dir(client)}/pgpass-{node}"

    async def put_on_clients(self, path: str, text: str) -> str:
        """Puts a file below the attempt's directory of every client's agent. Where it is on the first client's."""
        for client in self.clients:
            await client.put(f"{self.job_dir(client)}/{path}", text)
        return f"{self.job_dir(self.client)}/{path}"

    def measured(self, started_s: float, ended_s: float, client: str = "client") -> None:
        """Notes the measured window, given by the clock of a client's agent (a job's `started_s` and `ended_s`)."""
        offset_s = self.clock_offset_s(client)
        self.window_s = (started_s - offset_s, ended_s - offset_s)
        self.recorder.note("window", list(self.window_s))

    @property
    def client(self) -> Remote:
        return self.agents["client"]

    @property
    def primary(self) -> Server:
        return self.servers["primary"]


class Topology(Protocol):
    async def build(self, stage: Stage) -> None:
        """Arrange running servers and put them into `stage.servers` by node. Reuses what fits. Those that need the data
        first may follow in `Arranged.arrange`."""

    async def verify(self, stage: Stage) -> None:
        """Record a Check for everything that must hold before the clock starts."""

    async def tear_down(self, stage: Stage) -> None:
        """Stop every server of Teiten on `stage.agents`, here only those that no other trial waits for; `stage.servers`
        are all of the trial's. Idempotent."""


@runtime_checkable
class Arranged(Protocol):
    """A topology whose other servers come to the data after it was loaded. Optional."""

    async def arrange(self, stage: Stage) -> None:
        """After the data was loaded on the primary, before anything is warmed: every other server has it, or reaches
        it. Raises TrialError with the server's own words when that cannot be."""


@runtime_checkable
class Released(Protocol):
    """A topology that has something to do after every trial, whatever became of it. Optional."""

    async def release(self, stage: Stage) -> None:
        """Once the trial is over and its jobs are ended. What fails is a gap."""


class Workload(Protocol):
    async def load(self, stage: Stage, database: str) -> None:
        """Create the data in the (existing, empty) database."""

    async def verify(self, stage: Stage) -> None:
        """Record a Check for the data and whatever else the workload needs."""

    async def warm_up(self, stage: Stage) -> None:
        """Run the load for the spec's `warmup_s`, unwatched and uncounted. 0: do nothing."""

    async def measure(self, stage: Stage) -> None:
        """Run the load for the spec's duration, or until its work is done; note the window (`stage.measured`) and add
        the raw output to the recorder under `workload/`. What breaks off is no exception: `parse` says so."""


@runtime_checkable
class Audited(Protocol):
    """A workload that asks its data something after the run. Optional: who has no such method has no such phase."""

    async def audit(self, stage: Stage) -> None:
        """After the collectors stopped, so that what it costs is in no number: ask what must hold of the data now and
        add the answers under `workload/`. `parse` judges them; a server that no longer answers costs a gap here."""


class Collector(Protocol):
    async def start(self, stage: Stage, node: str) -> None:
        """Before the clock starts. Raises AgentError when it cannot watch: recorded as a gap."""

    async def stop(self, stage: Stage, node: str) -> None:
        """After the clock stopped: end what runs, add raw files under `collectors/NAME/NODE/`."""
