"""Every choice of a comparison: percentiles, baselines, divisors, filters, and what is odd in the numbers."""

from __future__ import annotations

import math
from typing import Any

import pytest

from results import models
from results.domain.environment.layers import Layer, LayerKind
from results.domain.errors import TeitenError
from results.domain.measurement.histogram import Histogram
from results.queries.comparison.compare import compare
from results.queries.shared.selection import Selection
from tests import factories
from tests.environments import replace_layers

pytestmark = pytest.mark.django_db
SCRIPTS = ["select-only", "tpcb-like"]


def measurements(run: models.Run, **chosen: Any) -> Any:
    return models.Measurement.objects.filter(run=run, metric="tps", **chosen)


def of_series(name: str) -> dict[str, Any]:
    return {"attempt__trial__configuration__dimensions__installation": name}


@pytest.mark.parametrize("percent", ["0.1", "5", "50", "94.9", "99.5", "99.99"])
def test_any_percentile_is_that_of_the_exact_latencies(percent: str) -> None:
    made = factories.finished_run(replicates=1, factors={}, installation="16")
    models.Histogram.objects.update(latencies_us=[400, 500, 900], counts=[5, 90, 5])
    (point,) = compare(Selection((made.pk,), x="clients", series="", metric=f"latency.p{percent}", label="")).points
    assert point.value == Histogram((400, 500, 900), (5, 90, 5)).percentile_us(float(percent))


def test_latencies_of_several_clients_are_taken_together() -> None:
    made = factories.finished_run(replicates=1, factors={}, installation="16")
    attempt = models.Attempt.objects.get(run=made)
    models.Histogram.objects.create(
        run=made,
        attempt=attempt,
        node="second",
        label="",
        latencies_us=[500, 5000],
        counts=[10, 100],
        heat_seconds=[],
        heat_buckets=[],
        heat_counts=[],
    )
    comparison = compare(Selection((made.pk,), x="clients", series="", metric="latency.p49"))
    assert [(point.value, comparison.metric.unit, comparison.metric.better) for point in comparison.points] == [
        (500, "us", "lower")
    ]
    assert compare(Selection((made.pk,), series="", metric="latency.p53")).points[0].value == 5000


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("latency.p100", "no percentile 100"),
        ("latency.p0", "no percentile 0"),
        ("latency.pNaN", "no metric"),
        ("latency.p-3", "no metric"),
    ],
)
def test_a_percentile_that_cannot_be_is_refused_in_words(name: str, what: str) -> None:
    made = factories.finished_run(replicates=1)
    with pytest.raises(TeitenError, match=what):
        compare(Selection((made.pk,), metric=name))


def test_a_percentile_of_runs_without_latencies_says_how_to_have_them() -> None:
    made = factories.finished_run(replicates=1)
    models.Measurement.objects.filter(metric="latency.p99").delete()
    with pytest.raises(TeitenError, match="not known of these runs") as raised:
        compare(Selection((made.pk,), metric="latency.p99.5"))
    assert "latency_log" in raised.value.todo


@pytest.mark.parametrize(("statistic", "value"), [("median", 1001.5), ("mean", 1001.5), ("min", 1001), ("max", 1002)])
def test_each_statistic(statistic: str, value: float) -> None:
    made = factories.finished_run()
    assert compare(Selection((made.pk,), statistic=statistic)).points[0].value == value


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_in_no_cell_and_counted(odd: float) -> None:
    made = factories.finished_run()
    one = measurements(made).earliest("pk")
    measurements(made, pk=one.pk).update(value=odd)
    comparison = compare(Selection((made.pk,)))
    assert sum(point.n for point in comparison.points) == 7
    assert comparison.excluded["without"] == 1
    assert all(math.isfinite(point.value) for point in comparison.points)


def test_a_baseline_of_zero_gives_no_ratio_and_zeros_stay_in_the_table() -> None:
    made = factories.finished_run()
    measurements(made, **of_series("postgresql-16.9")).update(value=0)
    comparison = compare(Selection((made.pk,)))
    assert [(point.value, point.ratio) for point in comparison.points] == [
        (0, None),
        (0, None),
        (1126.5, None),
        (4501.5, None),
    ]
    assert comparison.summaries == ()


