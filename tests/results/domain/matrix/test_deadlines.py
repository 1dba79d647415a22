"""When a phase has surely gone wrong: never within honest work, and never a week after it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from results.domain.kinds.parameters import Scalar
from results.domain.matrix import InstallationRef, TrialSpec
from results.domain.matrix.deadlines import deadlines
from workers import registry
from workers.bundle.writer import BundleWriter
from workers.interfaces import Stage

HOUR_S, DAY_S = 3600.0, 86400.0
PHASES = {"prepare", "load", "arrange", "warm", "verify", "watch", "measure", "collect", "audit"}
# What lasts until it is done, in every way that a workload has for that.
UNTIL_DONE: list[tuple[str, dict[str, Scalar]]] = [
    ("ssb", {}),
    ("bulk_load", {}),
    ("access_method", {}),
    ("capabilities", {}),
    ("pgbench", {"transactions": 1000}),
    ("tpcc", {"transactions": 1000}),
    ("script", {"form": "pgbench", "transactions": 1000}),
    ("script", {"form": "queries"}),
    ("script", {"form": "command"}),
]


def spec(workload: str, parameters: dict[str, Scalar] | None = None, **more: Any) -> TrialSpec:
    complete = registry.kinds().workloads[workload].complete(parameters or {})
    installation = InstallationRef("16.9", "/pg/bin", "/pg/bin", "16.9", 160009)
    agents = {"client": "a", "primary": "a"}
    return TrialSpec(workload, complete, "single", {}, installation, agents, {}, **more)


def limits(*args: Any, past_s: float | None = None, **more: Any) -> dict[str, float]:
    return deadlines(spec(*args, **more), registry.kinds(), past_s)


@pytest.mark.parametrize("workload", registry.kinds().workloads)
def test_every_phase_of_every_workload_has_a_deadline_of_its_own(workload: str) -> None:
    limits_by_phase = limits(workload)
    assert limits_by_phase.keys() == PHASES
    assert all(60 < seconds < 2 * DAY_S for seconds in limits_by_phase.values())


@pytest.mark.parametrize(("workload", "parameters"), UNTIL_DONE)
def test_what_lasts_until_it_is_done_has_a_deadline_by_its_work(workload: str, parameters: dict[str, Scalar]) -> None:
    kind = registry.kinds().workloads[workload]
    assert kind.measured_s(kind.complete(parameters), 60) is None
    assert HOUR_S <= limits(workload, parameters)["measure"] < 2 * DAY_S


@pytest.mark.parametrize(
    ("workload", "small", "large"),
    [
        ("ssb", {"scale_factor": 1, "clients": 1}, {"scale_factor": 100, "clients": 1}),
        ("ssb", {"passes": 1}, {"passes": 10}),
        ("bulk_load", {"size_mb": 10}, {"size_mb": 100_000}),
        ("access_method", {"rows": 10_000}, {"rows": 1_000_000}),
        ("pgbench", {"transactions": 10}, {"transactions": 10_000}),
        ("pgbench", {"transactions": 10_000, "rate": 100}, {"transactions": 10_000, "rate": 0.1}),
        ("capabilities", {"deadline": 10}, {"deadline": 300}),
        ("script", {"form": "queries", "deadline_s": 60}, {"form": "queries", "deadline_s": 6000}),
    ],
)
def test_more_work_has_a_later_deadline(workload: str, small: dict[str, Scalar], large: dict[str, Scalar]) -> None:
    assert limits(workload, small)["measure"] < limits(workload, large)["measure"]


def test_more_data_has_later_deadlines_wherever_data_are_moved() -> None:
    small, large = (limits("pgbench", {"scale": scale}) for scale in (1, 10_000))
    later = {phase for phase in PHASES if small[phase] < large[phase]}
    assert later == {"load", "arrange", "warm", "verify", "audit"}
    assert large["load"] > 10_000 * 15.5e6 / 1e6  # a megabyte a second is slow, and is no hanging


def test_a_load_for_a_time_is_let_finish_its_last_transactions() -> None:
    assert limits("pgbench", duration_s=60)["measure"] == 60 + 30 + 60
    assert limits("pgbench", duration_s=7 * DAY_S)["measure"] > 7 * DAY_S
    assert limits("pgbench", warmup_s=DAY_S)["warm"] > DAY_S


def test_patience_puts_off_all_but_what_the_plan_states() -> None:
    usual, patient = limits("ssb"), limits("ssb", patience=3)
    assert patient["load"] == pytest.approx(3 * usual["load"])
    assert patient["measure"] == pytest.approx(3 * usual["measure"])
    assert limits("pgbench", duration_s=60, patience=0.1)["measure"] == pytest.approx(60 + 9)
    stated = {"form": "queries", "deadline_s": 77}
    assert limits("script", stated, patience=5)["measure"] == limits("script", stated, past_s=1.0)["measure"] == 77


def test_what_took_ten_minutes_before_hangs_after_hours_and_what_took_seconds_not_within_one() -> None:
    work = {"scale_factor": 100, "passes": 3}
    assert limits("ssb", work)["measure"] > 20 * 600
    assert limits("ssb", work, past_s=600)["measure"] == 20 * 600
    assert limits("ssb", work, past_s=2)["measure"] == HOUR_S
    assert limits("ssb", work, past_s=1e9)["measure"] == limits("ssb", work)["measure"]


@pytest.mark.parametrize(("duration_s", "transactions"), [(60, 0), (7 * DAY_S, 0), (60, 5)])
def test_collectors_outlive_the_longest_run(tmp_path: Any, duration_s: float, transactions: int) -> None:
    trial = spec("pgbench", {"transactions": transactions}, duration_s=duration_s, warmup_s=DAY_S)
    limits = deadlines(trial, registry.kinds())
    stage = replace(Stage(trial, {}, {}, BundleWriter(tmp_path, "1/1", 1), "1-1"), deadlines=limits)
    assert stage.lifetime_s > limits["warm"] + limits["measure"] + limits["collect"]
