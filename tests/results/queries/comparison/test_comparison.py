from __future__ import annotations

from statistics import mean, median
from typing import Any

import pytest

from results import models
from results.domain.errors import TeitenError
from results.queries.comparison.compare import compare
from results.queries.shared.configurations import configurations
from results.queries.shared.facets import facets, metrics_of
from results.queries.shared.ordering import sorted_levels
from results.queries.shared.selection import Selection
from tests import factories

pytestmark = pytest.mark.django_db
TUNING = [
    {"label": "small", "values": {"setting.work_mem": "4MB"}},
    {"label": "large", "values": {"setting.work_mem": "64MB", "setting.jit": "off"}},
]


def test_the_first_choice_is_a_line_an_installation_over_the_numbers_of_clients(
    django_assert_num_queries: Any,
) -> None:
    made = factories.finished_run()
    with django_assert_num_queries(5):
        comparison = compare(Selection((made.pk,)))
    assert (comparison.selection.x, comparison.selection.series, comparison.selection.metric) == (
        "clients",
        "installation",
        "tps",
    )
    assert (comparison.xs, comparison.series) == (("1", "4"), ("postgresql-16.9", "postgresql-18.1"))
    assert [(p.series[-4:], p.x, p.median, p.n) for p in comparison.points] == [
        ("16.9", "1", 1001.5, 2),
        ("16.9", "4", 4001.5, 2),
        ("18.1", "1", 1126.5, 2),
        ("18.1", "4", 4501.5, 2),
    ]
    assert [p.ratio for p in comparison.points] == pytest.approx([1, 1, 1126.5 / 1001.5, 4501.5 / 4001.5], rel=1e-6)
    assert (comparison.mixed, comparison.excluded) == (
        (),
        dict.fromkeys(("failed", "cancelled", "waiting", "running", "without"), 0),
    )
    assert comparison.metric.better == "higher"


def test_the_number_of_queries_does_not_depend_on_the_number_of_trials(django_assert_num_queries: Any) -> None:
    ids = tuple(
        factories.finished_run(replicates=5, factors={"clients": [1, 2, 4, 8]}, installation="16").pk for _ in "12"
    )
    with django_assert_num_queries(5):
        comparison = compare(Selection(ids))
    assert sum(point.n for point in comparison.points) == 40


def test_a_cell_is_the_plain_summary_of_its_replicates() -> None:
    made = factories.run(factors={}, installation="16", replicates=4)
    values = [100.0, 130.0, 110.0, 190.0]
    for trial, value in zip(made.trials.all(), values, strict=True):
        factories.finish(trial, value)
    (point,) = compare(Selection((made.pk,), x="clients", series="")).points
    assert (point.median, point.mean, point.minimum, point.maximum) == (median(values), mean(values), 100.0, 190.0)
    assert sorted(replicate.value for replicate in point.values) == sorted(values)
    assert {replicate.trial_id for replicate in point.values} == set(made.trials.values_list("pk", flat=True))
    assert (point.series, point.ratio, point.configurations) == ("", None, 1)


def test_the_baseline_is_chosen_and_ratios_follow() -> None:
    made = factories.finished_run()
    comparison = compare(Selection((made.pk,), baseline="postgresql-18.1"))
    assert {p.ratio for p in comparison.points if p.series == "postgresql-18.1"} == {1.0}
    assert comparison.first.baseline == "postgresql-16.9"


def test_a_cell_that_mixes_configurations_says_what_varies() -> None:
    made = factories.finished_run()
    comparison = compare(Selection((made.pk,), series=""))
    assert {point.configurations for point in comparison.points} == {2}
    assert set(comparison.mixed) == {"installation", "version", "major"}
    filtered = compare(Selection((made.pk,), {"installation": ("postgresql-16.9",)}, series=""))
    assert (filtered.mixed, {point.n for point in filtered.points}) == ((), {2})


