"""Series that share their times stand together, and each comes out as it went in."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from results.domain.measurement.series import Series
from results.domain.measurement.series_groups import MOST_VALUES, SeriesGroup, series_groups

FLOATS = st.one_of(st.floats(width=32), st.sampled_from([0.0, -0.0, float("nan"), float("inf"), -float("inf")]))
TIMES = st.one_of(st.sampled_from([0.0, -0.0, 0.995]), st.floats(-1e6, 1e6))


@st.composite
def trials(draw: st.DrawFn) -> list[Series]:
    axes = draw(st.lists(st.tuples(TIMES, st.lists(TIMES, max_size=6)), min_size=1, max_size=3))
    names = draw(st.lists(st.tuples(*[st.sampled_from("ab")] * 3), unique=True, max_size=8))
    series = []
    for name, node, label in names:
        start_s, times_s = draw(st.sampled_from(axes))
        count = len(times_s) or draw(st.integers(0, 4))
        values = draw(st.lists(FLOATS, min_size=count, max_size=count))
        step_s = 0.0 if times_s else 1.0
        series.append(
            Series(name, node, draw(st.sampled_from(["B", "%"])), start_s, step_s, tuple(values), label, tuple(times_s))
        )
    return series


@given(trials())
def test_each_series_comes_out_to_the_last_bit(series: list[Series]) -> None:
    groups = list(series_groups(series))
    assert sorted(bits(one) for group in groups for one in series_in(group)) == sorted(map(bits, series))


def test_those_of_one_node_that_share_their_times_share_a_row() -> None:
    series = [Series(name, node, "%", 0.0, 1.0, (1.0, 2.0)) for node in ("a", "b") for name in ("y", "x")]
    series += [Series("late", "a", "%", 0.5, 1.0, (1.0, 2.0)), Series("short", "a", "%", 0.0, 1.0, (1.0,))]
    assert [(group.node, group.names) for group in series_groups(series)] == [
        ("a", ("x", "y")),
        ("b", ("x", "y")),
        ("a", ("late",)),
        ("a", ("short",)),
    ]


def test_a_row_has_a_bounded_number_of_values() -> None:
    hour = tuple(map(float, range(3600)))
    series = [Series("cpu", "primary", "%", 0.0, 1.0, hour, f"cpu{n:02}") for n in range(20)]
    lengths = [len(group.values) for group in series_groups(series)]
    assert lengths == [9 * 3600, 9 * 3600, 2 * 3600]
    assert max(lengths) <= MOST_VALUES
    [alone] = series_groups([Series("cpu", "primary", "%", 0.0, 1.0, hour * 10)])
    assert alone.length == 36_000


def series_in(group: SeriesGroup) -> list[Series]:
    starts = range(0, group.length * len(group.names), group.length) if group.length else [0] * len(group.names)
    return [
        Series(
            name,
            group.node,
            unit,
            group.start_s,
            group.step_s,
            group.values[start : start + group.length],
            label,
            group.times_s,
        )
        for name, label, unit, start in zip(group.names, group.labels, group.units, starts, strict=True)
    ]


def bits(series: Series) -> tuple[str | bytes, ...]:
    return (
        *(series.name, series.node, series.label, series.unit),
        *map(packed, ((series.start_s, series.step_s), series.times_s, series.values)),
    )


def packed(numbers: Sequence[float]) -> bytes:
    return struct.pack(f"{len(numbers)}d", *numbers)
