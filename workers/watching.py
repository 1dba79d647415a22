"""Start and stop an attempt's collectors."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from results.domain.errors import AgentError
from results.domain.messages import gettext_lazy as _
from workers import registry
from workers.checkpoint import Step
from workers.execution import Execution, machines_by_role
from workers.interfaces import Stage
from workers.servers.nodes import all_of


async def start(attempt: Execution) -> None:
    """Start every collector on its nodes. Raises AgentError for a required one that cannot be had."""
    stage, spec = attempt.stage, attempt.order.spec
    specs = registry.kinds().collectors
    collectors = [(name, node) for name in spec.collectors for node in _nodes(stage, specs[name].on)]

    async def start_one(name: str, node: str) -> None:
        try:
            await registry.collector(name).start(stage, node)
        except AgentError as error:
            _record_missing(attempt, name, node, error)
        else:
            attempt.watching.append((name, node))

    await all_of(start_one(name, node) for name, node in collectors)


async def stop(attempt: Execution) -> None:
    """Stop those that were started and are not recorded yet, and record them. Raises AgentError for a required one that
    fails."""

    async def stop_one(name: str, node: str) -> None:
        try:
            await _stop(attempt.stage, name, node)
        except AgentError as error:
            _record_missing(attempt, name, node, error)
        attempt.collected.append((name, node))
        if attempt.error is None:
            attempt.save(Step.COLLECT)

    await all_of(stop_one(*one) for one in attempt.watching if one not in attempt.collected)


async def _stop(stage: Stage, name: str, node: str) -> None:
    """Stop a collector. Raises AgentError, also at the phase's deadline: what was measured does not depend on it."""
    limit_s = stage.left_s
    timeout = asyncio.timeout(limit_s)
    try:
        async with timeout:
            await registry.collector(name).stop(stage, node)
    except TimeoutError as error:
        if not timeout.expired():
            raise
        raise AgentError(
            _("It was still being stopped after {seconds:.0f} s, and was given up.", seconds=limit_s),
            where=stage.agents[node].address.place,
            todo=_("Look on the agent for what it waits for."),
        ) from error


def _nodes(stage: Stage, on: str) -> Sequence[str]:
    if on == "agents":
        return list(machines_by_role(stage))
    if on == "servers":
        return list(stage.servers)
    if on == "servers and clients":
        return [*stage.servers, *stage.spec.clients]
    return [on] if on in stage.agents else []


def _record_missing(attempt: Execution, name: str, node: str, error: AgentError) -> None:
    if name in attempt.order.spec.required_collectors:
        raise error
    attempt.writer.gap(name, node, error.words)
