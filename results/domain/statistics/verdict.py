"""The verdict on two configurations, by one versioned rule. Pure. Formulae and references: docs/method.md."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from results.domain.errors import TeitenError
from results.domain.measurement.metrics import Better
from results.domain.messages import gettext_lazy as _
from results.domain.messages import pgettext_lazy
from results.domain.statistics import power
from results.domain.statistics.borrowing import Variances, borrowed_variances
from results.domain.statistics.difference import Differences, differences, in_shared_runs
from results.domain.statistics.difference import Sample as Sample
from results.domain.statistics.looks import FIRST, look_level
from results.domain.statistics.run_levels import with_run_levels

RULE = 2
LEVEL = 0.95
FIRST_TO_COUNT_LOOKS = 2  # rule
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
        return _WORDS[self]


_WORDS = {
    Kind.BETTER: pgettext_lazy("verdict", "better"),
    Kind.WORSE: pgettext_lazy("verdict", "worse"),
    Kind.HIGHER: pgettext_lazy("verdict", "higher"),
    Kind.LOWER: pgettext_lazy("verdict", "lower"),
    Kind.SAME: pgettext_lazy("verdict", "same"),
    Kind.TOO_FEW: pgettext_lazy("verdict", "undecided"),
    Kind.NOT_COMPARABLE: pgettext_lazy("verdict", "not comparable"),
}
_UP = {Better.HIGHER: Kind.BETTER, Better.LOWER: Kind.WORSE, Better.NEITHER: Kind.HIGHER}
_DOWN = {Better.HIGHER: Kind.WORSE, Better.LOWER: Kind.BETTER, Better.NEITHER: Kind.LOWER}


@dataclass(frozen=True)
class Question:
    """Is `other` better than `base`?

    minimum_effect: smallest relative change worth a verdict, and the margin within which they are the same.
    comparable: False where something that matters differs besides.
    side: what the values of `other` are values of; questions of one side have noise in common.
    strata: of a mixture (base, other) of each configuration in it: they are compared one by one.
    looks: replicates a side that were there when more were added, at each addition."""

    base: Sample
    other: Sample
    better: Better
    minimum_effect: float
    comparable: bool = True
    side: Hashable = ""
    strata: tuple[tuple[Sample, Sample], ...] = ()
    looks: tuple[int, ...] = ()

    @property
    def parts(self) -> tuple[tuple[Sample, Sample], ...]:
        return self.strata or ((self.base, self.other),)


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
    more: of too few: how many more replicates a side would tell, in four of five cases each, that there is no
        difference, and that there is one of twice the margin; None for more than a plan can have, and where the spread
        is not known.
    margin: the smallest relative change worth a verdict.
    across_runs: the two sides were measured in different runs, whose own levels are part of the difference.
    runs: of the same configurations, from which is known how far such levels lie apart; 0 for too few of them: then the
        difference is known of these runs only, since replicates within a run say nothing of its level.
    earlier: earlier runs of both configurations say how much single values vary.
    looks: how often replicates were added after a look.
    level: adjusted p up to which it is a difference: 5 %, after looks less.
    next_level: what that is once replicates are added."""

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
    across_runs: bool = False
    runs: int = 0
    earlier: bool = False
    looks: int = 0
    level: float = FIRST
    next_level: float = FIRST

    @property
    def of_these_runs(self) -> bool:
        """Whether it says nothing of what other runs would show."""
        return self.across_runs and not self.runs

    @property
    def rules_out_chance(self) -> bool:
        """Whether the sides differ after the correction, be it by less than the margin."""
        known = self.kind is not Kind.NOT_COMPARABLE and self.adjusted is not None
        return known and self.adjusted is not None and self.adjusted <= self.level

    @property
    def excludes_one(self) -> bool:
        """Whether the interval, which is not corrected, does."""
        return self.low is not None and self.high is not None and not self.low <= 1 <= self.high

    @property
    def words(self) -> str:
        """As pages write it."""
        return words_of(self.kind, of_these_runs=self.of_these_runs)


def words_of(kind: Kind, *, of_these_runs: bool) -> str:
    """Return the words of a verdict.

    of_these_runs: it says nothing of what other runs would show."""
    decided = kind not in (Kind.TOO_FEW, Kind.NOT_COMPARABLE)
    return _("{verdict} in these runs", verdict=kind.words) if of_these_runs and decided else kind.words


def direction(higher: bool, better: Better) -> Kind:
    """Return what a value that is higher, or lower, than another is called."""
    return (_UP if higher else _DOWN)[better]


