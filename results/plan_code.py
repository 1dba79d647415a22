"""Whether operators may bring a plan's code to its agents: each agent's administrator decides (`Agent.allows_code`)."""

from __future__ import annotations

from collections.abc import Callable, Collection

from results.domain.errors import CodeError, Problem
from results.domain.messages import COMMA, linked, ngettext_lazy
from results.domain.plan import Code, Kinds, Plan, code_of
from results.models import Agent

AgentNames = Callable[[], Collection[str]]


def agents_without_code() -> frozenset[str]:
    """Return the names of the agents that take code from administrators only. One query."""
    return frozenset(Agent.objects.filter(allows_code=False).values_list("name", flat=True))


def refused_code(plan: Plan, kinds: Kinds, without_code: AgentNames = agents_without_code) -> list[Problem]:
    """Return what keeps an operator from running a plan: each field that brings code, with the agents that take none.

    One query, none for a plan without code.

    without_code: `agents_without_code`, cached by a caller that asks of many plans
    """
    brought = code_of(plan, kinds)
    refusing = sorted({*plan.agents.values()} & {*without_code()}) if brought else []
    if not refusing:
        return []
    return [_refused(code, refusing) for code in brought]


def _refused(code: Code, refusing: Collection[str]) -> Problem:
    what = ngettext_lazy(
        "This is code of the plan's own: {why}. From operators, agent {agents} takes none.",
        "This is code of the plan's own: {why}. From operators, agents {agents} take none.",
        len(refusing),
        why=code.why,
        agents=linked(COMMA, refusing),
    )
    todo = ngettext_lazy(
        "An administrator can run the plan, or let operators bring code to this agent (Edit on its page).",
        "An administrator can run the plan, or let operators bring code to these agents (Edit on their pages).",
        len(refusing),
    )
    return Problem(code.field, what, todo)


def require_code_allowed(plan: Plan, kinds: Kinds) -> None:
    """Raise CodeError for a plan that an operator may not run."""
    if problems := refused_code(plan, kinds):
        raise CodeError(problems)
