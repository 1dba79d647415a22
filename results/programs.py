"""Programs that trials need on their agents besides PostgreSQL: which, and how to get them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from results.errors import PlanError, Problem
from results.matrix import TrialSpec
from results.plan import Kinds
from results.specs import role_of

LOOKED_FOR = ("sar", "sadf", "perf", "awk", "pgbench", "python3", "tar", "find", "flock", "setsid", "timeout", "pgpool")
"""What every contact looks for."""
PLACES = "the account's PATH, /usr/sbin and /usr/local/sbin"
_SYSSTAT = {"Debian, Ubuntu": "apt-get install sysstat", "RHEL, Rocky, Fedora": "dnf install sysstat"}
_PACKAGES: Mapping[str, Mapping[str, str]] = {
    "pgpool": {
        "Debian, Ubuntu": "apt-get install pgpool2",
        "Fedora": "dnf install postgresql-pgpool-II",
        "RHEL, Rocky": "dnf install pgpool-II-pg16, of the repository of pgpool-II, by PostgreSQL's major version",
    },
    "sar": _SYSSTAT,
    "sadf": _SYSSTAT,
    "perf": {
        "Debian": "apt-get install linux-perf",
        "Ubuntu": "apt-get install linux-tools-generic",
        "RHEL, Rocky, Fedora": "dnf install perf",
    },
    "awk": {"Debian, Ubuntu": "apt-get install mawk", "RHEL, Rocky, Fedora": "dnf install gawk"},
    "ps": {"Debian, Ubuntu": "apt-get install procps", "RHEL, Rocky, Fedora": "dnf install procps-ng"},
}


@dataclass(frozen=True)
class ProgramNeed:
    """A program that a role needs on its agent. user: what needs it, as 'the topology pgpool'."""

    role: str
    agent: str
    program: str
    user: str


class MissingProgramsError(PlanError):
    """Agents lack programs that trials cannot do without. needs: as last found; looks: agent → why it could not be
    looked at again, '' where it was."""

    def __init__(self, needs: Sequence[ProgramNeed], looks: Mapping[str, str] | None = None) -> None:
        self.needs = tuple(needs)
        super().__init__([_problem(need, (looks or {}).get(need.agent)) for need in self.needs])


def needed_by(spec: TrialSpec, kinds: Kinds) -> Iterator[ProgramNeed]:
    """What a trial cannot do without: the programs of its topology's roles and of the collectors it requires."""
    topology = kinds.topologies[spec.topology]
    for node, agent in spec.agents.items():
        for program in topology.programs.get(role_of(node), ()):
            yield ProgramNeed(role_of(node), agent, program, f"the topology {spec.topology}")
    for name in spec.required_collectors:
        collector = kinds.collectors[name]
        for node in _watched(spec, collector.on):
            for program in collector.needs:
                yield ProgramNeed(role_of(node), spec.agents[node], program, f"the collector {name}")


def how_to_get(program: str) -> str:
    """What to type on which distribution: 'Debian, Ubuntu: apt-get install sysstat; …'."""
    packages = _PACKAGES.get(program)
    if packages is None:
        return f"install the package that has {program}"
    return "; ".join(f"{family}: {command}" for family, command in packages.items())


def _watched(spec: TrialSpec, on: str) -> list[str]:
    """The nodes and clients on whose agents a collector works."""
    servers = [node for node in spec.servers if node not in spec.outside]
    if on == "agents":
        return [*servers, *spec.poolers, *spec.clients]
    if on == "servers":
        return servers
    return [on] if on in spec.agents and on not in spec.outside else []


def _problem(need: ProgramNeed, look: str | None) -> Problem:
    what = f"Agent {need.agent} has no program {need.program}, which {need.user} needs"
    if look is None:
        what = f"{what}."
    elif look:
        what = f"{what}, as far as its last contact told; looking for it again failed: {look}"
    else:
        what = f"{what}: it was looked for again just now, in {PLACES}."
    todo = f"Install it there ({how_to_get(need.program)}), or name another agent."
    return Problem(f"agents.{need.role}", what, todo)
