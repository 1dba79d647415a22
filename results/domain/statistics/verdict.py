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
from results.domain.statistics.difference import Differences, Matched, differences_of
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


KINDS = tuple(Kind)
_PLACE = {kind: place for place, kind in enumerate(KINDS)}
DIRECTIONS = (Better.HIGHER, Better.LOWER, Better.NEITHER)
_UP = (Kind.BETTER, Kind.WORSE, Kind.HIGHER)  # what more is, in either direction
_DOWN = (Kind.WORSE, Kind.BETTER, Kind.LOWER)


@dataclass(frozen=True)
class Question:
    """Is `other` better than `base`? minimum_effect: the smallest relative change worth a verdict, and the margin
    within which they are the same. comparable: False where something that matters differs besides."""

    base: Sample
    other: Sample
    better: Better
    minimum_effect: float
    comparable: bool = True


@dataclass(frozen=True)
class Verdict:
    """ratio: of the geometric means, of other to base (of the means, without an interval, where a value is not above
    zero); low, high: its 95 % interval; None where it cannot be had, or from fewer than two values a side. p:
    two-sided, None for fewer than three values a side; adjusted: for the number of questions asked together. n: values
    of other and of base; pairs: by which it was judged, 0 for unpaired. detectable: the smallest relative difference
    that so many replicates would show in four of five cases. more: of too few: how many more replicates a side would
    tell a difference of minimum_effect in four of five cases, None for more than a plan can have, and where the spread
    is not known."""

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


@dataclass(frozen=True)
class Asked:
    """Questions as columns. direction: place of each one's `better` in DIRECTIONS. n, n_base: values of either side,
    with those that stand aside."""

    sides: Matched
    direction: Ints
    minimum_effect: Floats
    comparable: Bools
    n: Ints
    n_base: Ints


@dataclass(frozen=True)
class Verdicts:
    """`Verdict`s as columns, NaN where there is None. kind: places in `KINDS`."""

    kind: Ints
    ratio: Floats
    low: Floats
    high: Floats
    p: Floats
    adjusted: Floats
    n: Ints
    n_base: Ints
    pairs: Ints
    detectable: Floats
    more: Floats
    margin: Floats

    def rows(self) -> tuple[Verdict, ...]:
        optional = (self.ratio, self.low, self.high, self.p, self.adjusted, self.detectable, self.more)
        ratio, low, high, p, adjusted, detectable, more = map(_optional, optional)
        return tuple(
            Verdict(
                kind=KINDS[kind],
                ratio=ratio[i],
                low=low[i],
                high=high[i],
                p=p[i],
                adjusted=adjusted[i],
                n=n,
                n_base=n_base,
                pairs=pairs,
                detectable=detectable[i],
                more=None if (needed := more[i]) is None else int(needed),
                margin=margin,
            )
            for i, (kind, n, n_base, pairs, margin) in enumerate(
                zip(*(c.tolist() for c in (self.kind, self.n, self.n_base, self.pairs, self.margin)), strict=True)
            )
        )


def judge(questions: Sequence[Question], rule: int = RULE) -> tuple[Verdict, ...]:
    """A verdict for each question, the p values adjusted over all of them (Benjamini and Hochberg). rule: of a citation
    the one that it was made by. Raises TeitenError for a rule that there never was."""
    asked = Asked(
        sides=Matched.of([(question.base, question.other) for question in questions]),
        direction=np.array([DIRECTIONS.index(question.better) for question in questions], dtype=np.intp),
        minimum_effect=np.array([question.minimum_effect for question in questions], dtype=float),
        comparable=np.array([question.comparable for question in questions], dtype=bool),
        n=np.array([len(question.other.values) for question in questions], dtype=np.intp),
        n_base=np.array([len(question.base.values) for question in questions], dtype=np.intp),
    )
    return judge_columns(asked, rule).rows()


