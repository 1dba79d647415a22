"""Change points on series whose truth is known: simulated, and published."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from results.domain.statistics.changepoint import LEVEL, MINIMUM_SEGMENT, change_points, largest_p

DATA = Path(__file__).parents[3] / "data" / "statistics"
# Annual flow of the Nile at Aswan, 1871 to 1970, in 10^8 m³: Cobb (1978), The problem of the Nile: conditional solution
# to a changepoint problem, Biometrika 65:243. The dam's building began in 1898; the level falls from 1899.
NILE = [int(flow) for flow in (DATA / "nile.txt").read_text().split()]
# Coal-mining disasters in the United Kingdom a year, 1851 to 1962: Jarrett (1979), A note on the intervals between
# coal-mining disasters, Biometrika 66:191. Published analyses put the change of the rate between 1886 and 1895.
COAL = [int(disasters) for disasters in (DATA / "coal.txt").read_text().split()]

Floats = NDArray[np.float64]


def steady(random: np.random.Generator, n: int) -> Floats:
    """Medians of runs, in transactions per second, whose noise is 2 %."""
    return 1000 * np.exp(random.normal(0, 0.02, n))


def share(series: Callable[[np.random.Generator], Floats], times: int, seed: int = 1) -> float:
    """Of how many such series a change is told."""
    random = np.random.default_rng(seed)
    return sum(bool(change_points(series(random))) for _ in range(times)) / times


def test_the_nile_falls_in_1899() -> None:
    (change,) = change_points(NILE)
    assert 1871 + change.index == 1899
    assert (change.before, change.after) == (1130.0, 842.5)
    assert change.ratio == pytest.approx(0.7456, abs=1e-4)
    assert change.p == pytest.approx(0.001)


def test_the_coal_mines_become_safer_about_1890() -> None:
    assert (len(COAL), sum(COAL)) == (112, 191)
    (change,) = change_points(COAL)
    assert 1886 <= 1851 + change.index <= 1895
    assert change.after < change.before


@pytest.mark.parametrize(
    ("n", "seed", "changes"),
    [
        (24, 4, []),
        (60, 5, [(15, 0.008), (31, 0.008)]),
        (90, 7, [(16, 0.001), (46, 0.001)]),
        (150, 6, [(49, 0.001), (75, 0.001), (104, 0.006), (112, 0.006)]),
        (230, 8, [(77, 0.001), (117, 0.001)]),
        (410, 9, [(137, 0.001), (205, 0.001)]),
    ],
)
def test_looking_at_few_stretches_answers_as_looking_at_all_did(
    n: int, seed: int, changes: list[tuple[int, float]]
) -> None:
    """Recorded of version 1 when it computed the sum of every stretch of every order."""
    values = 1000 * np.exp(np.random.default_rng(seed).normal(0, 0.02, n))
    values[n // 3 : n // 2] *= 0.975
    values[n // 4] *= 0.5
    assert [(change.index, round(change.p, 6)) for change in change_points(values)] == changes


@pytest.mark.parametrize("n", [10, 40, 120])
def test_false_alarms_are_as_rare_as_promised(n: int) -> None:
    assert share(lambda random: steady(random, n), 400) <= 2.5 * LEVEL


def test_heavy_tails_raise_no_false_alarm() -> None:
    assert share(lambda random: 1000 + 20 * random.standard_t(2, 40), 1000) <= 2.5 * LEVEL


@pytest.mark.parametrize("place", [0, 1, 20, 38, 39])
@pytest.mark.parametrize("size", [0.1, 0.7, 5.0])
def test_a_single_spike_is_no_change_wherever_it_stands(place: int, size: float) -> None:
    def series(random: np.random.Generator) -> Floats:
        values = steady(random, 40)
        values[place] *= size
        return values

    assert share(series, 60) <= 0.05


@pytest.mark.parametrize(("after", "least"), [(5, 0.7), (8, 0.9), (20, 0.99)])
def test_a_true_change_by_five_percent_is_told_soon(after: int, least: float) -> None:
    def series(random: np.random.Generator) -> Floats:
        values = steady(random, 40)
        values[-after:] *= 0.95
        return values

    assert share(series, 100) >= least


def test_what_was_slow_for_a_while_is_two_changes() -> None:
    values = steady(np.random.default_rng(4), 60)
    values[30:36] *= 0.9
    slower, mended = change_points(values)
    assert abs(slower.index - 30) <= 1
    assert abs(mended.index - 36) <= 1
    assert slower.ratio == pytest.approx(0.9, abs=0.02)
    assert mended.ratio == pytest.approx(1 / 0.9, abs=0.02)


def test_a_staircase_is_found_step_by_step() -> None:
    values = steady(np.random.default_rng(5), 80)
    for start, size in ((20, 0.9), (45, 1.2), (70, 0.85)):
        values[start:] *= size
    change = change_points(values)
    assert [abs(one.index - start) <= 1 for one, start in zip(change, (20, 45, 70), strict=True)] == [True] * 3


def test_no_level_is_shorter_than_the_shortest_allowed() -> None:
    random = np.random.default_rng(6)
    for _ in range(40):
        values = steady(random, 30) * np.exp(random.normal(0, 0.1, 6)).repeat(5)
        edges = [0, *(one.index for one in change_points(values)), 30]
        assert min(np.diff(edges)) >= MINIMUM_SEGMENT


def test_short_levels_are_kept_apart_up_to_the_p_that_the_documentation_tells() -> None:
    text = (Path(__file__).parents[4] / "docs" / "trends.md").read_text()
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if re.match(r"\| \*\*\d+\*\* \|", line)]
    assert [row[0] for row in rows] == ["**3**", "**4**", "**5**", "**6**"]
    for row in rows:
        left = int(row[0].strip("*"))
        assert [float(cell) for cell in row[1:]] == [round(largest_p(left, right), 3) for right in range(3, 13)]


@pytest.mark.parametrize(("left", "right"), [(3, 3), (3, 7), (4, 5), (5, 5)])
def test_short_levels_may_have_one_pair_in_the_wrong_order(left: int, right: int) -> None:
    order = np.arange(left + right)
    order[[left - 1, left]] = order[[left, left - 1]]
    p = stats.mannwhitneyu(order[:left], order[left:], method="exact").pvalue
    assert p == pytest.approx(largest_p(left, right))
    assert p > LEVEL


def test_changes_too_small_to_matter_are_not_told() -> None:
    values = steady(np.random.default_rng(7), 200)
    values[100:] *= 0.985
    assert [one.index for one in change_points(values)]
    assert change_points(values, minimum_effect=0.03) == ()


def test_the_same_series_gives_the_same_answer_in_any_unit() -> None:
    values = steady(np.random.default_rng(8), 50)
    values[30:] *= 1.05
    first = change_points(values)
    assert first == change_points(values)
    assert [(one.index, one.p) for one in change_points(values * 1e-6)] == [(one.index, one.p) for one in first]


@pytest.mark.parametrize("values", [[], [5.0], [1, 2, 3, 4, 5], [7.0] * 50])
def test_short_and_constant_series_have_no_change(values: list[float]) -> None:
    assert change_points(values) == ()


def test_a_change_from_nothing_has_no_ratio() -> None:
    (change,) = change_points([0] * 10 + [3] * 10)
    assert (change.index, change.ratio) == (10, None)


def test_what_is_not_a_number_is_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        change_points([1.0, float("nan")] * 5)