def judge(questions: Sequence[Question], rule: int = RULE, *, beside: Sequence[Question] = ()) -> tuple[Verdict, ...]:
    """Return a verdict for each question, and then for each of those beside them. Raises TeitenError for a rule that
    there never was.

    questions: a family. Its p values are adjusted together (Benjamini and Hochberg), and its samples say how noisy each
        of them is.
    beside: about samples of the family in other combinations: each is adjusted as if it were one more of the family.
    rule: of a citation the one that it was made by."""
    if rule not in RULES:
        raise TeitenError(
            _("There is no rule {rule} for verdicts.", rule=rule),
            where="rule",
            todo=_("There are {names}.", names=", ".join(map(str, RULES))),
        )
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # what cannot be had is None in the verdict
        every = (*questions, *beside)
        looks = [question.looks if rule >= FIRST_TO_COUNT_LOOKS else () for question in every]
        verdicts = _verdicts(every, RULES[rule](questions, every), looks, len(questions))
    return tuple(replace(verdict, rule=rule) for verdict in verdicts) if rule != RULE else verdicts


def _verdicts(
    questions: Sequence[Question], difference: Differences, looks_at: Sequence[Sequence[int]], family: int
) -> tuple[Verdict, ...]:
    """Return a verdict for each question.

    looks_at: of each question how many replicates there were at each look before.
    family: so many of the questions, the first, are corrected together; each of the rest by itself with these."""
    effect = np.array([question.minimum_effect for question in questions], dtype=float)
    comparable = np.array([question.comparable for question in questions], dtype=bool)
    margin = np.where(difference.logarithmic, np.log1p(effect), effect)
    used = difference.used.tolist()
    looks = [_looks_before(counts, count) for counts, count in zip(looks_at, used, strict=True)]
    level = np.array([look_level(of_question, count) for of_question, count in zip(looks, used, strict=True)])
    reach = special.stdtrit(difference.freedom, (1 + LEVEL) / 2) * difference.error
    tested = difference.used >= power.FEWEST
    p = np.where(tested, 2 * special.stdtr(difference.freedom, -abs(difference.estimate) / difference.error), np.nan)
    adjusted = _adjusted(p, tested & comparable, family)
    differs = (adjusted <= level) & (abs(difference.estimate) >= margin)
    same = tested & ~differs & (abs(difference.estimate) + reach <= margin)
    reached = [np.where(difference.logarithmic, np.exp(difference.estimate + end), np.nan) for end in (-reach, reach)]
    ratio, low, high = map(_optional, (difference.ratio, *reached))
    p_of, adjusted_of, detectable = map(_optional, (p, adjusted, _detectable(difference, margin)))
    higher = (difference.estimate > 0).tolist()
    kinds = [_kind(*answers) for answers in zip(questions, differs.tolist(), same.tolist(), higher, strict=True)]
    undecided = np.array([kind is Kind.TOO_FEW for kind in kinds], dtype=bool)
    next_level = _next_level(looks, used, undecided)
    more = _optional(_more(difference, undecided, margin, reach, next_level, int((tested & comparable)[:family].sum())))
    pairs, across_runs, runs, earlier = (
        one.tolist() for one in (difference.pairs, difference.across_runs, difference.runs, difference.earlier)
    )
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
            more=_whole(more[index]),
            margin=question.minimum_effect,
            across_runs=across_runs[index],
            runs=runs[index],
            earlier=earlier[index],
            looks=len(looks[index]),
            level=float(level[index]),
            next_level=float(next_level[index]),
        )
        for index, question in enumerate(questions)
    )


def _looks_before(counts: Sequence[int], used: int) -> tuple[int, ...]:
    """Return the looks at which something could have been told, and after which there are more replicates."""
    return tuple(sorted({count for count in counts if power.FEWEST <= count < used}))


def _next_level(looks: Sequence[tuple[int, ...]], used: Sequence[int], undecided: Bools) -> Floats:
    """Return the level of a look at twice as many replicates, where something is undecided."""
    levels = np.full(len(looks), FIRST)
    for index in map(int, np.flatnonzero(undecided)):
        count = used[index]
        if count >= power.FEWEST:
            levels[index] = look_level((*looks[index], count), 2 * count)
    return levels


def _by_own_replicates(family: Sequence[Question], questions: Sequence[Question]) -> Differences:
    """Rule 1: each question by its own replicates, a mixture as it comes."""
    return differences([(question.base, question.other) for question in questions])


def _by_all_replicates(family: Sequence[Question], questions: Sequence[Question]) -> Differences:
    """Rule 2: the noise of a question is that of the whole family too, and mixtures are compared configuration by
    configuration."""
    parts = [part for question in questions for part in question.parts]
    by_parts = differences([in_shared_runs(*part) for part in parts])
    sides = {id(sample): (sample, side) for question in family for sample, side in _samples(question)}
    samples = [sample for sample, _ in sides.values()]
    variances = borrowed_variances(samples, [side for _, side in sides.values()])
    index_of = {id_: index for index, id_ in enumerate(sides)}
    at = np.array([[index_of.get(id(sample), -1) for sample in part] for part in parts], dtype=np.intp).reshape(-1, 2)
    of_questions = [question.parts for question in questions]
    whole = _combined(_borrowed(by_parts, parts, variances, at), list(map(len, of_questions)))
    return with_run_levels(whole, of_questions)


def _samples(question: Question) -> Iterator[tuple[Sample, Hashable]]:
    """Give each sample, and what it is a sample of."""
    for base, other in question.parts:
        yield base, None
        yield other, (question.side,)


