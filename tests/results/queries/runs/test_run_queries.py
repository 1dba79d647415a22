from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from results import models, runs
from results.queries.runs.runs import Chosen, list_runs, run_detail, run_medians, run_outline, run_row, with_cells
from results.queries.shared.ids import NotFound
from tests import factories

pytestmark = pytest.mark.django_db


def test_a_run_is_listed_with_the_counts_of_its_trials(django_assert_num_queries: Any) -> None:
    made = factories.run(factories.member("ada"))
    trials = list(made.trials.all())
    factories.finish(trials[0])
    factories.fail(trials[1])
    factories.begin(trials[2])
    with django_assert_num_queries(1):
        (row,) = list_runs()
    assert (row.id, row.created_by, row.agents, row.configurations) == (made.pk, "ada", ("db1",), 4)
    assert (row.trials_total, row.trials_done, row.trials_failed, row.trials_running) == (8, 1, 1, 1)
    assert (row.trials_waiting, row.trials_cancelled) == (5, 0)


def test_runs_are_filtered_and_paged_newest_first() -> None:
    stored = factories.stored_plan()
    first, second, third = factories.run(), factories.run(stored=stored), factories.run()
    runs.cancel_run(first.pk, "tests")
    assert [row.id for row in list_runs()] == [third.pk, second.pk, first.pk]
    assert [row.id for row in list_runs(state="cancelled")] == [first.pk]
    assert [row.id for row in list_runs(plan_id=stored.pk)] == [second.pk]
    assert [row.id for row in list_runs(before_id=third.pk, limit=1)] == [second.pk]


def test_the_matrix_holds_every_trial_in_the_order_of_the_plan(django_assert_num_queries: Any) -> None:
    made = factories.finished_run()
    with django_assert_num_queries(4):
        detail = run_detail(made.pk, timezone.now())
    assert [factor["name"] for factor in detail.factors] == ["installation", "clients"]
    assert [list(row.levels.items()) for row in detail.configurations][:2] == [
        [("installation", "16"), ("clients", "1")],
        [("installation", "16"), ("clients", "4")],
    ]
    first = detail.configurations[0]
    assert [(cell.block, cell.value) for cell in first.cells] == [(1, 1001.0), (2, 1002.0)]
    assert (first.median, first.n, first.minimum, first.maximum) == (1001.5, 2, 1001.0, 1002.0)
    assert first.spread == pytest.approx(1 / 1001.5)
    assert (detail.metric.unit, detail.metric.better, detail.left_s) == ("tps", "higher", None)


def test_a_failed_trial_shows_its_error_and_no_number() -> None:
    made = factories.run()
    trial = made.trials.first()
    assert trial is not None
    factories.fail(trial, "pgbench was aborted.")
    detail = run_detail(made.pk, timezone.now())
    cell = next(c for row in detail.configurations for c in row.cells if c.trial_id == trial.pk)
    assert (cell.state, cell.error, cell.value, cell.attempts) == ("failed", "pgbench was aborted.", None, 1)
    assert all(row.n == 0 and row.median is None for row in detail.configurations)


def test_the_number_of_a_failed_attempt_never_counts_beside_a_later_one() -> None:
    made = factories.run(factors={"installation": ["16"]}, replicates=1)
    trial = made.trials.get()
    factories.fail(trial, tps=5.0)
    runs.retry_trial(trial.pk, "tests")
    factories.finish(trial, tps=900.0)
    (row,) = run_medians(made.pk, ["tps"])
    assert (row.median, row.n, row.trial_ids) == (900.0, 1, (trial.pk,))
    (configuration,) = run_detail(made.pk, timezone.now()).configurations
    assert (configuration.median, configuration.cells[0].attempts) == (900.0, 2)


