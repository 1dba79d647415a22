"""A trial's servers as rows with wires: places and words, without a browser."""

from __future__ import annotations

import math
from typing import Any

from results.domain.kinds.specs import PRIMARY, Role, RoleKind
from results.domain.measurement.series import Series
from webapp.charts.topology import HEIGHT, WIDTH, Drawing, draw
from workers.registry import kinds


def spec(*nodes: str, **changes: Any) -> dict[str, Any]:
    """One agent plays all roles, unless changed."""
    agents = dict.fromkeys(("client", *nodes), "db1") | changes.pop("agents", {})
    return {"agents": agents, "installation": {"version": "16.9"}, "parameters": {"clients": 4}} | changes


def streams(source: str, *targets: str, state: str = "async", actual: str = "streaming") -> list[dict[str, Any]]:
    passed = actual == "streaming"
    return [
        check
        for node in targets
        for check in (
            {"name": f"stream from {source}", "node": node, "actual": actual, "passed": passed},
            {"name": "synchronous state", "node": node, "actual": state, "passed": passed},
        )
    ]


def figure_of(
    *args: Any,
    series: tuple[Series, ...] = (),
    events: Any = (),
    duration_s: float | None = 4.0,
    roles: tuple[Role, ...] = (),
) -> Drawing:
    drawing = draw(args[0], args[1] if len(args) > 1 else (), series, events, duration_s, roles)
    assert drawing is not None
    return drawing


def series(name: str, node: str, *values: float, label: str = "") -> Series:
    return Series(name, node, "%", 0.5, 1, values, label)


def test_a_single_server_is_a_client_with_an_arrow_to_it() -> None:
    figure = figure_of(spec("primary"))
    assert [(row.name, row.program, row.agent) for row in figure.rows] == [
        ("client", "", "db1"),
        ("primary", "PostgreSQL 16.9", "db1"),
    ]
    assert [edge.text for edge in figure.rows[1].received] == ["load from client (4 clients)"]
    assert [bool(wire.tip) for wire in figure.rows[1].wires] == [False, True]
    assert figure.looks == ("load",)


def test_a_trial_without_agents_is_not_drawn() -> None:
    assert draw({"parameters": {}}, (), (), (), None) is None


def test_servers_follow_the_one_they_stream_from_in_the_order_of_their_numbers() -> None:
    standbys = [f"standby{number}" for number in (10, 2, 1)]
    checks = [*streams("cascade", *standbys), *streams("primary", "cascade")]
    figure = figure_of(spec("cascade", *standbys, "primary"), checks)
    assert [row.name for row in figure.rows] == [
        "client",
        "primary",
        "cascade",
        "standby1",
        "standby2",
        "standby10",
    ]


def test_a_lane_ends_at_the_last_node_and_is_used_again() -> None:
    checks = [*streams("primary", "cascade"), *streams("cascade", "standby1", "standby2")]
    chain = figure_of(spec("primary", "cascade", "standby1", "standby2"), checks)
    assert {wire.x1 for row in chain.rows for wire in row.wires} == {8}, "no two lanes are needed at once"
    loads = [{"name": n, "client": "client", "server": n} for n in ("primary", "standby1")]
    both = figure_of(spec("primary", "standby1", loads=loads), streams("primary", "standby1"))
    assert {wire.x1 for row in both.rows for wire in row.wires} == {8, 22}
    last = both.rows[-1].wires
    assert "100%" not in {wire.y2 for wire in last}, "nothing goes on below the last node"
    assert len([wire for wire in last if wire.tip]) == 2


def test_wires_meet_from_row_to_row() -> None:
    checks = streams("primary", *(f"standby{n}" for n in range(1, 5)))
    figure = figure_of(spec("primary", *(f"standby{n}" for n in range(1, 5))), checks)
    for above, below in zip(figure.rows, figure.rows[1:], strict=False):
        going = {wire.x1 for wire in above.wires if wire.y2 == "100%"}
        coming = {wire.x1 for wire in below.wires if wire.x1 == wire.x2 and wire.y1 == "0"}
        assert going == coming


def test_a_stream_says_its_state_and_a_broken_one_that_it_is() -> None:
    nodes = spec("primary", "standby1", "standby2")
    checks = [*streams("primary", "standby1", state="quorum"), *streams("primary", "standby2", actual="none")]
    one, two = figure_of(nodes, checks).rows[2:]
    assert [(edge.look, edge.text) for edge in one.received] == [("sync", "stream from primary: streaming, quorum")]
    assert [edge.look for edge in two.received] == ["broken"]


def test_shards_are_reached_by_queries_from_the_primary() -> None:
    checks = [
        {"name": "queries from primary", "node": node, "actual": "1 foreign partition", "passed": True}
        for node in ("shard2", "shard1")
    ]
    figure = figure_of(spec("primary", "shard1", "shard2"), checks)
    assert [row.name for row in figure.rows] == ["client", "primary", "shard1", "shard2"]
    assert [(edge.source, edge.look, edge.text) for row in figure.rows[2:] for edge in row.received] == [
        ("primary", "queries", "queries from primary: 1 foreign partition")
    ] * 2
    assert all(any(wire.tip for wire in row.wires) for row in figure.rows[2:])
    assert figure.looks == ("load", "queries")


