"""Whether a trial was steady."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from results.domain.matrix import InstallationRef, TrialSpec
from results.domain.measurement.parsed_trial import Event, Measurement, Part
from results.domain.measurement.series import Series
from workers.bundle import reader
from workers.bundle.manifest import FILE, Manifest
from workers.bundle.steadiness import METRICS, steadiness

RECORDED = Path(__file__).parents[2] / "data" / "failover" / "16"
SECONDS = 20
SPEC = TrialSpec(
    workload="pgbench",
    parameters={},
    topology="single",
    topology_parameters={},
    installation=InstallationRef("16", "/bin", "/bin", "16.9", 160009),
    agents={"client": "a", "primary": "a"},
    settings={},
)
MANIFEST = Manifest("1/1", 1, "1", 0, 99, {}, window=(1000, 1000 + SECONDS), collectors=(("pg_stat", "primary"),))


def rates(values: Sequence[float], node: str = "client", start_s: float = 1.0) -> Series:
    return Series("tps", node, "tps", start_s, 1.0, tuple(values))


def of(part: Part, manifest: Manifest = MANIFEST, spec: TrialSpec = SPEC) -> dict[tuple[str, str], float]:
    measured = list(steadiness(part, manifest, spec))
    assert {one.metric for one in measured} <= {metric.name for metric in METRICS}
    return {(one.metric, one.node): one.value for one in measured}


def of_seconds(values: Sequence[float], **rest: float) -> Mapping[str, float]:
    return {metric: value for (metric, node), value in of(Part(series=(rates(values, **rest),))).items() if not node}


def test_a_rate_that_grows_has_a_trend_and_lasts() -> None:
    values = of_seconds([100 + second for second in range(1, SECONDS + 1)])
    assert values["steady.trend"] == pytest.approx(100 * SECONDS / 110.5)
    assert values["steady.variation"] == pytest.approx(100 * math.sqrt(35) / 110.5)
    assert values["steady.autocorrelation"] == pytest.approx(0.85)


def test_a_rate_that_swings_from_second_to_second_has_no_trend() -> None:
    values = of_seconds([90, 110] * (SECONDS // 2))
    assert values["steady.trend"] == pytest.approx(0, abs=3.1)
    assert values["steady.autocorrelation"] == pytest.approx(-0.95)


def test_a_rate_that_is_always_the_same_varies_by_nothing() -> None:
    still = {"steady.variation": 0, "steady.trend": 0, "steady.start": 0}
    assert of_seconds([100.0] * SECONDS) == pytest.approx(still)


def test_a_window_that_begins_slowly_says_by_how_much() -> None:
    assert of_seconds([80.0] * 3 + [100.0] * (SECONDS - 3))["steady.start"] == pytest.approx(-20)
    minute = Part(series=(rates([110.0] * 6 + [100.0] * 54),))
    assert of(minute, replace(MANIFEST, window=(1000, 1060)))["steady.start", ""] == pytest.approx(10)


def test_seconds_before_and_after_the_window_and_gaps_do_not_count() -> None:
    values = [5.0, 5.0, *[100.0] * 10, math.nan, *[100.0] * 9, 5.0, 5.0]
    assert of_seconds(values, start_s=-1.0)["steady.variation"] == pytest.approx(0)


@pytest.mark.parametrize("values", [[100.0] * 9, [0.0] * SECONDS, []])
def test_of_few_seconds_or_no_work_nothing_is_said(values: list[float]) -> None:
    assert of_seconds(values) == {}


def test_several_loads_have_each_their_own() -> None:
    both = Part(series=(rates([100.0] * SECONDS, "one"), rates([90, 110] * 10, "two")))
    assert {node for metric, node in of(both) if metric == "steady.variation"} == {"one", "two"}


def test_a_trial_that_failed_or_was_never_measured_says_nothing() -> None:
    part = Part(series=(rates([100.0] * SECONDS),))
    assert of(part, replace(MANIFEST, window=None)) == of(part, replace(MANIFEST, error={"what": "lost"})) == {}


def log(*lines: tuple[float, str, str]) -> Part:
    return Part(events=tuple(Event(at, "primary", kind, text) for at, kind, text in lines))


STARTING, COMPLETE = "checkpoint starting: time", "checkpoint complete: wrote 9 buffers"


@pytest.mark.parametrize(
    ("moments", "count"),
    [
        ((), 0),
        (((-5, STARTING), (-1, COMPLETE)), 0),
        (((-5, STARTING), (1, COMPLETE)), 1),
        (((3, COMPLETE),), 1),
        (((-5, STARTING),), 1),
        (((5, STARTING), (9, COMPLETE), (19, STARTING), (25, COMPLETE)), 2),
        (((-9, STARTING), (-8, COMPLETE), (21, STARTING), (22, COMPLETE)), 0),
        (((25, STARTING),), 0),
    ],
)
def test_a_checkpoint_counts_that_was_at_work_in_any_part_of_the_window(
    moments: Sequence[tuple[float, str]], count: int
) -> None:
    part = log(*((at, "checkpoint", text) for at, text in moments))
    assert of(part)["steady.checkpoints", "primary"] == count


def test_an_autovacuum_counts_from_when_it_began() -> None:
    name = 'automatic vacuum of table "bench.public.a"'
    part = log(
        (-1, "autovacuum", f"{name} (elapsed: 3.00 s)"),
        (2, "autovacuum", f"{name} (elapsed: 9.00 s)"),
        (22, "autovacuum", f"{name} (elapsed: 4.50 s)"),
        (22, "autovacuum", f"{name} (elapsed: 1.50 s)"),
        (23, "autovacuum", name),
    )
    assert of(part)["steady.autovacuums", "primary"] == 2


def test_what_is_not_in_the_log_is_not_counted_as_none() -> None:
    quiet = replace(SPEC, settings={"log_checkpoints": "off", "log_autovacuum_min_duration": "1s"})
    assert of(log(), spec=quiet) == {}
    assert of(log(), spec=replace(SPEC, outside=("primary",))) == {}
    assert of(log(), replace(MANIFEST, collectors=(("sar", "primary"),))) == {}
    many = log((3, "checkpoint", "17 more until here; the last: checkpoint starting: wal"))
    assert set(of(many)) == {("steady.autovacuums", "primary")}


def test_a_recorded_trial_has_them_for_each_server() -> None:
    files = reader.open_files(RECORDED)
    parsed = reader.parse(Manifest.from_json(files[FILE].decode()), files)
    values = {(m.metric, m.node): m.value for m in parsed.measurements if m.metric.startswith("steady.")}
    assert values["steady.checkpoints", "primary"] == 1, "that of its immediate shutdown"
    assert values["steady.checkpoints", "standby1"] == 1, "which it forced when it was promoted"
    assert {node for _, node in values} >= {"primary", "standby1", "standby2"}
    assert not any(math.isnan(value) for value in values.values())
    assert Measurement("steady.autovacuums", 0, "standby2") in parsed.measurements
