"""Times of one attempt that are made of parts."""

from __future__ import annotations

from typing import Any

import pytest

from results import models
from results.queries.runs.steps import steps_of
from tests import factories
from tests.step_runs import access_method_run, bulk_load_run, ssb_run

pytestmark = pytest.mark.django_db


def attempt_of(run: models.Run) -> int:
    trial = run.trials.order_by("position").first()
    assert trial is not None and trial.attempt is not None
    return trial.attempt.pk


def test_the_steps_of_a_load_are_in_their_order_beside_its_total(django_assert_num_queries: Any) -> None:
    attempt = attempt_of(bulk_load_run())
    with django_assert_num_queries(1):
        (load,) = steps_of(attempt)
    assert (load.metric, load.unit, load.noun) == ("Bulk load", "s", "step")
    assert [part.label for part in load.parts] == ["copy", "primary keys", "foreign keys", "vacuum", "analyze"]
    assert load.total is not None
    assert sum(part.value for part in load.parts) < load.total, "time passed between the steps"


def test_queries_are_parts_of_their_pass_and_a_load_before_them_is_made_of_steps() -> None:
    load, queries = steps_of(attempt_of(ssb_run()))
    assert (load.noun, queries.noun) == ("step", "query")
    assert [part.label for part in load.parts] == ["dimensions", "lineorder", "primary keys", "analyze"]
    assert load.total is not None and queries.total is None
    assert len(queries.parts) == 13


def test_what_does_not_add_up_has_no_steps() -> None:
    assert steps_of(attempt_of(access_method_run())) == []
    assert steps_of(attempt_of(factories.finished_run())) == []
