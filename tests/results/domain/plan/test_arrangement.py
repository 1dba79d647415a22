"""Who plays which role, and who drives which server: a plan with a topology, resolved."""

from __future__ import annotations

import json
from typing import Any

import pytest

from results.domain import plan as plans
from results.domain.errors import PlanError, Problem
from results.domain.matrix import InstallationRef, Load, TrialSpec, expand, resolve
from workers import registry

KINDS = registry.kinds()
AGENTS = ("db1", "db2", "load1", "load2")
PLAN: dict[str, Any] = {
    "name": "arranged",
    "installation": "16",
    "topology": "streaming",
    "topology_parameters": {"standbys": 2},
    "agents": {"primary": "db1"},
    "parameters": {"clients": 5},
    "threads": "4",
}


def ref(version: str, folder: str = "/pg") -> InstallationRef:
    return InstallationRef(version, f"{folder}/{version}", f"{folder}/{version}", version, int(float(version) * 10000))


INSTALLED = {agent: [ref("16.9"), ref("18.1")] for agent in AGENTS}


def stored(value: dict[str, Any]) -> dict[str, Any]:
    """As PostgreSQL's jsonb gives it back: keys by length."""
    return json.loads(
        json.dumps(value), object_pairs_hook=lambda pairs: dict(sorted(pairs, key=lambda p: (len(p[0]), p[0])))
    )


def resolved(installed: dict[str, list[InstallationRef]] | None = None, **changes: Any) -> TrialSpec:
    plan = plans.from_mapping(PLAN | changes, KINDS)
    [spec] = resolve(plan, expand(plan), installed or INSTALLED, KINDS)
    again = TrialSpec.from_json(stored(spec.to_json()))
    assert (again, again.nodes, again.clients) == (spec, spec.nodes, spec.clients)
    return spec


def problems(installed: dict[str, list[InstallationRef]] | None = None, **changes: Any) -> list[Problem]:
    with pytest.raises(PlanError) as caught:
        resolved(installed, **changes)
    return list(caught.value.problems)


def test_one_agent_plays_every_role_that_nobody_else_plays() -> None:
    spec = resolved()
    assert spec.agents == dict.fromkeys(("client", "primary", "standby1", "standby2"), "db1")
    assert (spec.nodes, spec.clients) == (("primary", "standby1", "standby2"), ("client",))
    assert spec.loads == ()


def test_nodes_keep_their_order() -> None:
    spec = resolved(topology="cascading", topology_parameters={"standbys": 10})
    assert spec.nodes == ("primary", "cascade", *(f"standby{number}" for number in range(1, 11)))


def test_an_agent_is_named_for_a_role_or_for_one_of_its_nodes() -> None:
    spec = resolved(agents={"primary": "db1", "standby": "db2", "standby2": "load2", "client": "load1"})
    assert spec.agents == {"client": "load1", "primary": "db1", "standby1": "db2", "standby2": "load2"}


def test_a_role_that_no_topology_has_is_refused() -> None:
    [problem] = problems(agents={"primary": "db1", "king": "db2"})
    assert (problem.field, problem.what) == ("agents.king", "There is no role 'king'.")


def test_several_clients_share_one_server_out() -> None:
    spec = resolved(topology="single", topology_parameters={}, agents={"primary": "db1", "client2": "load2"})
    assert spec.loads == (
        Load("client", "client", "primary", clients=3, threads=2),
        Load("client2", "client2", "primary", clients=2, threads=2),
    )
    assert spec.client_bins == {"client2": "/pg/16.9"}


def test_clients_come_by_their_numbers() -> None:
    further = {f"client{number}": "load2" for number in (10, 9, 2)}
    spec = resolved(topology="single", topology_parameters={}, agents={"primary": "db1"} | further)
    assert spec.clients == ("client", "client2", "client9", "client10")


def test_the_first_client_has_no_number() -> None:
    [problem] = problems(agents={"primary": "db1", "client1": "load1", "client2": "load2"})
    assert (problem.field, problem.todo) == ("agents.client1", "Write client instead of client1.")


def test_fewer_clients_than_agents_are_refused() -> None:
    [problem] = problems(
        topology="single",
        topology_parameters={},
        parameters={"clients": 1},
        agents={"primary": "db1", "client2": "db2"},
    )
    assert problem.field == "parameters.clients"


def test_every_server_under_load_has_clients_of_its_own() -> None:
    spec = resolved(topology_parameters={"standbys": 2, "load": "both"})
    assert spec.loads == (
        Load("primary", "client", "primary"),
        Load("standby1", "client", "standby1", workload=False),
        Load("standby2", "client", "standby2", workload=False),
    )


