"""A CHECKPOINT or VACUUM in the midst of a real run: it happens on the server, at its second, and is never silent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from results import models
from tests.live.trials.conftest import value
from workers.pgbench import run

Measure = Callable[..., models.Attempt]


def moments(attempt: models.Attempt, kind: str, text: str) -> list[float]:
    return [event["at_s"] for event in attempt.events if event["kind"] == kind and text in event["text"]]


@pytest.mark.parametrize("installation", ["16", "18"])
def test_a_checkpoint_runs_at_its_second_and_the_server_logs_it(measure: Measure, installation: str) -> None:
    parameters = {"script": "tpcb-like", "background": "checkpoint", "background_at_s": 3}
    attempt = measure(installation=installation, duration_s=9, parameters=parameters)
    assert attempt.error is None
    [began] = moments(attempt, "background", "CHECKPOINT starting")
    [ended] = moments(attempt, "background", "CHECKPOINT complete")
    assert 2.9 < began < 4
    [logged] = moments(attempt, "checkpoint", "checkpoint starting")
    [complete] = moments(attempt, "checkpoint", "checkpoint complete")
    assert began - 0.05 <= logged <= complete <= ended + 0.05
    assert value(attempt, "checkpoints", node="primary", label="requested") == 1
    assert [gap for gap in attempt.gaps if gap["source"] == "background"] == []


@pytest.mark.parametrize(("at_s", "servers"), [(0, {}), (0, {"topology": "streaming"}), (1, {"topology": "streaming"})])
def test_it_never_runs_before_its_second_however_many_loads_there_are(
    measure: Measure, at_s: float, servers: dict[str, Any]
) -> None:
    several = {**servers, "topology_parameters": {"load": "both"}} if servers else {}
    attempt = measure(duration_s=4, parameters={"background": "checkpoint", "background_at_s": at_s}, **several)
    assert attempt.error is None, attempt.error
    [began] = moments(attempt, "background", "CHECKPOINT starting")
    assert began >= at_s


def test_a_load_that_is_slow_to_start_brings_nothing_before_its_second(
    measure: Measure, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = run._start

    async def slowly(*words: Any) -> None:
        await asyncio.sleep(1.5)
        await begin(*words)

    monkeypatch.setattr(run, "_start", slowly)
    attempt = measure(duration_s=6, parameters={"background": "checkpoint", "background_at_s": 2})
    assert attempt.error is None
    [began] = moments(attempt, "background", "CHECKPOINT starting")
    assert began > 1.9


def test_a_vacuum_that_outlasts_the_window_is_cancelled_there(measure: Measure) -> None:
    parameters = {"background": "vacuum", "background_at_s": 0.5}
    slow = {"vacuum_cost_delay": "100ms", "vacuum_cost_limit": "1", "autovacuum": "off"}
    attempt = measure(duration_s=6, settings=slow, parameters=parameters)
    assert attempt.error is None
    assert moments(attempt, "background", "VACUUM complete") == []
    [gap] = [gap for gap in attempt.gaps if gap["source"] == "background"]
    assert "still running when the measured window ended" in gap["reason"]
    assert any("canceling statement" in event["text"] for event in attempt.events)


def test_a_moment_after_the_window_is_refused_before_the_clock(measure: Measure) -> None:
    attempt = measure(parameters={"background": "checkpoint", "background_at_s": 2})
    assert attempt.error is not None
    assert attempt.error["where"] == "parameters.background_at_s"
    assert attempt.measured_from is None


def test_a_run_that_is_over_before_the_moment_fails(measure: Measure) -> None:
    parameters = {"transactions": 10, "background": "checkpoint", "background_at_s": 30}
    attempt = measure(parameters=parameters)
    assert attempt.error is not None
    assert "CHECKPOINT was to run at second 30 and did not begin" in attempt.error["why"]
    assert value(attempt, "transactions") == 10


def test_it_runs_beside_any_load_of_pgbench(measure: Measure) -> None:
    small = {"customers_per_district": 30, "items": 200, "clients": 2}
    parameters = {"background": "checkpoint", "background_at_s": 0.5}
    attempt = measure(workload="tpcc", duration_s=6, data="template", parameters=small | parameters)
    assert attempt.error is None
    assert len(moments(attempt, "background", "CHECKPOINT starting")) == 1
