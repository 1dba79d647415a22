"""What more blocks of a run would take."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from results import models
from results.queries.runs.extensions import extensions, longest
from results.queries.shared.ids import NotFound
from tests import factories

pytestmark = pytest.mark.django_db


def lasted(run: models.Run, seconds: float) -> None:
    """Every attempt of the run's done trials took so long, with four clients twice that."""
    for trial in run.trials.filter(state="done").select_related("configuration", "attempt"):
        assert trial.attempt is not None
        took = seconds * (2 if trial.configuration.dimensions["clients"] == 4 else 1)
        ended = trial.attempt.started_at + timedelta(seconds=took)
        models.Attempt.objects.filter(pk=trial.attempt_id).update(ended_at=ended)


def test_a_block_takes_what_the_trials_of_each_configuration_took(django_assert_num_queries: Any) -> None:
    run = factories.finished_run()
    lasted(run, 10)
    with django_assert_num_queries(2):
        (extension,) = extensions([run.pk])
    assert (extension.blocks, extension.trials, extension.waiting) == (2, 4, 0)
    assert extension.seconds == pytest.approx(10 + 10 + 20 + 20)
    assert extension.rests_on == "what the run's own trials took"


def test_a_configuration_that_has_done_nothing_takes_the_plan_and_the_overhead_of_the_others() -> None:
    run = factories.run()
    for trial in run.trials.filter(configuration__dimensions__clients=1).select_related("configuration"):
        factories.finish(trial)
    lasted(run, 12)  # of which five seconds are the plan's
    (extension,) = extensions([run.pk])
    assert extension.seconds == pytest.approx(4 * 12)
    assert extension.waiting == 4


def test_a_run_that_has_done_nothing_goes_by_the_past_of_its_workload() -> None:
    lasted(factories.finished_run(), 15)
    past, fresh = extensions([run.pk for run in (models.Run.objects.get(), factories.run(seed=8))])
    assert fresh.rests_on == "the plan's durations and the median overhead of 8 past trials"
    assert fresh.seconds == pytest.approx(4 * (5 + (10 + 25) / 2))
    assert longest([past, fresh]) == pytest.approx((past.seconds or 0) + (fresh.seconds or 0))  # on the same agent


def test_before_anything_ran_only_the_plan_is_known() -> None:
    (extension,) = extensions([factories.run().pk])
    assert (extension.seconds, extension.rests_on) == (20, "the plan's durations alone: no trial has run yet")


def test_what_lasts_until_its_work_is_done_is_unknown_before_it_was() -> None:
    run = factories.run()
    for configuration in run.configurations.all():
        del configuration.dimensions["duration_s"]
        configuration.save()
    (extension,) = extensions([run.pk])
    assert extension.seconds is None and longest([extension]) is None
    assert "until their work is done" in extension.rests_on
    for trial in run.trials.select_related("configuration"):
        factories.finish(trial)
    lasted(run, 10)
    assert extensions([run.pk])[0].seconds == pytest.approx(60)


def test_a_run_that_is_not_there_is_named() -> None:
    with pytest.raises(NotFound, match=f"There is no run {factories.NO_ID}"):
        extensions([factories.run().pk, factories.NO_ID])
