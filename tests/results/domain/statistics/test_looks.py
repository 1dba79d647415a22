"""Replicates that are added after a look, with known truth."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from results.domain.measurement.metrics import Better
from results.domain.statistics.looks import FIRST, LATER, look_level
from results.domain.statistics.power import replicates_to_tell
from results.domain.statistics.verdict import Kind, Question, Sample, Verdict, judge

CELLS = 1500
LOOKS = (5, 10, 15, 20)


def questions(values: np.ndarray, looks: tuple[int, ...] = ()) -> list[Question]:
    """Return questions that have nothing to do with one another.

    values: (cells, 2, n) logarithms."""
    keys = tuple((1, block) for block in range(values.shape[2]))
    made = []
    for number, cell in enumerate(values):
        base, other = (Sample(tuple(np.exp(side).tolist()), keys, (str(number),)) for side in cell)
        made.append(Question(base, other, Better.HIGHER, 0.02, looks=looks))
    return made


def different(verdicts: Sequence[Verdict]) -> np.ndarray:
    return np.array([verdict.kind in (Kind.BETTER, Kind.WORSE) for verdict in verdicts])


def test_the_first_look_costs_nothing_and_later_ones_more_and_more() -> None:
    levels = [look_level(LOOKS[:number], LOOKS[number]) for number in range(4)]
    assert levels[0] == FIRST
    assert levels == sorted(levels, reverse=True) and 0 < levels[3] < levels[1] < 0.01


def test_the_same_looks_have_the_same_level_and_nearer_ones_a_higher_one() -> None:
    assert look_level((5,), 10) == look_level.__wrapped__((5,), 10)
    assert look_level((5,), 6) > look_level((5,), 500) > LATER / 2


def ever_different(rule: int) -> float:
    """Return the share of equal cells, each judged alone, that are called different at any of four looks."""
    random = np.random.default_rng(31)
    values = 0.04 * random.normal(0, 1, (CELLS, 2, LOOKS[-1]))
    ever = np.zeros(CELLS, dtype=bool)
    for number, count in enumerate(LOOKS):
        ever |= different(judge([], rule, beside=questions(values[:, :, :count], LOOKS[:number])))
    return float(ever.mean())


def test_after_any_number_of_additions_equals_are_called_different_as_rarely_as_at_once() -> None:
    """At a noise of 4 % the minimum effect hides little: rule 1 errs twice as often as it says."""
    chance = FIRST + LATER
    assert ever_different(2) <= stats.binom.ppf(0.999, CELLS, chance) / CELLS
    assert ever_different(1) > 0.08


def test_a_look_before_there_could_be_a_verdict_or_without_more_values_counts_for_nothing() -> None:
    values = 0.02 * np.random.default_rng(1).normal(0, 1, (1, 2, 6))
    [plain], [looked] = judge(questions(values)), judge(questions(values, (2, 6, 6)))
    assert looked == plain
    [twice] = judge(questions(values, (3, 3, 5)))
    assert (twice.looks, twice.level) == (2, look_level((3, 5), 6))


def test_what_is_barely_a_difference_at_once_is_none_after_a_look_and_the_ratio_stays() -> None:
    values = 0.02 * np.random.default_rng(8).normal(0, 1, (1, 2, 10))
    values -= values.mean(axis=2, keepdims=True)
    each = values[0, 1] - values[0, 0]
    values[0, 1] += 2.6 * each.std(ddof=1) / math.sqrt(10)
    [at_once], [looked], [by_rule_1] = (
        judge(questions(values)),
        judge(questions(values, (5,))),
        judge(questions(values, (5,)), 1),
    )
    assert 0.02 < at_once.p < 0.05 and at_once.kind is Kind.BETTER
    assert (looked.kind, looked.looks, looked.p, looked.ratio) == (Kind.TOO_FEW, 1, at_once.p, at_once.ratio)
    assert (looked.low, looked.high) == (at_once.low, at_once.high)
    assert (by_rule_1.kind, by_rule_1.looks) == (Kind.BETTER, 0)


@pytest.mark.parametrize("effect", [0.0, 0.05])
def test_as_many_more_as_are_asked_for_tell_in_four_of_five_cases(effect: float) -> None:
    random = np.random.default_rng([7, round(100 * effect)])
    decided = []
    for _ in range(150):
        first = 0.02 * random.normal(0, 1, (1, 2, 4)) + np.array([0, math.log1p(effect)])[None, :, None]
        [verdict] = judge(questions(first))
        if verdict.kind is not Kind.TOO_FEW or verdict.more is None:
            continue
        more = 0.02 * random.normal(0, 1, (1, 2, verdict.more)) + np.array([0, math.log1p(effect)])[None, :, None]
        [after] = judge(questions(np.concatenate([first, more], axis=2), (4,)))
        decided.append(after.kind is not Kind.TOO_FEW)
    assert len(decided) > 20
    assert np.mean(decided) >= stats.binom.ppf(0.01, len(decided), 0.8) / len(decided)


def test_a_larger_family_and_a_stricter_level_ask_for_more() -> None:
    once = replicates_to_tell(0.02, 0.02, FIRST, 1)
    assert once == 22  # 2 × (0.02 × (1.96 + 1.28) / ln 1.02)²
    assert replicates_to_tell(0.02, 0.02, 1e-6, 500) > once
    assert replicates_to_tell(0.2, 0.02, FIRST, 1) is None
    assert replicates_to_tell(0.02, 0, FIRST, 1) is None
    assert replicates_to_tell(0.0, 0.02, FIRST, 1) == 3
