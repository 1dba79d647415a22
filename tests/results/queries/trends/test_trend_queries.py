"""Families of configurations over dates, versions and commits."""

from __future__ import annotations

from statistics import median
from typing import Any

import pytest

from results import models
from results.domain.environment.layers import Layer, LayerKind
from results.domain.errors import TeitenError
from results.queries.trends.families import (
    Family,
    TrendSelection,
    choose,
    followed_runs,
    known_families,
    shortest,
)
from results.queries.trends.trends import commit_of, followed, trend
from tests import environments, factories, histories

pytestmark = pytest.mark.django_db


def test_a_year_of_one_plan_is_one_line_with_every_replicate(django_assert_num_queries: Any) -> None:
    runs = histories.year(histories.nightly())
    with django_assert_num_queries(5):
        shown_trend = trend(TrendSelection(plan="nightly"))
    (line,) = shown_trend.lines
    assert shown_trend.levels == tuple(str(run.pk) for run in runs)
    assert [point.n for point in line.points] == [3] * 40
    assert [point.median for point in line.points] == [median(v.value for v in p.values) for p in line.points]
    assert [point.at for point in line.points] == sorted(point.at for point in line.points)
    trials = set(models.Trial.objects.values_list("pk", flat=True))
    assert {value.trial_id for point in line.points for value in point.values} == trials
    assert (shown_trend.selection.metric, shown_trend.selection.x, shown_trend.selection.series) == ("tps", "date", "")


def test_the_change_is_found_where_it_is_and_the_spike_is_none() -> None:
    runs = histories.year(histories.nightly())
    (shift,) = trend(TrendSelection(plan="nightly")).shifts
    (line,) = trend(TrendSelection(plan="nightly")).lines
    assert line.points[shift.first].runs == (runs[30].pk,)
    assert line.points[shift.last].runs == (runs[29].pk,)
    assert (shift.kind, shift.points_before, shift.points_after) == ("worse", 30, 10)
    assert shift.before == median(point.median for point in line.points[:30])
    assert shift.after == median(point.median for point in line.points[30:])
    assert shift.ratio == pytest.approx(0.94, abs=0.01)


def test_changes_of_the_environment_are_named(django_assert_num_queries: Any) -> None:
    histories.year(histories.nightly())
    shown_trend = trend(TrendSelection(plan="nightly"))
    kernels = [key for change in shown_trend.environments for key in change.keys if key.kind == "kernel"]
    assert [(key.key, key.left, key.right) for key in kernels] == [("release", "6.1.0", "6.8.0")]
    versions = [key.text for change in shown_trend.environments for key in change.keys if key.key == "version"]
    assert versions == ["build: version 18.0 → 18.1", "build: version 18.1 → 18.2"]
    by_version = trend(TrendSelection(plan="nightly", x="version"))
    assert {key.kind for change in by_version.environments for key in change.keys} == {"kernel"}


def test_every_kind_of_layer_that_an_agent_records_can_differ() -> None:
    """Two servers on their own defaults, the second on a machine that the plan had something set on."""
    plan = histories.nightly()
    older, newer = [histories.months(plan, [8000.0], version=version)[0] for version in ("18.0", "18.1")]
    recorded = {run.pk: environments.layers(major) for run, major in ((older, 16), (newer, 18))}
    recorded[newer.pk].append(("primary", Layer(LayerKind.HOST, {"cpus": {"online": "0-1"}})))
    for run in (older, newer):
        for trial in environments.done(run):
            assert trial.attempt is not None
            environments.ran_in(trial.attempt, recorded[run.pk])
    by_date, by_version = (
        [key.text for one in trend(selection).environments for key in one.keys]
        for selection in (TrendSelection(plan="nightly"), TrendSelection(workload="pgbench", x="version"))
    )
    assert by_version == ["host: cpus.online – → 0-1", "settings: data_checksums off → on"]
    assert "build: version 16.14 → 18.4" in by_date
    assert by_date[-2:] == by_version  # and not 40 defaults that follow from the version


def test_of_defaults_only_those_that_decide_are_told_across_versions_and_all_within_one() -> None:
    plan = histories.nightly()
    layers = [
        [("primary", Layer(LayerKind.BUILD, {"version_num": number})), ("primary", Layer(LayerKind.DEFAULTS, defaults))]
        for number, defaults in (
            (110022, {"jit": "off", "work_mem": 1}),
            (120022, {"jit": "on", "work_mem": 2}),
            (120022, {"jit": "on", "work_mem": 3}),
        )
    ]
    for run, uses in zip(histories.months(plan, [8000.0] * 3), layers, strict=True):
        for trial in environments.done(run):
            assert trial.attempt is not None
            environments.ran_in(trial.attempt, uses)
    reported = [
        [key.text for key in one.keys if key.kind == "defaults"] for one in trend(TrendSelection()).environments
    ]
    assert reported == [["defaults: jit off → on"], ["defaults: work_mem 2 → 3"]]