def test_per_transaction_divides_by_the_trials_own_count() -> None:
    made = factories.finished_run(replicates=1)
    models.Metric.objects.create(name="transactions", unit="1", better="higher", label="", minimum_effect=0.02)
    counted = list(models.Attempt.objects.filter(run=made))[1:]
    models.Measurement.objects.bulk_create(
        models.Measurement(run=made, attempt=a, metric_id="transactions", node="", label="", value=10) for a in counted
    )
    comparison = compare(Selection((made.pk,), metric="tps", per="transaction"))
    assert len(comparison.points) == 3
    assert comparison.excluded["without"] == 1
    whole = {point.key: point.value for point in compare(Selection((made.pk,), metric="tps")).points}
    assert [point.value for point in comparison.points] == [whole[point.key] / 10 for point in comparison.points]


@pytest.mark.parametrize(
    ("parts", "known"),
    [
        ({"client": 5, "client2": 5}, True),
        ({"primary": 5, "standby1": 5}, False),
        ({"primary": 10, "standby1": 500}, False),  # reads beside the workload
        ({"pooler": 10}, True),
        ({"standby1": 10}, True),
    ],
)
def test_per_transaction_counts_those_of_several_loads_once(parts: dict[str, int], known: bool) -> None:
    made = factories.finished_run(replicates=1)
    for name in ("transactions", "wal.bytes"):
        models.Metric.objects.create(name=name, unit="1", better="higher", label="", minimum_effect=0.02)
    rows = [
        ("transactions", "", 10),
        *(("transactions", node, n) for node, n in parts.items()),
        ("wal.bytes", "primary", 100),
    ]
    models.Measurement.objects.bulk_create(
        models.Measurement(run=made, attempt=attempt, metric_id=metric, node=node, label="", value=value)
        for attempt in models.Attempt.objects.filter(run=made)
        for metric, node, value in rows
    )
    whole = compare(Selection((made.pk,), metric="tps")).points
    by_trial = {
        point.key: point.value for point in compare(Selection((made.pk,), metric="tps", per="transaction")).points
    }
    assert by_trial == {point.key: point.value / 10 for point in whole}
    at_node = compare(Selection((made.pk,), metric="wal.bytes", per="transaction"))
    assert [point.value for point in at_node.points] == ([10.0] * 4 if known else [])
    assert at_node.excluded["without"] == (0 if known else 4)


def test_per_core_is_nothing_where_the_cores_are_not_known() -> None:
    made = factories.finished_run(replicates=1)
    comparison = compare(Selection((made.pk,), per="core"))
    assert (comparison.points, comparison.excluded["without"]) == ((), 4)


@pytest.mark.parametrize(
    ("host", "cores"),
    [
        ({}, 8),
        ({"zfs": "8K"}, 8),
        ({"cpus": {"list": "0,1"}}, 2),
        ({"cpus": {"lists": {"primary": "0,1,4,5"}}}, 4),
        ({"cpus": {"lists": {"client": "0"}}}, 8),
    ],
)
def test_per_core_counts_the_processors_that_the_primary_may_use(host: dict[str, Any], cores: int) -> None:
    made = factories.finished_run(replicates=1)
    hardware, factors = Layer(LayerKind.HARDWARE, {"cpu": {"usable": 8}}), Layer(LayerKind.HOST, host)
    attempts = models.Attempt.objects.filter(run=made)
    replace_layers(attempts, hardware=("primary", hardware), host=("client", factors))
    whole = {point.key: point.value for point in compare(Selection((made.pk,), metric="tps")).points}
    comparison = compare(Selection((made.pk,), metric="tps", per="core"))
    assert len(comparison.points) == 4
    assert [point.value for point in comparison.points] == [whole[point.key] / cores for point in comparison.points]


def test_nodes_may_be_the_series_and_be_filtered() -> None:
    made = factories.finished_run()
    comparison = compare(
        Selection((made.pk,), {"installation": ("postgresql-16.9",)}, metric="cpu.user", series="node")
    )
    assert [(p.series, p.value) for p in comparison.points if p.x == "1"] == [("client", 20), ("primary", 40)]
    only = compare(
        Selection(
            (made.pk,), {"installation": ("postgresql-16.9",), "node": ("primary",)}, metric="cpu.user", series="node"
        )
    )
    assert only.series == ("primary",)


