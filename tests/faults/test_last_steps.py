"""All trial workers killed in the last steps of a trial, after its measurement: another worker does what is left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

from results import models
from tests.faults import agent_strikes, strikes, trials
from tests.faults.conftest import require_nothing_left
from tests.faults.fleet import Fleet
from tests.faults.processes import until
from tests.faults.trials import Gates
from workers import checkpoint
from workers.checkpoint import Step
from workers.remote.address import Address

_LOCK = """
DO $$ BEGIN
    EXECUTE (SELECT 'LOCK TABLE ' || string_agg(oid::regclass::text, ', ') FROM pg_class
             WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace);
END $$
"""
Holding = Callable[[Gates, Address], AbstractContextManager[None]]


@contextmanager
def audit_held(gates: Gates, agent: Address) -> Iterator[None]:
    """The tables of the trial are locked before its rows are counted."""
    with agent_strikes.session(agent, "bench") as session:
        session.execute(_LOCK)
        yield


@contextmanager
def clean_held(gates: Gates, agent: Address) -> Iterator[None]:
    """The host factor is not reverted."""
    with gates.closed("revert"):
        yield


@pytest.mark.parametrize(("step", "holding"), [(Step.AUDIT, audit_held), (Step.CLEAN, clean_held)])
def test_a_trial_whose_workers_are_killed_in_its_last_steps_is_picked_up_there(
    fleet: Fleet, agents: list[Address], gates: Gates, step: Step, holding: Holding
) -> None:
    gates.close()
    plan = trials.changed(trials.plan("collect", gates), {"workload": "append", "data": "fresh"})
    plan["parameters"] = {}
    trial = models.Trial.objects.get(run=fleet.ask("POST", "runs/", plan)["id"])
    until(lambda: trials.phase_of(trial.pk) == "collect", lambda: trials.story(trial.pk))
    agent = next(agent for agent in agents if agent.name == "collect")
    saved = checkpoint.path_of(fleet.bundles, f"{trial.run_id}/{trial.pk}", 1)
    with holding(gates, agent):
        gates.open()
        until(lambda: checkpoint.read(saved).step is step, lambda: trials.story(trial.pk))
        strikes.kill_workers(fleet)
    until(lambda: trials.ended(trial.pk), lambda: trials.story(trial.pk))
    assert trials.outcome(trial.pk) == "done, picked up", trials.story(trial.pk)
    [attempt] = trial.attempts.all()
    assert [note["step"] for note in attempt.notes["picked_up"]] == [step]
    trials.require_right(fleet, trial.pk)
    require_nothing_left(fleet, agents)