@pytest.mark.parametrize(
    ("older", "newer", "reported"),
    [
        # what a plan pins to the other version's default was in force on both
        (({"a": "0.5"}, {"a": "0.9"}), ({"a": "0.9"}, {}), []),
        (({"jit": "off"}, {}), ({"jit": "on"}, {"jit": "off"}), []),
        (({"a": "0.5"}, {}), ({"a": "0.9"}, {"a": "0.7"}), ["settings: a 0.5 → 0.7"]),
        # how a server was compiled does not follow from its version
        (({"block_size": "8192"}, {}), ({"block_size": "32768"}, {}), ["defaults: block_size 8192 → 32768"]),
        (({"debug_assertions": "off"}, {}), ({"debug_assertions": "on"}, {}), ["defaults: debug_assertions off → on"]),
    ],
)
def test_settings_are_compared_as_they_were_in_force(older: Any, newer: Any, reported: list[str]) -> None:
    sides = ((110022, *older), (120022, *newer))
    for run, (number, defaults, settings) in zip(
        histories.months(histories.nightly(), [8000.0] * 2), sides, strict=True
    ):
        uses = [
            ("primary", Layer(LayerKind.BUILD, {"version_num": number})),
            ("primary", Layer(LayerKind.DEFAULTS, defaults)),
            ("primary", Layer(LayerKind.SETTINGS, settings)),
        ]
        for trial in environments.done(run):
            assert trial.attempt is not None
            environments.ran_in(trial.attempt, uses)
    texts = [key.text for one in trend(TrendSelection()).environments for key in one.keys if key.kind != "build"]
    assert texts == reported


def test_over_versions_all_runs_of_a_version_are_one_point_in_its_own_order() -> None:
    plan = histories.nightly()
    for version in ("18.1", "18.0", "18.2", "18.1"):
        histories.months(plan, [8000.0], version=version)
    (line,) = trend(TrendSelection(plan="nightly", x="version")).lines
    assert [(point.level, point.n, len(point.runs)) for point in line.points] == [
        ("18.0", 3, 1),
        ("18.1", 6, 2),
        ("18.2", 3, 1),
    ]


def test_over_versions_a_family_goes_on_from_one_installation_to_the_next() -> None:
    histories.over_versions()
    shown_trend = trend(TrendSelection(plan="builds", x="version"))
    assert (shown_trend.selection.series, dict(shown_trend.held)) == ("", {})
    (line,) = shown_trend.lines
    assert [(point.level, point.n) for point in line.points] == [("16.9", 4), ("17.5", 4), ("18.1", 4)]
    some = trend(TrendSelection(plan="builds", x="version", filters={"installation": ("16", "18")}))
    assert [(line.name, [p.level for p in line.points]) for line in some.lines] == [("", ["16.9", "18.1"])]
    shown_trend = trend(TrendSelection(plan="builds", x="version", series="installation"))
    assert [line.name for line in shown_trend.lines] == ["16", "17", "18"]
    assert [line.name for line in trend(TrendSelection(plan="builds")).lines] == ["16", "17", "18"]


def test_two_installations_of_one_version_are_no_successors_of_each_other() -> None:
    histories.over_versions()
    models.Configuration.objects.filter(levels__installation="17").update(
        dimensions=models.Configuration.objects.filter(levels__installation="18")[0].dimensions
    )
    shown_trend = trend(TrendSelection(plan="builds", x="version"))
    assert [(line.name, [p.level for p in line.points]) for line in shown_trend.lines] == [
        ("16", ["16.9"]),
        ("17", ["18.1"]),
        ("18", ["18.1"]),
    ]


def test_over_commits_the_order_is_that_of_measuring_and_builds_that_name_none_are_counted() -> None:
    plan = histories.nightly(installation="19devel")
    for commit in ("-gbbbbbbb", "-gaaaaaaa", ""):
        histories.months(plan, [8000.0], version="19devel", commit=commit)
    shown_trend = trend(TrendSelection(plan="nightly", x="commit"))
    assert shown_trend.levels == ("bbbbbbb", "aaaaaaa")
    assert shown_trend.without_commit == 3


@pytest.mark.parametrize(
    ("build", "commit"),
    [
        ("PostgreSQL 19devel-g1a2b3c4d on x86_64", "1a2b3c4d"),
        ("PostgreSQL 18.1-12-gabcdef0123 on x86_64", "abcdef0123"),
        ("PostgreSQL 18.1-abcdef0 on x86_64", "abcdef0"),
        ("PostgreSQL 18.1 on x86_64-pc-linux-gnu, compiled by gcc", ""),
        ("PostgreSQL 19devel on x86_64", ""),
        ("", ""),
        (None, ""),
    ],
)
def test_a_commit_is_what_the_build_calls_itself_by(build: str | None, commit: str) -> None:
    assert commit_of(build) == commit