@pytest.mark.parametrize(("topology", "role"), [("streaming", "standby1"), ("logical", "subscriber1")])
def test_readers_beside_clients_that_count_their_transactions_are_refused(topology: str, role: str) -> None:
    counted = {"topology": topology, "topology_parameters": {"load": "both"}, "parameters": {"transactions": 20}}
    [problem] = problems(**counted)
    assert problem.field == "parameters.transactions"
    assert f"end after 20 transactions each, at a moment that nobody knows before; those who only read ({role})" in (
        problem.what
    )
    assert problem.todo.startswith("Set transactions to 0 and give a duration")
    every = counted | {"topology_parameters": {"load": "both", "reads": "workload"}}
    assert len(resolved(**every).loads) == 2


def test_as_many_clients_as_servers_are_paired() -> None:
    agents = {"primary": "db1", "standby": "db2", "client": "load1", "client2": "load2"}
    spec = resolved(topology_parameters={"standbys": 2, "load": "standbys"}, agents=agents)
    assert spec.loads == (Load("standby1", "client", "standby1"), Load("standby2", "client2", "standby2"))


def test_a_workload_with_one_client_is_not_put_on_several_servers() -> None:
    [problem] = problems(workload="tpcc", topology_parameters={"standbys": 2, "load": "standbys"})
    assert problem.field == "workload"


def test_all_servers_are_of_one_version() -> None:
    elsewhere = INSTALLED | {"db2": [ref("16.9", "/opt")]}
    spec = resolved(elsewhere, agents={"primary": "db1", "standby": "db2"})
    assert spec.installation_of("standby1").bin_dir == "/opt/16.9"
    assert spec.installation_of("primary").bin_dir == "/pg/16.9"
    [problem] = problems(INSTALLED | {"db2": [ref("18.1")]}, agents={"primary": "db1", "standby": "db2"})
    assert (problem.field, problem.what) == (
        "agents.standby",
        "Agent db2 has no PostgreSQL 16.9, which db1 has.",
    )


@pytest.mark.parametrize(
    ("parameters", "field"),
    [({"standbys": 1, "synchronous": "on", "quorum": 2}, "quorum"), ({"standbys": 2, "quorum": 1}, "quorum")],
)
def test_a_quorum_that_cannot_be_is_refused(parameters: dict[str, Any], field: str) -> None:
    [problem] = problems(topology_parameters=parameters)
    assert problem.field == f"topology.{field}"


def test_standbys_before_version_12_are_refused() -> None:
    [problem] = problems({agent: [ref("11.22")] for agent in AGENTS}, installation="11")
    assert problem.field == "topology.standbys"


def test_levels_of_a_factor_may_be_arrangements() -> None:
    levels = [
        {"label": "0", "values": {"topology": "single", "topology.connection": "socket"}},
        {"label": "2", "values": {"topology.standbys": 2}},
    ]
    plan = plans.from_mapping(PLAN | {"topology_parameters": {}, "factors": {"standbys": levels}}, KINDS)
    alone, two = resolve(plan, expand(plan), INSTALLED, KINDS)
    assert (alone.nodes, alone.topology_parameters) == (("primary",), {"connection": "socket"})
    assert two.nodes == ("primary", "standby1", "standby2")


ENDPOINTS: dict[str, Any] = {
    "topology": "endpoints",
    "topology_parameters": {"endpoints": "10.0.0.1:5433 coordinator, [fe80::1], db.example standby"},
    "agents": {"client": "load1"},
}


def test_endpoints_are_nodes_on_machines_that_are_no_agents() -> None:
    spec = resolved(**ENDPOINTS)
    assert spec.nodes == ("primary", "endpoint2", "endpoint3")
    assert (set(spec.agents.values()), spec.outside) == ({"load1"}, spec.nodes)
    assert [load.server for load in spec.loads] == ["primary", "endpoint2", "endpoint3"]


def test_an_endpoints_machine_that_is_an_agent_is_watched() -> None:
    spec = resolved(**ENDPOINTS | {"agents": {"client": "load1", "endpoint2": "db2"}})
    assert (spec.agents["endpoint2"], spec.outside) == ("db2", ("primary", "endpoint3"))


@pytest.mark.parametrize(
    ("listed", "load", "field"),
    [
        ("db1 standby, db2", "all", "endpoints"),
        ("db1, db1:5432", "all", "endpoints"),
        ("db1:99999", "all", "endpoints"),
        ("db1, db2", "standbys", "load"),
    ],
)
def test_endpoints_that_cannot_be_are_refused(listed: str, load: str, field: str) -> None:
    [problem] = problems(**ENDPOINTS | {"topology_parameters": {"endpoints": listed, "load": load}})
    assert problem.field == f"topology.{field}"


def test_what_is_no_list_of_endpoints_is_refused() -> None:
    with pytest.raises(PlanError) as caught:
        plans.from_mapping(PLAN | ENDPOINTS | {"topology_parameters": {"endpoints": "db1; rm -rf /"}}, KINDS)
    assert [problem.field for problem in caught.value.problems] == ["topology_parameters.endpoints"]