def test_an_absent_dimension_is_mixed_with_a_set_one() -> None:
    plain = factories.finished_run(factors={}, installation="16")
    tuned = factories.finished_run(factors={}, installation="16", settings={"work_mem": "64MB"})
    comparison = compare(Selection((plain.pk, tuned.pk), x="clients", series=""))
    assert comparison.mixed == ("setting.work_mem",)
    apart = compare(Selection((plain.pk, tuned.pk), x="clients", series="setting.work_mem"))
    assert (apart.series, apart.mixed) == (("default", "64MB"), ())
    only = compare(Selection((plain.pk, tuned.pk), {"setting.work_mem": ("default",)}, x="clients", series=""))
    assert [point.n for point in only.points] == [2]


def test_repeats_of_a_run_are_pooled_or_told_apart() -> None:
    first, second = factories.finished_run(), factories.finished_run()
    pooled = compare(Selection((first.pk, second.pk)))
    assert ({point.n for point in pooled.points}, pooled.mixed) == ({4}, ())
    apart = compare(Selection((first.pk, second.pk), {"installation": ("postgresql-16.9",)}, series="run"))
    assert apart.series == (str(first.pk), str(second.pk))


def test_a_composite_factor_is_a_dimension_of_its_own() -> None:
    made = factories.finished_run(factors={"tuning": TUNING, "clients": [1, 4]}, installation="16")
    comparison = compare(Selection((made.pk,)))
    assert (comparison.selection.x, comparison.selection.series) == ("clients", "tuning")
    assert comparison.series == ("large", "small")
    assert comparison.mixed == ()


def test_failed_and_open_trials_are_counted_and_kept_out() -> None:
    made = factories.run(factors={}, installation="16", replicates=4)
    trials = list(made.trials.all())
    factories.finish(trials[0], 500.0)
    factories.fail(trials[1], tps=1.0)
    factories.begin(trials[2])
    comparison = compare(Selection((made.pk,), metric="tps"))
    assert [(p.median, p.n) for p in comparison.points] == [(500.0, 1)]
    assert comparison.excluded == {"failed": 1, "cancelled": 0, "waiting": 1, "running": 1, "without": 0}


def test_a_metric_on_several_nodes_is_taken_from_the_first_unless_one_is_chosen() -> None:
    made = factories.finished_run()
    assert {p.median for p in compare(Selection((made.pk,), metric="cpu.user")).points} == {20.0}
    assert {p.median for p in compare(Selection((made.pk,), metric="cpu.user", node="primary")).points} == {40.0}
    nowhere = compare(Selection((made.pk,), metric="cpu.user", node="standby"))
    assert (nowhere.points, nowhere.excluded["without"]) == ((), 8)


@pytest.mark.parametrize(
    ("choice", "where"),
    [
        ({"x": "colour"}, "x"),
        ({"series": "colour"}, "series"),
        ({"metric": "colour"}, "metric"),
        ({"baseline": "colour"}, "baseline"),
        ({"filters": {"colour": ("red",)}}, "filter.colour"),
    ],
)
def test_an_unknown_choice_is_named(choice: dict[str, Any], where: str) -> None:
    made = factories.finished_run(replicates=1)
    with pytest.raises(TeitenError, match="'colour'") as raised:
        compare(Selection((made.pk,), **choice))
    assert raised.value.where == where
    assert raised.value.todo


def test_nothing_chosen_is_an_empty_comparison() -> None:
    comparison = compare(Selection(()))
    assert (comparison.points, comparison.xs, comparison.facets, comparison.selection.x) == ((), (), (), "")


def test_facets_count_trials_and_tell_what_varies(django_assert_num_queries: Any) -> None:
    made = factories.finished_run(settings={"shared_buffers": "1GB"})
    plain = factories.finished_run(factors={}, installation="16", replicates=1)
    with django_assert_num_queries(1):
        facet_of = {facet.name: facet for facet in facets(configurations([made.pk, plain.pk]), {})}
    assert facet_of["clients"].values == (("1", 5), ("4", 4))
    assert facet_of["setting.shared_buffers"].values == (("default", 1), ("1GB", 8))
    assert (facet_of["clients"].varies, facet_of["clients"].factor, facet_of["clients"].numeric) == (True, True, True)
    assert (facet_of["scale"].varies, facet_of["scale"].texts, facet_of["scale"].factor) == (False, ("5",), False)
    assert facet_of["duration_s"].texts == ("5",)
    assert facet_of["run"].texts == (str(made.pk), str(plain.pk))


