"""When a plan's newest run is worse, and what is said of it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import OperationalError
from django.utils import timezone

from results import alerts, models
from results.domain.errors import TeitenError
from results.domain.statistics.verdict import Kind
from results.models.runs import end_state
from results.queries.comparison.compare import compare
from results.queries.trends.progress import Progress, progress
from results.stored_plans import save_plan
from tests import environments, factories, histories
from webapp.urlstate import read
from workers.registry import kinds

pytestmark = pytest.mark.django_db


@pytest.fixture
def plan() -> models.Plan:
    return histories.nightly(parameters={"scale": 5}, factors={"clients": [1, 8]}, replicates=5)


def watched(plan: models.Plan) -> models.Watch:
    return alerts.watch(plan, "email", "ada@example.org", user=None, actor="tests")


def states(run: models.Run) -> list[str]:
    alerts.judge_runs(timezone.now())
    return list(models.Alert.objects.filter(run=run).values_list("state", flat=True))


def runs(plan: models.Plan, values: Sequence[float], **every: Any) -> list[models.Run]:
    return histories.months(plan, values, **every)


def test_a_run_that_is_worse_is_told_once(plan: models.Plan) -> None:
    watched(plan)
    first, second = runs(plan, [8000, 7200])
    assert (states(first), states(second)) == (["quiet"], ["due"])
    alert = models.Alert.objects.get(run=second).content
    assert (alert["run"], alert["before"]) == (second.pk, first.pk)
    assert [(cell["name"], cell["kind"]) for cell in alert["cells"]] == [("clients 1", "worse"), ("clients 8", "worse")]
    assert alert["cells"][0]["ratio"] == pytest.approx(0.9, abs=0.01)
    trials = set(second.trials.values_list("pk", flat=True))
    assert {pk for cell in alert["cells"] for pk in cell["trials_after"]} == trials
    assert alerts.judge_runs(timezone.now()) == 0
    assert models.Alert.objects.filter(run=second).count() == 1


@pytest.mark.parametrize("values", [[8000], [8000, 8000, 8010, 7990], [8000, 8800]])
def test_a_first_run_an_equal_one_and_a_better_one_are_quiet(plan: models.Plan, values: list[float]) -> None:
    watched(plan)
    assert states(runs(plan, values)[-1]) == ["quiet"]
    assert not models.Alert.objects.filter(state="due").exists()


def test_the_same_thing_measured_again_and_again_raises_no_alert() -> None:
    """An A/A plan: eight runs of one build, noise 1 %."""
    plan = histories.nightly(replicates=5)
    watched(plan)
    runs(plan, [8000] * 8, noise=0.01)
    alerts.judge_runs(timezone.now())
    assert list(models.Alert.objects.values_list("state", flat=True)) == ["quiet"] * 8


def test_another_build_is_judged_for_it_is_what_a_plan_follows(plan: models.Plan) -> None:
    runs(plan, [8000], version="18.1")
    (later,) = runs(plan, [7200], version="18.2")
    assert {cell.kind for cell in progress(later.pk).cells} == {Kind.WORSE}


def test_another_kernel_withholds_the_verdict_and_is_named(plan: models.Plan) -> None:
    watched(plan)
    runs(plan, [8000])
    (later,) = runs(plan, [7200], kernel="6.8.0")
    cells = progress(later.pk).cells
    assert {cell.kind for cell in cells} == {Kind.NOT_COMPARABLE}
    assert {cell.environment for cell in cells} == {("kernel release: 6.1.0 → 6.8.0",)}
    assert states(later) == ["quiet"]


@pytest.mark.parametrize(("before", "kind"), [("17.6", Kind.NOT_COMPARABLE), ("18.1", Kind.WORSE)])
def test_another_pgbench_withholds_the_verdict_and_a_minor_version_of_it_does_not(
    plan: models.Plan, before: str, kind: Kind
) -> None:
    [earlier] = runs(plan, [8000])
    [later] = runs(plan, [7200])
    for run, client in ((earlier, before), (later, "18.4")):
        for trial in environments.done(run):
            assert trial.attempt is not None
            environments.ran_in(trial.attempt, environments.layers(18, client={"version": client}))
    assert {cell.kind for cell in progress(later.pk).cells} == {kind}


def test_a_run_is_held_against_up_to_ten_before_it_whose_spread_counts(plan: models.Plan) -> None:
    """Runs lie 2 % apart, far more than their replicates: of two of them alone many would be worse."""
    chance = random.Random(4)
    history = runs(plan, [8000 * (1 + chance.gauss(0, 0.02)) for _ in range(14)])
    judged = [progress(run.pk) for run in history]
    for number, (run, of_run) in enumerate(zip(history, judged, strict=True)):
        before = tuple(one.pk for one in history[max(0, number - 10) : number])
        assert {cell.against for cell in of_run.cells} == ({before} if before else set()), run
        assert {cell.runs for cell in of_run.cells} == ({len(before) if number >= 3 else 0} if before else set())
    assert [of_run.run for of_run in judged[3:] if of_run.worse] == []
    (lower,) = runs(plan, [6800])
    assert {cell.kind for cell in progress(lower.pk).cells} == {Kind.WORSE}


def test_runs_in_another_environment_and_on_another_level_do_not_count(plan: models.Plan) -> None:
    history = [
        histories.measured(plan, at(30 - day), tps, kernel="5.15.0" if day < 2 else "6.1.0")
        for day, tps in enumerate([8000] * 12 + [7000] * 5)
    ]
    assert {cell.against for cell in progress(history[5].pk).cells} == {tuple(run.pk for run in history[2:5])}
    assert {cell.against for cell in progress(history[-1].pk).cells} == {tuple(run.pk for run in history[12:16])}


def test_what_another_kernel_cost_comes_to_light_as_a_lower_level() -> None:
    plan = histories.nightly()
    watched(plan)
    now = timezone.now() - timedelta(days=20)
    for day in range(12):
        histories.measured(plan, now + timedelta(days=day), 8000)
        alerts.judge_runs(timezone.now())
    reported = []
    for day in range(12, 20):
        run = histories.measured(plan, now + timedelta(days=day), 7200, kernel="6.8.0")
        reported += [run.pk] if states(run) == ["due"] else []
    lower = list(models.Run.objects.order_by("pk").values_list("pk", flat=True))[12]
    (alert,) = models.Alert.objects.filter(state="due")
    assert [alert.run_id] == reported
    assert [cell["since"] for cell in alert.content["cells"]] == [lower]


def test_trials_that_failed_and_runs_that_go_on_are_not_judged(plan: models.Plan) -> None:
    watched(plan)
    runs(plan, [8000])
    (later,) = runs(plan, [7200])
    models.Run.objects.filter(pk=later.pk).update(state="running")
    assert states(later) == []


def test_a_run_that_went_on_is_judged_again_where_nothing_was_said(plan: models.Plan) -> None:
    watched(plan)
    first, second = runs(plan, [8000, 8000])
    assert states(second) == ["quiet"]
    models.Measurement.objects.filter(run=second, metric_id="tps").update(value=10)
    assert states(second) == ["quiet"]
    models.Run.objects.filter(pk=second.pk).update(ended_at=timezone.now() + timedelta(seconds=1))
    assert states(second) == ["due"]
    assert first.pk != second.pk


def test_runs_that_ended_before_the_watch_are_not_told(plan: models.Plan) -> None:
    *_, last = runs(plan, [8000, 7200])
    watched(plan)
    assert states(last) == []


def test_configurations_without_a_partner_are_named(plan: models.Plan) -> None:
    runs(plan, [8000])
    changed = factories.a_plan(
        name="nightly", installation="18", parameters={"scale": 5}, factors={"clients": [8, 64]}, replicates=5
    )
    save_plan(changed, kinds(), user=None, actor="tests", stored=plan)
    plan.refresh_from_db()
    (later,) = runs(plan, [8000])
    plan_progress = progress(later.pk)
    assert [cell.name for cell in plan_progress.cells] == ["clients 8"]
    assert plan_progress.unmatched == ("clients 64",)


def test_judging_takes_seven_queries_however_long_the_history(
    plan: models.Plan, django_assert_num_queries: Any
) -> None:
    for count in (2, 6):
        *_, last = runs(plan, [8000] * count)
        with django_assert_num_queries(7):
            progress(last.pk)


def test_a_target_in_vain_is_tried_at_growing_intervals_and_given_up(plan: models.Plan) -> None:
    watched(plan)
    runs(plan, [8000, 7200])
    alerts.judge_runs(timezone.now())
    now, waits = timezone.now(), []
    for _ in range(len(alerts.BACKOFF_S) + 1):
        with alerts.next_due(now) as alert:
            assert alert is not None
            alerts.mark_failed(alert, "no answer", now)
        alert.refresh_from_db()
        if alert.next_at:
            waits.append((alert.next_at - now).total_seconds())
            now = alert.next_at
    assert waits == list(alerts.BACKOFF_S)
    assert (alert.state, alert.error) == ("failed", "no answer")
    with alerts.next_due(now + timedelta(days=9)) as none:
        assert none is None


@pytest.mark.parametrize(
    ("channel", "target"),
    [
        ("email", "nobody"),
        ("email", "a@example.org\nBcc: b@example.org"),
        ("webhook", "ftp://example.org/"),
        ("webhook", "file:///etc/passwd"),
        ("webhook", "https://user:secret@example.org/"),
        ("webhook", "https://example.org:99999/"),
        ("webhook", "nonsense"),
        ("pigeon", "roof"),
    ],
)
def test_what_cannot_be_told_is_refused(plan: models.Plan, channel: str, target: str) -> None:
    with pytest.raises(TeitenError):
        alerts.watch(plan, channel, target, user=None, actor="tests")
    assert not models.Watch.objects.exists()


def test_one_target_is_told_once(plan: models.Plan) -> None:
    watched(plan)
    with pytest.raises(TeitenError, match="told already"):
        watched(plan)
    entries = models.AuditEntry.objects.filter(verb="watch plan")
    assert [entry.detail["target"] for entry in entries] == ["ada@example.org"]


def test_one_run_that_cannot_be_judged_keeps_no_other_from_it(plan: models.Plan, monkeypatch: Any) -> None:
    watched(plan)
    other = histories.nightly(name="other", replicates=5)
    watched(other)
    (odd,) = runs(plan, [8000])
    *_, fine = runs(other, [8000, 7200])

    def breaking(run_id: int) -> Progress:
        if run_id == odd.pk:
            raise TypeError("a number is missing")
        return progress(run_id)

    monkeypatch.setattr(alerts, "progress", breaking)
    assert states(fine) == ["due"]
    reported = models.Alert.objects.get(run=odd)
    assert (reported.state, reported.error) == ("unjudged", "TypeError: a number is missing")
    assert models.AuditEntry.objects.filter(verb="could not judge", object=f"run {odd.pk}").count() == 1
    assert alerts.judge_runs(timezone.now()) == 0
    assert models.AuditEntry.objects.filter(verb="could not judge").count() == 1
    monkeypatch.setattr(alerts, "progress", progress)
    models.Run.objects.filter(pk=odd.pk).update(ended_at=timezone.now())
    assert states(odd) == ["quiet"]
    assert models.Alert.objects.get(run=odd).error == ""


def test_a_database_that_is_away_is_asked_again(plan: models.Plan, monkeypatch: Any) -> None:
    watched(plan)
    *_, last = runs(plan, [8000, 7200])

    def away(run_id: int) -> Progress:
        raise OperationalError("deadlock detected")

    monkeypatch.setattr(alerts, "progress", away)
    assert states(last) == []
    monkeypatch.setattr(alerts, "progress", progress)
    assert states(last) == ["due"]


def failing(run: models.Run, clients: set[int]) -> None:
    """Turns the run's trials of so many clients into failed ones."""
    of = run.trials.filter(configuration__dimensions__clients__in=clients)
    of.update(state="failed")


