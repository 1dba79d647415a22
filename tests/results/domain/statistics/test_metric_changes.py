"""What moved with a difference."""

from __future__ import annotations

from dataclasses import replace

import pytest

from results.domain.measurement.metrics import Better, Metric
from results.domain.measurement.one_fact import is_closed_loop
from results.domain.statistics.change_sentence import main_node, sentence
from results.domain.statistics.metric_changes import (
    MeasuredTrial,
    MetricChange,
    State,
    Trials,
    rest,
    work_of,
)
from results.domain.statistics.verdict import Kind
from tests.quantities import changes, two_sides

METRICS = {
    name: Metric(name, unit, better, name)
    for name, unit, better in (
        ("tps", "tps", Better.HIGHER),
        ("latency.p99", "us", Better.LOWER),
        ("transactions", "1", Better.NEITHER),
        ("ssb.executions", "1", Better.NEITHER),
        ("ssb.jit.seconds", "s", Better.LOWER),
        ("cpu.busy", "%", Better.NEITHER),
        ("wal.bytes", "B", Better.LOWER),
        ("blocks.read", "1", Better.LOWER),
        ("disk.write", "B/s", Better.NEITHER),
        ("waits", "1", Better.NEITHER),
    )
}
SPREADS = (0.998, 1.0, 1.001, 0.999, 1.002)


def side(first_trial: int = 1, seconds: float | None = 10.0, **values: float) -> list[MeasuredTrial]:
    """Five replicates, each value a little apart. Names with __ for dots; `metric__at__node__label` where it is not of
    the primary and of the whole."""
    violations = []
    for block, spread in enumerate(SPREADS, 1):
        value_of = {}
        for name, value in values.items():
            metric, _, place = name.partition("__at__")
            node, _, label = place.partition("__")
            value_of[metric.replace("__", "."), node or "primary", label.replace("_", ": ")] = value * spread
        violations.append(MeasuredTrial(first_trial + block, (1, block), seconds, {"primary": 4}, value_of))
    return violations


def of(measured: tuple[MetricChange, ...], name: str) -> MetricChange:
    (one,) = [change for change in measured if change.name == name]
    return one


def test_cpu_per_transaction_is_the_busy_processors_time_by_the_transactions() -> None:
    base = side(cpu__busy=50.0, transactions=10_000.0)
    other = side(9, cpu__busy=54.0, transactions=10_000.0)
    cpu = of(changes(base, other, METRICS), "cpu")
    assert cpu.base_median == pytest.approx(0.5 * 4 * 10 * 1e6 / 10_000)
    assert cpu.ratio == pytest.approx(1.08)
    assert (cpu.state, cpu.formula) == (State.MOVED, "cpu.busy / 100 × processors × seconds / transactions")
    assert [value.trial_id for value in cpu.other] == [10, 11, 12, 13, 14]


def test_a_rate_becomes_the_whole_windows_and_a_total_is_divided_as_it_is() -> None:
    values = {"transactions": 1000.0, "disk__write__at__primary__vda": 5e5, "wal__bytes": 3e6}
    measured = changes(side(**values), side(9, **values), METRICS)
    assert of(measured, "disk.write").base_median == pytest.approx(5e5 * 10 / 1000)
    assert of(measured, "wal").base_median == pytest.approx(3000)


def test_without_a_count_of_transactions_the_work_is_a_query_or_the_trial() -> None:
    assert work_of(side(transactions=5.0)).noun == "transaction"
    assert work_of(side(ssb__executions=13.0)).noun == "query"
    assert work_of(side(wal__bytes=13.0)).noun == "trial"
    (row,) = changes(side(wal__bytes=100.0), side(wal__bytes=100.0), METRICS)
    assert (row.label, row.formula, row.base_median) == ("WAL per trial", "wal.bytes", pytest.approx(100))


