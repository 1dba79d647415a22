"""What may be compared with what, and one verdict for it whatever a view shows."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from statistics import geometric_mean
from typing import Any

import pytest

from results import models
from results.domain.environment.rules import Cause
from results.domain.statistics.looks import look_level
from results.domain.statistics.verdict import Kind, Verdict
from results.queries.comparison.compare import Comparison, compare
from results.queries.shared.selection import Selection
from results.runs import add_blocks, close_finished
from tests import environments, factories
from webapp.compare.table import lacking
from webapp.compare.words import lead, rule

pytestmark = pytest.mark.django_db
SCRIPTS = ["select-only", "tpcb-like"]


def noisy_run(noise: float = 0.02, *, seed: int = 3, effect: float = 1.0, **changes: Any) -> models.Run:
    """A finished run; tps depends on the number of clients and the script, and 18 is `effect` times as fast as 16."""
    run = factories.run(seed=seed, **changes)
    chance = random.Random(seed)
    for trial in run.trials.select_related("configuration").order_by("position"):
        dimensions = trial.configuration.dimensions
        level = 1000.0 * dimensions["clients"] * (3 if dimensions["script"] == "select-only" else 1)
        faster = effect if dimensions["major"] == "18" else 1.0
        factories.finish(trial, level * faster * (1 + chance.gauss(0, noise)))
    return run


def matrix(replicates: int = 3, **changes: Any) -> models.Run:
    factors = {"installation": ["16", "18"], "clients": [1, 2, 4, 8], "script": SCRIPTS}
    return noisy_run(factors=factors, replicates=replicates, **{"effect": 1.04} | changes)


def ask(*runs: models.Run, **choice: Any) -> Comparison:
    return compare(Selection(tuple(run.pk for run in runs), **choice))


def by_trials(comparison: Comparison) -> dict[frozenset[int], Verdict]:
    return {frozenset(r.trial_id for r in point.values): point.verdict for point in comparison.points if point.verdict}


VIEWS: Sequence[Mapping[str, Any]] = [
    {"x": "clients", "series": "installation", "panel": "script"},
    {"x": "script", "series": "version", "panel": "clients"},
    {"x": "clients,script", "series": "major"},
    {"x": "clients", "series": "installation", "filters": {"script": ("tpcb-like",)}},
    {"x": "clients", "series": "installation", "filters": {"script": ("tpcb-like",), "clients": ("2", "8")}},
    {"x": "workload", "series": "installation", "filters": {"script": ("tpcb-like",), "clients": ("8",)}},
    {"x": "clients", "series": "installation,script", "baseline": "postgresql-16.9"},
]


def test_a_cell_has_the_same_verdict_whatever_rows_panels_or_filters_are_shown() -> None:
    run = matrix()
    whole = by_trials(ask(run, **VIEWS[0]))
    assert len(whole) == 8
    assert {verdict.kind for verdict in whole.values()} >= {Kind.BETTER}
    for view in VIEWS[1:]:
        shown = by_trials(ask(run, **view))
        assert shown and all(whole[trials] == verdict for trials, verdict in shown.items())


def test_the_ratio_that_is_shown_is_the_one_that_was_judged_whichever_statistic_is_shown() -> None:
    run = matrix()
    for statistic in ("median", "mean", "min"):
        for point in ask(run, **VIEWS[0], statistic=statistic).points:
            assert point.ratio == (point.verdict.ratio if point.verdict else 1)


def test_raw_and_adjusted_p_stand_side_by_side_and_the_family_is_the_whole_run() -> None:
    run = matrix()
    assert {ask(run, **view).family for view in VIEWS} == {8}
    one = ask(run, **VIEWS[5]).points[-1].verdict
    assert one and one.p is not None and one.adjusted is not None and one.adjusted > one.p


def test_cells_of_several_configurations_are_compared_configuration_by_configuration() -> None:
    """16 ran four times as many trials of the slow script, 18 of the fast one: nothing differs but that."""
    runs = [
        noisy_run(installation="16", factors={"script": SCRIPTS, "clients": [1]}, replicates=3, seed=1),
        noisy_run(installation="16", factors={"script": ["tpcb-like"], "clients": [1]}, replicates=9, seed=2),
        noisy_run(installation="18", factors={"script": SCRIPTS, "clients": [1]}, replicates=3, seed=4),
        noisy_run(installation="18", factors={"script": ["select-only"], "clients": [1]}, replicates=9, seed=5),
    ]
    both = {"filters": {"script": tuple(SCRIPTS)}}
    [base, other] = ask(*runs, x="clients", series="major", **both).points
    assert (base.n, other.n, other.configurations) == (15, 15, 2)
    assert other.mean > 1.5 * base.mean
    assert other.verdict and other.verdict.kind not in (Kind.BETTER, Kind.WORSE)
    assert other.ratio == pytest.approx(1, abs=0.05)


def differing(**changes: Any) -> Comparison:
    """16 in one run, 18 in another whose plan has something otherwise, over the same layers."""
    runs = []
    for major, own in (("16", {}), ("18", changes)):
        plan = {"factors": {}, "replicates": 3, "installation": major}
        parameters = {"scale": 5, "script": "tpcb-like", "clients": 2} | own.pop("parameters", {})
        runs.append(factories.finished_run(**plan, **own, parameters=parameters))
    for run, version in zip(runs, (16, 18), strict=True):
        for trial in environments.done(run):
            environments.ran_in(trial.attempt, environments.layers(version))
    return ask(*runs, x="workload", series="version")


@pytest.mark.parametrize(
    ("dimension", "changes"),
    [
        ("script", {"parameters": {"script": "select-only"}}),
        ("duration_s", {"duration_s": 60}),
        ("warmup_s", {"warmup_s": 10}),
        ("cache", {"cache": "as-found"}),
        ("data", {"data": "template"}),
        ("protocol", {"parameters": {"protocol": "prepared"}}),
        ("connect", {"parameters": {"connect": True}}),
        ("rate", {"parameters": {"rate": 100}}),
        ("clients", {"parameters": {"clients": 4}}),
        ("scale", {"parameters": {"scale": 50}}),
        ("threads", {"threads": "clients"}),
        ("collectors", {"collectors": ["sar"]}),
        ("initdb", {"initdb": ["--data-checksums"]}),
    ],
)
def test_every_difference_of_the_plans_that_is_no_axis_withholds_the_verdict(
    dimension: str, changes: dict[str, Any]
) -> None:
    assert differing().environment[0].comparable == 1
    comparison = differing(**changes)
    [point] = [point for point in comparison.points if point.verdict]
    assert point.verdict and point.verdict.kind is Kind.NOT_COMPARABLE
    [environment] = comparison.environment
    assert dimension in {one.key for one in environment.difference.of(Cause.CONFOUNDER)}
    assert dimension in {one.key for one in environment.notable}


def test_it_is_an_axis_and_then_it_is_meant() -> None:
    run = noisy_run(factors={"script": SCRIPTS, "clients": [2]}, installation="16", replicates=3)
    [environment] = ask(run, x="workload", series="script").environment
    assert (environment.comparable, environment.cells) == (1, 1)


def test_a_client_beside_the_server_on_one_side_only_withholds_the_verdict() -> None:
    factories.agent("db1")
    factories.agent("load1")
    plans = [{"primary": "db1"}, {"primary": "db1", "client": "load1"}]
    runs = [
        factories.finished_run(agents=agents, installation=major, factors={}, replicates=3)
        for agents, major in zip(plans, ("16", "18"), strict=True)
    ]
    [environment] = ask(*runs, x="workload", series="version").environment
    [placement] = [one for one in environment.difference.of(Cause.CONFOUNDER) if one.key == "placement"]
    assert (placement.left, placement.right) == (("client + primary",), ("",))


def test_sides_without_a_configuration_in_common_are_not_comparable() -> None:
    """Both durations are there on both sides, but with other numbers of clients."""
    runs = [
        factories.finished_run(installation=major, factors={"clients": [clients]}, duration_s=seconds, replicates=3)
        for major, clients, seconds in (("16", 1, 5), ("16", 4, 60), ("18", 1, 60), ("18", 4, 5))
    ]
    comparison = ask(*runs, x="clients", series="major")
    assert {point.verdict.kind for point in comparison.points if point.verdict} == {Kind.NOT_COMPARABLE}
    assert {one.key for one in comparison.environment[0].difference.of(Cause.CONFOUNDER)} >= {"duration_s"}


def test_what_only_one_sides_plan_can_say_is_told_and_withholds_nothing() -> None:
    runs = [factories.finished_run(installation=major, factors={}, replicates=3) for major in ("16", "18")]
    configuration = runs[0].configurations.get()
    del configuration.dimensions["protocol"]
    configuration.save()
    [environment] = ask(*runs, x="workload", series="version").environment
    assert environment.comparable == 1
    assert {one.key for one in environment.notable} == {"protocol"}


def test_builds_are_compared_by_their_parts_and_by_their_label() -> None:
    """A composite factor and what it sets are one thing."""
    levels = [
        {"label": f"{major} {size}", "values": {"installation": major, "setting.work_mem": size}}
        for major in ("16", "18")
        for size in ("4MB", "64MB")
    ]
    run = factories.finished_run(factors={"build": levels, "clients": [1, 4]}, replicates=3)
    by_part = ask(run, x="clients", series="installation,setting.work_mem", baseline="postgresql-16.9")
    assert (by_part.mixed, len(by_trials(by_part))) == ((), 4)
    by_label = ask(run, x="clients", series="build", baseline="16 4MB")
    assert {point.verdict.kind for point in by_label.points if point.verdict} <= {Kind.BETTER, Kind.SAME, Kind.TOO_FEW}
    assert (by_label.mixed, ask(run, x="clients", series="").mixed) == ((), ("build",))


def test_what_is_not_comparable_counts_in_no_family() -> None:
    run = matrix()
    attempt = run.trials.filter(configuration__dimensions__clients=8, state="done").latest("pk").attempt
    before = by_trials(ask(run, **VIEWS[0]))
    environments.run_in_versions(run)
    environments.ran_in(attempt, environments.layers(16, facts={"release 6.1": "release 6.8"}))
    after = by_trials(ask(run, **VIEWS[0]))
    withheld = [trials for trials, verdict in after.items() if verdict.kind is Kind.NOT_COMPARABLE]
    assert len(withheld) == 1
    assert after[withheld[0]].adjusted is None
    alike = {"adjusted": None, "kind": Kind.SAME, "more": None, "next_level": 0.05}
    assert replace(after[withheld[0]], **alike) == replace(before[withheld[0]], **alike)


def test_what_two_runs_differ_in_is_said_of_these_runs_only() -> None:
    within = ask(matrix(), **VIEWS[0])
    assert not any(point.verdict.across_runs for point in within.points if point.verdict)
    runs = [
        noisy_run(0.001, installation=major, factors={"clients": [1, 4]}, replicates=4, seed=seed, effect=1.1)
        for seed, major in enumerate(("16", "18"))
    ]
    across = ask(*runs, x="clients", series="major")
    assert {point.verdict.words for point in across.points if point.verdict} == {"better in these runs"}
    assert all(sentence.claim.endswith("in these runs") for sentence in lead(across))


def repeated(plan: models.Plan, *levels: float) -> list[models.Run]:
    """Finished runs of a plan, each so many times as fast as usual."""
    runs = []
    for seed, level in enumerate(levels):
        run = factories.run(stored=plan, factors={"clients": [1, 4]}, installation="16", replicates=3, seed=seed)
        chance = random.Random(seed)
        for trial in run.trials.select_related("configuration"):
            factories.finish(
                trial, 1000 * level * trial.configuration.dimensions["clients"] * (1 + chance.gauss(0, 0.003))
            )
        close_finished(run.pk)
        runs.append(run)
    return runs


def test_other_runs_of_the_plan_say_how_far_runs_lie_apart() -> None:
    factories.agent()
    plan = factories.stored_plan(factors={"clients": [1, 4]}, installation="16", replicates=3)
    *others, before, last = repeated(plan, 1.0, 1.08, 0.93, 1.02, 0.98, 1.06)
    alone = ask(last, x="clients", series="run")
    assert alone.other_runs == ()
    comparison = ask(before, last, x="clients", series="run")
    assert comparison.other_runs == tuple(sorted(run.pk for run in (*others, before, last)))
    verdicts = [point.verdict for point in comparison.points if point.verdict]
    assert {(verdict.kind, verdict.runs, verdict.of_these_runs) for verdict in verdicts} == {(Kind.TOO_FEW, 4, False)}
    assert lacking(verdicts[0]) == "further runs would tell, not further replicates"
    assert "with the spread of 4 runs" in rule(comparison)
    [summary] = [one for one in comparison.summaries if one.source]
    assert summary.source == "runs"
    assert summary.low == pytest.approx(geometric_mean(verdict.low for verdict in verdicts))


VERSIONS_BY_CLIENTS = {"installation": ["16", "18"], "clients": [1, 2, 4, 8]}


def measured_again(plan: models.Plan, seed: int, effect: float = 1.03) -> models.Run:
    """A finished run of a plan with two versions, of which 18 is so many times as fast, at a noise of 2 %."""
    run = factories.run(stored=plan, factors=VERSIONS_BY_CLIENTS, replicates=3, seed=seed)
    chance = random.Random(seed)
    for trial in run.trials.select_related("configuration"):
        level = effect if trial.configuration.dimensions["major"] == "18" else 1.0
        factories.finish(trial, 1000 * level * (1 + chance.gauss(0, 0.02)))
    close_finished(run.pk)
    return run


def test_earlier_runs_of_the_plan_say_how_much_values_vary_and_later_ones_change_nothing(
    django_assert_num_queries: Any,
) -> None:
    factories.agent()
    plan = factories.stored_plan(factors=VERSIONS_BY_CLIENTS, replicates=3)
    first = measured_again(plan, 1)
    with django_assert_num_queries(5):
        alone = ask(first, x="clients", series="installation")
    assert (alone.earlier_runs, alone.other_runs) == ((), ())
    assert not any(point.verdict.earlier for point in alone.points if point.verdict)
    *earlier, newest = [first, *(measured_again(plan, seed) for seed in (2, 3, 4, 5))]
    assert ask(first, x="clients", series="installation") == alone
    with django_assert_num_queries(7):
        comparison = ask(newest, x="clients", series="installation")
    assert comparison.earlier_runs == tuple(run.pk for run in earlier)
    verdicts = [point.verdict for point in comparison.points if point.verdict]
    assert all(verdict.earlier for verdict in verdicts)
    assert "with the noise of 4 earlier runs" in rule(comparison)
    measured_again(plan, 6)
    assert ask(newest, x="clients", series="installation").points == comparison.points
    models.Run.objects.exclude(pk=newest.pk).update(state="cancelled")
    without = [point.verdict for point in ask(newest, x="clients", series="installation").points if point.verdict]
    assert [verdict.ratio for verdict in without] == [verdict.ratio for verdict in verdicts]
    assert [verdict.detectable for verdict in without] > [verdict.detectable for verdict in verdicts]


def test_a_run_that_ended_after_this_one_began_is_no_earlier_run() -> None:
    factories.agent()
    plan = factories.stored_plan(factors=VERSIONS_BY_CLIENTS, replicates=3)
    *earlier, newest = [measured_again(plan, seed) for seed in (1, 2, 3, 4)]
    began = models.Run.objects.get(pk=newest.pk).started_at
    assert began is not None
    models.Run.objects.filter(pk=earlier[0].pk).update(ended_at=began + timedelta(seconds=1))
    assert ask(newest, x="clients", series="installation").earlier_runs == ()
    models.Run.objects.filter(pk=earlier[0].pk).update(ended_at=began - timedelta(seconds=1))
    assert ask(newest, x="clients", series="installation").earlier_runs == tuple(run.pk for run in earlier)


def test_earlier_runs_are_those_alone_that_measured_what_is_compared() -> None:
    factories.agent()
    plan = factories.stored_plan(factors=VERSIONS_BY_CLIENTS, replicates=3)
    others = {"installation": ["16", "18"], "clients": [3, 5]}
    factories.finished_run(stored=plan, factors=others, replicates=3, seed=7)
    *earlier, newest = [measured_again(plan, seed) for seed in (1, 2, 3, 4)]
    assert ask(newest, x="clients", series="installation").earlier_runs == tuple(run.pk for run in earlier)


def test_earlier_runs_of_other_configurations_say_nothing() -> None:
    factories.agent()
    plan = factories.stored_plan(factors=VERSIONS_BY_CLIENTS, replicates=3)
    for seed in range(4):
        other = {"installation": ["16", "18"], "clients": [3, 5]}
        factories.finished_run(stored=plan, factors=other, replicates=3, seed=seed)
    assert ask(measured_again(plan, 9), x="clients", series="installation").earlier_runs == ()


def test_runs_that_are_compared_are_other_runs_of_one_another() -> None:
    factories.agent()
    plan = factories.stored_plan(factors={"clients": [1, 4]}, installation="16", replicates=3)
    runs = repeated(plan, 1.0, 1.08, 0.93, 1.02, 0.98, 1.06)
    whole = ask(*runs, x="clients", series="run", baseline=str(runs[4].pk))
    of_last = {point.x: point.verdict for point in whole.points if point.series == str(runs[5].pk)}
    pair = ask(*runs[4:], x="clients", series="run", baseline=str(runs[4].pk))
    of_pair = {point.x: point.verdict for point in pair.points if point.series == str(runs[5].pk)}
    for x, verdict in of_pair.items():
        again = of_last[x]
        assert verdict and again and (verdict.ratio, verdict.runs) == (again.ratio, again.runs)


def extended(*added: int) -> models.Run:
    """A run of three blocks, to which so many were added, each time after all had ended."""
    run = noisy_run(factors={"installation": ["16", "18"], "clients": [1, 4]}, replicates=3, effect=1.03)
    chance = random.Random(9)
    for blocks in added:
        close_finished(run.pk)
        add_blocks(run.pk, blocks, "tests")
        for trial in run.trials.filter(state="waiting").select_related("configuration"):
            factories.finish(trial, factories.usual_tps(trial) * (1 + chance.gauss(0, 0.02)))
    run.refresh_from_db()
    return run


def test_replicates_that_were_added_after_a_look_are_paid_for() -> None:
    run = extended(2, 5)
    assert run.looks == [3, 5]
    comparison = ask(run, x="clients", series="installation")
    verdicts = [point.verdict for point in comparison.points if point.verdict]
    assert {(verdict.n, verdict.looks, verdict.level) for verdict in verdicts} == {(10, 2, look_level((3, 5), 10))}
    assert "Replicates were added after looks: a difference takes an adjusted p of 0.0" in rule(comparison)
    alone = ask(extended(), x="clients", series="installation")
    assert {(point.verdict.looks, point.verdict.level) for point in alone.points if point.verdict} == {(0, 0.05)}
    assert "look" not in rule(alone)


def test_blocks_that_are_added_before_any_trial_has_ended_are_no_look() -> None:
    run = factories.run(replicates=3)
    models.Run.objects.filter(pk=run.pk).update(state="running")
    add_blocks(run.pk, 2, "tests")
    run.refresh_from_db()
    assert (run.blocks, run.looks) == (5, [])


def test_a_look_counts_the_replicates_that_both_sides_had_by_then() -> None:
    run = extended(2)
    lost = run.trials.filter(configuration__dimensions__clients=4, block__lte=3).first()
    models.Trial.objects.filter(pk=lost.pk).update(state="failed")
    comparison = ask(run, x="clients", series="installation")
    looks = {point.x: point.verdict.looks for point in comparison.points if point.verdict}
    assert looks == {"1": 1, "4": 0}, "two replicates tell nothing"


def test_a_run_of_another_configuration_is_no_other_run(django_assert_num_queries: Any) -> None:
    factories.agent()
    plan = factories.stored_plan(factors={"clients": [1, 4]}, installation="16", replicates=3)
    before, last = repeated(plan, 1.0, 1.06)
    for seed in range(3):
        factories.finished_run(stored=plan, factors={"clients": [2]}, installation="16", replicates=3, seed=seed)
    with django_assert_num_queries(7):
        comparison = ask(before, last, x="clients", series="run", filters={"clients": ("1", "4")})
    assert {point.verdict.words for point in comparison.points if point.verdict} == {"better in these runs"}


def test_cells_that_are_not_comparable_enter_no_mean_and_no_headline() -> None:
    run = matrix()
    environments.run_in_versions(run)
    for trial in environments.done(run):
        if trial.configuration.dimensions["major"] == "18" and trial.configuration.dimensions["clients"] == 8:
            environments.ran_in(trial.attempt, environments.layers(18, facts={"release 6.1": "release 6.8"}))
    one = {"filters": {"script": ("tpcb-like",)}}
    comparison = ask(run, x="clients", series="installation", **one)
    [_, summary] = comparison.summaries
    assert (summary.cells, summary.missing) == (3, ("8",))
    comparable = [point.ratio for point in comparison.points if point.verdict and point.x != "8"]
    assert summary.ratio == pytest.approx(geometric_mean(comparable))
    alone = ask(run, x="clients", series="installation", filters=one["filters"] | {"clients": ("8",)})
    assert alone.summaries[1:] == ()
    [sentence] = lead(alone)
    assert "cannot be compared" in sentence.claim and sentence.rest.endswith("no ratio")


def test_a_beta_or_a_fork_shares_no_column_with_the_release_of_its_number() -> None:
    factories.agent("db1", {"16beta1": 160000, "16.9": 160009, "16.9-ee": 160009})
    run = factories.run(factors={"installation": ["postgresql-16beta1", "postgresql-16.9", "postgresql-16.9-ee"]})
    for trial in run.trials.all():
        factories.finish(trial, 1000)
    assert ask(run, x="workload", series="major").series == ("16beta1", "16", "16.9-ee")


def test_another_pgbench_withholds_what_it_times_and_not_what_the_server_counts() -> None:
    run = factories.finished_run(replicates=3)
    own = environments.layers(16, client={"version": "16.14"})
    environments.run_in_versions(run, v16=own)
    kinds = {}
    for metric in ("tps", "latency.p99", "latency.p98", "cpu.user"):
        node = "primary" if metric == "cpu.user" else ""
        comparison = ask(run, metric=metric, node=node)
        kinds[metric] = {point.verdict.kind for point in comparison.points if point.verdict}
        [environment] = comparison.environment
        [client] = [one for one in environment.difference.judgements if one.kind == "client"]
        assert client.matters == (metric != "cpu.user")
    assert kinds.pop("cpu.user") != {Kind.NOT_COMPARABLE}
    assert set().union(*kinds.values()) == {Kind.NOT_COMPARABLE}
