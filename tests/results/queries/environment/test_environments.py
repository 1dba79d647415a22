"""What the trials of a comparison ran in."""

from __future__ import annotations

from typing import Any

import pytest

from results import models
from results.domain.environment.layers import Layer, LayerKind
from results.domain.environment.rules import Cause
from results.domain.statistics.verdict import Kind
from results.queries.comparison.compare import Comparison, compare
from results.queries.environment.environments import environments_of
from results.queries.shared.selection import Selection
from tests import environments, factories

pytestmark = pytest.mark.django_db
KERNEL = {"release 6.1": "release 6.8"}
TUNING = [
    {"label": "small", "values": {"setting.work_mem": "4MB"}},
    {"label": "large", "values": {"setting.work_mem": "64MB"}},
]


@pytest.fixture
def run() -> models.Run:
    """16 and 18, each with 1 and 4 clients, three blocks, as on real servers."""
    made = factories.finished_run(replicates=3)
    environments.run_in_versions(made)
    return made


def compared(*runs: models.Run, **choice: Any) -> Comparison:
    return compare(Selection(tuple(run.pk for run in runs), **choice))


def verdicts(comparison: Comparison) -> set[Kind]:
    return {point.verdict.kind for point in comparison.points if point.verdict}


def keys(comparison: Comparison, cause: Cause = Cause.CONFOUNDER) -> list[set[str]]:
    return [{judgement.key for judgement in one.difference.of(cause)} for one in comparison.environment]


def test_every_environment_is_read_once_in_one_query(run: models.Run, django_assert_num_queries: Any) -> None:
    attempts = list(models.Attempt.objects.values_list("pk", flat=True))
    with django_assert_num_queries(1):
        environments = environments_of(attempts)
    assert set(environments) == set(attempts)
    assert len({id(ran) for ran in environments.values()}) == 2
    one, other = {id(ran): ran for ran in environments.values()}.values()
    assert one.environment["primary", "kernel"] is other.environment["primary", "kernel"]
    assert one.environment["client", "tool"] == {"teiten": "1.0.0"}


