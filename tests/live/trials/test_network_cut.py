"""The network of a primary that is cut in mid-run: servers and clients in networks of their own."""

from __future__ import annotations

import asyncio
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from results import agents, hostfactors, models, runs
from results.agents import Contact
from results.domain.errors import PlanError
from results.domain.kinds.host_factors import read
from results.domain.matrix import InstallationRef
from results.domain.states import AttemptState
from tests.live.trials.conftest import agent_fields, run_next, start, value, wait_for
from tests.live.trials.losing import events, keys_of, plan
from tests.live.trials.networks import Network, made, possible
from workers.postgres import cluster
from workers.remote.address import Address
from workers.remote.connection import connected

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces take root")
Measure = Callable[..., models.Attempt]
ROLES = {"primary": "old", "standby": "new", "client": "load"}


@pytest.fixture(scope="module")
def network(address: Address, agent_environment: dict[str, Any]) -> Iterator[Network]:
    if not possible():
        pytest.skip("nobody may make network namespaces here")
    folder = Path(agent_environment["home"]) / "networks"
    folder.mkdir(mode=0o755)
    with made(address, folder) as network:
        yield network
        for one in network.agents.values():
            asyncio.run(removed(one))
    shutil.rmtree(folder)


async def removed(address: Address) -> None:
    async with connected(address) as remote:
        await cluster.stop_others(remote)
        await remote.run("rm", "-rf", "--", address.data_dir, address.work_dir)


@pytest.fixture(autouse=True)
def apart(network: Network, agent: models.Agent, agent_contact: Contact) -> Network:
    """The three agents as the warehouse knows them; the network of `old` may be cut."""
    for one in network.agents.values():
        row = agents.create_agent(agent_fields(one), "test")
        models.Agent.objects.filter(pk=row.pk).update(host_key=one.host_key)
        agents.record_contact(row.pk, agent_contact, timezone.now())
    hostfactors.define(models.Agent.objects.get(name="old"), read(network.definition), "test")
    return network


@pytest.fixture(autouse=True)
def network_is_whole(apart: Network) -> Iterator[None]:
    """Whatever a test did, the cut is lifted, and no server was behind it when that was done."""
    yield
    assert not (apart.folder / "alive").exists(), (apart.folder / "alive").read_text()
    assert (apart.folder / "state").read_text() == "up\n"
    assert not models.HostChange.objects.exists()


def cut(seconds: float = 14, **arrangement: Any) -> dict[str, Any]:
    requested = plan(seconds, failover="cut", **arrangement)
    return requested | {"agents": ROLES, "parameters": requested["parameters"] | {"silence_s": 2}}


def test_clients_that_hear_nothing_more_find_the_promoted_server(measure: Measure, apart: Network) -> None:
    attempt = measure(**cut(synchronous="remote_apply"))
    assert attempt.error is None, attempt.error
    assert value(attempt, "ledger.lost") == 0
    assert value(attempt, "failover.failed") == 3
    assert value(attempt, "failover.outage") >= 2  # nothing but silence tells them
    assert value(attempt, "failover.tps", label="after") > 0
    [struck] = events(attempt, "failover")
    assert struck["text"].startswith("the primary's network is cut; which took")
    [promoted] = events(attempt, "promoted")
    assert promoted["node"] == "standby1"


@pytest.mark.usefixtures("walsender_frozen")
def test_what_only_the_cut_off_primary_has_is_counted_as_lost(
    measure: Measure, apart: Network, postgres_16: InstallationRef
) -> None:
    attempt = measure(**cut())
    assert attempt.error is None, attempt.error
    lost = value(attempt, "ledger.lost")
    assert lost > 100
    old, new = (
        keys_of(apart.agents[agent], postgres_16, attempt, node)
        for agent, node in (("old", "primary"), ("new", "standby1"))
    )
    assert {start for start, _, _ in old} == {1}
    assert 0 <= len(old - new) - lost <= value(attempt, "failover.failed")
    assert len(new) == value(attempt, "transactions") - lost + value(attempt, "ledger.unacknowledged")


def test_a_cancelled_trial_leaves_neither_a_cut_nor_a_server_behind_it(apart: Network) -> None:
    run = start(**cut(60))
    running: list[bool] = []

    def cancel() -> None:
        wait_for(lambda: (apart.folder / "state").read_text() == "down\n")
        running.append(bool(servers_on(apart.agents["old"])))
        runs.cancel_run(run.pk, "test")
        connection.close()

    canceller = threading.Thread(target=cancel)
    canceller.start()
    attempt = run_next()
    canceller.join()
    assert attempt.state == AttemptState.CANCELLED
    assert running == [True]
    assert servers_on(apart.agents["old"]) == ""


def servers_on(address: Address) -> str:
    """What runs in the agent's clusters."""
    at_work = """for file in "$1"/clusters/*/data/postmaster.pid; do
        read -r pid <"$file" && [ "$(readlink "/proc/$pid/cwd")" = "${file%/*}" ] && echo "$file"
    done 2>/dev/null; true"""

    async def ask() -> str:
        async with connected(address) as remote:
            return (await remote.script(at_work, address.data_dir)).stdout

    return asyncio.run(ask())


def test_a_cut_that_does_not_hold_fails_the_trial(measure: Measure, apart: Network) -> None:
    definition = apart.definition.replace('expected = "down"', 'expected = "away"')
    hostfactors.define(models.Agent.objects.get(name="old"), read(definition), "test")
    attempt = measure(**cut(4))
    assert attempt.error is not None
    assert attempt.error["phase"] == "measure"
    assert attempt.error["what"] == "Host factor 'network' is not at 'cut' on agent old."
    assert "Expected away, found down." in attempt.error["why"]


def test_an_agent_whose_network_nobody_may_cut_is_refused_before_anything_runs(measure: Measure) -> None:
    hostfactors.remove(models.Agent.objects.get(name="old"), "network", "test")
    with pytest.raises(PlanError) as caught:
        measure(**cut())
    [problem] = caught.value.problems
    assert problem.field == "topology_parameters.failover"
    assert problem.what == "Agent old has no host factor 'network' with a level 'cut'."