def test_what_varies_besides_is_held_at_one_value_and_can_be_chosen() -> None:
    factors = {"installation": ["16", "18"], "clients": [1, 8, 64]}
    plan = factories.stored_plan(name="wide", standing="kept", factors=factors)
    factories.agent(versions={"16.9": 160009, "18.1": 180001})
    for _ in range(2):
        made = factories.run(stored=plan, name="wide", factors=factors)
        for trial in made.trials.select_related("configuration"):
            factories.finish(trial)
    shown_trend = trend(TrendSelection(plan="wide"))
    assert (shown_trend.selection.series, dict(shown_trend.held)) == ("installation", {"clients": "1"})
    assert [line.name for line in shown_trend.lines] == ["16", "18"]
    eight = trend(TrendSelection(plan="wide", filters={"clients": ("8",)}))
    assert {point.median for line in eight.lines for point in line.points} == {8001.5, 9001.5}
    both = trend(TrendSelection(plan="wide", series="", filters={"clients": ("1", "64"), "installation": ("18",)}))
    assert [line.name for line in both.lines] == ["1", "64"]
    facet = next(facet for facet in shown_trend.facets if facet.name == "clients")
    assert (facet.values, facet.chosen, facet.several) == ((("1", 8), ("8", 8), ("64", 8)), ("1",), False)


def test_trials_that_failed_and_published_figures_are_in_no_trend() -> None:
    plan = histories.nightly()
    (kept, hidden) = histories.months(plan, [8000.0, 9000.0])
    factories.fail(kept.trials.first())
    publication = models.Publication.objects.create(slug="a", year=2020)
    models.Run.objects.filter(pk=hidden.pk).update(publication=publication)
    (line,) = trend(TrendSelection(plan="nightly")).lines
    assert [(point.runs, point.n) for point in line.points] == [((kept.pk,), 2)]
    assert [(one.plan, one.workload, one.runs) for one in followed()] == [("nightly", "pgbench", 1)]


def test_queries_do_not_grow_with_the_runs(django_assert_num_queries: Any) -> None:
    plan = histories.nightly()
    histories.months(plan, [8000.0] * 3)
    for more in (1, 10):
        histories.months(plan, [8000.0] * more, kernel=f"6.{more}")
        with django_assert_num_queries(5):
            trend(TrendSelection(plan="nightly"))


def test_nothing_measured_is_nothing_and_not_an_error() -> None:
    histories.nightly()
    shown_trend = trend(TrendSelection(plan="nightly"))
    assert (shown_trend.lines, shown_trend.levels, shown_trend.facets) == ((), (), ())


@pytest.mark.parametrize(
    "selection",
    [
        TrendSelection(plan="nightly", x="nonsense"),
        TrendSelection(plan="nightly", series="nonsense"),
        TrendSelection(plan="nightly", metric="nonsense"),
        TrendSelection(plan="nightly", node="nonsense"),
        TrendSelection(plan="nightly", label="nonsense"),
        TrendSelection(plan="nonsense"),
        TrendSelection(workload="nonsense"),
        TrendSelection(plan="nightly", filters={"nonsense": ("1",)}),
    ],
)
def test_an_unknown_name_is_an_error_that_names_it(selection: TrendSelection) -> None:
    histories.months(histories.nightly(), [8000.0])
    with pytest.raises(TeitenError, match="nonsense"):
        trend(selection)


def family(**levels: str) -> Family:
    return Family(str(levels), levels, (1,), 3, 1, tuple(levels))


def test_what_follows_from_a_chosen_dimension_is_not_held() -> None:
    known = [family(clients="1", threads="1"), family(clients="8", threads="4")]
    both = choose(TrendSelection(filters={"clients": ("1", "8")}), known)
    assert (dict(both.held), list(both.lines)) == ({}, ["1", "8"])
    assert dict(choose(TrendSelection(), known).held) == {"clients": "1"}


def test_a_filter_that_holds_anyway_is_left_out_of_the_address() -> None:
    known = [family(clients="1"), family(clients="8")]
    assert shortest(TrendSelection(filters={"clients": ("1",)}), known) == TrendSelection()
    one_line = TrendSelection(series="clients", filters={"clients": ("1",)})
    assert shortest(one_line, known) == one_line
    eight = TrendSelection(filters={"clients": ("8",)})
    assert shortest(eight, known) == eight


def test_families_of_all_plans_of_a_workload_are_told_apart_by_what_differs() -> None:
    histories.months(histories.nightly(), [8000.0])
    histories.months(histories.nightly(name="longer", duration_s=60), [8100.0])
    selection = TrendSelection(workload="pgbench")
    known = known_families(followed_runs(selection))
    assert len(known) == 2
    assert [facet.name for facet in choose(selection, known).facets] == ["duration_s"]