def test_without_attempts_nothing_is_asked(django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        assert environments_of([]) == {}


def test_layers_of_one_role_and_kind_are_put_together(run: models.Run) -> None:
    attempt = models.Attempt.objects.first()
    assert attempt is not None
    tools = {"sar": "/usr/bin/sar"}
    environments.ran_in(attempt, [*environments.layers(), ("client", Layer(LayerKind.TOOL, tools))])
    assert environments_of([attempt.pk])[attempt.pk].environment["client", "tool"] == tools | {"teiten": "1.0.0"}


def test_versions_alone_differ_as_intended(run: models.Run) -> None:
    comparison = compared(run)
    (one,) = comparison.environment
    assert (one.base, one.series) == ("postgresql-16.9", "postgresql-18.1")
    assert one.intended == (("installation", "postgresql-16.9", "postgresql-18.1"),)
    assert (one.cells, one.comparable, keys(comparison)) == (2, 2, [set()])
    assert one.difference.same > 400
    assert [reported.key for reported in one.notable] == ["data_checksums"]
    assert Kind.NOT_COMPARABLE not in verdicts(comparison)


def test_another_kernel_withholds_every_verdict_and_no_number(run: models.Run) -> None:
    environments.run_in_versions(run, v18=environments.layers(18, facts=KERNEL))
    comparison = compared(run)
    (one,) = comparison.environment
    assert (one.comparable, keys(comparison)) == (0, [{"release"}])
    assert next((reported.key, reported.nodes, reported.matters) for reported in one.notable) == (
        "release",
        ("primary",),
        True,
    )
    assert verdicts(comparison) == {Kind.NOT_COMPARABLE}
    assert all(point.ratio and point.verdict.ratio for point in comparison.points if point.verdict)


def test_one_cell_withholds_its_own_verdict_only(run: models.Run) -> None:
    for trial in environments.done(run):
        if trial.configuration.dimensions["major"] == "18" and trial.configuration.dimensions["clients"] == 4:
            environments.ran_in(trial.attempt, environments.layers(18, facts=KERNEL))
    comparison = compared(run)
    (one,) = comparison.environment
    assert (one.cells, one.comparable) == (2, 1)
    of = {point.x: point.verdict.kind for point in comparison.points if point.verdict}
    assert (of["1"] == Kind.NOT_COMPARABLE, of["4"] == Kind.NOT_COMPARABLE) == (False, True)
    trial = models.Trial.objects.get(pk=one.right_trial)
    assert trial.configuration.dimensions["clients"] == 4


def test_a_replicate_on_another_kernel_is_told_as_varying_within_its_side(run: models.Run) -> None:
    trial = next(t for t in environments.done(run) if t.configuration.dimensions["major"] == "16")
    environments.ran_in(trial.attempt, environments.layers(16, facts=KERNEL))
    (one,) = compared(run).environment
    (release,) = [reported for reported in one.notable if reported.key == "release"]
    assert len(release.left) == 2 and len(release.right) == 1


def test_a_kernel_that_changed_between_blocks_is_the_same_for_both_sides(run: models.Run) -> None:
    for trial in environments.done(run):
        if trial.block == 3:
            major = int(trial.configuration.dimensions["major"])
            environments.ran_in(trial.attempt, environments.layers(major, facts=KERNEL))
    comparison = compared(run)
    assert keys(comparison) == [set()]
    assert keys(comparison, Cause.ALIKE) == [{"release"}]


def test_a_factor_that_sets_several_things_intends_them_all() -> None:
    run = factories.finished_run(installation="16", factors={"tuning": TUNING})
    for trial in environments.done(run):
        kb = {"4MB": "4096", "64MB": "65536"}[trial.configuration.dimensions["setting.work_mem"]]
        environments.ran_in(trial.attempt, environments.layers(16, rows={"work_mem": kb}))
    comparison = compared(run, x="workload", series="tuning")
    assert keys(comparison) == [set()]
    assert keys(comparison, Cause.INTENDED) == [{"work_mem"}]
    assert comparison.environment[0].intended == (("tuning", "large", "small"),)


def test_what_plans_of_two_runs_have_otherwise_is_not_meant_by_comparing_the_runs() -> None:
    runs = [factories.finished_run(installation="16", settings={"work_mem": size}) for size in ("4MB", "64MB")]
    for run, kb, facts in zip(runs, ("4096", "65536"), ({}, KERNEL), strict=True):
        for trial in environments.done(run):
            environments.ran_in(trial.attempt, environments.layers(16, rows={"work_mem": kb}, facts=facts))
    assert keys(compared(*runs, series="run")) == [{"release", "work_mem"}]
    chosen = compared(*runs, series="setting.work_mem")
    assert keys(chosen, Cause.INTENDED) == [{"work_mem"}]
    assert keys(chosen) == [{"release"}]


def test_another_minor_version_is_told_and_not_held_against_a_plan_that_is_run_again() -> None:
    runs = [factories.finished_run(installation="16", factors={"clients": [1]}) for _ in "12"]
    for run, number in zip(runs, (160009, 160010), strict=True):
        for trial in environments.done(run):
            environments.ran_in(trial.attempt, environments.layers(16, build={"version_num": number}))
    comparison = compared(*runs, series="run")
    assert keys(comparison) == [set()]
    assert {"version_num"} <= keys(comparison, Cause.INTENDED)[0]


def test_a_setting_that_only_one_runs_plan_has_confounds_versions() -> None:
    runs = [
        factories.finished_run(installation=major, factors={"clients": [1, 4]}, settings=settings)
        for major, settings in (("16", {"work_mem": "64MB"}), ("18", {}))
    ]
    for run, major, rows in zip(runs, (16, 18), ({"work_mem": "65536"}, {}), strict=True):
        for trial in environments.done(run):
            environments.ran_in(trial.attempt, environments.layers(major, rows=rows))
    assert keys(compared(*runs, series="version")) == [{"work_mem"}]


def test_values_of_the_same_trials_have_the_same_environment(run: models.Run) -> None:
    comparison = compared(run, x="clients", series="node", metric="cpu.user", filters={"major": ("16",)})
    assert comparison.environment and keys(comparison) == [set()]
    assert comparison.environment[0].difference.judgements == ()


def test_results_without_layers_are_comparable_with_their_like_alone(run: models.Run) -> None:
    models.Attempt.objects.update(environment="")
    comparison = compared(run)
    assert (comparison.environment[0].difference.recorded, keys(comparison)) == ((False, False), [set()])
    environments.run_in_versions(run, v16=environments.layers(16), v18=[])
    comparison = compared(run)
    assert comparison.environment[0].difference.recorded == (True, False)
    assert verdicts(comparison) == {Kind.NOT_COMPARABLE}


def test_a_comparison_without_a_series_asks_for_no_environment(run: models.Run, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(4):
        assert compared(run, series="").environment == ()
    with django_assert_num_queries(5):
        assert compared(run).environment