def test_facets_count_the_trials_that_would_remain() -> None:
    made = factories.run()
    for trial in made.trials.select_related("configuration"):
        if trial.configuration.dimensions["clients"] == 1:
            factories.finish(trial) if trial.block == 1 else factories.fail(trial)
    facets = {facet.name: facet.values for facet in compare(Selection((made.pk,))).facets}
    assert facets["clients"] == (("1", 2), ("4", 0))
    assert facets["installation"] == (("postgresql-16.9", 1), ("postgresql-18.1", 1))


def test_minor_versions_are_lines_in_their_order_and_never_the_axis() -> None:
    factories.agent("db1", {"16.9": 160009, "16.10": 160010})
    made = factories.finished_run(factors={"installation": ["16.9", "16.10"], "clients": [1, 4]}, replicates=1)
    assert compare(Selection((made.pk,), series="version")).series == ("16.9", "16.10")
    assert compare(Selection((made.pk,), x="version", series="clients")).xs == ("16.9", "16.10")
    assert not next(facet for facet in facets(configurations([made.pk]), {}) if facet.name == "version").numeric


def test_metrics_begin_with_the_headline(django_assert_num_queries: Any) -> None:
    made = factories.finished_run()
    with django_assert_num_queries(1):
        metrics = metrics_of([made.pk])
    assert [metric.name for metric in metrics] == ["tps", "cpu.user", "latency.p99"]
    assert metrics[1].nodes == ("client", "primary")
    models.Trial.objects.update(state="failed", attempt=None)
    assert metrics_of([made.pk]) == []


def test_values_are_ordered_as_numbers_as_quantities_or_as_versions() -> None:
    assert sorted_levels(["16", "4", "0.5", "128"]) == ("0.5", "4", "16", "128")
    assert sorted_levels(["1GB", "64MB", "default", "512kB"]) == ("default", "512kB", "64MB", "1GB")
    assert sorted_levels(["16.10", "16.9", "9.6"], "version") == ("9.6", "16.9", "16.10")
    assert sorted_levels(["5min", "30s"]) == ("30s", "5min")
    assert sorted_levels(["16.10", "9.6.2", "16beta1", "16.9", "16", "13devel", "13.2"]) == (
        "9.6.2",
        "13devel",
        "13.2",
        "16beta1",
        "16",
        "16.9",
        "16.10",
    )


def test_two_dimensions_read_together_compare_each_with_its_own_baseline() -> None:
    made = factories.finished_run(factors={"installation": ["16", "18"], "tuning": TUNING, "clients": [1, 4]})
    comparison = compare(Selection((made.pk,), series="installation,tuning", baseline="small"))
    assert comparison.series[:2] == ("postgresql-16.9 · large", "postgresql-16.9 · small")
    bases = {point.series: point.base[2] for point in comparison.points if point.base}
    assert bases == {name: name.replace("large", "small") for name in comparison.series}
    for point in comparison.points:
        assert (point.verdict is None) == (point.series == point.base[2])


def test_one_cell_may_be_the_baseline_of_all() -> None:
    made = factories.finished_run()
    comparison = compare(Selection((made.pk,), baseline="postgresql-16.9 at 4"))
    assert {point.base for point in comparison.points} == {("", "4", "postgresql-16.9")}
    assert [point.ratio for point in comparison.points] == pytest.approx(
        [p.median / 4001.5 for p in comparison.points], rel=1e-6
    )


def test_panels_and_values_a_client() -> None:
    made = factories.finished_run()
    comparison = compare(Selection((made.pk,), x="installation", series="", panel="clients", per="client"))
    assert (comparison.panels, comparison.xs) == (("1", "4"), ("postgresql-16.9", "postgresql-18.1"))
    assert [point.value for point in comparison.points] == [1001.5, 1126.5, 4001.5 / 4, 4501.5 / 4]


