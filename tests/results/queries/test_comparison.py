from __future__ import annotations

from statistics import mean, median
from typing import Any

import pytest

from results import models
from results.errors import TeitenError
from results.queries.comparison import Selection, compare
from results.queries.facets import facets, metrics_of
from results.queries.ordering import in_order
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
        found = compare(Selection((made.pk,)))
    assert (found.selection.x, found.selection.series, found.selection.metric) == ("clients", "installation", "tps")
    assert (found.xs, found.series) == (("1", "4"), ("postgresql-16.9", "postgresql-18.1"))
    assert [(p.series[-4:], p.x, p.median, p.n) for p in found.points] == [
        ("16.9", "1", 1001.5, 2),
        ("16.9", "4", 4001.5, 2),
        ("18.1", "1", 1126.5, 2),
        ("18.1", "4", 4501.5, 2),
    ]
    assert [p.ratio for p in found.points] == [1, 1, 1126.5 / 1001.5, 4501.5 / 4001.5]
    assert (found.mixed, found.excluded) == (
        (),
        dict.fromkeys(("failed", "cancelled", "waiting", "running", "without"), 0),
    )
    assert found.metric.better == "higher"


def test_the_number_of_queries_does_not_depend_on_the_number_of_trials(django_assert_num_queries: Any) -> None:
    ids = tuple(
        factories.finished_run(replicates=5, factors={"clients": [1, 2, 4, 8]}, installation="16").pk for _ in "12"
    )
    with django_assert_num_queries(5):
        found = compare(Selection(ids))
    assert sum(point.n for point in found.points) == 40


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
    found = compare(Selection((made.pk,), baseline="postgresql-18.1"))
    assert {p.ratio for p in found.points if p.series == "postgresql-18.1"} == {1.0}
    assert found.first.baseline == "postgresql-16.9"


def test_a_cell_that_mixes_configurations_says_what_varies() -> None:
    made = factories.finished_run()
    found = compare(Selection((made.pk,), series=""))
    assert {point.configurations for point in found.points} == {2}
    assert set(found.mixed) == {"installation", "version", "major"}
    filtered = compare(Selection((made.pk,), {"installation": ("postgresql-16.9",)}, series=""))
    assert (filtered.mixed, {point.n for point in filtered.points}) == ((), {2})


def test_an_absent_dimension_is_mixed_with_a_set_one() -> None:
    plain = factories.finished_run(factors={}, installation="16")
    tuned = factories.finished_run(factors={}, installation="16", settings={"work_mem": "64MB"})
    found = compare(Selection((plain.pk, tuned.pk), x="clients", series=""))
    assert found.mixed == ("setting.work_mem",)
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
    found = compare(Selection((made.pk,)))
    assert (found.selection.x, found.selection.series) == ("clients", "tuning")
    assert found.series == ("large", "small")
    assert found.mixed == ()


def test_failed_and_open_trials_are_counted_and_kept_out() -> None:
    made = factories.run(factors={}, installation="16", replicates=4)
    trials = list(made.trials.all())
    factories.finish(trials[0], 500.0)
    factories.fail(trials[1], tps=1.0)
    factories.begin(trials[2])
    found = compare(Selection((made.pk,), metric="tps"))
    assert [(p.median, p.n) for p in found.points] == [(500.0, 1)]
    assert found.excluded == {"failed": 1, "cancelled": 0, "waiting": 1, "running": 1, "without": 0}


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
    found = compare(Selection(()))
    assert (found.points, found.xs, found.facets, found.selection.x) == ((), (), (), "")


def test_facets_count_trials_and_tell_what_varies(django_assert_num_queries: Any) -> None:
    made = factories.run(settings={"shared_buffers": "1GB"})
    plain = factories.run(factors={}, installation="16", replicates=1)
    with django_assert_num_queries(1):
        found = {facet.name: facet for facet in facets([made.pk, plain.pk])}
    assert found["clients"].values == (("1", 5), ("4", 4))
    assert found["setting.shared_buffers"].values == (("default", 1), ("1GB", 8))
    assert (found["clients"].varies, found["clients"].factor, found["clients"].numeric) == (True, True, True)
    assert (found["scale"].varies, found["scale"].texts, found["scale"].factor) == (False, ("5",), False)
    assert found["duration_s"].texts == ("5",)
    assert found["run"].texts == (str(made.pk), str(plain.pk))


def test_minor_versions_are_lines_in_their_order_and_never_the_axis() -> None:
    factories.agent("db1", {"16.9": 160009, "16.10": 160010})
    made = factories.finished_run(factors={"installation": ["16.9", "16.10"], "clients": [1, 4]}, replicates=1)
    assert compare(Selection((made.pk,), series="version")).series == ("16.9", "16.10")
    assert compare(Selection((made.pk,), x="version", series="clients")).xs == ("16.9", "16.10")
    assert not next(facet for facet in facets([made.pk]) if facet.name == "version").numeric


def test_metrics_begin_with_the_headline(django_assert_num_queries: Any) -> None:
    made = factories.finished_run()
    with django_assert_num_queries(1):
        found = metrics_of([made.pk])
    assert [metric.name for metric in found] == ["tps", "cpu.user", "latency.p99"]
    assert found[1].nodes == ("client", "primary")
    models.Trial.objects.update(state="failed", attempt=None)
    assert metrics_of([made.pk]) == []


def test_values_are_ordered_as_numbers_as_quantities_or_as_versions() -> None:
    assert in_order(["16", "4", "0.5", "128"]) == ("0.5", "4", "16", "128")
    assert in_order(["1GB", "64MB", "default", "512kB"]) == ("default", "512kB", "64MB", "1GB")
    assert in_order(["16.10", "16.9", "9.6"], "version") == ("9.6", "16.9", "16.10")
    assert in_order(["5min", "30s"]) == ("30s", "5min")
    assert in_order(["16.10", "9.6.2", "16beta1", "16.9", "16", "13devel", "13.2"]) == (
        "9.6.2",
        "13devel",
        "13.2",
        "16beta1",
        "16",
        "16.9",
        "16.10",
    )
