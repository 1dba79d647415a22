"""Lag of real standbys against delays that are known."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from results import models
from tests.live.trials.conftest import value

Measure = Callable[..., models.Attempt]
LATE_S = 2.95  # of a delay of three seconds, which counts from a moment before the commit was written
WRITES = {"script": "tpcb-like", "clients": 1}


def troubles(attempt: models.Attempt) -> list[str]:
    return [gap["reason"] for gap in attempt.gaps if gap["source"] == "replication"]


@pytest.mark.parametrize("version", ["16", "18"])
def test_a_standby_that_applies_late_is_measured_to_be_late(measure: Measure, version: str) -> None:
    attempt = measure(
        installation=version,
        topology="streaming",
        parameters=WRITES,
        settings={"recovery_min_apply_delay": "3s"},
        duration_s=8,
    )
    assert attempt.error is None, attempt.error
    assert troubles(attempt) == []
    late = {"node": "standby1"}
    assert value(attempt, "replication.lag.max", **late) >= LATE_S
    assert value(attempt, "replication.lag.max", **late, label="written") < LATE_S
    assert LATE_S <= value(attempt, "replication.replay_age.max", **late) < 60, "nothing of the time before the trial"
    assert value(attempt, "replication.lag_bytes", **late) > 0
    assert value(attempt, "replication.catch_up", **late) >= 0.9 * LATE_S
    [series] = attempt.series.filter(name="replication.lag_bytes", node="standby1", label="")
    assert series.times_s[-1] > 8, "the samples go on until the standby has caught up"


def test_standbys_below_a_cascading_one_are_measured_there(measure: Measure) -> None:
    plan = {"topology": "cascading", "topology_parameters": {"standbys": 2}, "parameters": WRITES}
    # at some looks a sender knows no time: two seconds may hold none that does
    attempt = measure(**plan, duration_s=8)
    assert attempt.error is None, attempt.error
    assert troubles(attempt) == []
    for node in ("cascade", "standby1", "standby2"):
        for metric in ("replication.lag_bytes", "replication.lag", "replication.replay_age", "replication.catch_up"):
            assert value(attempt, metric, node=node) >= 0
    assert not attempt.measurements.filter(metric__name__startswith="replication.", node="primary").exists()