def test_the_sentence_tells_what_moved_from_what_did_not_and_what_is_open() -> None:
    base = side(transactions=1000.0, wal__bytes=3e6, cpu__busy=50.0, blocks__read=0.0, latency__p99__at__client=900.0)
    other = side(9, transactions=1000.0, wal__bytes=3.6e6, cpu__busy=50.0, blocks__read=0.0)
    noisy = [900.0, 1500.0, 700.0, 1300.0, 1000.0]
    other = [
        replace(one, values={**one.values, ("latency.p99", "client", ""): value})
        for one, value in zip(other, noisy, strict=True)
    ]
    text = sentence(changes(base, other, METRICS))
    assert [one.said for one in text.moved] == ["WAL"]
    assert [one.said for one in text.same] == ["CPU per transaction"]
    assert [one.said for one in text.open] == ["p99 latency"]
    assert [one.said for one in text.none] == ["blocks read"]
    (p99,) = text.open
    assert p99.verdict.low is not None and p99.verdict.high is not None and p99.reach is not None
    assert (1 + p99.reach) ** 2 == pytest.approx(p99.verdict.high / p99.verdict.low)


def test_what_moved_by_less_than_its_margin_moved_and_is_not_called_unchanged() -> None:
    base = side(transactions=1000.0, wal__bytes=3e6, cpu__busy=50.0)
    other = side(9, transactions=1000.0, wal__bytes=3.03e6, cpu__busy=50.0)
    measured = changes(base, other, METRICS)
    wal = of(measured, "wal")
    assert (wal.verdict.kind, wal.verdict.excludes_one, wal.state) == (Kind.SAME, True, State.SMALL)
    text = sentence(measured)
    assert [one.said for one in text.small] == ["WAL"]
    assert [one.said for one in text.same] == ["CPU per transaction"]
    assert measured[0] == wal


def test_an_interval_that_excludes_1_only_before_the_correction_leaves_it_undecided() -> None:
    values = [1.0, 1.03, 1.01]
    base, other = (
        [MeasuredTrial(first + i, (1, i), 10.0, {}, {("latency.p99", "", ""): 1000 * factor * v}) for i, v in order]
        for first, factor, order in ((1, 1.0, enumerate(values)), (9, 1.06, enumerate(values[::-1])))
    )
    (p99,) = changes(base, other, METRICS)
    corrected = replace(p99, verdict=replace(p99.verdict, kind=Kind.TOO_FEW, low=1.01, high=1.1, adjusted=0.08))
    assert (corrected.state, corrected.moved) == (State.OPEN, False)
    assert replace(corrected, verdict=replace(corrected.verdict, adjusted=0.04)).state is State.SMALL


def test_what_moved_comes_first_the_greatest_before_the_others() -> None:
    base = side(transactions=1000.0, cpu__busy=50.0, wal__bytes=3e6, blocks__read=100.0)
    other = side(9, transactions=1000.0, cpu__busy=50.0, wal__bytes=3.3e6, blocks__read=300.0)
    assert [one.name for one in changes(base, other, METRICS)][:3] == ["blocks.read", "wal", "cpu.busy"]


def test_what_moved_and_has_no_name_in_the_sentence_is_counted_in_it() -> None:
    base, other = side(transactions=1000.0, wal__records=100.0), side(9, transactions=1000.0, wal__records=150.0)
    metrics = METRICS | {"wal.records": Metric("wal.records", "1", Better.LOWER, "wal.records")}
    text = sentence(changes(base, other, metrics))
    assert (text.moved, text.unnamed) == ((), 1)


LATENCIES = METRICS | {
    name: Metric(name, "us", Better.LOWER, name) for name in ("latency.mean", "latency.p50", "latency.p99")
}


def one_tenth_slower() -> tuple[list[MeasuredTrial], list[MeasuredTrial]]:
    """Clients whose throughput fell as their latencies rose."""
    base = side(tps=1000.0, latency__mean=1000.0, latency__p50=900.0, latency__p99=3000.0)
    return base, side(9, tps=900.0, latency__mean=1111.1, latency__p50=1000.0, latency__p99=3000.0)


