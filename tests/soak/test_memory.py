"""What the soak's look at memory finds: a process that grows, and none that only settles."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.faults.processes import Program, children, kill
from tests.soak.memory import SETTLED, Growth, Memory, Sample

TRIALS = range(0, 4 * SETTLED + 1, 10)


def growth(memory_kb: list[int]) -> Growth:
    """Of one process whose memory is looked at after every ten trials."""
    memory = Memory()
    memory.samples["worker", 1, 1] = [
        Sample(1, trials, kb, threads=3, files=8) for trials, kb in zip(TRIALS, memory_kb, strict=True)
    ]
    [found] = memory.growths()
    return found


def test_a_process_that_stays_as_it_is_is_flat() -> None:
    found = growth([200_000] * len(TRIALS))
    assert found == Growth("worker (1)", 3 * SETTLED, 200_000, lowest=1.0, highest=1.0, threads=3, files=8)


def test_a_process_that_grows_after_its_first_trials_is_found() -> None:
    found = growth([200_000 + 20 * trials for trials in TRIALS])  # 211,000 kB amid the trials to compare with
    assert (found.lowest, found.highest) == pytest.approx((210 / 211, 240 / 211))
    assert found.highest > 1.1


def test_a_process_may_settle() -> None:
    found = growth([200_000 if trials >= SETTLED else 100_000 + trials for trials in TRIALS])
    assert (found.lowest, found.highest, found.kb) == (1.0, 1.0, 200_000)


def test_a_moment_of_much_memory_is_found_too() -> None:
    found = growth([400_000 if trials == 3 * SETTLED else 200_000 for trials in TRIALS])
    assert found.highest == 2.0


def test_a_process_that_ended_early_says_nothing() -> None:
    memory = Memory()
    memory.samples["worker", 1, 1] = [Sample(1, trials, 1000, 1, 1) for trials in range(2 * SETTLED)]
    assert memory.growths() == []


def test_what_is_looked_at_are_the_parts_and_their_children(tmp_path: Path) -> None:
    script = "sleep 600 & echo up; wait"
    part = Program("part", ["sh", "-c", script], os.environ, lambda printed: "up" in printed, tmp_path / "log")
    part.start()
    [child] = children(part.pid)
    try:
        memory = Memory()
        memory.look([part], 7)
        looks = {pid: samples for (_, pid, _), samples in memory.samples.items()}
        assert looks.keys() == {part.pid, child}
        assert all(one.kb > 0 and one.trials == 7 for samples in looks.values() for one in samples)
    finally:
        kill([child])
        part.kill()