@pytest.mark.parametrize(
    ("wanted", "folder"),
    [("", "/pg/16.9"), ("own", "/pg/16.9"), ("newest", "/pg/18.1"), ("18", "/pg/18.1"), ("16.9", "/pg/16.9")],
)
def test_a_plan_may_take_the_same_psql_and_pgbench_for_every_installation(wanted: str, folder: str) -> None:
    spec = resolved(client_programs=wanted)
    assert (spec.client_bin, spec.installation.version) == (folder, "16.9")
    far = resolved(client_programs=wanted, agents={"primary": "db1", "client": "load1", "client2": "load2"})
    assert (far.client_bin, far.client_bin_of("client2")) == (folder, folder)


def test_client_programs_that_the_agent_does_not_have_are_named_with_those_that_it_has() -> None:
    [problem] = problems(client_programs="17")
    assert problem.field == "client_programs"
    assert "Agent db1 has no client programs of PostgreSQL '17'" in problem.what
    assert "It has those of 16.9, 18.1; or write newest or own." in problem.todo
    bare = {"db1": [ref("16.9"), InstallationRef("17.2", "/pg/17", "", "17.2", 170002)]}
    [problem] = problems(bare, client_programs="17")
    assert "It has those of 16.9;" in problem.todo


def clients_of(**changes: Any) -> list[tuple[str, bool]]:
    plan = plans.from_mapping(PLAN | changes, KINDS)
    return [(spec.client_bin, spec.own_client) for spec in resolve(plan, expand(plan), INSTALLED, KINDS)]


def test_a_plan_that_compares_installations_takes_the_newest_client_unless_it_says_otherwise() -> None:
    several = {"factors": {"installation": ["16.9", "18.1"]}}
    assert clients_of(**several) == [("/pg/18.1", False)] * 2
    assert clients_of(**several, client_programs="own") == [("/pg/16.9", True), ("/pg/18.1", True)]
    names = ("16.9", "18.1")
    builds = [{"label": name, "values": {"installation": name}} for name in names]
    assert clients_of(factors={"build": builds}) == [("/pg/18.1", False)] * 2
    assert clients_of(factors={"installation": ["16.9"]}) == [("/pg/16.9", False)]
    beside = [{"label": "small", "values": {"scale": 1}}, {"label": "18", "values": {"installation": "18.1"}}]
    assert clients_of(factors={"build": beside}) == [("/pg/18.1", False)] * 2
    whole = [{"label": name, "values": {"installation": name, "client_programs": name}} for name in names]
    assert clients_of(factors={"build": whole}) == [("/pg/16.9", False), ("/pg/18.1", False)]


def test_the_newest_client_is_that_of_a_release_where_there_is_one() -> None:
    installed = {"db1": [ref("16.9"), ref("18.1"), InstallationRef("19beta1", "/pg/19", "/pg/19", "19beta1", 190000)]}
    plan = plans.from_mapping(PLAN | {"client_programs": "newest"}, KINDS)
    assert {spec.client_bin for spec in resolve(plan, expand(plan), installed, KINDS)} == {"/pg/18.1"}


def test_a_client_that_came_with_another_installation_is_not_its_own() -> None:
    borrowed = InstallationRef("12.2", "/pg/12", "/pg/16.9", "12.2", 120002)
    plan = plans.from_mapping(PLAN | {"installation": "12.2", "client_programs": "own"}, KINDS)
    [spec] = resolve(plan, expand(plan), {"db1": [ref("16.9"), borrowed]}, KINDS)
    assert (spec.client_bin, spec.own_client) == ("/pg/16.9", False)


def test_own_clients_that_another_agent_lacks_are_named() -> None:
    far = {"db1": [ref("16.9"), ref("17.2")], "load1": [ref("16.9"), ref("18.1")]}
    plan = plans.from_mapping(
        PLAN | {"installation": "17.2", "client_programs": "own", "agents": {"primary": "db1", "client": "load1"}},
        KINDS,
    )
    with pytest.raises(PlanError) as error:
        resolve(plan, expand(plan), far, KINDS)
    assert "Agent load1 has no client programs of PostgreSQL '17.2'" in error.value.problems[0].what


def test_a_trial_with_its_own_client_says_so_wherever_it_is_kept() -> None:
    spec = resolved(client_programs="own")
    assert TrialSpec.from_json(spec.to_json()) == spec and "own_client" not in resolved().to_json()


def test_client_programs_may_be_what_is_compared() -> None:
    plan = plans.from_mapping(PLAN | {"factors": {"client_programs": ["16", "18"]}}, KINDS)
    specs = resolve(plan, expand(plan), INSTALLED, KINDS)
    assert [spec.client_bin for spec in specs] == ["/pg/16.9", "/pg/18.1"]
