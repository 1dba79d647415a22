"""A trial that hangs: it fails at its deadline, says what its sessions waited for, and costs the next one nothing."""

from __future__ import annotations

import pytest

from results import models, runs
from results.matrix import InstallationRef, find_installation
from results.states import AttemptState
from tests.live.trials.conftest import run_next, start, wait_for
from tests.live.trials.killing import beside, on_agent, query_left
from tests.live.trials.test_left_behind import running
from workers.remote.address import Address

FREEZE = """
for file in "$1"/clusters/*/data/postmaster.pid; do
    [ -s "$file" ] && read -r postmaster <"$file" && [ "/proc/$postmaster/cwd" -ef "${file%/*}" ] || continue
    [ "$2" = postmaster ] && exec kill -s STOP "$postmaster"
    until sessions=$(pgrep -P "$postmaster" -f 'postgres: teiten '); do sleep 0.02; done
    exec kill -s STOP $sessions
done
exit 1
"""


def measured() -> bool:
    return models.Trial.objects.filter(phase="measure").exists()


def test_a_server_left_hanging_by_a_worker_that_died_is_stopped_before_it_is_used(
    agent: models.Agent, address: Address, installations: list[InstallationRef]
) -> None:
    """That worker could not: whoever comes next does, promptly, and says so."""
    for _ in range(2):
        start(duration_s=1, collectors=[])
    assert run_next().error is None
    installation = find_installation("16", installations)
    assert installation is not None
    query_left(address, installation, "", "postgres")
    on_agent(address, FREEZE, address.data_dir, "sessions")
    second = run_next()
    assert second.error is None, second.error
    [named] = [gap for gap in second.gaps if gap["source"] == "server"]
    assert named["reason"].startswith("1 session did not end within 10 s of being told to.")


@pytest.mark.parametrize(("frozen", "done"), [("sessions", "stopped at once"), ("postmaster", "killed")])
def test_a_cancelled_trial_stops_the_server_that_it_leaves_hanging(
    agent: models.Agent, address: Address, frozen: str, done: str
) -> None:
    run = start(duration_s=600, collectors=[])
    start(duration_s=1, collectors=[])

    def hang_and_cancel() -> None:
        wait_for(measured)
        on_agent(address, FREEZE, address.data_dir, frozen)
        runs.cancel_run(run.pk, "test")

    with beside(hang_and_cancel):
        first = run_next()
    assert first.state == AttemptState.CANCELLED
    [named] = [gap for gap in first.gaps if gap["source"] == "server"]
    assert named["node"] == "primary"
    assert f"was {done}." in named["reason"]
    assert running(address) == []  # though a trial waits for the agent
    second = run_next()
    assert second.error is None, second.error
    assert "server" not in {gap["source"] for gap in second.gaps}
