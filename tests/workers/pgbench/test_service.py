"""How long there was no service, and when throughput was steady again: by hand-made logs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from results.domain.measurement.parsed_trial import Part
from workers import pgbench
from workers.pgbench.restarts import FOLDED, Acknowledged, Run, read_acknowledged
from workers.pgbench.service import PrimaryLoss, failover_part, outage, rates, steady_s

LOSS = PrimaryLoss(struck_s=2.5, promoted_s=3.0)


def log(*rates_: int, spans: dict[int, tuple[float, float]] | None = None) -> Acknowledged:
    """A window that began at epoch second 1000 by the client's clock."""
    return Acknowledged(
        origin_s=1000,
        clients={(1, 0): sum(rates_)},
        spans={1: (1000.1, 1002.6), 3: (1004.0, 1010.0)} if spans is None else spans,
        seconds={second: (count, 1000 * count) for second, count in enumerate(rates_) if count},
    )


def run(number: int, status: int = 0, stderr: str = "") -> Run:
    return Run(number, 0, 1, status, "", stderr)


def part(acknowledged: Acknowledged, *runs: Run) -> Part:
    return failover_part(acknowledged, runs or (run(1), run(2), run(3)), 10, 1000, LOSS)


def value(result: Part, metric: str, label: str = "") -> float | None:
    return next((m.value for m in result.measurements if (m.metric, m.label) == (metric, label)), None)


def test_an_outage_lasts_from_the_last_acknowledgement_to_the_first() -> None:
    assert outage(log(), 1000, LOSS) == pytest.approx((2.6, 4.0))


def test_seconds_without_a_transaction_are_zero() -> None:
    assert rates(log(5, 0, 7), 3.9) == (5, 0, 7)


@pytest.mark.parametrize(
    ("tps", "expected"),
    [
        ((100, 100, 0, 0, 100, 100, 100, 100, 100), 4),
        ((100, 100, 0, 0, 20, 60, 100, 100, 100), 6),
        ((100, 100, 0, 0, 100, 100, 100, 20, 100, 100, 100), 8),  # a relapse: not steady before
        ((100, 100, 0, 0, 80, 100, 95, 80, 100, 100), 4),  # one weak second among three
        ((100, 100, 0, 0, 500, 500, 500, 500), 4),  # better than before is no trouble
        ((100, 100, 0, 0, 50, 50, 50, 50, 50), None),
        ((100, 100, 0, 0, 100, 100), None),  # too short to tell
    ],
)
def test_steady_is_as_good_as_before_in_every_three_seconds_from_there_on(
    tps: tuple[float, ...], expected: int | None
) -> None:
    assert steady_s(tps, 100, 3.4) == expected


def test_steadiness_is_told_from_the_moment_of_the_failover() -> None:
    result = part(log(100, 100, 60, 0, 100, 100, 100, 100, 100, 100))
    assert value(result, "failover.steady") == 4 - 2.5
    assert value(result, "failover.tps", "before") == 100
    assert value(result, "failover.promotion") == 0.5
    assert value(result, "failover.refused") == 2
    assert (result.gaps, result.failure) == ((), "")


def test_what_does_not_recover_is_a_gap_and_no_number() -> None:
    result = part(log(100, 100, 60, 0, 50, 50, 50, 50, 50, 50))
    assert value(result, "failover.steady") is None
    assert [gap.reason for gap in result.gaps] == [
        "throughput did not come back to what it was before the end of the window"
    ]


def test_a_window_that_ends_soon_after_is_told() -> None:
    result = part(log(100, 100, 60, 0, 0, 0, 0, 0, 100, 100, spans={1: (1000.1, 1002.6), 3: (1007.9, 1010.0)}))
    assert [gap.reason for gap in result.gaps] == [
        "the window ended 2 whole seconds after service was there again: too few to be steady"
    ]


@pytest.mark.parametrize(
    ("spans", "when"), [({}, "before"), ({1: (1000.1, 1002.6)}, "after"), ({3: (1004.0, 1010.0)}, "before")]
)
def test_service_that_never_was_or_never_came_back_fails_the_trial(
    spans: dict[int, tuple[float, float]], when: str
) -> None:
    refused = run(2, 1, "pgbench: error: connection to server failed: refused\n")
    result = part(log(spans=spans), run(1), refused)
    assert result.failure.startswith(
        f"No transaction was acknowledged {when} the primary was lost. pgbench: error: conn"
    )


def test_failed_transactions_are_those_of_clients_that_lost_their_connection() -> None:
    lost = "".join(f"pgbench: error: client {n} aborted in command 1 (SQL) of script 0; perhaps\n" for n in range(4))
    result = part(log(100, 100, 100, 0, 100), run(1, 2, lost + "pgbench: error: Run was aborted\n"), run(3))
    assert value(result, "failover.failed") == 4


def test_the_logs_of_several_runs_and_threads_fold_into_counts(tmp_path: Path) -> None:
    (tmp_path / "pgbench_log.1.77").write_text("0 1 1500 0 1000 500000\n1 1 500 0 1001 250000\n0 2 700 0 1001 750000\n")
    (tmp_path / "pgbench_log.1.77.1").write_text("2 1 300 0 1001 100000\n2 2 30")  # ended in mid-line
    (tmp_path / "pgbench_log.12.80").write_text("0 1 900 0 1004 125000\n")
    program = (Path(pgbench.__file__).parent / "surviving.awk").read_text()
    logs = sorted(path.name for path in tmp_path.iterdir())
    done = subprocess.run(
        ["awk", "-v", "origin=1000.25", program, *logs], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    result = read_acknowledged({FOLDED: f"origin 1000.25\n{done.stdout}"})
    assert result.clients == {(1, 0): 2, (1, 1): 1, (1, 2): 1, (12, 0): 1}
    assert result.spans == {1: (1000.5, 1001.75), 12: (1004.125, 1004.125)}
    assert result.seconds == {0: (2, 1800), 1: (2, 1200), 3: (1, 900)}
    assert (result.total, result.of_run(1), result.damaged) == (5, 4, 1)
