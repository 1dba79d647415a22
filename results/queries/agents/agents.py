"""Agents: the list with what each is busy with, and one with its facts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Prefetch

from results import models
from results.domain.environment.layers import difference
from results.domain.errors import restored
from results.domain.kinds.host_factors import HostFactor, read
from results.domain.messages import gettext_lazy as _
from results.queries.shared.ids import NotFound
from results.queries.shared.words import stored

_RECENT = 20


@dataclass(frozen=True)
class Busy:
    """What an agent's lease is for. run_id, trial_id: None of a private run."""

    run_id: int | None
    trial_id: int | None
    phase: str
    phase_at: datetime | None
    expected_s: float | None


@dataclass(frozen=True)
class InstallationRow:
    """One PostgreSQL build; the fields of `results.models.Installation`.

    present: still there."""

    id: int
    agent: str
    name: str
    bin_dir: str
    client_bin: str
    version: str
    version_num: int
    configure: tuple[str, ...]
    access_methods: tuple[str, ...]
    extensions: tuple[str, ...]
    has_jit: bool
    present: bool
    found_at: datetime


@dataclass(frozen=True)
class NotBack:
    """Something on the agent that a trial set and that is not at its own value yet.

    own: the value as found.
    trial_id: None of a private run, or one that was deleted.
    running: the trial still runs, and will revert it.
    tried_at, error: the last time that reverting it failed."""

    factor: str
    level: str
    own: str
    trial_id: int | None
    since: datetime
    running: bool
    tried_at: datetime | None
    error: str


@dataclass(frozen=True)
class AgentRow:
    """One agent; the fields of `results.models.Agent`, `jump` being the other agent's name. Never a key.

    places: storage places, name → folder.
    host_factors: what its operator lets plans change there besides.
    allows_code: whether operators may bring code there.
    archived: off the lists, not enabled and not contacted.
    keep_days, disk_budget_gb: how long unused clusters stay, and how much all may take.
    clusters_at: when that was last looked at, clusters_error: why it could not be since."""

    id: int
    name: str
    host: str
    port: int
    user: str
    key_path: str
    jump: str
    search: tuple[str, ...]
    data_dir: str
    work_dir: str
    enabled: bool
    archived: bool
    allows_code: bool
    host_key_fingerprint: str
    offered_fingerprint: str
    state: str
    error: Mapping[str, Any] | None
    seen_at: datetime | None
    facts_at: datetime | None
    cores: int | None
    memory_bytes: int | None
    disk: Mapping[str, Any]
    tools: Mapping[str, Any]
    clock_offset_s: float | None
    created_at: datetime
    keep_days: int | None
    disk_budget_gb: int | None
    clusters_at: datetime | None
    clusters_error: Mapping[str, Any] | None
    busy: Busy | None
    installations: tuple[InstallationRow, ...]
    places: Mapping[str, str]
    host_factors: tuple[HostFactor, ...]
    not_back: tuple[NotBack, ...]

    @property
    def programs(self) -> Mapping[str, str]:
        """The tools in its PATH, and pgbench where it came with a PostgreSQL instead: name → where, and its version.
        They are known from `facts_at` on."""
        own = next((one.client_bin for one in self.installations if one.present and one.client_bin), "")
        return ({"pgbench": f"{own}/pgbench"} if own else {}) | {
            name: text for name, text in self.tools.items() if text
        }


@dataclass(frozen=True)
class FactLayer:
    kind: str
    hash: str
    content: Mapping[str, Any]


@dataclass(frozen=True)
class FactChange:
    """A key that differs: left in the facts before, right in the latest; None where a side lacks it."""

    kind: str
    key: str
    left: Any
    right: Any


@dataclass(frozen=True)
class RecentTrial:
    trial_id: int
    run_id: int
    run_name: str
    name: str
    state: str
    block: int
    state_at: datetime


@dataclass(frozen=True)
class AgentDetail:
    """One agent with its facts.

    layers: the latest facts.
    history: when the facts differed from those before, latest first."""

    row: AgentRow
    layers: tuple[FactLayer, ...]
    changes: tuple[FactChange, ...]
    history: tuple[datetime, ...]
    recent: tuple[RecentTrial, ...]


def list_agents(ids: Sequence[int] | None = None) -> list[AgentRow]:
    """By name, without those that are archived. Four queries.

    ids: only these, archived or not."""
    agents = _agents().filter(archived=False) if ids is None else _agents().filter(pk__in=ids)
    return [_agent(agent) for agent in agents]


def archived_agents() -> list[str]:
    """Return the names of those that are off the lists. One query."""
    return list(models.Agent.objects.filter(archived=True).values_list("name", flat=True))


def agent_row(name: str) -> AgentRow:
    """Return one agent. Four queries. Raises NotFound."""
    return _agent(_stored(name))


def agent_detail(name: str) -> AgentDetail:
    """Return one agent with its facts. Seven queries. Raises NotFound."""
    agent = _stored(name)
    history = list(models.HostFacts.objects.filter(agent=agent).order_by("-at", "-pk").values_list("pk", "at"))
    layers = _layers([pk for pk, _ in history[:2]])
    latest = layers[history[0][0]] if history else ()
    before = layers[history[1][0]] if len(history) > 1 else None
    return AgentDetail(
        row=_agent(agent),
        layers=latest,
        changes=tuple(_changes(before, latest)) if before is not None else (),
        history=tuple(at for _, at in history),
        recent=_recent(agent),
    )


