"""What is derived from all parts of a bundle together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from results.domain.matrix import InstallationRef, TrialSpec
from results.domain.measurement.histogram import HeatMap, Histogram
from results.domain.measurement.parsed_trial import Latencies, Measurement, Part, PhaseTiming
from workers.bundle.derive import add
from workers.bundle.manifest import Manifest

SPEC = TrialSpec(
    workload="pgbench",
    parameters={},
    topology="single",
    topology_parameters={},
    installation=InstallationRef("16", "/bin", "/bin", "16.9", 160009),
    agents={"client": "a", "primary": "a"},
    settings={},
)
FAST = Histogram((60, 61), (5, 5))  # 60.5 µs, which pgbench prints as 0.061 ms
SLOW = Histogram((100, 200), (10, 20))


def log(node: str, label: str, histogram: Histogram) -> Latencies:
    return Latencies(node, label, histogram, HeatMap((), (), ()))


def printed(node: str, label: str, transactions: int, mean: float, sd: float) -> tuple[Measurement, ...]:
    """Return what pgbench says of one load, or of one script of it."""
    pairs = (("transactions", transactions), ("latency.mean", mean), ("latency.sd", sd))
    return tuple(Measurement(metric, value, node, label) for metric, value in pairs)


def derived(measurements: Sequence[Measurement], latencies: Sequence[Latencies]) -> dict[tuple[str, str, str], float]:
    whole = add(
        Part(measurements=tuple(measurements), latencies=tuple(latencies)),
        Manifest("1/1", 1, "1", 0, 9, {}, window=(1, 2)),
        SPEC,
    )
    return {(m.metric, m.node, m.label): m.value for m in whole.measurements}


def test_mean_and_deviation_of_the_latency_are_those_of_the_exact_counts() -> None:
    values = derived(printed("", "", 10, 61, 1), [log("client", "", FAST)])
    assert values["latency.mean", "", ""] == 60.5
    assert values["latency.sd", "", ""] == 0.5


def test_each_script_of_a_mixture_has_its_own_counts() -> None:
    whole = Histogram((60, 61, 100, 200), (5, 5, 10, 20))
    measurements = [*printed("", "", 40, 140, 50), *printed("", "fast", 9, 61, 1), *printed("", "slow", 30, 167, 47)]
    values = derived(measurements, [log("client", "", whole), log("client", "fast", FAST), log("client", "slow", SLOW)])
    assert values["latency.mean", "", ""] == pytest.approx((605 + 5000) / 40)
    assert values["latency.mean", "", "fast"] == 60.5, "although pgbench lost one of its ten transactions"
    assert values["latency.mean", "", "slow"] == pytest.approx(5000 / 30)


def test_several_loads_have_each_its_own_and_all_of_the_workload_together() -> None:
    measurements = [*printed("", "", 40, 140, 50), *printed("one", "", 10, 61, 1), *printed("two", "", 30, 167, 47)]
    values = derived(
        [*measurements, *printed("reader", "", 10, 62, 1)],
        [log("one", "", FAST), log("two", "", SLOW), log("reader", "select-only", FAST)],
    )
    assert values["latency.mean", "one", ""] == 60.5
    assert values["latency.mean", "two", ""] == pytest.approx(5000 / 30)
    assert values["latency.mean", "", ""] == pytest.approx(5605 / 40), "without what ran beside the workload"
    assert values["latency.mean", "reader", ""] == 62
    squares = (5 * 60**2 + 5 * 61**2 + 10 * 100**2 + 20 * 200**2) / 40
    assert values["latency.sd", "", ""] == pytest.approx(math.sqrt(squares - (5605 / 40) ** 2))


def test_a_log_that_lacks_transactions_changes_nothing() -> None:
    values = derived(printed("", "", 11, 61, 1), [log("client", "", FAST)])
    assert (values["latency.mean", "", ""], values["latency.sd", "", ""]) == (61, 1)


def test_the_overhead_of_a_stored_trial_is_the_same_number_when_it_is_read_again() -> None:
    """Each of these differs in its last bits where the terms are taken away one after the other."""
    for n in range(1, 50):
        window = (1.7e9 + 7.1 * n, 1.7e9 + 17.3 * n + 0.123)
        manifest = Manifest(
            "1/1", 1, "1", 1.7e9 + 0.3 * n, window[1] + 2.7, {}, window=window, phases=(PhaseTiming("warm", 1, 3.2),)
        )
        whole = add(Part(), manifest, replace(SPEC, warmup_s=3.1))
        (overhead_s,) = [m.value for m in whole.measurements if m.metric == "overhead.seconds"]
        assert overhead_s == manifest.ended_s - manifest.started_s - (window[1] - window[0] + 3.1)
