"""Sampled stacks: shares of functions, and how two profiles differ."""

from __future__ import annotations

import random

import pytest

from results.domain.measurement.call_stacks import by_function, changes, cut_share, merged, unnamed_share

STACKS = {"client backend;main;a;b": 6, "client backend;main;a": 2, "client backend;main;a;b;a": 1, "checkpointer;c": 1}


def test_own_samples_are_those_of_the_innermost_function_and_totals_count_a_sample_once() -> None:
    samples_of = {name: (samples.own, samples.total) for name, samples in by_function(STACKS).items()}
    assert samples_of == {"main": (0, 9), "a": (3, 9), "b": (6, 7), "c": (1, 1)}


def test_own_samples_add_up_to_all_samples() -> None:
    assert sum(samples.own for samples in by_function(STACKS).values()) == sum(STACKS.values())


def test_merging_adds_the_samples_of_equal_stacks() -> None:
    assert merged([{"k;a": 1, "k;b": 2}, {"k;a": 3}]) == {"k;a": 4, "k;b": 2}


def test_what_is_not_known_is_told_by_its_share() -> None:
    stacks = {"k;main;a": 6, "k;main;[postgres]": 3, "k;[unknown];b": 1}
    assert unnamed_share(stacks) == 0.3
    assert cut_share(stacks) == 0.1


def test_changes_are_differences_in_points_the_greatest_first() -> None:
    a = {"k;main;f": 50, "k;main;g": 50}
    b = {"k;main;f": 20, "k;main;g": 20, "k;main;h": 160}
    rows = {change.function: change for change in changes(a, b)}
    assert [change.function for change in changes(a, b)] == ["h", "f", "g", "main"]
    assert (rows["h"].own_a, rows["h"].own_b, rows["h"].own_points) == (0, 80, 80)
    assert (rows["f"].own_a, rows["f"].own_b, rows["f"].own_points) == (50, 10, -40)
    assert (rows["main"].own_points, rows["main"].total_a, rows["main"].total_points) == (0, 100, 0)
    assert rows["h"].own_beyond_chance and not rows["main"].total_beyond_chance


def test_the_margin_is_that_of_agresti_and_caffo() -> None:
    # 1.959964 · sqrt(p̃a(1−p̃a)/(na+2) + p̃b(1−p̃b)/(nb+2)) with p̃ = (x+1)/(n+2), reckoned by hand
    [f, _] = sorted(changes({"k;f": 30, "k;g": 70}, {"k;f": 50, "k;g": 150}), key=lambda change: change.function)
    assert f.own_points == pytest.approx(-5)
    assert f.own_margin == pytest.approx(10.7501, abs=1e-3)


def test_the_margin_covers_chance_about_nineteen_times_in_twenty() -> None:
    draw = random.Random(5)

    def sample(share: float, size: int) -> dict[str, int]:
        hits = sum(draw.random() < share for _ in range(size))
        return {name: count for name, count in (("k;f", hits), ("k;g", size - hits)) if count}

    inside = 0
    for _ in range(400):
        rows = {change.function: change for change in changes(sample(0.05, 300), sample(0.05, 200))}
        inside += "f" not in rows or not rows["f"].own_beyond_chance
    assert 0.92 < inside / 400 <= 1


def test_a_function_of_one_side_only_is_zero_on_the_other() -> None:
    rows = {change.function: change for change in changes({"k;f": 1}, {"k;g": 1})}
    assert (rows["f"].own_a, rows["f"].own_b) == (100, 0)
    assert (rows["g"].total_a, rows["g"].total_b) == (0, 100)