def test_labels_may_be_the_axis_in_the_order_in_which_they_were_reported() -> None:
    made = factories.finished_run(factors={}, installation="16", replicates=1)
    attempt = models.Attempt.objects.get(run=made)
    for label in ("q1.2", "q1.1"):
        models.Measurement.objects.create(
            run=made, attempt=attempt, metric_id="tps", node="", label=label, value=len(label) + float(label[-1])
        )
    comparison = compare(Selection((made.pk,), {"label": ("q1.1", "q1.2")}, x="label", series=""))
    assert [(point.x, point.value) for point in comparison.points] == [("q1.2", 6), ("q1.1", 5)]
    assert comparison.mixed == ()


def test_a_value_says_how_many_trials_it_would_leave_given_the_other_filters() -> None:
    made = factories.finished_run(
        factors={"script": SCRIPTS, "clients": [1, 4], "installation": ["16", "18"]},
        exclude=[{"script": "tpcb-like", "clients": 4}],
    )
    comparison = compare(Selection((made.pk,), {"script": ("tpcb-like",)}))
    facets = {facet.name: facet.values for facet in comparison.facets}
    assert facets["clients"] == (("1", 4), ("4", 0))
    assert facets["script"] == (("select-only", 8), ("tpcb-like", 4))
    assert facets["installation"] == (("postgresql-16.9", 2), ("postgresql-18.1", 2))


def test_cells_without_a_counterpart_are_listed_on_either_side() -> None:
    made = factories.finished_run()
    measurements(made, value__in=(1001, 1002)).delete()
    (alone,) = compare(Selection((made.pk,))).unmatched
    assert (alone.x, alone.series, alone.lacks, alone.base) == (
        "1",
        "postgresql-18.1",
        "baseline",
        ("", "1", "postgresql-16.9"),
    )
    (waiting,) = compare(Selection((made.pk,), baseline="postgresql-18.1")).unmatched
    assert (waiting.x, waiting.series, waiting.lacks, waiting.base[2]) == (
        "1",
        "postgresql-16.9",
        "cell",
        "postgresql-18.1",
    )


def test_one_cell_of_another_panel_is_no_baseline_here() -> None:
    made = factories.finished_run(factors={"script": SCRIPTS, "clients": [1, 4], "installation": ["16", "18"]})
    cell = {"installation": "postgresql-16.9", "script": "tpcb-like", "clients": 1}
    measurements(made, attempt__trial__configuration__dimensions__contains=cell).delete()
    comparison = compare(Selection((made.pk,), panel="script", baseline="postgresql-16.9 at 1"))
    assert {point.panel for point in comparison.points if point.base} == {"select-only"}
    assert {row.panel for row in comparison.unmatched} == {"tpcb-like"}
    assert len(comparison.unmatched) == 3


def test_a_cell_that_is_not_there_is_no_baseline() -> None:
    made = factories.finished_run()
    with pytest.raises(TeitenError, match="No cell is called"):
        compare(Selection((made.pk,), baseline="postgresql-16.9 at 7"))


def test_a_single_line_is_held_against_one_of_its_own_cells() -> None:
    made = factories.finished_run(factors={"clients": [1, 4]}, installation="16")
    comparison = compare(Selection((made.pk,), series="", baseline="at 1"))
    assert [point.ratio for point in comparison.points] == pytest.approx([1, 4001.5 / 1001.5], rel=1e-6)


def test_a_summary_has_the_interval_of_its_blocks() -> None:
    made = factories.finished_run(replicates=5)
    base, other = compare(Selection((made.pk,))).summaries
    assert (base.low, base.high) == (None, None)
    assert other.low < other.ratio < other.high
    assert other.source == "blocks"


def test_a_replicate_that_stands_apart_is_named_and_counts() -> None:
    made = factories.finished_run(replicates=6)
    one = measurements(made, value=1003).get()
    measurements(made, pk=one.pk).update(value=9000)
    comparison = compare(Selection((made.pk,)))
    assert comparison.outliers == (one.attempt.trial_id,)
    assert comparison.points[0].n == 6
    assert comparison.points[0].maximum == 9000


def test_a_run_that_drifts_is_warned_of() -> None:
    made = factories.finished_run(replicates=6)
    for one in measurements(made).select_related("attempt__trial"):
        measurements(made, pk=one.pk).update(value=1000 * 1.01**one.attempt.trial.position)
    (warned,) = [row for row in compare(Selection((made.pk,))).warnings if row.kind == "drift"]
    assert warned.run_id == made.pk
    assert warned.change == pytest.approx(1.01 ** (len(made.trials.all()) - 1) - 1, rel=0.05)
    assert compare(Selection((factories.finished_run(replicates=6).pk,))).warnings == ()