@pytest.mark.parametrize(("metric", "other_name"), [("tps", "latency.mean"), ("latency.mean", "tps")])
def test_throughput_and_mean_latency_of_a_closed_loop_are_one_fact(metric: str, other_name: str) -> None:
    measured = changes(*one_tenth_slower(), LATENCIES, apart=metric, closed_loop=True)
    assert of(measured, other_name).same_fact_as == metric
    text = sentence(measured, metric)
    assert [one.name for one in text.same_fact] == [other_name, "latency.p50"]
    assert (text.moved, text.unnamed) == ((), 0)
    assert [one.said for one in text.same] == ["p99 latency"]


def test_of_another_metric_of_a_closed_loop_throughput_is_told_and_no_latency_beside_it() -> None:
    measured = changes(*one_tenth_slower(), LATENCIES, apart="wal.bytes", closed_loop=True)
    assert {one.name: one.same_fact_as for one in measured if one.same_fact_as} == {"latency.mean": "tps"}
    text = sentence(measured, "wal.bytes")
    assert ([one.said for one in text.moved], text.same_fact) == (["throughput"], ())


def test_at_a_given_rate_latency_is_a_finding_of_its_own() -> None:
    measured = changes(*one_tenth_slower(), LATENCIES, apart="tps")
    assert not any(one.same_fact_as for one in measured)
    assert {one.said for one in sentence(measured, "tps").moved} == {"mean latency", "median latency"}


@pytest.mark.parametrize(
    ("parameters", "closed"),
    [
        ({"clients": 4, "rate": 0, "connect": False}, True),
        ({"clients": 4}, True),
        ({"clients": 4, "rate": 500.0}, False),
        ({"clients": 4, "connect": True}, False),
    ],
)
def test_clients_are_in_a_closed_loop_unless_they_keep_a_rate_or_connect(
    parameters: dict[str, float], closed: bool
) -> None:
    assert is_closed_loop(parameters) is closed


def test_the_sentence_tells_of_the_time_that_jit_took_where_only_one_side_compiled() -> None:
    base, other = side(ssb__jit__seconds=0.0, cpu__busy=50.0), side(9, ssb__jit__seconds=8.0, cpu__busy=50.0)
    text = sentence(changes(base, other, METRICS))
    assert "compiling (JIT)" in [one.said for one in (*text.moved, *text.open)]


def test_what_is_not_comparable_is_shown_and_not_judged() -> None:
    base, other = side(transactions=1000.0, wal__bytes=3e6), side(9, transactions=1000.0, wal__bytes=6e6)
    text = sentence(changes(base, other, METRICS, comparable=False))
    assert [one.said for one in text.withheld] == ["WAL"]
    assert not text.moved


def test_the_metric_of_the_comparison_is_not_judged_a_second_time() -> None:
    values = {"transactions": 1000.0, "tps__at__client": 100.0}
    assert "tps" in [one.name for one in changes(side(**values), side(**values), METRICS)]
    assert "tps" not in [one.name for one in changes(side(**values), side(**values), METRICS, apart="tps")]


def test_waits_are_shares_of_all_that_was_sampled_and_rare_kinds_are_left_out() -> None:
    values = {"waits__at__primary__CPU_running": 3.0, "waits__at__primary__Lock_tuple": 0.6}
    values |= {"waits__at__primary__Lock_transactionid": 0.4, "waits__at__primary__IO_DataFileRead": 0.01}
    replicates = side(**values)
    assert replicates[0].wait_shares["primary", "Lock"] == pytest.approx(100 / 4.01)
    assert side(transactions=1.0)[0].wait_shares == {}
    labels = [one.label for one in changes(replicates, replicates, METRICS)]
    assert labels == ["Sessions' time: running", "Sessions' time: waiting for locks"]


