"""Programs that trials need on their agents besides PostgreSQL: which, and how to get them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from results.domain.errors import PlanError, Problem
from results.domain.kinds.programs import EVERY_ROLE, OWN, Program
from results.domain.kinds.specs import CollectorSpec, TopologySpec, WorkloadSpec, role_of
from results.domain.matrix import TrialSpec
from results.domain.messages import gettext_lazy as _
from results.domain.plan import Kinds

PLACES = _("the account's PATH, /usr/sbin and /usr/local/sbin")


@dataclass(frozen=True)
class ProgramNeed:
    """A program that a role needs on its agent.

    user: what needs it, as 'the topology pgpool'.
    folder: where it has to be; '' = anywhere in PLACES."""

    role: str
    agent: str
    program: Program
    user: str
    folder: str = ""

    @property
    def place(self) -> str:
        return self.folder or PLACES

    @property
    def word(self) -> str:
        """By which the agent's shell finds it."""
        return f"{self.folder}/{self.program.name}" if self.folder else self.program.name


class MissingProgramsError(PlanError):
    """Agents lack programs that trials cannot do without.

    needs: as last found.
    looks: agent → why it could not be looked at again, '' where it was."""

    def __init__(self, needs: Sequence[ProgramNeed], looks: Mapping[str, str] | None = None) -> None:
        self.needs = tuple(needs)
        super().__init__([_problem(need, (looks or {}).get(need.agent)) for need in self.needs])


def programs_of_kinds(kinds: Kinds) -> tuple[Program, ...]:
    """Every program that a kind names, once: those of collectors, then of workloads, then of topologies."""
    specs: list[CollectorSpec | WorkloadSpec | TopologySpec] = [*kinds.collectors.values()]
    specs += [*kinds.workloads.values(), *kinds.topologies.values()]
    named = [program for spec in specs for programs in spec.programs.values() for program in programs]
    return tuple({program.name: program for program in named}.values())


def looked_for(kinds: Kinds) -> tuple[Program, ...]:
    """What every contact looks for: what Teiten itself cannot do without, and all that a kind names."""
    return tuple({program.name: program for program in (*OWN, *programs_of_kinds(kinds))}.values())


def needed_by(spec: TrialSpec, kinds: Kinds) -> Iterator[ProgramNeed]:
    """What a trial cannot do without: the programs of its workload, its topology, and the collectors it requires."""
    workload, topology = kinds.workloads[spec.workload], kinds.topologies[spec.topology]
    yield from _needs(spec, workload.programs, spec.clients, _("the workload {name}", name=spec.workload))
    yield from _needs(spec, topology.programs, spec.nodes, _("the topology {name}", name=spec.topology))
    yield from _of_collectors(spec, kinds, spec.required_collectors)


def used_by(spec: TrialSpec, kinds: Kinds) -> dict[str, set[str]]:
    """Agent → names of the programs that a trial uses there: those that it needs, its collectors' and Teiten's own."""
    names = {agent: {program.name for program in OWN} for agent in spec.agents.values()}
    for need in chain(needed_by(spec, kinds), _of_collectors(spec, kinds, spec.collectors)):
        names[need.agent].add(need.program.name)
    return names


def _of_collectors(spec: TrialSpec, kinds: Kinds, names: Iterable[str]) -> Iterator[ProgramNeed]:
    for name in names:
        collector = kinds.collectors[name]
        user = _("the collector {name}", name=name)
        yield from _needs(spec, collector.programs, _watched(spec, collector.on), user)


def _needs(
    spec: TrialSpec, programs: Mapping[str, tuple[Program, ...]], nodes: Sequence[str], user: str
) -> Iterator[ProgramNeed]:
    """Return the programs that one kind needs on each role. Machines that are no agents are nobody's to look at.

    nodes: those that the kind works on, for `EVERY_ROLE`."""
    for role, needed in programs.items():
        playing = nodes if role == EVERY_ROLE else [node for node in spec.agents if role_of(node) == role]
        for node in playing:
            if node in spec.outside:
                continue
            for program in needed:
                folder = spec.client_bin_of(node) if program.with_postgresql else ""
                yield ProgramNeed(role_of(node), spec.agents[node], program, user, folder)


def _watched(spec: TrialSpec, on: str) -> list[str]:
    """The nodes and clients on whose agents a collector works."""
    servers = [node for node in spec.servers if node not in spec.outside]
    if on == "agents":
        return [*servers, *spec.beside, *spec.clients]
    if on == "servers":
        return servers
    if on == "servers and clients":
        return [*servers, *spec.clients]
    return [on] if on in spec.agents and on not in spec.outside else []


def _problem(need: ProgramNeed, look: str | None) -> Problem:
    names = {"agent": need.agent, "program": need.program.name, "user": need.user}
    if look is None:
        what = _("Agent {agent} has no program {program}, which {user} needs.", **names)
    elif look:
        what = _(
            "Agent {agent} has no program {program}, which {user} needs, as far as its last contact told; looking for "
            "it again failed: {error}",
            **names,
            error=look,
        )
    else:
        what = _(
            "Agent {agent} has no program {program}, which {user} needs: it was looked for again just now, in {place}.",
            **names,
            place=need.place,
        )
    todo = _("Install it there ({how}), or name another agent.", how=need.program.how_to_get)
    return Problem(f"agents.{need.role}", what, todo)
