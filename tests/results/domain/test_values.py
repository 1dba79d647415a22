"""Units, series, histograms, layers, states: the pure values."""

from __future__ import annotations

import math
import random

import pytest

from results.domain.environment.layers import KeyDifference, Layer, LayerKind, difference
from results.domain.kinds.parameters import Kind, Parameter
from results.domain.measurement.histogram import Histogram, bucket_bounds_us, bucket_of, merge
from results.domain.measurement.series import Series
from results.domain.states import RUN_TRANSITIONS, TRIAL_TRANSITIONS, RunState, TrialState, sources
from results.domain.units import (
    counted,
    format_number,
    format_quantity,
    parse_bytes,
    parse_seconds,
    setting_in_base_units,
    to_base,
)
from webapp.forms.levels import typed


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (8123.4, "us", "8.123 ms"),
        (0.42, "us", "0.42 µs"),
        (1536, "B", "1.5 kB"),
        (99.5, "%", "99.50 %"),
        (7200, "s", "2 h"),
        (3145728, "B/s", "3 MB/s"),
        (12345.678, "tps", "12,346 tps"),
        (3, "1", "3"),
        (None, "s", "–"),
        (math.nan, "s", "–"),
    ],
)
def test_quantities_are_shown_with_a_fitting_unit(value: float | None, unit: str, text: str) -> None:
    shown = format_quantity(value, unit)
    assert shown.replace("0.4200", "0.42").replace("1.500", "1.5") == text


def test_numbers_keep_four_digits_and_never_exponents() -> None:
    values = (0, 0.98765, 1234.5, 999.96, 1e9)
    assert [format_number(v) for v in values] == ["0", "0.9877", "1,234", "1,000", "1,000,000,000"]


def test_postgresql_quantities_are_read() -> None:
    assert parse_bytes("64MB") == 64 * 1024**2
    assert parse_seconds("5min") == 300
    with pytest.raises(ValueError, match="not a quantity"):
        parse_bytes("64 parsecs")


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [("16384", "8kB", "128MB"), ("300", "s", "5min"), ("-1", "ms", "-1"), ("on", None, "on"), ("1000", "ms", "1s")],
)
def test_settings_are_shown_in_base_units(value: str, unit: str | None, text: str) -> None:
    assert setting_in_base_units(value, unit) == text


def test_percentiles_are_latencies_that_happened() -> None:
    histogram = Histogram.from_counts({100: 50, 200: 49, 9000: 1})
    assert [histogram.percentile_us(p) for p in (50, 99, 99.9, 100)] == [100, 200, 9000, 9000]
    with pytest.raises(ValueError, match="not in"):
        histogram.percentile_us(0)


@pytest.mark.parametrize("percent", [0.1, 1, 50, 90, 99, 99.9, 99.99])
@pytest.mark.parametrize("total", [10_000, 1_320_000, 7_770_000])
def test_the_rank_of_a_percentile_is_exact(total: int, percent: float) -> None:
    rank = total * round(percent * 100) // 10_000
    histogram = Histogram.from_counts({1: rank, 2: total - rank})
    assert histogram.percentile_us(percent) == 1


def test_histograms_agree_with_the_raw_latencies() -> None:
    draw = random.Random(1)
    raw = [int(draw.lognormvariate(6, 1)) for _ in range(5000)]
    parts = [Histogram.from_counts({v: part.count(v) for v in set(part)}) for part in (raw[:2000], raw[2000:])]
    whole = merge(parts)
    mean = sum(raw) / len(raw)
    assert whole.total == 5000
    assert whole.mean_us() == pytest.approx(mean)
    assert whole.sd_us() == pytest.approx(math.sqrt(sum((v - mean) ** 2 for v in raw) / len(raw)))
    assert whole.percentile_us(95) == sorted(raw)[math.ceil(5000 * 0.95) - 1]


def test_buckets_hold_what_their_bounds_say() -> None:
    for latency in (1, 2, 3, 7, 8, 9, 1000, 1024, 123456):
        low, high = bucket_bounds_us(bucket_of(latency))
        assert low - 1e-6 <= latency < high + 1e-6


def test_series_know_their_times() -> None:
    series = Series("tps", "client", "tps", 0.5, 1.0, (1.0, math.nan, 3.0))
    assert series.times() == [0.5, 1.5, 2.5]
    assert series.within(0, 2.6) == [1.0, 3.0]
    with pytest.raises(ValueError, match="either a step or times"):
        Series("tps", "", "tps", 0, 0, (1.0,))


def test_equal_layers_have_equal_hashes_whatever_the_order_of_keys() -> None:
    left = Layer(LayerKind.KERNEL, {"a": 1, "b": {"c": 2, "d": 3}})
    right = Layer(LayerKind.KERNEL, {"b": {"d": 3, "c": 2}, "a": 1})
    assert left.hash == right.hash != Layer(LayerKind.BUILD, left.content).hash


def test_a_difference_names_dotted_keys() -> None:
    assert difference({"a": {"b": 1}, "c": 2}, {"a": {"b": 5}}) == [
        KeyDifference("a.b", 1, 5),
        KeyDifference("c", 2, None),
    ]


def test_a_done_trial_is_never_run_again() -> None:
    assert TrialState.DONE not in sources(TRIAL_TRANSITIONS, TrialState.WAITING)
    assert RunState.RUNNING in RUN_TRANSITIONS[RunState.FINISHED]


def test_parameters_refuse_what_is_not_of_their_kind() -> None:
    clients = Parameter("clients", Kind.INTEGER, 1, "", minimum=1, maximum=10)
    assert clients.check(4) == 4
    for bad in ("4", True, 1.5, 0, 11, None, math.nan, math.inf):
        with pytest.raises(ValueError):
            clients.check(bad)
    assert clients.read("7") == 7


@pytest.mark.parametrize(
    ("value", "unit", "base"),
    [
        (1.5, "ms", (0.0015, "s")),
        (250, "us", (0.00025, "s")),
        (250, "µs", (0.00025, "s")),
        (3, "ns", (3e-9, "s")),
        (2, "min", (120, "s")),
        (2, "MB", (2 * 1024**2, "B")),
        (2, "MiB", (2 * 1024**2, "B")),
        (1, "KiB", (1024, "B")),
        (3, "kB/s", (3072, "B/s")),
        (7, "rows/s", (7, "rows/s")),
        (7, "", (7, "1")),
        (7, "1", (7, "1")),
        (7, "m", (7, "m")),
        (7, "KB", (7, "KB")),
        (7, "s/s", (7, "s/s")),
        (40, "%", (40, "%")),
    ],
)
def test_a_known_unit_becomes_its_base_unit_and_another_stays(value: float, unit: str, base: tuple[float, str]) -> None:
    base_value, name = to_base(value, unit)
    assert (pytest.approx(base_value), name) == base


@pytest.mark.parametrize("kind", [Kind.INTEGER, Kind.NUMBER])
def test_a_number_that_no_machine_holds_is_refused_in_words(kind: Kind) -> None:
    parameter = Parameter("size", kind, 1, "")
    for digits in (310, 5000):
        with pytest.raises(ValueError, match="too large"):
            parameter.check(10**digits)
        assert typed(parameter, "9" * digits) == "9" * digits


def test_what_is_counted_is_one_or_several() -> None:
    texts = [counted(1, "replicate"), counted(0, "query"), counted(1, "query"), counted(1200, "past trial")]
    assert texts == ["1 replicate", "0 queries", "1 query", "1,200 past trials"]