def list_installations(agent: str = "", ids: Sequence[int] | None = None) -> list[InstallationRow]:
    """Of one agent or of all, by agent, newest version first. One query.

    ids: only these."""
    installations = models.Installation.objects.select_related("agent")
    rows = installations.filter(agent__name=agent) if agent else installations
    rows = rows if ids is None else rows.filter(pk__in=ids)
    return [_installation(row, row.agent.name) for row in rows.order_by("agent__name", "-version_num", "name")]


def _agents() -> Any:
    agents = models.Agent.objects.select_related("jump", "lease__attempt__trial__run")
    changes = Prefetch("host_changes", models.HostChange.objects.select_related("trial__run"))
    return agents.prefetch_related("installations", "host_factors", changes)


def _stored(name: str) -> models.Agent:
    agent: models.Agent | None = _agents().filter(name=name).first()
    if agent is None:
        raise NotFound(_("There is no agent {name!r}.", name=name))
    return agent


_PLAIN = (
    "id",
    "name",
    "host",
    "port",
    "user",
    "key_path",
    "data_dir",
    "work_dir",
    "enabled",
    "archived",
    "allows_code",
    "host_key_fingerprint",
    "offered_fingerprint",
    "state",
    "seen_at",
    "facts_at",
    "cores",
    "memory_bytes",
    "disk",
    "tools",
    "clock_offset_s",
    "created_at",
    "keep_days",
    "disk_budget_gb",
    "clusters_at",
)


def _agent(agent: models.Agent) -> AgentRow:
    return AgentRow(
        **{name: getattr(agent, name) for name in _PLAIN},
        error=_error(agent.error),
        clusters_error=_error(agent.clusters_error),
        jump=agent.jump.name if agent.jump else "",
        search=tuple(agent.search),
        busy=_busy(agent),
        installations=tuple(_installation(row, agent.name) for row in agent.installations.all()),
        places=agent.places,
        host_factors=tuple(factor for row in agent.host_factors.all() for factor in read(row.toml)),
        not_back=tuple(_not_back(row, agent) for row in agent.host_changes.all()),
    )


def _busy(agent: models.Agent) -> Busy | None:
    lease: models.Lease | None = getattr(agent, "lease", None)
    if lease is None or lease.attempt is None:  # without an attempt it is a contact
        return None
    trial = lease.attempt.trial
    run_id, trial_id = (None, None) if trial.run.private else (trial.run_id, trial.pk)
    return Busy(run_id, trial_id, trial.phase, trial.phase_at, trial.expected_s)


def _not_back(row: models.HostChange, agent: models.Agent) -> NotBack:
    lease: models.Lease | None = getattr(agent, "lease", None)
    by = lease.attempt.trial_id if lease and lease.attempt else None
    return NotBack(
        factor=row.factor,
        level=row.level,
        own=row.own,
        trial_id=None if row.trial and row.trial.run.private else row.trial_id,
        since=row.since,
        running=by is not None and by == row.trial_id and not row.error,
        tried_at=row.tried_at,
        error=stored(row.error),
    )


def _error(error: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    return restored(error) if error else error


def _installation(row: models.Installation, agent: str) -> InstallationRow:
    return InstallationRow(
        id=row.pk,
        agent=agent,
        name=row.name,
        bin_dir=row.bin_dir,
        client_bin=row.client_bin,
        version=row.version,
        version_num=row.version_num,
        configure=tuple(row.configure),
        access_methods=tuple(row.access_methods),
        extensions=tuple(row.extensions),
        has_jit=row.has_jit,
        present=row.present,
        found_at=row.found_at,
    )


def _layers(facts: Iterable[int]) -> dict[int, tuple[FactLayer, ...]]:
    layers_of: dict[int, list[FactLayer]] = {pk: [] for pk in facts}
    links = models.HostFacts.layers.through.objects.filter(hostfacts_id__in=list(layers_of))
    for link in links.select_related("layer").order_by("layer__kind", "layer_id"):
        layers_of[link.hostfacts_id].append(FactLayer(link.layer.kind, link.layer.hash, link.layer.content))
    return {pk: tuple(layers) for pk, layers in layers_of.items()}


def _changes(before: Iterable[FactLayer], latest: Iterable[FactLayer]) -> Iterable[FactChange]:
    left, right = _by_kind(before), _by_kind(latest)
    for kind in sorted(left.keys() | right.keys()):
        for change in difference(left.get(kind, {}), right.get(kind, {})):
            yield FactChange(kind, change.key, change.left, change.right)


def _by_kind(layers: Iterable[FactLayer]) -> dict[str, dict[str, Any]]:
    """One mapping a kind; where a kind has several layers with a name (builds), each below its name."""
    contents: dict[str, dict[str, Any]] = {}
    for layer in layers:
        name = layer.content.get("name")
        contents.setdefault(layer.kind, {}).update({str(name): layer.content} if name else layer.content)
    return contents


def _recent(agent: models.Agent) -> tuple[RecentTrial, ...]:
    """The index alone tells which they are: of an agent that has long been idle it is read far back."""
    trials = models.Trial.objects.filter(agents__contains=[agent.pk]).exclude(state="waiting")
    latest = trials.order_by("-state_at", "-pk").values("pk")[:_RECENT]
    chosen = models.Trial.objects.filter(pk__in=latest).select_related("run", "configuration")
    return tuple(
        RecentTrial(
            trial_id=trial.pk,
            run_id=trial.run_id,
            run_name=trial.run.name,
            name=trial.configuration.name,
            state=trial.state,
            block=trial.block,
            state_at=trial.state_at,
        )
        for trial in chosen.order_by("-state_at", "-pk")
    )
