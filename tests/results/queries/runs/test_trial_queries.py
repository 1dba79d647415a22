from __future__ import annotations

import math
from typing import Any

import pytest

from results import models, runs
from results.queries.runs.trials import (
    histograms_of,
    list_measurements,
    list_trials,
    series_of,
    trial_detail,
)
from results.queries.shared.ids import NotFound
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def trial() -> models.Trial:
    made = factories.finished_run(factors={"clients": [1, 4]}, installation="16")
    trial = made.trials.get(configuration__index=0, block=1)
    return trial


def test_a_trial_says_everything(trial: models.Trial, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(6):
        detail = trial_detail(trial.pk)
    assert (detail.run_name, detail.workload, detail.levels, detail.state) == (
        "16 against 18",
        "pgbench",
        {"clients": "1"},
        "done",
    )
    assert detail.spec["installation"]["version"] == "16.9"
    assert detail.dimensions["scale"] == 5
    assert detail.counted
    assert detail.attempt is not None
    assert [phase["name"] for phase in detail.attempt.phases] == ["prepare", "load", "measure"]
    assert detail.attempt.checks[0]["passed"] is True
    assert detail.attempt.gaps[0]["reason"] == "sar is not installed"
    assert {(m.metric, m.node, m.unit) for m in detail.measurements} >= {
        ("tps", "", "tps"),
        ("latency.p99", "client", "us"),
    }
    assert [(s.name, s.node, s.length) for s in detail.series] == [("cpu.user", "primary", 5), ("tps", "client", 5)]
    assert {layer.kind: layer.content for layer in detail.layers} == {
        "settings": {"shared_buffers": "128MB"},
        "data": {"items": 200, "workload": "tpcc"},
    }
    assert [(s.block, s.value) for s in detail.siblings] == [(2, 1002.0)]


def test_neighbours_follow_the_order_of_the_run(trial: models.Trial) -> None:
    ids = list(trial.run.trials.order_by("position").values_list("pk", flat=True))
    details = [trial_detail(pk) for pk in ids]
    assert [d.previous for d in details] == [None, *ids[:-1]]
    assert [d.next for d in details] == [*ids[1:], None]


def test_a_failed_attempt_is_shown_unless_another_counts(trial: models.Trial) -> None:
    other = factories.run().trials.first()
    assert other is not None
    factories.fail(other, "pgbench was aborted.", tps=3.0)
    shown = trial_detail(other.pk)
    assert (shown.counted, shown.error and shown.error["what"]) == (False, "pgbench was aborted.")
    assert next(m.value for m in shown.measurements if m.metric == "tps") == 3.0
    runs.retry_trial(other.pk, "tests")
    factories.finish(other, tps=700.0)
    again = trial_detail(other.pk)
    assert (again.counted, again.attempt and again.attempt.number, len(again.attempts)) == (True, 2, 2)
    first = trial_detail(other.pk, attempt=1)
    assert (first.counted, next(m.value for m in first.measurements if m.metric == "tps")) == (False, 3.0)


def test_a_trial_that_waits_has_no_attempt() -> None:
    waiting = factories.run().trials.first()
    assert waiting is not None
    detail = trial_detail(waiting.pk)
    assert (detail.attempt, detail.attempts, detail.measurements, detail.counted) == (None, (), (), False)


def test_what_is_not_there_is_not_found(trial: models.Trial) -> None:
    with pytest.raises(NotFound, match=f"no trial {factories.NO_ID}"):
        trial_detail(factories.NO_ID)
    with pytest.raises(NotFound, match="no attempt 9"):
        trial_detail(trial.pk, attempt=9)


def test_series_keep_their_gaps(trial: models.Trial, django_assert_num_queries: Any) -> None:
    assert trial.attempt_id is not None
    with django_assert_num_queries(1):
        (tps,) = series_of(trial.run_id, trial.attempt_id, ["tps"])
    assert (tps.unit, tps.node, tps.times()) == ("tps", "client", [0, 1, 2, 3, 4])
    assert tps.values[:2] == (1001.0, 1002.0)
    assert math.isnan(tps.values[2])
    assert len(series_of(trial.run_id, trial.attempt_id)) == 2


def test_histograms_are_exact(trial: models.Trial, django_assert_num_queries: Any) -> None:
    assert trial.attempt_id is not None
    with django_assert_num_queries(1):
        (latencies,) = histograms_of(trial.run_id, trial.attempt_id)
    assert (latencies.node, latencies.histogram.total, latencies.histogram.maximum_us) == ("client", 100, 900)
    assert latencies.heat.counts == (50, 50)


def test_trials_are_listed_newest_first(trial: models.Trial, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(1):
        rows = list_trials(run_id=trial.run_id)
    assert [row.id for row in rows] == sorted((row.id for row in rows), reverse=True)
    assert {(row.value, row.unit, row.metric) for row in rows} >= {(1001.0, "tps", "tps")}
    assert list_trials(state="failed") == []
    assert [row.id for row in list_trials(before_id=rows[0].id, limit=1)] == [rows[1].id]


def test_measurements_are_listed_of_counted_attempts_only(trial: models.Trial, django_assert_num_queries: Any) -> None:
    other = factories.run(factors={}, installation="16", replicates=1).trials.get()
    factories.fail(other)
    with django_assert_num_queries(1):
        rows = list_measurements(metric="tps")
    assert {row.trial_id for row in rows} == set(trial.run.trials.values_list("pk", flat=True))
    assert [row.value for row in list_measurements(trial_id=trial.pk, metric="cpu.user", node="client")] == [20.0]
    assert [row.id for row in list_measurements(metric="tps", after_id=rows[0].id, limit=1)] == [rows[1].id]
    assert list_measurements(run_id=other.run_id) == []
