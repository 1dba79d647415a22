"""Costs per transaction: of each server, by the transactions that it had to do with."""

from __future__ import annotations

from dataclasses import replace

import pytest

from results.matrix import InstallationRef, Load, TrialSpec
from results.parsed import Event, Measurement, Part
from workers.bundle import derive
from workers.bundle.manifest import Manifest

SPEC = TrialSpec(
    workload="ledger",
    parameters={},
    topology="streaming",
    topology_parameters={},
    installation=InstallationRef("16.14", "/bin", "/bin", "16.14", 160014),
    agents={"client": "load", "primary": "one", "standby1": "two", "standby2": "three"},
    settings={},
    duration_s=10.0,
)


def manifest(spec: TrialSpec) -> Manifest:
    return Manifest("1/1", 1, "", 90.0, 120.0, spec.to_json(), window=(100.0, 110.0))


def costs(*measurements: Measurement, spec: TrialSpec = SPEC, lost: bool = False) -> dict[str, float]:
    """'metric of node' → value."""
    events = (Event(2.0, "primary", "failover", ""), Event(3.0, "standby1", "promoted", "")) if lost else ()
    whole = derive.add(Part(measurements=measurements, events=events), manifest(spec), spec)
    return {f"{m.metric} of {m.node}": m.value for m in whole.measurements if m.metric.endswith(".per_transaction")}


ACKNOWLEDGED = Measurement("transactions", 1000)
ON_EACH = (Measurement("transactions", 400, "primary"), Measurement("transactions", 600, "standby1"))


def test_one_server_costs_by_all_transactions() -> None:
    assert costs(ACKNOWLEDGED, Measurement("wal.bytes", 436_000, "primary")) == {"wal.per_transaction of primary": 436}


def test_a_primary_that_is_lost_costs_by_what_it_served_itself() -> None:
    wal = Measurement("wal.bytes", 400 * 436, "primary")
    assert costs(ACKNOWLEDGED, *ON_EACH, wal, lost=True) == {"wal.per_transaction of primary": 436}


def test_a_promoted_server_costs_by_its_own_sessions_and_the_rest_is_unknown() -> None:
    counts = [Measurement(name, 1200, "standby1") for name in ("wal.bytes", "blocks.read", "blocks.written")]
    assert costs(ACKNOWLEDGED, *ON_EACH, *counts, lost=True) == {"blocks.read.per_transaction of standby1": 2}


def test_nothing_is_said_of_either_where_nobody_knows_which_served_what() -> None:
    counts = [Measurement("wal.bytes", 1200, node) for node in ("primary", "standby1")]
    assert costs(ACKNOWLEDGED, *counts, lost=True) == {}


def test_a_standby_that_only_replays_costs_by_all_transactions() -> None:
    wal = Measurement("wal.bytes", 5000, "standby2")
    assert costs(ACKNOWLEDGED, *ON_EACH, wal, lost=True) == {"wal.per_transaction of standby2": 5}


def test_what_is_promoted_is_told_as_a_gap() -> None:
    events = (Event(3.0, "standby1", "promoted", ""),)
    [gap] = derive.add(Part(measurements=(ACKNOWLEDGED,), events=events), manifest(SPEC), SPEC).gaps
    assert (gap.source, gap.node) == ("costs", "standby1")


LOADS = tuple(Load(node, "client", node) for node in ("standby1", "standby2"))


@pytest.mark.parametrize(("node", "expected"), [("standby1", 3.0), ("standby2", 2.0), ("primary", 1.2)])
def test_several_servers_that_take_load_cost_by_what_each_took(node: str, expected: float) -> None:
    on_each = (Measurement("transactions", 400, "standby1"), Measurement("transactions", 600, "standby2"))
    found = costs(ACKNOWLEDGED, *on_each, Measurement("blocks.read", 1200, node), spec=replace(SPEC, loads=LOADS))
    assert found == {f"blocks.read.per_transaction of {node}": expected}


def test_a_machine_costs_by_what_runs_on_it() -> None:
    on_each = (Measurement("transactions", 400, "standby1"), Measurement("transactions", 600, "standby2"))
    switches = [Measurement("context_switches", 120, node) for node in ("client", "standby1", "primary")]
    found = costs(ACKNOWLEDGED, *on_each, *switches, spec=replace(SPEC, loads=LOADS))
    assert found == {
        "context_switches.per_transaction of client": 1.2,
        "context_switches.per_transaction of standby1": 3.0,
        "context_switches.per_transaction of primary": 1.2,
    }


def test_a_machine_whose_server_is_promoted_is_unknown_unless_it_holds_both() -> None:
    switches = [Measurement("context_switches", 100, node) for node in ("client", "primary", "standby1")]
    apart = costs(ACKNOWLEDGED, *ON_EACH, *switches, lost=True)
    assert apart == {
        "context_switches.per_transaction of client": 1.0,
        "context_switches.per_transaction of primary": 2.5,
    }
    together = replace(SPEC, agents=dict.fromkeys(SPEC.agents, "one"))
    found = costs(ACKNOWLEDGED, *ON_EACH, switches[1], spec=together, lost=True)
    assert found == {"context_switches.per_transaction of primary": 1.0}
