"""What the trials of a plan need of their agents, compared with what a contact last discovered there.

Access methods, extensions and programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from results import models
from results.domain.errors import PlanError, Problem
from results.domain.matrix import TrialSpec
from results.domain.matrix.program_needs import MissingProgramsError, ProgramNeed, needed_by
from results.domain.messages import COMMA, Message, linked
from results.domain.messages import gettext_lazy as _
from results.domain.plan import Kinds

_METHOD_SETTING = "default_table_access_method"


@dataclass(frozen=True)
class _Server:
    """An installation on an agent, by their names."""

    agent: str
    installation: str

    @property
    def words(self) -> Message:
        return _("PostgreSQL {installation} on {agent}", installation=self.installation, agent=self.agent)


@dataclass(frozen=True)
class _Need:
    """An access method or extension that an installation must have.

    field: the plan's field that names it
    user: the topology that needs an extension; '' for an access method
    """

    server: _Server
    name: str
    field: str
    user: str = ""


_Installations = Mapping[_Server, models.Installation]


def require_software(specs: Sequence[TrialSpec], kinds: Kinds) -> None:
    """Raise PlanError for the access methods and extensions that an installation is known to lack."""
    methods = dict.fromkeys(need for spec in specs for need in _access_methods(spec, kinds))
    extensions = dict.fromkeys(need for spec in specs for need in _extensions(spec, kinds))
    installations = _installations([*methods, *extensions])
    problems = [*_missing_methods(methods, installations), *_missing_extensions(extensions, installations)]
    if problems:
        raise PlanError(problems)


def require_programs(specs: Sequence[TrialSpec], kinds: Kinds) -> None:
    """Raise MissingProgramsError for programs that agents lack: they are looked for there, and all is checked anew."""
    if missing := _missing_programs(specs, kinds):
        raise MissingProgramsError(missing)


def extension_for(access_method: str, extensions: Sequence[str]) -> str:
    """Return the extension, judged by its name, that may provide the access method; '' for none.

    A cluster has an extension's access method only once the extension is created there.
    """
    return next((name for name in extensions if access_method in name), "")


def _access_methods(spec: TrialSpec, kinds: Kinds) -> Iterator[_Need]:
    workload = kinds.workloads[spec.workload]
    by_parameter = {method for method in workload.stored_by(spec.parameters).values() if method}
    fields = {
        "access_method": spec.access_method,
        f"settings.{_METHOD_SETTING}": spec.settings.get(_METHOD_SETTING, ""),
    }
    fields |= {f"parameters.{name}": str(value) for name, value in spec.parameters.items() if value in by_parameter}
    for node in spec.servers:
        if node not in spec.outside:
            server = _Server(spec.agents[node], spec.installation_of(node).name)
            yield from (_Need(server, method, field) for field, method in fields.items() if method)


def _extensions(spec: TrialSpec, kinds: Kinds) -> Iterator[_Need]:
    server = _Server(spec.agents[spec.nodes[0]], spec.installation.name)
    for extension in kinds.topologies[spec.topology].extensions:
        yield _Need(server, extension, "installation", spec.topology)


def _installations(needs: Sequence[_Need]) -> _Installations:
    if not needs:
        return {}
    rows = models.Installation.objects.filter(present=True, agent__name__in={need.server.agent for need in needs})
    return {_Server(row.agent.name, row.name): row for row in rows.select_related("agent")}


def _missing_methods(needs: Iterable[_Need], installations: _Installations) -> Iterator[Problem]:
    for need in needs:
        row = installations.get(need.server)
        if row is None or not row.access_methods or need.name in row.access_methods:
            continue
        if not extension_for(need.name, row.extensions):
            yield Problem(
                need.field,
                _(
                    "{installation} has no table access method {access_method}.",
                    installation=need.server.words,
                    access_method=need.name,
                ),
                _(
                    "It has {access_methods}. Choose another installation or access method, or exclude this "
                    "combination; if it was installed there since, contact the agent again.",
                    access_methods=linked(COMMA, row.access_methods),
                ),
            )


def _missing_extensions(needs: Iterable[_Need], installations: _Installations) -> Iterator[Problem]:
    for need in needs:
        row = installations.get(need.server)
        if row is not None and row.extensions and need.name not in row.extensions:
            yield Problem(
                need.field,
                _(
                    "{installation} has no {extension}, which the topology {topology} needs.",
                    installation=need.server.words,
                    extension=need.name,
                    topology=need.user,
                ),
                _(
                    "Choose an installation with PostgreSQL's contrib modules; if it was installed there since, "
                    "contact the agent again."
                ),
            )


def _missing_programs(specs: Sequence[TrialSpec], kinds: Kinds) -> list[ProgramNeed]:
    """Return the programs that contacted agents lack, each once for a role.

    Not those that come with PostgreSQL: the plan's installation has them, or the plan was refused already.
    """
    needs: dict[tuple[str, str, str], ProgramNeed] = {}
    for spec in specs:
        for need in needed_by(spec, kinds):
            if not need.program.with_postgresql:
                needs.setdefault((need.role, need.agent, need.program.name), need)
    if not needs:
        return []
    tools = {agent.name: agent.tools for agent in models.Agent.objects.filter(facts_at__isnull=False)}
    return [need for need in needs.values() if need.agent in tools and not tools[need.agent].get(need.program.name)]