def test_what_stands_before_the_servers_sends_them_their_queries() -> None:
    checks = [{"name": "queries from pooler", "node": n, "actual": "up", "passed": True} for n in ("primary", "node2")]
    loads = [{"name": "primary", "client": "client", "server": "pooler"}]
    roles = kinds().topologies["pgpool"].roles
    figure = figure_of(spec("primary", "node2", "pooler", poolers=["pooler"], loads=loads), checks, roles=roles)
    assert [(row.name, row.program) for row in figure.rows] == [
        ("client", ""),
        ("pooler", "pgpool-II"),
        ("primary", "PostgreSQL 16.9"),
        ("node2", "PostgreSQL 16.9"),
    ]
    assert [[edge.source for edge in row.received] for row in figure.rows] == [[], ["client"], ["pooler"], ["pooler"]]


def test_a_node_is_called_by_what_plays_its_role() -> None:
    roles = (PRIMARY, Role("etcd", RoleKind.SERVICE, "etcd 3"))
    nodes = spec("primary", "etcd1", services=["etcd1"])
    checks = [{"name": "lease from etcd1", "node": "primary", "actual": "held", "passed": True}]
    figure = figure_of(nodes, checks, roles=roles)
    assert [(row.name, row.program) for row in figure.rows] == [
        ("client", ""),
        ("etcd1", "etcd 3"),
        ("primary", "PostgreSQL 16.9"),
    ]
    assert [(edge.look, edge.text) for edge in figure.rows[2].received][1:] == [("control", "lease from etcd1: held")]
    unknown = figure_of(nodes, checks)
    assert {row.name: row.program for row in unknown.rows}["etcd1"] == "etcd", "of a topology that is not here"


def test_reads_beside_the_workload_are_called_so() -> None:
    load = {"name": "standby1", "client": "client", "server": "standby1", "clients": 1, "workload": False}
    row = figure_of(spec("primary", "standby1", loads=[load])).rows[-1]
    assert [edge.text for edge in row.received] == ["reads from client (1 client, select-only)"]


def test_processors_and_disks_are_shown_once_for_a_machine() -> None:
    figure = figure_of(
        spec("primary", "standby1", "standby2", agents={"standby2": "db2"}),
        streams("primary", "standby1", "standby2"),
        series=(
            series("cpu.busy", "primary", 10, 30),
            series("cpu.busy", "standby2", 50, 70),
            series("disk.utilisation", "primary", 5, 80, label="sda"),
            series("disk.utilisation", "primary", 20, 10, label="sdb"),
        ),
    )
    assert [(row.name, row.machine) for row in figure.rows] == [
        ("client", "primary"),
        ("primary", ""),
        ("standby1", "primary"),
        ("standby2", ""),
    ]
    assert [(track.title, track.summary) for track in figure.rows[1].tracks] == [
        ("CPU busy", "mean 20 %, at most 30 %"),
        ("busiest of 2 disks", "mean 50 %, at most 80 %"),
    ]
    assert figure.shared


def test_a_machine_is_shown_at_its_first_server_wherever_its_numbers_are_filed() -> None:
    busy = (series("cpu.busy", "standby1", 10, 30), series("cpu.busy", "client", 1, 1))
    figure = figure_of(spec("primary", "standby1", agents={"client": "load1"}), series=busy)
    assert [(row.name, len(row.tracks), row.machine) for row in figure.rows] == [
        ("client", 1, ""),
        ("primary", 1, ""),
        ("standby1", 0, "primary"),
    ]


def test_lag_has_one_scale_and_goes_on_after_the_load() -> None:
    lags = (
        Series("replication.lag_bytes", "standby1", "B", 1, 0.0, (100.0, 50.0, 0.0), times_s=(1.0, 3.0, 5.0)),
        Series("replication.lag_bytes", "standby2", "B", 1, 0.0, (400.0, math.nan, 9000.0), times_s=(1.0, 3.0, 5.0)),
    )
    figure = figure_of(spec("primary", "standby1", "standby2"), series=lags)
    one, two = (row.tracks[0] for row in figure.rows[2:])
    assert figure.scale == "8.789 kB"
    assert figure.end_x == WIDTH * 4 / 5
    assert one.summary == "mean 75 B, at most 100 B", "of the window alone"
    assert two.line.count("M") == 2, "a gap is no line"
    assert f"L{WIDTH} {HEIGHT}" in one.line
    assert [tick.text for tick in figure.ticks] == ["0 s", "1 s", "2 s", "3 s", "4 s", "5 s"]


def test_events_are_marks_where_they_happened_and_spans_as_long() -> None:
    events = [
        {"at_s": 1.0, "kind": "checkpoint", "node": "primary", "text": "checkpoint starting: time"},
        {"at_s": 2.0, "kind": "checkpoint", "node": "primary", "text": "checkpoint complete: wrote 1 buffers"},
        {"at_s": 9.0, "kind": "error", "node": "primary", "text": "after the end"},
    ]
    figure = figure_of(spec("primary"), series=(series("cpu.busy", "primary", 1, 2),), events=events)
    assert [(mark.x, mark.width) for mark in figure.marks] == [(WIDTH / 4, WIDTH / 4)]
    assert figure_of(spec("primary"), events=events).marks == (), "without an axis there is no place for them"


def test_a_long_trial_is_thinned() -> None:
    figure = figure_of(spec("primary"), series=(series("cpu.busy", "primary", *[50.0] * 86400),), duration_s=86400.0)
    assert figure.rows[1].tracks[0].line.count("L") < 300
    assert len(figure.ticks) <= 7
