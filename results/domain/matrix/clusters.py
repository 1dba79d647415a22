"""Clusters that trials leave on agents: what they are called, which trials could use one, which are removed. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from results.domain.kinds.host_factors import DATA, PLACED, KnownHost, roles_of
from results.domain.matrix import InstallationRef, TrialSpec
from results.domain.messages import Message, ngettext_lazy
from results.domain.messages import gettext_lazy as _
from results.domain.plan import Kinds
from results.domain.units import format_quantity

_NAME = re.compile(r"[A-Za-z0-9.+_-]+-[0-9a-f]{8}")
_FIRST_WITH_CHECKSUMS_BY_DEFAULT = 180000
_NO_CHECKSUMS = "--no-data-checksums"
_ABANDONED_DAYS = 1  # what no trial can use as it lies there, or none will before an installation is back


class ClusterState(StrEnum):
    """What lies in a cluster's folder."""

    WHOLE = "whole"
    UNFINISHED = "unfinished"  # making it was broken off
    REMOVING = "removing"  # its removal has begun
    REMAINS = "remains"  # WAL or tablespace in another place, of a cluster that is gone
    FOREIGN = "foreign"  # Teiten did not make it


@dataclass(frozen=True)
class AgentCluster:
    """One cluster as it lies on an agent.

    directory: its real path.
    parts: WAL and tablespaces of it that lie in other places.
    size_bytes: on disk, with its parts.
    idle_s: since it was last used, by the agent's clock.
    running: a process works in it.
    bin_dir: of the PostgreSQL that last ran it, '' where that is not known."""

    directory: str
    state: ClusterState
    size_bytes: int
    idle_s: float
    running: bool = False
    bin_dir: str = ""
    parts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Use:
    """A trial that waits or runs; without its ids where it is private."""

    run_id: int | None
    trial_id: int | None


@dataclass(frozen=True)
class Candidate:
    """A cluster before it is decided whether it stays.

    gone_since: when its installation was last on the agent, where it is there no more.
    needed_by: trials that could use it."""

    directory: str
    state: ClusterState
    size_bytes: int
    used_at: datetime
    running: bool = False
    gone_since: datetime | None = None
    needed_by: tuple[Use, ...] = ()

    @property
    def abandoned(self) -> bool:
        return self.gone_since is not None or self.state in (ClusterState.UNFINISHED, ClusterState.REMAINS)


@dataclass(frozen=True)
class Limits:
    """Of an agent.

    keep_days: since a cluster's last use.
    budget_bytes: of all together. None: no limit."""

    keep_days: int | None
    budget_bytes: int | None


@dataclass(frozen=True)
class Fate:
    """What becomes of a cluster, and why.

    kept: it may not be removed, by hand neither.
    due_at: when it is removed, None for never as things are."""

    kept: bool
    due_at: datetime | None
    why: str


def digest(*texts: str, length: int = 16) -> str:
    """A short hash that changes with any of the texts."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:length]


def variant(folders: Mapping[str, str], apart: Collection[str]) -> tuple[str, ...]:
    """What clusters in one folder are told apart by: where their WAL and tablespace lie, and levels of host factors."""
    return (*(f"{part}={folders[part]}" for part in PLACED if part != DATA and folders.get(part)), *apart)


def initdb_options(installation: InstallationRef, initdb: Sequence[str]) -> tuple[str, ...]:
    """The options for this version's initdb. Before 18 there are no data checksums where nobody asks for them, and no
    option against them."""
    if installation.version_num >= _FIRST_WITH_CHECKSUMS_BY_DEFAULT:
        return tuple(initdb)
    return tuple(option for option in initdb if option != _NO_CHECKSUMS)


def folder_name(installation: InstallationRef, cluster: str, initdb: Sequence[str], variant: Sequence[str]) -> str:
    """What the folder of a cluster is called.

    cluster: tells apart several clusters of one installation."""
    label = re.sub(r"[^A-Za-z0-9.+-]", "_", f"{installation.name}-{cluster}" if cluster else installation.name)
    options = initdb_options(installation, initdb)
    return f"{label}-{digest(installation.bin_dir, cluster, *options, *variant, length=8)}"


def is_folder_name(name: str) -> bool:
    """Return whether a cluster's folder could be called so."""
    return _NAME.fullmatch(name) is not None


@dataclass(frozen=True)
class Placement:
    """What a trial's host factors decide of the clusters on one agent.

    folders: data, wal, tablespace → folder of the storage place that is named, '' where the agent has none of that
        name.
    apart: levels of factors that shape what lies on disk."""

    folders: Mapping[str, str]
    apart: tuple[str, ...]


