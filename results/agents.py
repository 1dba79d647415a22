"""Operations on agents, for pages, API and commands, and for the workers that contact them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import connection, transaction

from results import models
from results.domain.environment.layers import Layer, LayerKind
from results.domain.errors import HostKeyError, StateError
from results.domain.messages import gettext_lazy as _
from results.models.agents import AgentState

FIELDS = (
    "name",
    "host",
    "port",
    "user",
    "key_path",
    "jump",
    "search",
    "data_dir",
    "work_dir",
    "places",
    "keep_days",
    "disk_budget_gb",
    "enabled",
    "allows_code",
)
_DISCOVERED_FIELDS = [field.name for field in models.Agent._meta.fields if field.name not in FIELDS]
_KEY_FIELDS = ("host", "port", "jump")


@dataclass(frozen=True)
class DiscoveredInstallation:
    """One installation as a contact discovered it, with the fields of `models.Installation`.

    settings: lines for `results.domain.kinds.server_settings.read`; empty where the settings are not known
    """

    name: str
    bin_dir: str
    client_bin: str
    version: str
    version_num: int
    configure: tuple[str, ...] = ()
    access_methods: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    has_jit: bool = False
    settings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Contact:
    """What one contact with an agent discovered.

    disk: facts of the data directory's file system; its key `places`: directory of a storage place → bytes free
    """

    layers: Sequence[Layer]
    installations: Sequence[DiscoveredInstallation]
    tools: Mapping[str, str]
    disk: Mapping[str, Any]
    cores: int
    memory_bytes: int
    clock_offset_s: float
    notes: Mapping[str, Any] = field(default_factory=dict)


@transaction.atomic
def create_agent(fields: Mapping[str, Any], actor: str) -> models.Agent:
    """Store a new agent. Raises Django's ValidationError, by field."""
    agent = models.Agent(**fields)
    agent.full_clean(exclude=_DISCOVERED_FIELDS)
    agent.save()
    _audit(actor, "create agent", agent, allows_code=agent.allows_code)
    return agent


@transaction.atomic
def update_agent(agent: models.Agent, fields: Mapping[str, Any], actor: str) -> models.Agent:
    """Store an agent's fields. A new address may be another machine, whose host key must be accepted anew.

    Raises ValidationError, by field; StateError where a changed host factor could not be reverted any more.
    """
    require_in_use(agent)
    before = {name: getattr(agent, name) for name in fields}
    different = {name for name, old in before.items() if old != fields[name]}
    address_changed = bool(different & set(_KEY_FIELDS))
    if different & {*_KEY_FIELDS, "user", "work_dir"} and (change := agent.host_changes.first()):
        raise StateError(
            _(
                "Host factor {factor!r} of {agent} is not back at its own value.",
                factor=change.factor,
                agent=agent.name,
            ),
            where="agent",
            why=_("What it was is noted in the agent's work directory, which Teiten would no longer find."),
            todo=_("Contact the agent, which sets it back; then change its address, account or work directory."),
        )
    if "name" in different:
        require_nothing_made()
    for name, value in fields.items():
        setattr(agent, name, value)
    if address_changed:
        agent.host_key = agent.host_key_fingerprint = agent.offered_fingerprint = ""
        agent.state = AgentState.UNKNOWN_KEY
    agent.full_clean(exclude=_DISCOVERED_FIELDS)
    agent.save()
    changes = {name: _change(before[name], getattr(agent, name)) for name in sorted(different)}
    _audit(actor, "change agent", agent, **changes)
    return agent


def require_in_use(agent: models.Agent) -> None:
    """Raise StateError for an archived agent."""
    if agent.archived:
        what = _("Agent {agent} is archived: it is neither contacted nor changed.", agent=agent.name)
        raise StateError(
            what, where=_("agent {agent}", agent=agent.name), todo=_("Put it back on the lists, on its page.")
        )


def keep_agent_names() -> None:
    """Have no agent renamed until the end of the transaction, which makes a run: trials find their agents by name."""
    _lock_agent_names(shared=True)


def _lock_agent_names(*, shared: bool) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT pg_advisory_xact_lock{'_shared' if shared else ''}(hashtext('names of agents'))")


def require_nothing_made() -> None:
    """Raise StateError while trials are made, which know their agents by name. Waits for runs that are being created,
    and keeps new ones waiting."""
    _lock_agent_names(shared=False)
    if run := models.Run.objects.filter(making=True).first():
        what = _("Trials of run {run} are being made, by the names of their agents.", run=run.pk)
        raise StateError(what, where="name", todo=_("Try again in a minute."))


def _change(before: Any, after: Any) -> dict[str, Any]:
    """Return a changed field as the audit log has it; another agent by its name."""
    plain = {"before": before, "after": after}
    return {name: str(value) if isinstance(value, models.Agent) else value for name, value in plain.items()}


