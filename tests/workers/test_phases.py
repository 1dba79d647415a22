"""A phase has a deadline, whatever keeps it."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from results.domain.errors import AgentError, DeadlineError
from results.domain.measurement.activity import ActivitySample
from tests.workers.bundle.test_declared import SPEC
from workers.activity_monitor import ActivityMonitor
from workers.bundle.writer import BundleWriter
from workers.interfaces import Stage
from workers.phases import Phases


async def unseen(look: ActivitySample | None) -> None:
    assert look is None


async def unshown(phase: str, expected_s: float | None) -> None:
    assert phase


@pytest.fixture
def phases(tmp_path: Path) -> Phases:
    spec = replace(SPEC, patience=0.01)
    stage = Stage(spec, {}, {}, BundleWriter(tmp_path, "1/1", 1), "1-1", deadlines={"verify": 0.3, "measure": 60.0})
    return Phases(stage, unshown, ActivityMonitor(stage, unseen), 0.0)


async def test_a_phase_that_waits_for_ever_fails_at_its_deadline(phases: Phases) -> None:
    with pytest.raises(DeadlineError) as raised:
        async with phases.phase("verify"):
            await asyncio.Event().wait()
    error = raised.value
    assert (error.what, error.where) == ("The phase verify did not end by its deadline of 0.3 s.", "verify")
    assert "`patience`" in error.todo
    assert [(phase.name, phase.ok) for phase in phases.done] == [("verify", False)]


async def test_what_fails_because_it_was_broken_off_is_told_with_the_deadline(phases: Phases) -> None:
    async def loaded() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError as error:
            raise AgentError("The database could not be dropped.") from error

    with pytest.raises(DeadlineError, match="did not end by its deadline") as raised:
        async with phases.phase("verify"):
            await loaded()
    assert raised.value.why == "The database could not be dropped."


async def test_what_fails_by_itself_fails_as_it_is(phases: Phases) -> None:
    for error in (AgentError("It broke off."), TimeoutError("of its own")):
        with pytest.raises(type(error)) as raised:
            async with phases.phase("measure"):
                raise error
        assert raised.value is error


async def test_a_cancelled_trial_is_no_late_one(phases: Phases) -> None:
    async def measured() -> None:
        async with phases.phase("measure"):
            await asyncio.Event().wait()

    running = asyncio.create_task(measured())
    await asyncio.sleep(0)
    running.cancel("cancelled")
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_jobs_of_a_phase_have_what_is_left_of_it(phases: Phases) -> None:
    async with phases.phase("measure"):
        assert 50 < phases.stage.left_s <= 60
    async with phases.phase("clean"):
        assert phases.stage.left_s > 3600


async def test_a_worker_whose_clock_is_stepped_back_measures_its_phases_all_the_same(
    phases: Phases, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = count(1.7e9, -3600.0)
    monkeypatch.setattr(time, "time", lambda: next(clock))
    for name in ("verify", "clean"):
        async with phases.phase(name):
            await asyncio.sleep(0)
    first, second = phases.done
    assert 0 <= first.offset_s <= first.offset_s + first.seconds <= second.offset_s
    assert second.seconds >= 0
    assert phases.elapsed_s >= second.offset_s + second.seconds