def placement(spec: TrialSpec, agent: str, known: Mapping[str, KnownHost]) -> Placement:
    """Of the servers of a trial on an agent.

    known: agent → what it allows."""
    host, host_limits = spec.host, known.get(agent, KnownHost())
    names = [name for name in host if agent in _agents_of(name, spec, known)]
    folders = {name: host_limits.places.get(host[name], "") for name in names if name in PLACED}
    apart = [name for name in names if name in host_limits.factors and host_limits.factors[name].keeps_data_apart]
    return Placement(folders, tuple(f"{name}={host[name]}" for name in sorted(apart)))


def folder_names(spec: TrialSpec, agent: str, kinds: Kinds, known: Mapping[str, KnownHost]) -> frozenset[str]:
    """What the folders of all clusters that a trial uses on an agent are called; nothing where its topology is gone."""
    topology = kinds.topologies.get(spec.topology)
    nodes = [node for node in spec.servers if spec.agents[node] == agent and node not in spec.outside]
    if topology is None or not nodes:
        return frozenset()
    storage = placement(spec, agent, known)
    variant_name = variant(storage.folders, storage.apart)
    names = {node: topology.cluster_name(spec.topology_parameters, node) for node in nodes}
    return frozenset(folder_name(spec.installation_of(n), name, spec.initdb, variant_name) for n, name in names.items())


def _agents_of(name: str, spec: TrialSpec, known: Mapping[str, KnownHost]) -> set[str]:
    """The agents on which a host factor of the trial is set."""
    roles = roles_of(name, spec.host[name], spec.agents, known, poolers=spec.beside, outside=spec.outside)
    return {spec.agents[role] for role in roles}


def fates(clusters: Sequence[Candidate], limits: Limits, now: datetime) -> tuple[Fate, ...]:
    """What becomes of each: one that a trial could use or in which a server runs stays; others go after so many days
    without use, and, while all together are over the budget, those that no trial can use first, then the oldest."""
    by_age = [_by_age(cluster, limits, now) for cluster in clusters]
    over = set(_over_budget(clusters, by_age, limits, now))
    if not over:
        return tuple(by_age)
    budget = format_quantity(limits.budget_bytes, "B")
    why = _("All clusters together are over the budget of {budget}.", budget=budget)
    return tuple(Fate(False, now, why) if index in over else fate for index, fate in enumerate(by_age))


def _by_age(cluster: Candidate, limits: Limits, now: datetime) -> Fate:
    if cluster.state is ClusterState.FOREIGN:
        return Fate(True, None, _("Teiten did not make it."))
    if cluster.running:
        return Fate(True, None, _("Its server runs."))
    if cluster.state is ClusterState.REMOVING:
        return Fate(False, now, _("Its removal has begun."))
    if cluster.needed_by:
        return Fate(True, None, _("A trial that waits or runs could use it."))
    if limits.keep_days is None:
        return Fate(False, None, _("No limit of age is set."))
    days = min(limits.keep_days, _ABANDONED_DAYS) if cluster.abandoned else limits.keep_days
    since = max(filter(None, (cluster.used_at, cluster.gone_since)))
    return Fate(False, since + timedelta(days=days), _by_age_why(cluster, days))


def _by_age_why(cluster: Candidate, days: int) -> Message:
    age = ngettext_lazy("{number} day after its last use.", "{number} days after its last use.", days)
    if cluster.state is ClusterState.UNFINISHED:
        return _("Making it was broken off: {age}", age=age)
    if cluster.state is ClusterState.REMAINS:
        return _("Its cluster is gone: {age}", age=age)
    return age if cluster.gone_since is None else _("Its installation is gone: {age}", age=age)


def _over_budget(clusters: Sequence[Candidate], by_age: Sequence[Fate], limits: Limits, now: datetime) -> Iterator[int]:
    """The places of those that go for the budget's sake, after those that go for their age."""
    if limits.budget_bytes is None:
        return
    staying = [index for index, fate in enumerate(by_age) if fate.due_at is None or fate.due_at > now]
    left = sum(clusters[index].size_bytes for index in staying if clusters[index].state is not ClusterState.FOREIGN)
    loose = [index for index in staying if not by_age[index].kept]
    for index in sorted(loose, key=lambda index: (not clusters[index].abandoned, clusters[index].used_at)):
        if left <= limits.budget_bytes:
            return
        left -= clusters[index].size_bytes
        yield index
