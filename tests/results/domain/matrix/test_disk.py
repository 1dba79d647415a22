"""What disk a plan's data takes: of each agent, and of each of its storage places."""

from __future__ import annotations

from typing import Any

import pytest

from results.domain import plan as plans
from results.domain.kinds.host_factors import HostFactor, HostLevel, KnownHost
from results.domain.matrix import InstallationRef, expand, resolve
from results.domain.matrix.disk_space import needs
from workers import registry

KINDS = registry.kinds()
INSTALLED = {agent: [InstallationRef("16", "/pg", "/pg", "16.9", 160009)] for agent in ("db1", "db2", "db3")}
DATA, WAL = 10 * 2**30, 2**30  # each spec's data; WAL goes up to max_wal_size
PLAN: dict[str, Any] = {"name": "x", "installation": "16", "agents": {"primary": "db1"}}


def taken(known: dict[str, KnownHost] | None = None, size: int = DATA, **changes: Any) -> dict[tuple[str, str], int]:
    plan = plans.from_mapping(PLAN | changes, KINDS)
    specs = resolve(plan, expand(plan), INSTALLED, KINDS)
    needed = needs(specs, [size] * len(specs), KINDS, known or {})
    assert [need.size_bytes for need in needed] == sorted((need.size_bytes for need in needed), reverse=True)
    return {(need.agent, need.place): need.size_bytes for need in needed}


def test_data_stay_by_the_policy_and_a_copy_needs_one_more() -> None:
    policies = {policy: taken(data=policy) for policy in ("reuse", "template", "fresh")}
    assert policies == {
        "reuse": {("db1", ""): DATA + WAL},
        "template": {("db1", ""): 2 * DATA + WAL},
        "fresh": {("db1", ""): DATA + WAL},
    }


def test_trials_share_what_does_not_shape_the_data() -> None:
    assert taken(factors={"clients": [1, 2, 4]}) == {("db1", ""): DATA + WAL}
    assert taken(factors={"scale": [1, 2, 4]}) == {("db1", ""): 3 * DATA + WAL}


def test_wal_takes_as_much_as_the_data_up_to_its_setting() -> None:
    assert taken(size=2**20) == {("db1", ""): 2 * 2**20}
    assert taken(settings={"max_wal_size": "4GB"}) == {("db1", ""): DATA + 4 * 2**30}
    assert taken(settings={"max_wal_size": 2048}) == {("db1", ""): DATA + 2 * 2**30}
    assert taken(settings={"max_wal_size": "a lot"}) == {("db1", ""): DATA + WAL}


@pytest.mark.parametrize(
    ("topology", "role", "parameters"),
    [("streaming", "standby", {"standbys": 2}), ("logical", "subscriber", {"subscribers": 2})],
)
def test_every_server_has_a_copy_on_its_own_agent(topology: str, role: str, parameters: dict[str, int]) -> None:
    arranged = {"topology": topology, "topology_parameters": parameters}
    assert taken(**arranged) == {("db1", ""): 3 * (DATA + WAL)}
    spread = {"primary": "db1", role: "db2"}
    assert taken(**arranged, agents=spread) == {("db1", ""): DATA + WAL, ("db2", ""): 2 * (DATA + WAL)}


def test_standbys_of_one_configuration_are_those_of_another() -> None:
    more = {"topology": "streaming", "factors": {"topology.standbys": [1, 2, 4]}}
    assert taken(**more) == {("db1", ""): 5 * (DATA + WAL)}


def test_shards_have_the_data_shared_out_among_them() -> None:
    sharded = {"topology": "fdw", "topology_parameters": {"shards": 4}}
    spread = {"primary": "db1", "shard": "db2", "shard4": "db3"}
    own = DATA // 4 + WAL
    assert taken(**sharded, agents=spread) == {("db1", ""): DATA + WAL, ("db2", ""): 3 * own, ("db3", ""): own}


def test_each_part_lies_in_the_place_that_the_plan_names() -> None:
    assert taken(host={"data": "ssd"}) == {("db1", "ssd"): DATA + WAL}
    assert taken(host={"data": "ssd", "wal": "hdd"}) == {("db1", "ssd"): DATA, ("db1", "hdd"): WAL}
    assert taken(host={"tablespace": "ssd"}) == {("db1", "ssd"): DATA, ("db1", ""): WAL}
    varied = {"host.data": ["ssd", "hdd"]}
    assert taken(factors=varied) == {("db1", "ssd"): DATA + WAL, ("db1", "hdd"): DATA + WAL}


def test_a_factor_that_keeps_data_apart_has_data_for_each_level() -> None:
    levels = tuple(HostLevel(label, "set", "get") for label in ("8K", "16K"))
    for apart, copies in ((True, 2), (False, 1)):
        factor = HostFactor("recordsize", "get", "set", levels, keeps_data_apart=apart)
        known = {"db1": KnownHost({"recordsize": factor})}
        assert taken(known, factors={"host.recordsize": ["8K", "16K"]}) == {("db1", ""): copies * (DATA + WAL)}


def test_servers_outside_take_nothing_of_the_agents() -> None:
    outside = {"topology": "endpoints", "topology_parameters": {"endpoints": "10.0.0.1"}, "agents": {"client": "db1"}}
    assert taken(**outside) == {}