def test_a_configuration_that_only_failed_is_told(plan: models.Plan) -> None:
    watched(plan)
    runs(plan, [8000])
    (later,) = runs(plan, [8000])
    failing(later, {8})
    plan_progress = progress(later.pk)
    assert [(one.name, one.failed) for one in plan_progress.lost] == [("clients 8", 5)]
    assert ([cell.name for cell in plan_progress.cells], plan_progress.failed, plan_progress.trials) == (
        ["clients 1"],
        5,
        10,
    )
    assert states(later) == ["due"]


def test_a_run_of_which_every_trial_failed_is_told(plan: models.Plan) -> None:
    watched(plan)
    runs(plan, [8000])
    (later,) = runs(plan, [8000])
    failing(later, {1, 8})
    plan_progress = progress(later.pk)
    assert ([one.name for one in plan_progress.lost], plan_progress.failed, plan_progress.trials) == (
        ["clients 1", "clients 8"],
        10,
        10,
    )
    models.Run.objects.filter(pk=later.pk).update(state=end_state())
    assert models.Run.objects.get(pk=later.pk).state == "failed"
    assert states(later) == ["due"]


def test_before_it_is_a_matter_of_time_and_not_of_numbers(plan: models.Plan) -> None:
    """A run that was made first and held back is judged against the one that ran meanwhile."""
    held, *_, newest = runs(plan, [8000, 7000, 8000])
    models.Run.objects.filter(pk=held.pk).update(started_at=timezone.now() + timedelta(hours=1))
    assert progress(held.pk).before == newest.pk
    assert progress(newest.pk).before == newest.pk - 1


