"""What a workload, topology or collector declares of itself, and what its parser is given. Pure values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from results.domain.errors import Problem
from results.domain.kinds.host_factors import MidRun
from results.domain.kinds.parameters import Parameter, Scalar
from results.domain.kinds.programs import Program
from results.domain.measurement.metrics import Metric
from results.domain.measurement.parsed_trial import Part
from results.domain.messages import gettext_lazy as _

GRACE_S = 3600.0  # for whatever does not grow with the work
RUN_GRACE_S = 60.0  # for the last transactions of a load
_LATE_S, _LATE_SHARE = 3.0, 0.02  # how long before the window's end the last sample may lie


def by_duration(parameters: Mapping[str, Scalar], duration_s: float) -> float | None:
    """The plan's duration, unless the parameter `transactions` ends the run."""
    return None if parameters.get("transactions") else duration_s


def as_the_plan_says(parameters: Mapping[str, Scalar]) -> Mapping[str, str]:
    """No table is stored otherwise than by the plan's access method."""
    return {}


def nothing_wrong(parameters: Mapping[str, Scalar]) -> Iterable[Problem]:
    """Each parameter is right by itself: that is all."""
    return ()


def nothing_provided(parameters: Mapping[str, Scalar]) -> Mapping[str, str]:
    """The plan brings no program of its own."""
    return {}


def timed_limit_s(seconds: float, patience: float = 1.0) -> float:
    """When a load that is to last so long has surely gone wrong: its last transactions are let finish, however long
    they take.

    patience: the plan's."""
    return seconds + (seconds / 2 + RUN_GRACE_S) * patience


@dataclass(frozen=True)
class Longest:
    """After how many seconds what a workload does in a phase has surely gone wrong: many times what it ever took.

    load_s: None = by the size of the data.
    warm_s: what it warms up or makes ready besides the plan's `warmup_s`.
    measure_s: of work that lasts until it is done; of other work `timed_limit_s` of its length counts.
    stated: it is the plan's own word, which no estimate changes."""

    load_s: float | None = None
    warm_s: float = 0.0
    measure_s: float = 0.0
    stated: bool = False


def by_size_and_duration(parameters: Mapping[str, Scalar], duration_s: float) -> Longest:
    """It loads its data, and measures for a known time."""
    return Longest()


def never(parameters: Mapping[str, Scalar]) -> bool:
    """One client drives one server."""
    return False


def by_pgbench(parameters: Mapping[str, Scalar]) -> bool:
    """All load is `workers.pgbench.run`'s: any number of clients may drive any number of servers."""
    return True


def no_time(parameters: Mapping[str, Scalar]) -> float:
    return 0.0


def half_a_minute(parameters: Mapping[str, Scalar], duration_s: float) -> float:
    """Nothing is known of how long the work takes."""
    return 30.0


@dataclass(frozen=True)
class WorkloadSpec:
    """What a workload declares.

    disk_bytes: parameters → estimated size of the loaded data; None where nobody can know before.
    headline: the metric that pages show first.
    headline_of: the same where it hangs on the parameters.
    measured_s: (parameters, the plan's duration_s) → expected length of the measured window; None = until the work is
        done.
    typical_s: the same → how long work that is measured until it is done takes on a modest machine; only until a trial
        has done it.
    loads_in_window: whether what it stores is made while it is measured, and takes no time before.
    typical_warm_s: parameters → how long, besides, what it does before the clock starts.
    timed_part: the boolean parameter with which, of work that is measured until it is done, one part runs for the
        plan's duration_s.
    longest: (complete parameters, the plan's duration_s) → when its part of a phase has gone wrong.
    stored_by: parameters → table → access method, for tables whose access method they decide and not the plan.
    problems: complete parameters → what is wrong with them together; a problem's field is a parameter's name.
    provided: what the parameters provide that is run, by name → its hash, for the trial's tool layer.
    several: complete parameters → whether several clients may drive it together, or one each of several servers.
    tolerates_failover: whether its clients go on, against whichever server takes writes, after one is lost in mid-run;
        then they reach it through a pooler as well.
    programs: role → what its agents must have besides a server of PostgreSQL and psql (`kinds.programs.EVERY_ROLE`)."""

    name: str
    title: str
    help: str
    parameters: tuple[Parameter, ...]
    metrics: tuple[Metric, ...]
    disk_bytes: Callable[[Mapping[str, Scalar]], int | None]
    headline: str = "tps"
    minimum_version: int = 90500
    measured_s: Callable[[Mapping[str, Scalar], float], float | None] = by_duration
    typical_s: Callable[[Mapping[str, Scalar], float], float] = half_a_minute
    loads_in_window: bool = False
    typical_warm_s: Callable[[Mapping[str, Scalar]], float] = no_time
    timed_part: str = ""
    longest: Callable[[Mapping[str, Scalar], float], Longest] = by_size_and_duration
    stored_by: Callable[[Mapping[str, Scalar]], Mapping[str, str]] = as_the_plan_says
    headline_of: Callable[[Mapping[str, Scalar]], str] | None = None
    problems: Callable[[Mapping[str, Scalar]], Iterable[Problem]] = nothing_wrong
    provided: Callable[[Mapping[str, Scalar]], Mapping[str, str]] = nothing_provided
    several: Callable[[Mapping[str, Scalar]], bool] = never
    tolerates_failover: bool = False
    programs: Mapping[str, tuple[Program, ...]] = field(default_factory=dict)

    def complete(self, parameters: Mapping[str, Scalar]) -> dict[str, Scalar]:
        """Every parameter, those that are not given at their defaults."""
        return {p.name: parameters.get(p.name, p.default) for p in self.parameters}

    def part_by_duration(self, parameters: Mapping[str, Scalar]) -> str:
        """The `timed_part`, where these parameters have it run; else ''."""
        return self.timed_part if self.complete(parameters).get(self.timed_part) else ""

    def headline_for(self, parameters: Mapping[str, Scalar]) -> str:
        """The metric that pages show first with these parameters."""
        return self.headline_of(self.complete(parameters)) if self.headline_of else self.headline

    def data_key(self, parameters: Mapping[str, Scalar]) -> dict[str, Scalar]:
        """The parameters that decide the loaded data: trials with equal keys may share it."""
        return {p.name: parameters.get(p.name, p.default) for p in self.parameters if p.loads}


