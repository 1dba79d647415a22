"""The interfaces of workloads, topologies and collectors. A kind is a folder with `spec.py` (pure), a module that
acts on agents, and `parse.py` (pure); `workers.registry` finds it by walking. Nothing else needs an edit.

    workers/workloads/NAME/   spec.SPEC: WorkloadSpec     execute.WORKLOAD: Workload    parse.parse
    workers/topologies/NAME/  spec.SPEC: TopologySpec     build.TOPOLOGY: Topology
    workers/collectors/NAME/  spec.SPEC: CollectorSpec    collect.COLLECTOR: Collector  parse.parse

`spec` and `parse(Reading) -> Part` use the pure values of `results.domain.kinds.specs`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar, runtime_checkable

from results.domain.matrix import ONE_LOAD, InstallationRef, Load, TrialSpec, is_client
from results.domain.measurement.parsed_trial import Check
from workers.postgres.server import Server
from workers.remote.connection import Remote

T = TypeVar("T")
_OUTSIDE_S = 86400.0  # of a stage that is in no phase of a trial


class Recorder(Protocol):
    """The bundle being written, to which phases add files, notes, checks and gaps."""

    def add(self, path: str, content: bytes | str) -> None: ...
    def file(self, path: str) -> Path:
        """Return where to write a raw file that may be long, which then never is in memory."""

    def note(self, name: str, value: Any) -> None: ...
    def check(self, check: Check) -> None: ...
    def gap(self, source: str, node: str, reason: str) -> None: ...


class HostEvent(Protocol):
    """A host factor that is set on one agent while the load runs, and not before."""

    async def keep(self) -> None:
        """Store the present value on the agent's disk, so that a later attempt can revert it. Raises TrialError."""

    async def begin(self, *words: str) -> tuple[float, float]:
        """Set the level; return when its command began and ended, in epoch seconds of the agent's clock.

        Raises VerifyError where the level is not in force afterwards.

        words: arguments of the operator's commands
        """

    async def require(self, *words: str) -> None:
        """Raise VerifyError where the level is no longer in force."""

    async def revert(self) -> None:
        """Revert every host factor that is changed on the agent. Raises AgentError where one cannot be reverted."""


class Service(Protocol):
    """A process that a topology runs beside its servers and that is neither PostgreSQL nor a pooler.

    The topology's own code starts, verifies and ends it.
    """

    async def log_tail(self) -> str:
        """Return the end of its log, which is stored with a failed trial. Raises AgentError."""


@dataclass
class Stage:
    """Everything a kind may use while one attempt runs.

    A kind that must remember something from one phase to the next keeps a dataclass of its own (`keep`, `kept`).

    agents: role → connection; two roles on one machine share one
    servers: node → PostgreSQL server
    job_name: this attempt's directory below each agent's `<work_dir>/jobs`; whatever is left in it is ended and removed
    measured_s: expected length of the measured window in seconds; None where it lasts until the work is done
    stored_by: table → access method, of tables that do not use the plan's (`WorkloadSpec.stored_by`)
    poolers: node → pooler, as a server that clients connect to
    services: node → a service that is neither server nor pooler
    event: the host factor that the topology sets in mid-run, if any (`TopologySpec.in_mid_run`)
    deadlines: phase → seconds
    ends_s: the present phase's deadline in seconds of the monotonic clock; None outside of a trial
    clock_offsets_s: role → its agent's clock minus the worker's, in seconds
    window_s: start and end of the measured window, epoch seconds of the worker's clock, once it is over
    serving: the node that takes writes now: another than the primary after a failover
    logs_transactions: whether pgbench logs each transaction, for the collector latency_log
    wrappers: load → words of a program that is to start its pgbench, as a collector may
    script_names: of the scripts that pgbench runs, in its own numbering
    picked_up: whether another worker began this attempt, and is gone
    """

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
    wrappers: dict[str, tuple[str, ...]] = field(default_factory=dict)
    script_names: tuple[str, ...] = ()
    picked_up: bool = False
    _kept: dict[tuple[type, str], Any] = field(default_factory=dict)

    def keep(self, value: object, node: str = "") -> None:
        """Keep a value for a kind's later phases, by its type: each kind has types of its own.

        node: the node that the value belongs to, where the kind works on several
        """
        self._kept[type(value), node] = value

    def kept(self, of: type[T], node: str = "") -> T:
        """Return the value of this type that an earlier phase kept. Raises LookupError where none did."""
        if (of, node) not in self._kept:
            raise LookupError(f"No phase of this attempt has kept a {of.__name__}{node and f' of {node}'}.")
        value: T = self._kept[of, node]
        return value

    def all_kept(self) -> list[tuple[Any, str]]:
        """Return each value that was kept, and its node."""
        return [(value, node) for (_, node), value in self._kept.items()]

    def has_kept(self, of: type, node: str = "") -> bool:
        return (of, node) in self._kept

    @property
    def left_s(self) -> float:
        """Seconds until the present phase's deadline: how long a job of this phase may take."""
        return _OUTSIDE_S if self.ends_s is None else max(1.0, self.ends_s - time.monotonic())

    @property
    def lifetime_s(self) -> float:
        """Seconds after which a job that runs over several phases ends itself: longer than the trial can take."""
        return sum(self.deadlines.values()) or _OUTSIDE_S

    def job_dir(self, remote: Remote) -> str:
        return f"{remote.address.work_dir}/jobs/{self.job_name}"

    @property
    def client_bin(self) -> str:
        """The folder of psql and pgbench on the client's agent."""
        return self.spec.client_bin_of("client")

    @property
    def loads(self) -> tuple[Load, ...]:
        """Each load: which client drives which server; at least one."""
        return self.spec.loads or ONE_LOAD

    @property
    def clients(self) -> list[Remote]:
        """Each agent that plays a client, once."""
        return list({agent.address.name: agent for role, agent in self.agents.items() if is_client(role)}.values())

    def installation(self, node: str) -> InstallationRef:
        """Return the installation of this node's server."""
        return self.spec.installation_of(node)

    def clock_offset_s(self, role: str) -> float:
        """Return the clock of the role's agent minus the worker's, in seconds."""
        return self.clock_offsets_s.get(role, 0.0)

    def environment(self, load: Load) -> dict[str, str]:
        """Return the libpq variables by which the clients of a load reach their server."""
        server = self.poolers.get(load.server) or self.servers[load.server]
        variables = server.environment()
        if server.password_file:
            variables["PGPASSFILE"] = self.password_file(self.agents[load.client], load.server)
        return variables

    def password_file(self, client: Remote, node: str) -> str:
        """Return the path of the password file for a node's server on a client's agent, if one is needed."""
        return f"{self.job_dir(client)}/pgpass-{node}"

    async def put_on_clients(self, path: str, text: str) -> str:
        """Write a file below the attempt's directory on every client's agent; return its path on the first client's."""
        for client in self.clients:
            await client.put(f"{self.job_dir(client)}/{path}", text)
        return f"{self.job_dir(self.client)}/{path}"

    def measured(self, started_s: float, ended_s: float, client: str = "client") -> None:
        """Note the measured window, given by the clock of a client's agent (a job's `started_s` and `ended_s`)."""
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
        """Start the servers, or reuse running ones that fit, and put them into `stage.servers` by node.

        Servers that need the data first may follow in `ArrangingTopology.arrange`.
        """

    async def verify(self, stage: Stage) -> None:
        """Record a Check for everything that must hold before the clock starts."""

    async def tear_down(self, stage: Stage) -> None:
        """Stop every server of Teiten on `stage.agents`, which here holds only agents that no other trial waits for.

        Idempotent. `stage.servers` holds all of the trial's servers, as ever.
        """