def _borrowed(
    difference: Differences, parts: Sequence[tuple[Sample, Sample]], variances: Variances, at: Ints
) -> Differences:
    """Return the differences with the borrowed variances of single values, where both sides have one, and are pairs or
    share no run: elsewhere blocks that only one side has would count as its own.

    at: places of base and other among the variances, -1 for none."""
    known = (at >= 0).all(axis=1)
    usable = known & difference.logarithmic & ((difference.pairs > 0) | difference.across_runs)
    variance, freedom_of, most = (
        np.append(column, np.nan)[at] for column in (variances.variance, variances.freedom, variances.most)
    )
    base, other = (variance / np.column_stack(difference.counts)).T
    freedom = (base + other) ** 2 / (base**2 / freedom_of[:, 0] + other**2 / freedom_of[:, 1])
    error = np.maximum(np.sqrt(base + other), difference.least_error)
    usable &= np.isfinite(error) & np.isfinite(freedom)
    return replace(
        difference,
        error=np.where(usable, error, difference.error),
        freedom=np.where(usable, np.minimum(freedom, most.max(axis=1)), difference.freedom),
        spread=np.where(usable, np.sqrt(variance.mean(axis=1)), difference.spread),
        earlier=usable & np.append(variances.earlier, False)[at].all(axis=1),
    )


def _combined(difference: Differences, counts: Sequence[int]) -> Differences:
    """Return one difference a question: of a mixture the mean over its configurations, each with the same weight.

    counts: how many configurations each question has."""
    if all(count == 1 for count in counts):
        return difference
    number = np.array(counts, dtype=float)
    owner = np.repeat(np.arange(len(counts)), counts)

    def total(values: NDArray[np.generic]) -> Floats:
        return np.bincount(owner, values, minlength=len(counts)).astype(float)

    variance = difference.error**2
    estimate, whole = total(difference.estimate) / number, total(variance)
    logarithmic = total(difference.logarithmic) == number
    paired = total(difference.pairs > 0) == number
    one = number == 1
    return Differences(
        estimate=estimate,
        error=np.sqrt(whole) / number,
        freedom=np.where(one, total(difference.freedom), whole**2 / total(variance**2 / difference.freedom)),
        spread=np.sqrt(total(difference.spread**2) / number),
        ratio=np.where(logarithmic, np.exp(estimate), np.where(one, total(difference.ratio), np.nan)),
        logarithmic=logarithmic,
        used=total(difference.used).astype(np.intp),
        pairs=np.where(paired, total(difference.pairs), 0).astype(np.intp),
        counts=(total(difference.counts[0]).astype(np.intp), total(difference.counts[1]).astype(np.intp)),
        least_error=np.sqrt(total(difference.least_error**2)) / number,
        across_runs=total(difference.across_runs) > 0,
        runs=np.zeros(len(counts), dtype=np.intp),
        earlier=total(difference.earlier) == number,
    )


RULES: Mapping[int, Callable[[Sequence[Question], Sequence[Question]], Differences]] = {
    1: _by_own_replicates,
    2: _by_all_replicates,
}


def _kind(question: Question, differs: bool, same: bool, higher: bool) -> Kind:
    if not question.comparable:
        return Kind.NOT_COMPARABLE
    if differs:
        return direction(higher, question.better)
    return Kind.SAME if same else Kind.TOO_FEW


def _adjusted(p: Floats, counted: Bools, family: int) -> Floats:
    """Return the p values adjusted over those of the family that count; of others as if they were in it."""
    adjusted = np.full(len(p), np.nan)
    together = np.flatnonzero(counted[:family])
    if len(together):
        adjusted[together] = stats.false_discovery_control(p[together])
    for index in np.flatnonzero(counted[family:]) + family:
        adjusted[index] = stats.false_discovery_control(np.append(p[together], p[index]))[-1]
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


def _more(
    difference: Differences, undecided: Bools, margin: Floats, reach: Floats, level: Floats, family: int
) -> Floats:
    """Where so many are there already, the estimate lies near the margin: then as many as shorten the interval until
    it no longer crosses it.

    level: of the next look."""
    known = undecided & ~np.isnan(difference.spread)
    total = np.full(len(margin), np.nan)
    total[known] = power.needed_to_tell(
        np.maximum(difference.spread[known], 1e-9),
        difference.freedom[known],
        margin[known],
        level[known],
        difference.used[known],
        max(family, 1),
    )
    beyond = np.maximum(abs(margin - abs(difference.estimate)), 1e-9)
    near = known & (total <= difference.used)
    total = np.where(near, np.ceil(difference.used * (reach / beyond) ** 2), total)
    unknown = np.isnan(total) | (total > power.MOST) | (difference.runs > 0)  # replicates tell no level of a run
    return np.where(unknown, np.nan, np.maximum(total - difference.used, 1))


def _optional(column: Floats) -> list[float | None]:
    return [value if math.isfinite(value) else None for value in column.tolist()]


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)