@dataclass(frozen=True)
class Target:
    """A server that takes load of its own. workload False: beside the workload it is read by pgbench's select-only
    script, whose numbers stay the node's own and are in no total.

    name: of one of several sets of clients at the same server, each as large as the plan says."""

    node: str
    workload: bool = True
    name: str = ""


def one_primary(parameters: Mapping[str, Scalar]) -> tuple[Target, ...]:
    """All load goes to the primary."""
    return (Target("primary"),)


def any_version(parameters: Mapping[str, Scalar], version_num: int) -> Iterable[Problem]:
    """Every PostgreSQL can do it."""
    return ()


def any_number(parameters: Mapping[str, Scalar], clients: int) -> Iterable[Problem]:
    """However many clients there are is the servers' affair."""
    return ()


def nothing_in_mid_run(parameters: Mapping[str, Scalar]) -> float | None:
    """Every server stays to the end."""
    return None


def cluster_name(topology: str, node: str) -> str:
    """What tells the clusters of topologies and their nodes apart."""
    return f"{topology}-{node}"


def no_host_factor(parameters: Mapping[str, Scalar]) -> MidRun | None:
    """No machine is changed while it is measured."""
    return None


class RoleKind(StrEnum):
    """What plays a role."""

    SERVER = "server"
    """A PostgreSQL, of the plan's installation."""
    POOLER = "pooler"
    """No PostgreSQL, but it takes load and passes it on to servers."""
    SERVICE = "service"
    """Neither: something beside them that the topology's own code starts, verifies and ends."""


@dataclass(frozen=True)
class Role:
    """A role that one or several nodes of a topology play.

    name: as in plans, without a number.
    kind: what plays it.
    title: what drawings call it; '' of a PostgreSQL, which is called by its version."""

    name: str
    kind: RoleKind = RoleKind.SERVER
    title: str = ""


PRIMARY = Role("primary")