@runtime_checkable
class ArrangingTopology(Protocol):
    """A topology whose other servers get the data after it was loaded on the primary. Optional."""

    async def arrange(self, stage: Stage) -> None:
        """Give every other server the data, or access to it; called after the load and before caches are warmed.

        Raises TrialError with the server's message where that fails.
        """


@runtime_checkable
class ReleasingTopology(Protocol):
    """A topology that has something to do after every trial, failed or not. Optional."""

    async def release(self, stage: Stage) -> None:
        """Release what the topology holds, once the trial is over and its jobs are ended. A failure is a gap."""


class Workload(Protocol):
    """A workload's phases before the measured one. It is a DetachedWorkload or a SteeredWorkload as well."""

    async def load(self, stage: Stage, database: str) -> None:
        """Create the data in the (existing, empty) database."""

    async def verify(self, stage: Stage) -> None:
        """Record a Check for the data and whatever else the workload needs."""

    async def warm_up(self, stage: Stage) -> None:
        """Run the load for the spec's `warmup_s`, unwatched and uncounted. 0: do nothing."""


@runtime_checkable
class DetachedWorkload(Protocol):
    """A workload that is measured by detached jobs alone, which the worker only waits for.

    Where its worker dies meanwhile, another one calls `finish`, in another process: between the two, values are handed
    on by the stage alone (`Stage.keep`, with dataclasses of plain values).
    """

    async def start(self, stage: Stage) -> None:
        """Start the load for the spec's duration, or until its work is done."""

    async def finish(self, stage: Stage) -> None:
        """Wait for the load's end, note the window (`stage.measured`) and add the raw output to the recorder under
        `workload/`. A load that breaks off raises nothing here: `parse` reports it. May be called twice."""


@runtime_checkable
class SteeredWorkload(Protocol):
    """A workload of which the worker does one step after the other: where the worker dies, the trial is repeated."""

    async def measure(self, stage: Stage) -> None:
        """Run the load for the spec's duration, or until its work is done.

        Note the window (`stage.measured`) and add the raw output to the recorder under `workload/`. A load that breaks
        off raises nothing here: `parse` reports it.
        """


@runtime_checkable
class AuditingWorkload(Protocol):
    """A workload that checks its data after the run. Optional: without this method there is no such phase."""

    async def audit(self, stage: Stage) -> None:
        """Query what must hold of the data now, and add the answers under `workload/`; `parse` judges them.

        Called after the collectors stopped, so that its cost is in no measurement. A server that no longer answers is
        recorded as a gap. Where the worker dies meanwhile, another one calls it from the beginning.
        """


class Collector(Protocol):
    async def start(self, stage: Stage, node: str) -> None:
        """Start, before the clock does, and return once it watches: what starting costs is in no measurement. Raises
        AgentError where it cannot watch, which is recorded as a gap."""

    async def stop(self, stage: Stage, node: str) -> None:
        """Stop, after the clock did, and add the raw files under `collectors/NAME/NODE/`.

        Where the worker dies meanwhile, another one calls it from the beginning: nothing is removed on the agent, where
        the folder of the attempt is removed in any case.
        """
