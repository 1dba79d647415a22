"""Makes the trials of a run, some at a time: the first with the run, the rest of a large run by a worker."""

from __future__ import annotations

from django.db.models import Max

from results import models
from results.domain.errors import PlanError, Problem
from results.domain.matrix import order
from results.domain.messages import gettext_lazy as _
from results.domain.plan.checks import MAXIMUM_TRIALS
from results.domain.states import RunState, TrialState

AT_ONCE = 1000  # trials that one transaction makes, some 0.2 s


def require_room(configurations: int, blocks: int, more: int) -> None:
    """Raise PlanError where so many more blocks of a run would be more trials than a run may have.

    blocks: that it has"""
    trials = configurations * (blocks + more)
    if trials > MAXIMUM_TRIALS:
        room = max(0, MAXIMUM_TRIALS // configurations - blocks)
        what = _(
            "{more:,} more would make {trials:,} trials of the run; at most {most:,} are taken.",
            more=more,
            trials=trials,
            most=MAXIMUM_TRIALS,
        )
        todo = _("Add at most {room:,}.", room=room) if room else _("Repeat the run instead.")
        raise PlanError([Problem("blocks", what, todo)])


def make_next(run: models.Run, most: int = AT_ONCE) -> int:
    """Make the next trials of a run that has fewer than its blocks need, at most so many; return how many were made.
    Those of a cancelled run are cancelled. The run, which must be locked or new, notes the agents that they use, and
    whether any are still to be made."""
    configurations = models.Configuration.objects.filter(run=run).count()
    last = models.Trial.objects.filter(run=run).aggregate(last=Max("position"))["last"]
    first, whole = 0 if last is None else last + 1, configurations * run.blocks
    end = min(first + most, whole)
    noted = run.making, run.agents
    agents = _make(run, configurations, first, end) if end > first else set()
    run.making, run.agents = end < whole, sorted(agents.union(run.agents))
    if noted != (run.making, run.agents):
        run.save(update_fields=["making", "agents"])
    return end - first


def _make(run: models.Run, configurations: int, first: int, end: int) -> set[int]:
    """Make the trials at these positions, and return the agents that they use; each block takes as many positions as
    there are configurations."""
    blocks = range(first // configurations + 1, -(-end // configurations) + 1)
    slots = order(configurations, blocks, run.seed, (blocks.start - 1) * configurations)
    chosen = [slot for slot in slots if first <= slot.position < end]
    indices = {slot.configuration for slot in chosen}
    rows = models.Configuration.objects.filter(run=run, index__in=indices).values_list("index", "pk", "spec__agents")
    ids = dict(models.Agent.objects.values_list("name", "pk"))
    of_block_1 = models.Trial.objects.filter(run=run, block=1, configuration__index__in=indices)
    made = dict(of_block_1.values_list("configuration", "agents"))  # an agent may have another name by now
    known = {index: (pk, made.get(pk) or sorted({ids[name] for name in agents.values()})) for index, pk, agents in rows}
    models.Trial.objects.bulk_create(
        models.Trial(
            run=run,
            configuration_id=known[slot.configuration][0],
            block=slot.block,
            position=slot.position,
            agents=known[slot.configuration][1],
            state=TrialState.CANCELLED if run.state == RunState.CANCELLED else TrialState.WAITING,
        )
        for slot in chosen
    )
    return {agent for _pk, agents in known.values() for agent in agents}