def test_a_summary_is_the_geometric_mean_of_the_ratios_of_what_is_left_in() -> None:
    made = factories.finished_run()
    [base, other] = compare(Selection((made.pk,))).summaries
    assert (base.ratio, base.missing) == (1, ())
    assert other.ratio == pytest.approx((1126.5 / 1001.5 * 4501.5 / 4001.5) ** 0.5)
    [_, without] = compare(Selection((made.pk,), without=("4",))).summaries
    assert (without.ratio, without.cells) == (pytest.approx(1126.5 / 1001.5), 1)


def test_a_summary_against_one_cell_leaves_that_cell_itself_out() -> None:
    made = factories.run(factors={"installation": ["16", "18"], "clients": [1, 2, 4]}, replicates=4)
    for trial in made.trials.select_related("configuration"):
        level = {1: 1, 2: 2, 4: 4}[trial.configuration.dimensions["clients"]]
        factories.finish(trial, 1000.0 * level * (1 + 0.01 * trial.block))
    [own, other] = compare(Selection((made.pk,), baseline="postgresql-16.9 at 1")).summaries
    assert (own.ratio, own.cells, own.missing) == (pytest.approx(8**0.5), 2, ())
    assert (own.estimate, own.source) == (pytest.approx(8**0.5), "blocks")
    assert own.low <= own.estimate <= own.high
    assert (other.ratio, other.cells) == (pytest.approx(2), 3)


def test_cells_that_share_their_base_have_no_interval_where_they_share_no_blocks() -> None:
    base = factories.finished_run(replicates=3, factors={"clients": [1]}, installation="16")
    others = factories.finished_run(replicates=3, factors={"clients": [2, 4]}, installation="18")
    comparison = compare(Selection((base.pk, others.pk), baseline="postgresql-16.9 at 1"))
    [_, summary] = comparison.summaries
    assert (summary.cells, summary.low, summary.high, summary.source) == (2, None, None, "nothing")
    assert summary.estimate == pytest.approx(summary.ratio, rel=0.01)


def test_a_cell_with_a_zero_counts_in_neither_the_mean_nor_its_interval() -> None:
    made = factories.run(replicates=3)
    for trial in made.trials.select_related("configuration"):
        dimensions = trial.configuration.dimensions
        zero = dimensions["clients"] == 4 and dimensions["major"] == "18" and trial.block == 1
        attempt = factories.finish(trial, 1000.0)
        if zero:
            models.Measurement.objects.filter(attempt=attempt, metric_id="tps").update(value=0)
    [_, summary] = compare(Selection((made.pk,))).summaries
    assert (summary.ratio, summary.cells, summary.missing) == (1, 1, ("4",))


def _drifting_run(labels: int) -> models.Run:
    """One trial a block, 2 % more in each; of cpu.user a value for each of so many labels."""
    made = factories.run(factors={}, installation="16", replicates=8)
    for trial in made.trials.all():
        attempt = factories.finish(trial, 1000.0 * 1.02**trial.block)
        models.Measurement.objects.bulk_create(
            models.Measurement(
                run=made,
                attempt=attempt,
                metric_id="cpu.user",
                node="primary",
                label=f"q{label}",
                value=40 * 1.02**trial.block + label,
            )
            for label in range(labels)
        )
    return made


def test_a_drift_counts_trials_and_not_their_labels() -> None:
    made = _drifting_run(13)
    comparison = compare(Selection((made.pk,), x="label", series="", metric="cpu.user", node="primary"))
    assert len(comparison.points) == 14
    [warned] = comparison.warnings
    assert (warned.kind, warned.trials) == ("drift", 8)


def test_several_nodes_of_a_trial_are_never_pooled_into_one_cell() -> None:
    made = factories.finished_run()
    both = {"node": ("client", "primary")}
    with pytest.raises(TeitenError, match="client, primary are not replicates") as raised:
        compare(Selection((made.pk,), both, metric="cpu.user"))
    assert raised.value.where == "filter.node"
    apart = compare(Selection((made.pk,), both, metric="cpu.user", panel="node"))
    assert (apart.panels, {point.n for point in apart.points}) == (("client", "primary"), {2})
    one = compare(Selection((made.pk,), {"node": ("primary",)}, metric="cpu.user"))
    assert {point.value for point in one.points} == {40.0}