def test_what_is_left_is_estimated_from_the_done_trials_of_the_busiest_agent() -> None:
    made = factories.run(factors={"installation": ["16"]}, replicates=3)
    trials = list(made.trials.all())
    assert run_detail(made.pk, timezone.now()).left_s == 15.0
    factories.finish(trials[0])
    attempt = factories.begin(trials[1], "measure", 5.0)
    detail = run_detail(made.pk, attempt.started_at + timedelta(seconds=4))
    assert detail.left_s == pytest.approx(9 - 4 + 9)
    running = next(c for c in detail.configurations[0].cells if c.state == "running")
    assert running.left_s == pytest.approx(1.0, abs=0.5)


def test_of_a_large_run_only_what_is_asked_for_has_cells(django_assert_num_queries: Any) -> None:
    made = factories.run(factors={"clients": [1, 2, 4]}, installation="16", replicates=4)
    trials = {(one.configuration.index, one.block): one for one in made.trials.select_related("configuration")}
    for block, tps in enumerate((30.0, 10.0, 20.0), start=1):
        factories.finish(trials[0, block], tps=tps)
    for place in ((2, 1), (2, 2), (2, 3)):
        factories.fail(trials[place])
    factories.begin(trials[1, 4])
    outline = run_outline(run_row(made.pk), timezone.now())
    assert all(row.cells == () for row in outline.configurations)
    assert [(row.trials, row.n) for row in outline.configurations] == [(4, 3), (4, 0), (4, 0)]
    assert (outline.latest_block, outline.whole) == (4, False)

    def cells(chosen: Chosen | None) -> set[tuple[int, int]]:
        with django_assert_num_queries(1):
            detail = with_cells(outline, chosen)
        assert detail.whole == (chosen is None)
        every = [cell for row in detail.configurations for cell in row.cells]
        assert all(cell.column == cell.block for cell in every)
        return {(cell.configuration, cell.column) for cell in every}

    running = {(1, 4)}
    assert cells(None) == set(trials)
    assert cells(Chosen()) == running
    assert cells(Chosen(rows=(2, 3), columns=(1, 2))) == running | {(1, 1), (1, 2), (2, 1), (2, 2)}
    assert cells(Chosen(extremes=True)) == running | {(0, 1), (0, 2)}
    first_failed = sorted([trials[2, 1], trials[2, 2], trials[2, 3]], key=lambda one: one.position)[:2]
    assert cells(Chosen(failed=2)) == running | {(2, one.block) for one in first_failed}


def test_extremes_of_equal_values_are_two_trials() -> None:
    made = factories.run(factors={}, installation="16", replicates=3)
    first, second, third = made.trials.order_by("block")
    for trial in (first, second, third):
        factories.finish(trial, tps=7.0)
    (row,) = run_detail(made.pk, timezone.now()).configurations
    assert (row.minimum_trial, row.maximum_trial) == (first.pk, third.pk)


def test_medians_name_the_trials_they_rest_on(django_assert_num_queries: Any) -> None:
    made = factories.finished_run()
    with django_assert_num_queries(1):
        rows = run_medians(made.pk, ["tps", "cpu.user"])
    assert {(row.metric, row.node) for row in rows} == {
        ("tps", ""),
        ("cpu.user", "client"),
        ("cpu.user", "primary"),
    }
    tps = [row for row in rows if row.metric == "tps"]
    assert [row.median for row in tps] == [1001.5, 4001.5, 1126.5, 4501.5]
    first = models.Trial.objects.filter(run=made, configuration__index=0).order_by("block")
    assert tps[0].trial_ids == tuple(first.values_list("pk", flat=True))
    assert len(run_medians(made.pk)) == 4 * 4


def test_a_run_without_factors_has_one_configuration_without_levels() -> None:
    made = factories.finished_run(factors={}, installation="16", replicates=1)
    detail = run_detail(made.pk, timezone.now())
    assert [(row.levels, row.n) for row in detail.configurations] == [({}, 1)]
    assert run_medians(made.pk, ["tps"])[0].levels == {}


def test_a_run_that_is_not_there_is_not_found() -> None:
    with pytest.raises(NotFound, match=f"no run {factories.NO_ID}"):
        run_detail(factories.NO_ID, timezone.now())