def labelled(run: models.Run, values: dict[str, float]) -> None:
    """The first metric of the run as two steps, and no total."""
    models.Metric.objects.get_or_create(
        name="bulk.seconds",
        defaults={"unit": "s", "better": "lower", "label": "Duration", "help": "", "minimum_effect": 0.02},
    )
    models.Run.objects.filter(pk=run.pk).update(headline="bulk.seconds")
    models.Measurement.objects.bulk_create(
        models.Measurement(
            run=run,
            attempt_id=trial.attempt_id,
            metric_id="bulk.seconds",
            node="primary",
            label=label,
            value=value * (1 + trial.block / 500),
        )
        for trial in run.trials.all()
        for label, value in values.items()
    )


def test_every_label_of_the_first_metric_is_judged() -> None:
    plan = histories.nightly(replicates=5)
    first, second = runs(plan, [8000, 8000])
    labelled(first, {"analyze": 3, "insert": 10, "vacuum": 2})
    labelled(second, {"analyze": 3, "insert": 20})
    plan_progress = progress(second.pk)
    assert {cell.name: cell.kind for cell in plan_progress.cells} == {
        "analyze · primary": Kind.SAME,
        "insert · primary": Kind.WORSE,
    }
    assert [one.name for one in plan_progress.lost] == ["vacuum · primary"]
    page = compare(read(plan_progress.comparison))
    verdicts = {point.x: point.verdict.kind for point in page.points if point.verdict}
    assert verdicts == {"analyze": Kind.SAME, "insert": Kind.WORSE}


def at(days: int) -> datetime:
    return timezone.now() - timedelta(days=days)


def test_every_watch_of_the_plan_gets_its_own_alert(plan: models.Plan) -> None:
    watched(plan)
    alerts.watch(plan, "webhook", "https://example.org/hook", user=None, actor="tests")
    other = factories.stored_plan(name="other")
    alerts.watch(other, "email", "ada@example.org", user=None, actor="tests")
    histories.measured(plan, at(2), 8000)
    last = histories.measured(plan, at(1), 7200)
    assert states(last) == ["due", "due"]
    assert set(models.Alert.objects.values_list("watch__plan__name", flat=True)) == {"nightly"}


def test_only_kept_runs_are_judged_and_one_that_is_kept_later_then(plan: models.Plan) -> None:
    watched(plan)
    _, worse = runs(plan, [8000, 7200])
    models.Run.objects.filter(pk=worse.pk).update(standing="exploratory")
    assert states(worse) == []
    models.Run.objects.filter(pk=worse.pk).update(standing="kept")
    assert states(worse) == ["due"]