def test_the_sentence_is_of_the_primary_and_of_one_disk_only() -> None:
    values = {"transactions": 1000.0, "wal__bytes": 3e6, "wal__bytes__at__standby": 3e6}
    one_disk = {"disk__write__at__primary__vda": 5e5}
    measured = changes(side(**values, **one_disk), side(**values, **one_disk), METRICS)
    assert [(one.said, one.node) for one in sentence(measured).same] == [("WAL", "primary"), ("disk writes", "primary")]
    two = one_disk | {"disk__write__at__primary__vdb": 1e5}
    measured = changes(side(**values, **two), side(**values, **two), METRICS)
    assert [one.said for one in sentence(measured).same] == ["WAL"]
    assert [one.part for one in measured if one.name == "disk.write"] == ["vda", "vdb"]


def test_the_main_node_is_the_primary_else_the_whole_else_a_server() -> None:
    assert main_node(["client", "primary", ""]) == "primary"
    assert main_node(["client", "coordinator"]) == "coordinator"
    assert main_node(["client", ""]) == ""


def test_the_rest_is_every_number_of_both_that_is_not_zero_the_resolved_first() -> None:
    base = side(transactions=1000.0, wal__bytes=3e6, blocks__read=0.0, cpu__busy=50.0)
    other = side(9, transactions=1000.0, wal__bytes=3.3e6, blocks__read=0.0, latency__p99=9.0)
    trials = Trials(base, other, [*base, *other], METRICS)
    measured = rest(trials, two_sides(trials))
    assert [(one.name, one.state) for one in measured] == [("wal.bytes", State.MOVED), ("transactions", State.SAME)]


def test_nothing_in_common_is_nothing_to_judge() -> None:
    assert changes(side(wal__bytes=1.0), side(cpu__busy=1.0), METRICS) == ()
    assert changes(side(seconds=None, cpu__busy=1.0), side(seconds=None, cpu__busy=1.0), METRICS)[0].name == "cpu.busy"


def test_transactions_that_are_counted_by_client_as_well_count_once() -> None:
    counts = {
        "transactions__at__everywhere": 10_000.0,
        "transactions__at__client": 6_000.0,
        "transactions__at__client2": 4_000.0,
    }
    base, other = (counted_at_all(side(first, cpu__busy=50.0, **counts)) for first in (1, 9))
    cpu = of(changes(base, other, METRICS), "cpu")
    assert cpu.base_median == pytest.approx(0.5 * 4 * 10 * 1e6 / 10_000, rel=0.01)


def test_where_several_servers_had_parts_a_nodes_costs_are_those_told_apart() -> None:
    values = {
        **{f"transactions__at__{at}": n for at, n in (("everywhere", 1e4), ("primary", 2e3), ("standby1", 8e3))},
        "wal.bytes": 1e6,
        "wal.per_transaction": 500.0,
        "wal.records": 1e5,
    }
    metrics = METRICS | {name: Metric(name, "1", Better.LOWER, name) for name in ("wal.per_transaction", "wal.records")}
    base, other = (counted_at_all(side(first, **values)) for first in (1, 9))
    measured = changes(base, other, metrics)
    assert of(measured, "wal").base_median == pytest.approx(500, rel=0.01)
    assert not [change for change in measured if change.name == "wal.records"]


def test_a_pooler_that_had_all_transactions_is_no_part_of_them() -> None:
    counts = {f"transactions__at__{at}": 1e4 for at in ("everywhere", "pooler")}
    base, other = (counted_at_all(side(first, **counts, **{"wal.bytes": 1e6})) for first in (1, 9))
    assert of(changes(base, other, METRICS), "wal").base_median == pytest.approx(100, rel=0.01)


def counted_at_all(replicates: list[MeasuredTrial]) -> list[MeasuredTrial]:
    """`transactions` filed under 'everywhere' are those of the whole trial."""
    return [
        replace(one, values={(m, "" if n == "everywhere" else n, label): v for (m, n, label), v in one.values.items()})
        for one in replicates
    ]
