"""What the trials of a plan need of their agents: access methods, extensions and programs, as a contact last found
them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from results import models
from results.domain.errors import PlanError, Problem
from results.domain.matrix import TrialSpec
from results.domain.matrix.program_needs import MissingProgramsError, ProgramNeed, needed_by
from results.domain.plan import Kinds

_BY_SETTING = "default_table_access_method"
_SINCE = "if it was installed there since, contact the agent again."


@dataclass(frozen=True)
class _Server:
    """An installation on an agent, by their names."""

    agent: str
    installation: str

    def __str__(self) -> str:
        return f"PostgreSQL {self.installation} on {self.agent}"


@dataclass(frozen=True)
class _Need:
    """What a server must have. field: of the plan, that names it. user: what needs it, of an extension."""

    server: _Server
    name: str
    field: str
    user: str = ""


def require_met(specs: Sequence[TrialSpec], kinds: Kinds) -> None:
    """Raises PlanError for what an installation is known to lack, MissingProgramsError for what an agent is."""
    methods = dict.fromkeys(need for spec in specs for need in _access_methods(spec, kinds))
    extensions = dict.fromkeys(need for spec in specs for need in _extensions(spec, kinds))
    known = _installations([*methods, *extensions])
    if problems := [*_missing_methods(methods, known), *_missing_extensions(extensions, known)]:
        raise PlanError(problems)
    if missing := _missing_programs(specs, kinds):
        raise MissingProgramsError(missing)


def brought_by(access_method: str, extensions: Sequence[str]) -> str:
    """The extension of an installation that may bring the access method, by its name; '' for none. An extension's
    access method is in no cluster before the extension is."""
    return next((name for name in extensions if access_method in name), "")


def _access_methods(spec: TrialSpec, kinds: Kinds) -> Iterator[_Need]:
    workload = kinds.workloads[spec.workload]
    by_parameter = {method for method in workload.stored_by(spec.parameters).values() if method}
    named = {"access_method": spec.access_method, f"settings.{_BY_SETTING}": spec.settings.get(_BY_SETTING, "")}
    named |= {f"parameters.{name}": str(value) for name, value in spec.parameters.items() if value in by_parameter}
    for node in spec.servers:
        if node not in spec.outside:
            server = _Server(spec.agents[node], spec.installation_of(node).name)
            yield from (_Need(server, method, field) for field, method in named.items() if method)


def _extensions(spec: TrialSpec, kinds: Kinds) -> Iterator[_Need]:
    server = _Server(spec.agents[spec.nodes[0]], spec.installation.name)
    for extension in kinds.topologies[spec.topology].extensions:
        yield _Need(server, extension, "installation", spec.topology)


def _installations(needs: Sequence[_Need]) -> Mapping[_Server, models.Installation]:
    if not needs:
        return {}
    rows = models.Installation.objects.filter(present=True, agent__name__in={need.server.agent for need in needs})
    return {_Server(row.agent.name, row.name): row for row in rows.select_related("agent")}


def _missing_methods(needs: Iterable[_Need], known: Mapping[_Server, models.Installation]) -> Iterator[Problem]:
    for need in needs:
        row = known.get(need.server)
        if row is None or not row.access_methods or need.name in row.access_methods:
            continue
        if not brought_by(need.name, row.extensions):
            yield Problem(
                need.field,
                f"{need.server} has no table access method {need.name}.",
                f"It has {', '.join(row.access_methods)}. Choose another installation or access method, or exclude "
                f"this combination; {_SINCE}",
            )


def _missing_extensions(needs: Iterable[_Need], known: Mapping[_Server, models.Installation]) -> Iterator[Problem]:
    for need in needs:
        row = known.get(need.server)
        if row is not None and row.extensions and need.name not in row.extensions:
            yield Problem(
                need.field,
                f"{need.server} has no {need.name}, which the topology {need.user} needs.",
                f"Choose an installation with PostgreSQL's contrib modules; {_SINCE}",
            )


def _missing_programs(specs: Sequence[TrialSpec], kinds: Kinds) -> list[ProgramNeed]:
    """What agents that have been contacted lack: each program once for a role. What comes with PostgreSQL is where the
    plan's installation has it, or the plan was refused already."""
    needs: dict[tuple[str, str, str], ProgramNeed] = {}
    for spec in specs:
        for need in needed_by(spec, kinds):
            if not need.program.with_postgresql:
                needs.setdefault((need.role, need.agent, need.program.name), need)
    if not needs:
        return []
    tools = {agent.name: agent.tools for agent in models.Agent.objects.filter(facts_at__isnull=False)}
    return [need for need in needs.values() if need.agent in tools and not tools[need.agent].get(need.program.name)]
