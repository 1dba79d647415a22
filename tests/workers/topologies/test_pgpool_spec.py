"""The topology pgpool before anything runs: who takes load, what is refused, what pgpool-II is told."""

from __future__ import annotations

from typing import Any

import pytest

from results.domain import plan as plans
from results.domain.errors import PlanError, Problem
from results.domain.matrix import InstallationRef, Load, TrialSpec, dimensions, expand, resolve
from workers import registry
from workers.topologies.pgpool import configuration
from workers.topologies.pgpool.configuration import Backend, Location

KINDS = registry.kinds()
SPEC = KINDS.topologies["pgpool"]
NATIVE = "native_replication"


def ref(version: str) -> InstallationRef:
    return InstallationRef(version, f"/pg/{version}", f"/pg/{version}", version, int(float(version) * 10000))


def resolved(
    agents: dict[str, str] | None = None, clients: int = 10, version: str = "16.9", **topology: Any
) -> TrialSpec:
    mapping = {
        "name": "pooled",
        "installation": version,
        "topology": "pgpool",
        "topology_parameters": topology,
        "agents": agents or {"primary": "db1"},
        "parameters": {"clients": clients},
    }
    plan = plans.from_mapping(mapping, KINDS)
    installed = {name: [ref(version)] for name in ("db1", "db2", "load1")} | {"pool": [ref("15.3")]}
    [spec] = resolve(plan, expand(plan), installed, KINDS)
    return TrialSpec.from_json(dict(sorted(spec.to_json().items())))


def problem(**changes: Any) -> Problem:
    with pytest.raises(PlanError) as caught:
        resolved(**changes)
    [problems] = caught.value.problems
    return problems


def test_all_load_goes_to_the_pooler_which_is_no_server() -> None:
    spec = resolved(servers=3)
    assert spec.nodes == ("primary", "standby1", "standby2", "pooler")
    assert spec.servers == ("primary", "standby1", "standby2")
    assert dimensions(spec)["nodes"] == 3
    assert spec.loads == (Load("pooler", "client", "pooler"),)
    assert "pgpool" in spec.collectors


def test_servers_keep_their_order_where_json_does_not() -> None:
    spec = resolved(mode=NATIVE, servers=3)
    mixed = {role: spec.agents[role] for role in ("node3", "pooler", "client", "node2", "primary")}
    again = TrialSpec.from_json(spec.to_json() | {"agents": mixed})
    assert again.nodes == ("primary", "node2", "node3", "pooler")


def test_a_set_of_clients_for_each_server_is_as_large_as_the_plan_says() -> None:
    spec = resolved(mode=NATIVE, servers=2, client_sets="per-server")
    assert spec.loads == (Load("set1", "client", "pooler"), Load("set2", "client", "pooler"))


def test_sets_of_clients_come_from_as_many_agents_as_there_are() -> None:
    agents = {"primary": "db1", "client": "load1", "client2": "db2"}
    spec = resolved(agents, servers=2, client_sets="per-server")
    assert spec.loads == (Load("set1", "client", "pooler"), Load("set2", "client2", "pooler"))


def test_directly_there_is_no_pooler() -> None:
    assert resolved(through="direct", servers=2).loads == ()
    each = resolved(through="direct", servers=2, client_sets="per-server", mode=NATIVE)
    assert each.nodes == each.servers == ("primary", "node2")
    assert each.loads == (Load("primary", "client", "primary"), Load("node2", "client", "node2"))


def test_the_poolers_agent_needs_no_server_of_the_version() -> None:
    spec = resolved({"primary": "db1", "pooler": "pool", "client": "load1"})
    assert spec.installations == {}
    assert spec.client_bin_of("pooler") == "/pg/15.3"


def test_more_clients_than_pgpool_serves_are_refused() -> None:
    problems = problem(clients=10, servers=2, client_sets="per-server", num_init_children=19)
    assert problems.field == "topology.num_init_children"
    assert problems.what == "20 clients, but pgpool-II serves 19 at once."
    assert problems.todo == "Set it to 24 or more, or to 0."
    assert resolved(clients=10, servers=2, client_sets="per-server", num_init_children=20).loads
    assert resolved(clients=10, through="direct", num_init_children=5).loads == ()


def test_servers_before_version_12_are_refused() -> None:
    assert problem(version="11.2").field == "topology.mode"


def conf(**changes: Any) -> dict[str, str]:
    place = Location("/srv/jobs/1/pgpool/data", "/srv/jobs/1/pgpool/sock", "127.0.0.1", 21000)
    backends = [Backend("primary", "/it's/sock", 21001, "/d1"), Backend("standby1", "db2", 21002, "/d2")]
    text = configuration.pgpool_conf(SPEC.complete(changes), place, backends, children=14, user="teiten")
    return dict(line.split(" = ", 1) for line in text.splitlines())


def test_parameters_decide_the_switches_of_pgpool() -> None:
    assert conf()["backend_clustering_mode"] == "'streaming_replication'"
    switches = ("load_balance_mode", "statement_level_load_balance", "connection_cache", "memory_cache_enabled")
    assert [conf()[name] for name in switches] == ["'on'", "'off'", "'on'", "'off'"]
    other = conf(mode=NATIVE, load_balance="off", connection_cache=False, query_cache=True)
    assert [other[name] for name in switches] == ["'off'", "'off'", "'off'", "'on'"]
    assert [conf(load_balance="statement")[name] for name in switches[:2]] == ["'on'", "'on'"]
    assert other["backend_clustering_mode"] == "'native_replication'"


def test_every_file_of_pgpool_is_in_its_own_directory_and_every_server_is_told() -> None:
    reported = conf()
    own = ("pid_file_name", "logdir", "memqcache_oiddir", "pool_passwd", "socket_dir", "pcp_socket_dir")
    assert all(reported[name].startswith("'/srv/jobs/1/pgpool/") for name in own)
    assert (reported["backend_hostname0"], reported["backend_port0"]) == ("'/it''s/sock'", "21001")
    assert (reported["backend_hostname1"], reported["backend_application_name1"]) == ("'db2'", "'standby1'")
    assert (reported["num_init_children"], reported["pcp_listen_addresses"]) == ("14", "''")


def test_only_the_clients_addresses_are_let_in_and_by_password() -> None:
    assert configuration.pool_hba(()) == "local all all trust\n"
    assert configuration.pool_hba(["10.0.0.5", "load1"]).splitlines()[1:] == [
        "host all all 10.0.0.5/32 scram-sha-256",
        "host all all load1 scram-sha-256",
    ]


@pytest.mark.parametrize(("mode", "watched"), [("streaming_replication", True), (NATIVE, False)])
def test_replication_is_watched_where_there_are_standbys(mode: str, watched: bool) -> None:
    collectors = resolved(mode=mode).collectors
    assert ("pgpool" in collectors, "replication" in collectors) == (True, watched)
