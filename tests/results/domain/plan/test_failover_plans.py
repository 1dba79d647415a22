"""What a plan with a failover may be: refused before anything runs where it cannot work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from results.domain import plan as plans
from results.domain.errors import PlanError
from results.domain.kinds.host_factors import HostFactor, HostLevel, KnownHost, mid_run_problems
from results.domain.matrix import InstallationRef, TrialSpec, expand, resolve
from workers import registry

KINDS = registry.kinds()


def resolved(
    workload: str = "ledger", duration_s: float = 30, topology: str = "streaming", **arrangement: str | float
) -> TrialSpec:
    mapping = {
        "name": "failover",
        "workload": workload,
        "duration_s": duration_s,
        "installation": "16",
        "agents": {"primary": "db"},
        "topology": topology,
        "topology_parameters": {"failover": "kill", "failover_at_s": 10, **arrangement},
    }
    plan = plans.from_mapping(mapping, KINDS)
    [spec] = resolve(plan, expand(plan), {"db": [InstallationRef("16", "/pg", "/pg", "16.9", 160009)]}, KINDS)
    return spec


def refusal(**changes: str | float) -> tuple[str, str]:
    with pytest.raises(PlanError) as caught:
        resolved(**changes)
    [problem] = caught.value.problems
    return problem.field, problem.what


def test_a_workload_that_goes_on_is_resolved() -> None:
    assert resolved().topology_parameters["failover"] == "kill"
    assert resolved(workload="pgbench", failover="none").loads == ()


def test_clients_that_end_with_their_server_are_refused() -> None:
    field, what = refusal(workload="pgbench")
    assert field == "workload"
    assert what == "The clients of pgbench end with their server: it cannot be measured over a failover."


@pytest.mark.parametrize(("changes", "second"), [({"failover_at_s": 30}, 30), ({"promote_after_s": 25}, 35)])
def test_a_failover_after_the_window_is_refused(changes: dict[str, float], second: int) -> None:
    assert refusal(**changes) == (
        "duration_s",
        f"The measured window is over after 30 s, the standby is promoted at second {second}.",
    )


def test_a_failover_while_standbys_are_read_is_refused() -> None:
    field, what = refusal(load="both")
    assert field == "topology.load"
    assert "the standbys take load as well" in what


def test_all_ways_of_failing_are_levels_of_a_factor() -> None:
    mapping = {
        "name": "ways",
        "workload": "ledger",
        "installation": "16",
        "agents": {"primary": "db"},
        "topology": "streaming",
        "factors": {"topology.failover": ["none", "stop", "kill", "hang", "cut"]},
    }
    plan = plans.from_mapping(mapping, KINDS)
    specs = resolve(plan, expand(plan), {"db": [InstallationRef("16", "/pg", "/pg", "16.9", 160009)]}, KINDS)
    assert [spec.topology_parameters["failover"] for spec in specs] == ["none", "stop", "kill", "hang", "cut"]


NETWORK = HostFactor("network", "show", "revert", (HostLevel("cut", "apply", "check"),))
APART = {"client": "load", "primary": "old", "standby1": "new"}


def refused_cut(agents: Mapping[str, str], factor: HostFactor | None = NETWORK, **host: str) -> list[tuple[str, str]]:
    in_mid_run = KINDS.topologies["streaming"].in_mid_run({"failover": "cut", "failover_at_s": 2, "promote_after_s": 0})
    assert in_mid_run is not None
    known = {agent: KnownHost({factor.name: factor} if factor else {}) for agent in agents.values()}
    return [(problem.field, problem.what) for problem in mid_run_problems(in_mid_run, host, agents, known)]


def test_a_cut_takes_an_operators_leave_and_an_agent_of_the_primarys_own() -> None:
    missing = [("topology.failover", "Agent old has no host factor 'network' with a level 'cut'.")]
    assert refused_cut(APART) == []
    assert refused_cut(APART, factor=None) == missing
    assert refused_cut(APART, factor=replace(NETWORK, levels=(HostLevel("slow", "a", "c"),))) == missing
    what = "Agent old plays the primary, which is set apart in mid-run, and client, standby1 as well."
    assert refused_cut(dict.fromkeys(APART, "old")) == [("topology.failover", what)]


def test_what_is_cut_in_mid_run_is_nothing_that_the_plan_sets_for_the_whole_trial() -> None:
    what = "The plan sets host.network for the whole trial, and here it is set in mid-run."
    assert refused_cut(APART, network="slow") == [("host.network", what)]


@pytest.mark.parametrize("kind", ["none", "stop", "kill", "hang"])
def test_no_other_way_of_failing_sets_anything_on_a_machine(kind: str) -> None:
    parameters = {"failover": kind, "failover_at_s": 2, "promote_after_s": 0}
    assert KINDS.topologies["streaming"].in_mid_run(parameters) is None


def pooled(**arrangement: str | float) -> TrialSpec:
    return resolved(topology="pgpool", failover="kill", **arrangement)


def test_the_clients_of_a_ledger_reach_the_servers_through_a_pooler() -> None:
    [load] = pooled().loads
    assert (load.server, load.client) == ("pooler", "client")
    field, what = refusal(topology="pgpool", workload="tpcc", failover="none")
    assert (field, what) == ("workload", "TPC-C-like runs from one client at one server.")


@pytest.mark.parametrize("changes", [{"mode": "native_replication"}, {"through": "direct"}, {"servers": 1}])
def test_a_failover_that_pgpool_cannot_make_is_refused(changes: dict[str, str | float]) -> None:
    field, what = refusal(topology="pgpool", **changes)
    assert field == "topology.failover"
    assert "it has none to promote" in what