@transaction.atomic
def accept_host_key(agent: models.Agent, fingerprint: str, actor: str) -> None:
    """Accept the fingerprint that a person has compared. Raises StateError when the agent did not offer it last.

    The key itself is stored at the next contact, which must offer this fingerprint.
    """
    require_in_use(agent)
    if not fingerprint or fingerprint != agent.offered_fingerprint:
        raise StateError(
            _("This is not the fingerprint that the agent offers now."),
            where=_("agent {agent}", agent=agent.name),
            why=_("It offers {fingerprint}.", fingerprint=agent.offered_fingerprint or _("none yet")),
            todo=_("Contact the agent again and compare the fingerprint shown."),
        )
    agent.host_key, agent.host_key_fingerprint = "", fingerprint
    agent.state, agent.error = AgentState.UNREACHABLE, None
    agent.save()
    _audit(actor, "accept host key", agent, fingerprint=fingerprint)


def record_offer(agent_id: int, line: str, fingerprint: str, at: datetime) -> None:
    """Store the host key seen at a contact; as the agent's key only where its fingerprint was accepted."""
    models.Agent.objects.filter(pk=agent_id).update(offered_fingerprint=fingerprint, seen_at=at)
    models.Agent.objects.filter(pk=agent_id, host_key_fingerprint=fingerprint).update(host_key=line)


def record_failure(agent_id: int, error: Mapping[str, Any]) -> None:
    """Store why a connection failed, and whether a person must check the host key.

    A wrong key of a jump host concerns that agent: this one is unreachable.

    error: `TeitenError.as_dict()`
    """
    agent = models.Agent.objects.get(pk=agent_id)
    agent.state, agent.error = AgentState.UNREACHABLE, dict(error)
    if error["kind"] == HostKeyError.kind and error["where"] == agent.location:
        agent.state = AgentState.CHANGED_KEY if agent.host_key_fingerprint else AgentState.UNKNOWN_KEY
        agent.offered_fingerprint = error["fingerprint"]
    agent.save(update_fields=["state", "error", "offered_fingerprint"])


@transaction.atomic
def record_contact(agent_id: int, contact: Contact, at: datetime) -> None:
    """Store what a contact discovered; a new row of facts only when a layer differs from the last."""
    models.Agent.objects.filter(pk=agent_id).update(
        state=AgentState.READY,
        error=None,
        seen_at=at,
        facts_at=at,
        cores=contact.cores,
        memory_bytes=contact.memory_bytes,
        disk=dict(contact.disk),
        tools=dict(contact.tools),
        clock_offset_s=contact.clock_offset_s,
    )
    _record_layers(agent_id, contact.layers, at)
    _record_installations(agent_id, contact.installations, at)


@transaction.atomic
def record_programs(agent_id: int, names: Collection[str], programs: Mapping[str, str], at: datetime) -> None:
    """Store a search for some programs; the agent's other facts stay.

    names: programs that were looked for
    programs: name → 'path version' of those that are installed
    """
    agent = models.Agent.objects.select_for_update().get(pk=agent_id)
    tools = {name: program for name, program in agent.tools.items() if name not in names} | dict(programs)
    if tools == agent.tools:
        return
    agent.tools = tools
    agent.save(update_fields=["tools"])
    last = models.HostFacts.objects.filter(agent_id=agent_id).first()
    rows = last.layers.exclude(kind=LayerKind.TOOL) if last else ()
    layers = [Layer(LayerKind(row.kind), row.content) for row in rows]
    _record_layers(agent_id, [*layers, Layer(LayerKind.TOOL, tools)], at)


def _record_layers(agent_id: int, layers: Sequence[Layer], at: datetime) -> None:
    store_layers(layers)
    hashes = {layer.hash for layer in layers}
    last = models.HostFacts.objects.filter(agent_id=agent_id).first()
    if last is None or set(last.layers.values_list("hash", flat=True)) != hashes:
        models.HostFacts.objects.create(agent_id=agent_id, at=at).layers.set(
            models.Layer.objects.filter(hash__in=hashes)
        )


def _record_installations(agent_id: int, installations: Sequence[DiscoveredInstallation], at: datetime) -> None:
    models.Installation.objects.filter(agent_id=agent_id).update(present=False)
    for installation in installations:
        fields = {
            name: _tuple_as_list(value)
            for name, value in vars(installation).items()
            if name not in ("name", "settings")
        }
        row, _created = models.Installation.objects.update_or_create(
            agent_id=agent_id, name=installation.name, defaults=fields | {"present": True, "found_at": at}
        )
        if installation.settings:
            lines = list(installation.settings)
            models.InstallationSettings.objects.update_or_create(installation=row, defaults={"lines": lines})
        else:
            models.InstallationSettings.objects.filter(installation=row).delete()


def store_layers(layers: Sequence[Layer]) -> None:
    """Store layers that are not stored yet."""
    models.Layer.objects.bulk_create(
        [models.Layer(hash=layer.hash, kind=layer.kind, content=dict(layer.content)) for layer in layers],
        ignore_conflicts=True,
    )


def _tuple_as_list(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _audit(actor: str, verb: str, agent: models.Agent, **detail: Any) -> None:
    models.AuditEntry.objects.create(actor=actor, verb=verb, object=f"agent {agent.name}", detail=detail)
