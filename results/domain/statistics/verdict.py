"""The verdict on two configurations, by one versioned rule. Pure. Formulae and references: docs/method.md."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from results.domain.errors import TeitenError
from results.domain.measurement.metrics import Better
from results.domain.statistics import power
from results.domain.statistics.difference import Differences, differences
from results.domain.statistics.difference import Sample as Sample

RULE = 1
LEVEL = 0.95
BOTH = 0.25  # standard errors, by simulation: how near to one another two demands become more than the larger one

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.intp]


class Kind(StrEnum):
    """higher and lower are what better and worse are called where neither direction is an improvement."""

    BETTER = "better"
    WORSE = "worse"
    HIGHER = "higher"
    LOWER = "lower"
    SAME = "same"
    TOO_FEW = "too-few"
    NOT_COMPARABLE = "not-comparable"

    @property
    def words(self) -> str:
        """As pages write it; the value itself stands in JSON, in citations and in style sheets."""
        return "undecided" if self is Kind.TOO_FEW else self.replace("-", " ")


_UP = {Better.HIGHER: Kind.BETTER, Better.LOWER: Kind.WORSE, Better.NEITHER: Kind.HIGHER}
_DOWN = {Better.HIGHER: Kind.WORSE, Better.LOWER: Kind.BETTER, Better.NEITHER: Kind.LOWER}


@dataclass(frozen=True)
class Question:
    """Is `other` better than `base`?"""

    base: Sample
    other: Sample
    better: Better
    minimum_effect: float  # smallest relative change worth a verdict, and the margin within which they are the same
    comparable: bool = True  # False where something that matters differs besides


@dataclass(frozen=True)
class Verdict:
    """What is known of two configurations; None stands for what cannot be had.

    ratio: of the geometric means, other to base; of the means, without an interval, where a value is not above zero.
    low, high: its 95 % interval; None from fewer than two values a side.
    p: two-sided, None for fewer than three values a side.
    adjusted: p, for the number of questions asked together.
    n, n_base: values of other and of base.
    pairs: by which it was judged, 0 for unpaired.
    detectable: the smallest relative difference that so many replicates would show in four of five cases.
    more: of too few: how many more replicates a side would tell a difference of the margin in four of five cases; None
        for more than a plan can have, and where the spread is not known.
    margin: the smallest relative change worth a verdict."""

    kind: Kind
    ratio: float | None
    low: float | None
    high: float | None
    p: float | None
    adjusted: float | None
    n: int
    n_base: int
    pairs: int
    detectable: float | None
    more: int | None
    margin: float
    rule: int = RULE


def direction(higher: bool, better: Better) -> Kind:
    """Return what a value that is higher, or lower, than another is called."""
    return (_UP if higher else _DOWN)[better]


def judge(questions: Sequence[Question], rule: int = RULE) -> tuple[Verdict, ...]:
    """Return a verdict for each question, the p values adjusted over all of them (Benjamini and Hochberg). Raises
    TeitenError for a rule that there never was.

    rule: of a citation the one that it was made by."""
    if rule not in RULES:
        raise TeitenError(
            f"There is no rule {rule} for verdicts.", where="rule", todo=f"There are {', '.join(map(str, RULES))}."
        )
    with np.errstate(over="ignore", invalid="ignore"):  # what cannot be had is NaN, and None in the verdict
        return RULES[rule](questions)


def _rule_1(questions: Sequence[Question]) -> tuple[Verdict, ...]:
    difference = differences([(question.base, question.other) for question in questions])
    effect = np.array([question.minimum_effect for question in questions], dtype=float)
    comparable = np.array([question.comparable for question in questions], dtype=bool)
    margin = np.where(difference.logarithmic, np.log1p(effect), effect)
    reach = special.stdtrit(difference.freedom, (1 + LEVEL) / 2) * difference.error
    tested = difference.used >= power.FEWEST
    p = np.where(tested, 2 * special.stdtr(difference.freedom, -abs(difference.estimate) / difference.error), np.nan)
    adjusted = _adjusted(p, tested & comparable)
    differs = (adjusted <= 1 - LEVEL) & (abs(difference.estimate) >= margin)
    same = tested & ~differs & (abs(difference.estimate) + reach <= margin)
    reached = [np.where(difference.logarithmic, np.exp(difference.estimate + end), np.nan) for end in (-reach, reach)]
    ratio, low, high = map(_optional, (difference.ratio, *reached))
    p_of, adjusted_of, detectable = map(_optional, (p, adjusted, _detectable(difference, margin)))
    more = _optional(_more(difference, margin, reach))
    higher = (difference.estimate > 0).tolist()
    kinds = [_kind(*answers) for answers in zip(questions, differs.tolist(), same.tolist(), higher, strict=True)]
    pairs = difference.pairs.tolist()
    return tuple(
        Verdict(
            kind=kinds[index],
            ratio=ratio[index],
            low=low[index],
            high=high[index],
            p=p_of[index],
            adjusted=adjusted_of[index],
            n=len(question.other.values),
            n_base=len(question.base.values),
            pairs=pairs[index],
            detectable=detectable[index],
            more=_whole(more[index]) if kinds[index] is Kind.TOO_FEW else None,
            margin=question.minimum_effect,
        )
        for index, question in enumerate(questions)
    )


RULES: Mapping[int, Callable[[Sequence[Question]], tuple[Verdict, ...]]] = {1: _rule_1}


def _kind(question: Question, differs: bool, same: bool, higher: bool) -> Kind:
    if not question.comparable:
        return Kind.NOT_COMPARABLE
    if differs:
        return direction(higher, question.better)
    return Kind.SAME if same else Kind.TOO_FEW


def _adjusted(p: Floats, family: Bools) -> Floats:
    adjusted = np.full(len(p), np.nan)
    if family.any():
        adjusted[family] = stats.false_discovery_control(p[family])
    return adjusted


def _detectable(difference: Differences, margin: Floats) -> Floats:
    """A difference is shown when it is significant and its estimate reaches the margin: the larger of what either asks
    for, and a little more where both ask for the same. The error is taken median-unbiased, by the median of the
    chi-squared distribution (Wilson and Hilferty)."""
    error = difference.error * _unbiased(difference.freedom)
    significance = power.noncentrality(difference.freedom)
    size = margin / error + special.stdtrit(difference.freedom, power.POWER)
    shift = error * BOTH * np.logaddexp(significance / BOTH, size / BOTH)
    return np.where(difference.logarithmic, np.expm1(shift), shift)


def _unbiased(freedom: Floats) -> Floats:
    return (1 - 2 / (9 * freedom)) ** -1.5


def _more(difference: Differences, margin: Floats, reach: Floats) -> Floats:
    """Where so many are there already, the estimate lies near the margin: then as many as shorten the interval until
    it no longer crosses it."""
    spread = difference.spread * _unbiased(difference.freedom)
    known = ~np.isnan(spread)
    total = np.full(len(spread), np.nan)
    total[known] = power.needed(margin[known], np.maximum(spread[known], 1e-9), difference.pairs[known] > 0)
    beyond = np.maximum(abs(margin - abs(difference.estimate)), 1e-9)
    near = known & (total > 0) & (total <= difference.used)
    total = np.where(near, np.ceil(difference.used * (reach / beyond) ** 2), total)
    more = np.maximum(total - difference.used, 1)
    return np.where((total == 0) | (total > power.MOST), np.nan, more)


def _optional(column: Floats) -> list[float | None]:
    return [value if math.isfinite(value) else None for value in column.tolist()]


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)