@dataclass(frozen=True)
class TopologySpec:
    """What a topology declares.

    roles: every role a node plays, the server that takes the load first; `client` is always there besides. A plan names
        an agent for a role (`standby`), or for one of its nodes (`standby2`).
    nodes: complete parameters → the nodes of one arrangement: roles, with a number where a role is played several
        times; None: each role once.
    targets: complete parameters → which of them take the load.
    problems: what is wrong with the parameters together or with this version of PostgreSQL; a problem's field is a
        parameter's name.
    limit_problems: what is wrong with so many clients at once.
    collectors: what must watch such an arrangement besides the plan's own.
    collectors_of: complete parameters → what must, where it hangs on them.
    holders: roles whose servers hold data that the load needs, whose caches and autovacuum therefore count; those that
        take load always do.
    shares: roles whose servers have the data shared out among them, where all others have a copy each.
    extensions: what the primary's installation must offer.
    programs: role → what its agents must have, as of `WorkloadSpec`.
    outside: its servers are not Teiten's, and lie on machines that are no agents unless the plan names one; to choose
        it is to bring code (`results.domain.plan.code`).
    loses_until_s: complete parameters → the second of the measured window by which a server was lost and another is to
        take its place; None: none is lost.
    in_mid_run: complete parameters → the host factor that is set while the load runs; None: none is.
    clusters: (complete parameters, node) → what tells the node's cluster from others of its installation; None:
        topology and node do. Its `build` must use the same: a cluster that no waiting trial uses by this name may be
        removed."""

    name: str
    title: str
    help: str
    roles: tuple[Role, ...] = (PRIMARY,)
    parameters: tuple[Parameter, ...] = ()
    nodes: Callable[[Mapping[str, Scalar]], tuple[str, ...]] | None = None
    targets: Callable[[Mapping[str, Scalar]], tuple[Target, ...]] = one_primary
    problems: Callable[[Mapping[str, Scalar], int], Iterable[Problem]] = any_version
    limit_problems: Callable[[Mapping[str, Scalar], int], Iterable[Problem]] = any_number
    collectors: tuple[str, ...] = ()
    collectors_of: Callable[[Mapping[str, Scalar]], tuple[str, ...]] | None = None
    holders: tuple[str, ...] = ("primary",)
    shares: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    programs: Mapping[str, tuple[Program, ...]] = field(default_factory=dict)
    outside: bool = False
    loses_until_s: Callable[[Mapping[str, Scalar]], float | None] = nothing_in_mid_run
    in_mid_run: Callable[[Mapping[str, Scalar]], MidRun | None] = no_host_factor
    clusters: Callable[[Mapping[str, Scalar], str], str] | None = None

    def complete(self, parameters: Mapping[str, Scalar]) -> dict[str, Scalar]:
        """Every parameter, those that are not given at their defaults.

        parameters: may hold others as well."""
        return {p.name: parameters.get(p.name, p.default) for p in self.parameters}

    def nodes_of(self, parameters: Mapping[str, Scalar]) -> tuple[str, ...]:
        """Every server of the arrangement with these parameters."""
        return self.nodes(self.complete(parameters)) if self.nodes else self.role_names

    @property
    def role_names(self) -> tuple[str, ...]:
        return tuple(role.name for role in self.roles)

    def role(self, node: str) -> Role:
        """The role that a node plays. Raises LookupError where the topology has no such role."""
        for role in self.roles:
            if role.name == role_of(node):
                return role
        raise LookupError(f"The topology {self.name} has no role {role_of(node)!r}.")

    def of_kind(self, kind: RoleKind, nodes: Iterable[str]) -> tuple[str, ...]:
        """Those of these nodes that are of a kind, in their order."""
        return tuple(node for node in nodes if self.role(node).kind is kind)

    def cluster_name(self, parameters: Mapping[str, Scalar], node: str) -> str:
        """What tells the cluster of a node from others of its installation; '' for the one that needs no name."""
        return self.clusters(self.complete(parameters), node) if self.clusters else cluster_name(self.name, node)

    def collectors_for(self, parameters: Mapping[str, Scalar]) -> tuple[str, ...]:
        """What must watch an arrangement with these parameters."""
        return self.collectors_of(self.complete(parameters)) if self.collectors_of else self.collectors

    def data_key(self, parameters: Mapping[str, Scalar]) -> dict[str, Scalar]:
        """The parameters that decide how loaded data lie: trials that keep a database may share it where these are
        equal."""
        return {f"topology.{p.name}": parameters.get(p.name, p.default) for p in self.parameters if p.loads}


def role_of(node: str) -> str:
    """`standby2` → `standby`."""
    return node.rstrip("0123456789")


@dataclass(frozen=True)
class CollectorSpec:
    """What a collector declares.

    on: which nodes it watches: `agents` (each machine once), `servers` (each PostgreSQL), `servers and clients`, or one
        role (`client`, `primary`) where there is one.
    programs: as of `WorkloadSpec`; only a trial that requires the collector cannot do without."""

    name: str
    title: str
    help: str
    on: str
    metrics: tuple[Metric, ...]
    programs: Mapping[str, tuple[Program, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Reading:
    """What a kind's `parse(reading) -> Part` gets.

    files: its own files, path below its own folder → text.
    window: start and end of the measured window, epoch seconds on the worker's clock.
    clock_offset_s: the node's clock minus the worker's.
    parameters: the workload's, complete."""

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
        return _("the last sample lies {last:.1f} s into a window of {length:.1f} s", last=last_s, length=length_s)


class Parse(Protocol):
    def __call__(self, reading: Reading) -> Part: ...
