"""What the trials of a plan need of their agents: extensions and programs, as a contact last found them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from results import models
from results.errors import PlanError, Problem
from results.matrix import TrialSpec
from results.plan import Kinds
from results.specs import role_of


def require_met(specs: Sequence[TrialSpec], kinds: Kinds) -> None:
    """Raises PlanError for what an agent or an installation is known to lack."""
    _require_extensions(specs, kinds)
    if problems := list(_missing_programs(specs, kinds)):
        raise PlanError(problems)


def _require_extensions(specs: Sequence[TrialSpec], kinds: Kinds) -> None:
    """Raises PlanError for an installation that is known to lack an extension that a topology needs."""
    wanted = {
        (spec.agents[spec.nodes[0]], spec.installation.name, extension): spec.topology
        for spec in specs
        for extension in kinds.topologies[spec.topology].extensions
    }
    if not wanted:
        return
    rows = models.Installation.objects.filter(present=True, agent__name__in={agent for agent, _, _ in wanted})
    known = {(row.agent.name, row.name): row.extensions for row in rows.select_related("agent")}
    problems = [
        Problem(
            "installation",
            f"PostgreSQL {installation} on {agent} has no {extension}, which the topology {topology} needs.",
            "Choose an installation with PostgreSQL's contrib modules.",
        )
        for (agent, installation, extension), topology in wanted.items()
        if (has := known.get((agent, installation))) and extension not in has
    ]
    if problems:
        raise PlanError(problems)


def _missing_programs(specs: Sequence[TrialSpec], kinds: Kinds) -> Iterator[Problem]:
    """What agents that have been contacted lack for the roles that they are to play."""
    wanted = {
        (role_of(node), agent, program)
        for spec in specs
        for node, agent in spec.agents.items()
        for program in kinds.topologies[spec.topology].programs.get(role_of(node), ())
    }
    if not wanted:
        return
    known = {agent.name: agent for agent in models.Agent.objects.filter(facts_at__isnull=False)}
    for role, agent, program in sorted(wanted):
        if agent in known and not known[agent].tools.get(program):
            todo = "Install it there and contact the agent again, or name another agent."
            yield Problem(f"agents.{role}", f"Agent {agent} has no program {program}.", todo)
