"""What a transaction costs on each node: of a recorded failover, and of made-up arrangements."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from results.domain.environment.layers import Layer, LayerKind
from results.domain.matrix import InstallationRef, Load, TrialSpec
from results.domain.measurement.parsed_trial import Event, LayerUse, Measurement, ParsedTrial, Part
from workers.bundle import reader
from workers.bundle.costs import costs
from workers.bundle.manifest import FILE, Manifest

RECORDED = Path(__file__).parents[2] / "data" / "failover" / "16"
ALL, BY_PRIMARY, BY_PROMOTED = 14508, 2996, 11512
SPEC = TrialSpec(
    workload="pgbench",
    parameters={},
    topology="streaming",
    topology_parameters={},
    installation=InstallationRef("16", "/bin", "/bin", "16.14", 160014),
    agents={"client": "c", "primary": "a", "standby1": "b", "standby2": "d"},
    settings={},
)
LOADS = (Load("standby1", "client", "standby1"), Load("standby2", "client", "standby2"))


def recorded(change: Any = None) -> ParsedTrial:
    files = reader.open_files(RECORDED)
    if change is not None:
        change(files)
    return reader.parse(Manifest.from_json(files[FILE].decode()), files)


def values(parsed: ParsedTrial) -> dict[tuple[str, str, str], float]:
    return {(m.metric, m.node, m.label): m.value for m in parsed.measurements}


def test_after_a_failover_each_server_has_the_transactions_that_it_acknowledged() -> None:
    measured = values(recorded())
    assert measured["transactions", "", ""] == ALL
    assert (measured["transactions", "primary", ""], measured["transactions", "standby1", ""]) == (
        BY_PRIMARY,
        BY_PROMOTED,
    )


def test_after_a_failover_costs_are_of_what_each_server_did() -> None:
    parsed = recorded()
    measured = values(parsed)
    replayed, written = (measured["wal.bytes", "standby1", part] for part in ("replayed", "written"))
    assert replayed + written == measured["wal.bytes", "standby1", ""] == 4141384
    assert measured["wal.per_transaction", "standby1", ""] == written / BY_PROMOTED
    assert measured["wal.per_transaction", "standby2", ""] == 856760 / BY_PRIMARY
    # an undisturbed server writes 284.8 B for such a transaction
    assert measured["wal.per_transaction", "standby1", ""] == pytest.approx(285, abs=2)
    assert measured["wal.per_transaction", "standby2", ""] == pytest.approx(286, abs=2)
    assert measured["blocks.read.per_transaction", "standby1", ""] == 57 / BY_PROMOTED
    assert ("blocks.written.per_transaction", "standby1", "") not in measured
    [gap] = [gap for gap in parsed.gaps if gap.source == "costs"]
    assert (gap.node, gap.reason) == (
        "standby1",
        "blocks.written.per_transaction: it replayed the primary's changes before it served clients itself",
    )


def test_wal_that_no_log_tells_apart_costs_nothing_that_is_known() -> None:
    measured = values(recorded(lambda files: files.pop("collectors/pg_stat/standby1/server.log")))
    assert ("wal.bytes", "standby1", "") in measured
    assert ("wal.per_transaction", "standby1", "") not in measured


def part(*measurements: Measurement, events: tuple[Event, ...] = ()) -> Part:
    return Part(measurements=measurements, events=events)


def cost(whole: Part, spec: TrialSpec) -> tuple[dict[tuple[str, str], float], list[str]]:
    hardware = Layer(LayerKind.HARDWARE, {"cpu": {"online": 2}})
    layers = tuple(LayerUse(node, hardware) for node in spec.agents)
    manifest = Manifest("1/1", 1, "1", 0, 9, spec.to_json(), window=(1, 5), layers=layers)
    measured, gaps = costs(whole, manifest, spec)
    return {(m.metric, m.node): m.value for m in measured}, [gap.node for gap in gaps]


WAL = "wal.per_transaction"
CPU = "cpu.per_transaction"


def test_one_server_has_all_transactions_to_the_last_bit() -> None:
    whole = part(
        Measurement("transactions", 7.0), *(Measurement("wal.bytes", 10.0, n) for n in ("primary", "standby1"))
    )
    measured, gaps = cost(whole, SPEC)
    assert (measured[WAL, "primary"], measured[WAL, "standby1"], gaps) == (10.0 / 7.0, 10.0 / 7.0, [])


def test_servers_that_take_load_have_their_own_and_the_others_all() -> None:
    whole = part(
        Measurement("transactions", 40.0),
        Measurement("transactions", 30.0, "standby1"),
        Measurement("transactions", 10.0, "standby2"),
        *(Measurement("wal.bytes", 600.0, node) for node in ("primary", "standby1", "standby2")),
        *(Measurement("cpu.busy", 50.0, node) for node in ("client", "primary", "standby1")),
    )
    measured, gaps = cost(whole, replace(SPEC, loads=LOADS))
    assert [measured[WAL, node] for node in ("primary", "standby1", "standby2")] == [15.0, 20.0, 60.0]
    assert [measured[CPU, node] for node in ("client", "primary", "standby1")] == [1e5, 1e5, 4e6 / 30]
    assert gaps == []
    # the client on the machine of one of the servers: its work is for both of them, the server's for one
    mixed, gaps = cost(whole, replace(SPEC, loads=LOADS, agents={**SPEC.agents, "client": "b"}))
    assert (CPU, "standby1") not in mixed
    assert gaps == ["client", "standby1"]


def test_one_machine_that_plays_all_roles_has_all_transactions() -> None:
    whole = part(
        Measurement("transactions", 40.0),
        Measurement("transactions", 30.0, "standby1"),
        Measurement("transactions", 10.0, "standby2"),
        Measurement("cpu.busy", 50.0, "primary"),
    )
    measured, _ = cost(whole, replace(SPEC, loads=LOADS, agents=dict.fromkeys(SPEC.agents, "one")))
    assert measured[CPU, "primary"] == 1e5


def test_where_others_read_beside_the_workload_only_its_own_server_is_known() -> None:
    loads = (Load("primary", "client", "primary"), Load("standby1", "client", "standby1", workload=False))
    whole = part(
        Measurement("transactions", 10.0),
        Measurement("transactions", 10.0, "primary"),
        Measurement("transactions", 500.0, "standby1"),
        Measurement("blocks.read", 20.0, "primary"),
        Measurement("blocks.read", 20.0, "standby1"),
    )
    measured, gaps = cost(whole, replace(SPEC, loads=loads))
    assert measured == {("blocks.read.per_transaction", "primary"): 2.0}
    assert gaps == ["standby1"]


def test_sets_of_clients_that_were_equally_fast_all_count() -> None:
    loads = tuple(Load(f"set{n}", "client", "standby1" if n < 3 else "standby2") for n in (1, 2, 3))
    counts = [Measurement("transactions", 10.0, load.name) for load in loads]
    measured, _ = cost(
        part(Measurement("transactions", 30.0), *counts, Measurement("wal.bytes", 40.0, "standby1")),
        replace(SPEC, loads=loads),
    )
    assert measured[WAL, "standby1"] == 2.0


def test_machines_of_a_failover() -> None:
    whole = part(
        Measurement("transactions", 40.0),
        Measurement("transactions", 10.0, "primary"),
        Measurement("transactions", 30.0, "standby1"),
        *(Measurement("cpu.busy", 50.0, node) for node in SPEC.agents),
        events=(Event(2.0, "standby1", "promoted", ""),),
    )
    measured, gaps = cost(whole, SPEC)
    assert [measured[CPU, node] for node in ("client", "primary", "standby2")] == [1e5, 4e5, 4e5]
    assert gaps == ["standby1"]


def test_a_pooler_passed_on_the_transactions_of_both_servers_of_a_failover() -> None:
    pooled = replace(
        SPEC,
        topology="pgpool",
        loads=(Load("pooler", "client", "pooler"),),
        poolers=("pooler",),
        agents={**SPEC.agents, "pooler": "p"},
    )
    counted = [Measurement("transactions", n, node) for n, node in ((40.0, ""), (10.0, "primary"), (30.0, "standby1"))]
    promoted = Event(2.0, "standby1", "promoted", "")

    def measured(node: str, agent: str) -> tuple[dict[tuple[str, str], float], list[str]]:
        """CPU of the machine of a node, with the pooler on this agent."""
        whole = part(*counted, Measurement("cpu.busy", 50.0, node), events=(promoted,))
        return cost(whole, replace(pooled, agents={**pooled.agents, "pooler": agent}))

    assert measured("pooler", "p") == ({(CPU, "pooler"): 1e5}, [])
    assert measured("primary", "p") == ({(CPU, "primary"): 4e5}, [])
    # beside a server: the pooler's work is for all, the server's for its own
    assert measured("primary", "a") == ({}, ["primary"])
    assert measured("standby2", "d") == ({}, ["standby2"])


def test_endpoints_of_one_cluster_work_for_each_others_transactions() -> None:
    outside = replace(SPEC, loads=LOADS, outside=("primary", "standby1", "standby2"))
    counted = [Measurement("transactions", n, node) for n, node in ((40.0, ""), (10.0, "standby1"), (30.0, "standby2"))]
    whole = part(*counted, *(Measurement("wal.bytes", 600.0, node) for node in ("standby1", "standby2")))
    assert cost(whole, outside) == ({}, ["standby1", "standby2"])
    one = replace(outside, loads=LOADS[:1])
    assert cost(part(counted[0], Measurement("wal.bytes", 600.0, "standby1")), one) == ({(WAL, "standby1"): 15.0}, [])


def test_a_gap_says_so_where_nobody_knows_who_acknowledged_what() -> None:
    promoted = Event(2.0, "standby1", "promoted", "")
    whole = part(Measurement("transactions", 40.0), Measurement("blocks.read", 60.0, "standby2"), events=(promoted,))
    manifest = Manifest("1/1", 1, "1", 0, 9, SPEC.to_json(), window=(1, 5))
    measured, [gap] = costs(whole, manifest, SPEC)
    assert measured == []
    assert gap.reason == ("blocks.read.per_transaction: how many transactions each server acknowledged is not known")


def test_what_processes_did_is_divided_by_the_transactions_of_their_server_or_client() -> None:
    whole = part(
        Measurement("transactions", 40.0),
        Measurement("transactions", 30.0, "standby1"),
        Measurement("transactions", 10.0, "standby2"),
        *(Measurement("perf_stat.instructions", 600.0, node) for node in ("client", "standby1", "standby2")),
    )
    measured, gaps = cost(whole, replace(SPEC, loads=LOADS))
    name = "perf_stat.instructions.per_transaction"
    assert [measured[name, node] for node in ("client", "standby1", "standby2")] == [15.0, 20.0, 60.0]
    assert gaps == []


def test_what_the_processes_of_a_promoted_server_did_is_not_told_apart() -> None:
    whole = part(
        Measurement("transactions", 40.0),
        Measurement("transactions", 30.0, "primary"),
        Measurement("transactions", 10.0, "standby1"),
        *(Measurement("perf_stat.instructions", 600.0, node) for node in ("primary", "standby1")),
        events=(Event(2.0, "standby1", "promoted", ""),),
    )
    measured, gaps = cost(whole, SPEC)
    assert measured == {("perf_stat.instructions.per_transaction", "primary"): 20.0}
    assert gaps == ["standby1"]
