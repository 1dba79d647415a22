"""What a trial leaves running on its agents, and what the next one makes of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from results import models
from results.domain.matrix import InstallationRef, find_installation
from tests.live.trials.conftest import run_next, start
from tests.live.trials.killing import on_agent, query_left
from workers.remote.address import Address

RUNNING = """
for file in "$1"/clusters/*/data/postmaster.pid; do
    [ -s "$file" ] && read -r pid <"$file" && [ "/proc/$pid/cwd" -ef "${file%/*}" ] || continue
    cluster=${file%/data/*}
    echo "${cluster##*/}"
done
"""
STREAMING: dict[str, Any] = {"topology": "streaming", "duration_s": 1}
PLACES = {"primary": "live", "client": "live"}


def running(address: Address) -> list[str]:
    """What servers an agent has: streaming-standby1 of 16.14-streaming-standby1-1a2b3c4d."""
    return [name.partition("-")[2].rpartition("-")[0] for name in on_agent(address, RUNNING, address.data_dir).split()]


def test_servers_stay_on_those_agents_alone_that_a_trial_waits_for(address: Address, far: Address) -> None:
    start(**STREAMING, agents=PLACES | {"standby": "far"})
    start(duration_s=1)
    first = run_next()
    assert first.error is None, first.error
    assert (running(address), running(far)) == (["streaming-primary"], [])
    assert run_next().error is None
    assert running(address) == []


def test_a_standby_left_on_another_agent_does_not_keep_out_its_successor(
    address: Address, far: Address, further: Callable[[str], Address]
) -> None:
    third = further("third")
    start(**STREAMING, agents=PLACES | {"standby": "far"})
    start(**STREAMING, agents=PLACES | {"standby": "third"})
    start(duration_s=1, agents={"primary": "far"})
    first = run_next()
    assert first.error is None, first.error
    assert (running(address), running(far)) == (["streaming-primary"], ["streaming-standby1"])
    second = run_next()
    assert second.error is None, second.error
    assert (running(address), running(far), running(third)) == ([], ["streaming-standby1"], [])
    assert run_next().error is None
    assert running(far) == []


@pytest.mark.parametrize(("topology", "version", "node"), [("logical", "16", "subscriber1"), ("fdw", "15", "shard1")])
def test_a_query_left_on_a_server_does_not_keep_the_next_trial_from_its_data(
    agent: models.Agent,
    address: Address,
    installations: list[InstallationRef],
    topology: str,
    version: str,
    node: str,
) -> None:
    installation = find_installation(version, installations)
    assert installation is not None
    for _ in range(2):
        start(topology=topology, installation=version, data="fresh", duration_s=1)
    first = run_next()
    assert first.error is None, first.error
    query_left(address, installation, f"{topology}-{node}", "bench")
    second = run_next()
    assert second.error is None, second.error