def judge_columns(asked: Asked, rule: int = RULE) -> Verdicts:
    """As `judge` does."""
    if rule not in RULES:
        raise TeitenError(
            f"There is no rule {rule} for verdicts.", where="rule", todo=f"There are {', '.join(map(str, RULES))}."
        )
    with np.errstate(over="ignore", invalid="ignore"):  # what cannot be had is NaN, and None in the verdict
        return RULES[rule](asked)


def _first(asked: Asked) -> Verdicts:
    found = differences_of(asked.sides)
    effect = asked.minimum_effect
    margin = np.where(found.logarithmic, np.log1p(effect), effect)
    reach = special.stdtrit(found.freedom, (1 + LEVEL) / 2) * found.error
    tested = found.used >= power.FEWEST
    p = np.where(tested, 2 * special.stdtr(found.freedom, -abs(found.estimate) / found.error), np.nan)
    adjusted = _adjusted(p, tested & asked.comparable)
    differs = (adjusted <= 1 - LEVEL) & (abs(found.estimate) >= margin)
    same = tested & ~differs & (abs(found.estimate) + reach <= margin)
    kind = _kind(asked, differs, same, found.estimate > 0)
    return Verdicts(
        kind=kind,
        ratio=found.ratio,
        low=np.where(found.logarithmic, np.exp(found.estimate - reach), np.nan),
        high=np.where(found.logarithmic, np.exp(found.estimate + reach), np.nan),
        p=p,
        adjusted=adjusted,
        n=asked.n,
        n_base=asked.n_base,
        pairs=found.pairs,
        detectable=_detectable(found, margin),
        more=np.where(kind == _PLACE[Kind.TOO_FEW], _more(found, margin, reach), np.nan),
        margin=effect,
    )


RULES: Mapping[int, Callable[[Asked], Verdicts]] = {1: _first}


def _adjusted(p: Floats, family: Bools) -> Floats:
    adjusted = np.full(len(p), np.nan)
    if family.any():
        adjusted[family] = stats.false_discovery_control(p[family])
    return adjusted


def _detectable(found: Differences, margin: Floats) -> Floats:
    """A difference is shown when it is significant and its estimate reaches the margin: the larger of what either asks
    for, and a little more where both ask for the same. The error is taken median-unbiased, by the median of the
    chi-squared distribution (Wilson and Hilferty)."""
    error = found.error * _unbiased(found.freedom)
    significance = power.noncentrality(found.freedom)
    size = margin / error + special.stdtrit(found.freedom, power.POWER)
    shift = error * BOTH * np.logaddexp(significance / BOTH, size / BOTH)
    return np.where(found.logarithmic, np.expm1(shift), shift)


def _unbiased(freedom: Floats) -> Floats:
    return (1 - 2 / (9 * freedom)) ** -1.5


def _more(found: Differences, margin: Floats, reach: Floats) -> Floats:
    """Where so many are there already, the estimate lies near the margin: then as many as shorten the interval until
    it no longer crosses it."""
    spread = found.spread * _unbiased(found.freedom)
    known = ~np.isnan(spread)
    total = np.full(len(spread), np.nan)
    total[known] = power.needed(margin[known], np.maximum(spread[known], 1e-9), found.pairs[known] > 0)
    beyond = np.maximum(abs(margin - abs(found.estimate)), 1e-9)
    near = known & (total > 0) & (total <= found.used)
    total = np.where(near, np.ceil(found.used * (reach / beyond) ** 2), total)
    more = np.maximum(total - found.used, 1)
    return np.where((total == 0) | (total > power.MOST), np.nan, more)


def _optional(column: Floats) -> list[float | None]:
    return [value if math.isfinite(value) else None for value in column.tolist()]


def _kind(asked: Asked, differs: Bools, same: Bools, higher: Bools) -> Ints:
    up, down = (np.array([_PLACE[kind] for kind in kinds])[asked.direction] for kinds in (_UP, _DOWN))
    other = np.where(higher, up, down)
    told = np.where(differs, other, np.where(same, _PLACE[Kind.SAME], _PLACE[Kind.TOO_FEW]))
    return np.where(asked.comparable, told, _PLACE[Kind.NOT_COMPARABLE])
