import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from results.domain.errors import TeitenError
from results.domain.measurement.metrics import Better
from results.domain.statistics.verdict import RULE, Kind, Question, Sample, judge
from tests.results.domain.statistics.questions import question, sample, simulated

BASE = (100.0, 102.0, 98.0, 101.0, 99.0)
OTHER = (110.0, 113.0, 107.0, 111.0, 110.0)


def verdict(*arguments, **rest):
    return judge([question(*arguments, **rest)])[0]


def test_pairs_are_judged_by_the_paired_t_test_on_logarithms():
    judged = verdict(BASE, OTHER)
    expected = stats.ttest_rel(np.log(OTHER), np.log(BASE))
    interval = expected.confidence_interval(0.95)
    assert judged.p == pytest.approx(expected.pvalue)
    assert (judged.low, judged.high) == (pytest.approx(math.exp(interval.low)), pytest.approx(math.exp(interval.high)))
    assert judged.ratio == pytest.approx(stats.gmean(OTHER) / stats.gmean(BASE))
    assert (judged.pairs, judged.n, judged.n_base, judged.rule) == (5, 5, 5, RULE)


def test_other_blocks_are_judged_by_welchs_t_test():
    judged = verdict(BASE, OTHER[:4], run=2)
    expected = stats.ttest_ind(np.log(OTHER[:4]), np.log(BASE), equal_var=False)
    interval = expected.confidence_interval(0.95)
    assert judged.p == pytest.approx(expected.pvalue)
    assert (judged.low, judged.high) == (pytest.approx(math.exp(interval.low)), pytest.approx(math.exp(interval.high)))
    assert (judged.pairs, judged.n, judged.n_base) == (0, 4, 5)


def test_students_own_pairs():
    """'Student', Biometrika 6 (1908), table of Cushny and Peebles: t = 4.0621, p = 0.002833, here as logarithms."""
    dextro = (0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0)
    laevo = (1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4)
    assert verdict(np.exp(dextro), np.exp(laevo)).p == pytest.approx(0.002833, abs=1e-6)


def test_pairs_meet_by_their_keys_and_not_by_their_order():
    turned = Sample(OTHER[::-1], sample(OTHER).keys[::-1])
    judged = judge([Question(sample(BASE), turned, Better.HIGHER, 0.02)])[0]
    assert judged.p == pytest.approx(verdict(BASE, OTHER).p)


def test_a_value_without_its_partner_stands_aside():
    """One block of five lacks a side: four pairs, whatever the fifth value is."""
    lost = Sample(OTHER[:4], sample(OTHER).keys[:4])
    judged = judge([Question(sample(BASE), lost, Better.HIGHER, 0.02)])[0]
    assert judged.p == pytest.approx(verdict(BASE[:4], OTHER[:4]).p)
    assert (judged.pairs, judged.n, judged.n_base) == (4, 4, 5)


def test_few_pairs_among_many_values_are_no_pairs():
    half = Sample(OTHER, ((1, 1), (1, 2), (1, 3), (2, 4), (2, 5)))
    judged = judge([Question(sample(BASE), half, Better.HIGHER, 0.02)])[0]
    assert judged.pairs == 0
    first = stats.ttest_ind(np.log(OTHER[:3]), np.log(BASE), equal_var=False)
    assert judged.p == pytest.approx(first.pvalue)  # of the run that both are in


def test_several_values_of_a_block_are_no_pairs():
    keys = ((1, 1), (1, 1), (1, 2), (1, 2), (1, 3))
    judged = judge([Question(Sample(BASE, keys), Sample(OTHER, keys), Better.HIGHER, 0.02)])[0]
    assert judged.pairs == 0


@pytest.mark.parametrize(
    ("better", "kind", "turned"),
    [
        (Better.HIGHER, Kind.BETTER, Kind.WORSE),
        (Better.LOWER, Kind.WORSE, Kind.BETTER),
        (Better.NEITHER, Kind.HIGHER, Kind.LOWER),
    ],
)
def test_a_clear_difference_has_the_name_of_its_direction(better, kind, turned):
    assert verdict(BASE, OTHER, better=better).kind is kind
    assert verdict(OTHER, BASE, better=better).kind is turned


def test_a_clear_difference_below_the_minimum_effect_is_the_same():
    assert verdict(BASE, OTHER, minimum_effect=0.2).kind is Kind.SAME


def test_same_is_shown_by_an_interval_inside_the_margin():
    judged = verdict((100.0, 100.2, 99.9, 100.1), (100.1, 100.0, 100.2, 99.9))
    assert judged.kind is Kind.SAME and 0.98 < judged.low < judged.high < 1.02


def test_neither_shown_is_too_few():
    judged = verdict((100.0, 110.0, 95.0), (104.0, 103.0, 106.0))
    assert judged.kind is Kind.TOO_FEW and judged.more > 0


def test_what_is_not_comparable_has_numbers_and_no_verdict():
    judged = verdict(BASE, OTHER, comparable=False)
    assert (judged.kind, judged.adjusted) == (Kind.NOT_COMPARABLE, None)
    assert judged.ratio == pytest.approx(verdict(BASE, OTHER).ratio)


@pytest.mark.parametrize("n", [1, 2])
def test_one_or_two_replicates_have_no_verdict_however_far_apart(n):
    judged = verdict((100.0,) * n, (200.0,) * n)
    assert (judged.kind, judged.p, judged.ratio) == (Kind.TOO_FEW, None, pytest.approx(2))
    assert (judged.more is None) == (n == 1)  # one value says nothing of the spread
    assert (judged.low is None) == (n == 1)


def test_no_values_have_no_ratio():
    judged = verdict((), (100.0,))
    assert (judged.kind, judged.ratio, judged.p, judged.n_base) == (Kind.TOO_FEW, None, None, 0)
    assert judge([]) == ()


def test_equal_replicates_are_taken_as_known_to_a_thousandth():
    """Three sizes to the byte: 4 % more is certain; 0.1 % more is the same."""
    judged = verdict((1e6, 1e6, 1e6), (1.04e6, 1.04e6, 1.04e6), better=Better.LOWER)
    expected = math.log(1.04) / (math.sqrt(2) * 0.001 / math.sqrt(3))
    assert judged.kind is Kind.WORSE
    assert judged.p == pytest.approx(2 * stats.t.sf(expected, 2))
    assert verdict((1e6, 1e6, 1e6), (1.001e6, 1.001e6, 1.001e6)).kind is Kind.SAME


def test_whole_numbers_are_known_to_a_half():
    """3 µs and 4 µs may be 3.49 and 3.51: three replicates do not tell. The same count is the same."""
    assert verdict((3, 3, 3), (4, 4, 4)).kind is Kind.TOO_FEW
    assert verdict((3.0,) * 3, (3.0,) * 3).kind is Kind.SAME
    assert verdict((3000,) * 3, (4000,) * 3).kind is Kind.BETTER


def test_zeros_on_both_sides_are_the_same_without_a_ratio():
    judged = verdict((0, 0, 0), (0, 0, 0))
    assert (judged.kind, judged.ratio, judged.low) == (Kind.SAME, None, None)


def test_more_than_nothing_is_a_difference_without_a_ratio():
    judged = verdict((0, 0, 0, 0), (100, 120, 90, 105), better=Better.LOWER)
    assert (judged.kind, judged.ratio) == (Kind.WORSE, None)
    assert judged.p == pytest.approx(stats.ttest_rel((100, 120, 90, 105), (0, 0, 0, 0)).pvalue)


def test_a_zero_among_values_leaves_the_means():
    judged = verdict((0, 4, 5, 3), (6, 8, 9, 7))
    assert (judged.ratio, judged.low) == (pytest.approx(2.5), None)
    assert judged.p == pytest.approx(stats.ttest_rel((6, 8, 9, 7), (0, 4, 5, 3)).pvalue, abs=1e-3)


def test_p_values_are_adjusted_over_all_questions():
    requested = [question(BASE, np.array(BASE) * (1 + share) + np.arange(5)) for share in (0.0, 0.01, 0.02, 0.03, 0.1)]
    verdicts = judge(requested)
    assert [v.adjusted for v in verdicts] == pytest.approx(stats.false_discovery_control([v.p for v in verdicts]))


def test_what_has_no_verdict_costs_the_others_nothing():
    alone = verdict(BASE, OTHER)
    others = [question(BASE, BASE, comparable=False, part=("b",)), question((1.0,), (2.0,), part=("c",))]
    verdicts = judge([question(BASE, OTHER), *others])
    assert verdicts[0] == alone


def test_exchanging_the_sides_inverts_the_ratio_and_keeps_p():
    for requested in simulated(50, 4, cv=0.03, effect=0.02) + simulated(50, 4, cv=0.03, effect=0.02, run=2):
        there = judge([requested])[0]
        back = judge([replace(requested, base=requested.other, other=requested.base)])[0]
        assert (back.ratio, back.low, back.high) == pytest.approx((1 / there.ratio, 1 / there.high, 1 / there.low))
        assert back.p == pytest.approx(there.p)
        turned = {Kind.BETTER: Kind.WORSE, Kind.WORSE: Kind.BETTER}
        assert back.kind is turned.get(there.kind, there.kind)


def test_units_change_nothing():
    for factor in (1e-6, 1e9):
        scaled = verdict(np.array(BASE) * factor, np.array(OTHER) * factor)
        plain = verdict(np.array(BASE) + 1e-9, np.array(OTHER) + 1e-9)
        assert (scaled.kind, scaled.pairs) == (plain.kind, plain.pairs)
        assert (scaled.p, scaled.ratio, scaled.low) == pytest.approx((plain.p, plain.ratio, plain.low))


def test_the_order_of_questions_changes_nothing():
    requested = [*simulated(30, 5, cv=0.02, effect=0.03), question((1.0,), (2.0,)), question((0, 0, 0), (1, 2, 3))]
    there, back = judge(requested), judge(requested[::-1])[::-1]
    assert [one.kind for one in there] == [one.kind for one in back]
    assert [one.adjusted or 0 for one in there] == pytest.approx([one.adjusted or 0 for one in back])


def test_an_estimate_at_the_margin_needs_many_more():
    """Significant, just below the minimum effect: neither a difference that matters nor the same."""
    base = np.array(BASE)
    judged = verdict(base, base * 1.0199 * np.exp([0.004, -0.004, 0.003, -0.003, 0.0]))
    assert judged.p < 0.01
    assert judged.kind is Kind.TOO_FEW and (judged.more is None or judged.more > 100)


def test_a_rule_that_never_was_is_refused():
    with pytest.raises(TeitenError, match="no rule 7"):
        judge([question(BASE, OTHER)], rule=7)


def test_a_single_pair_of_configurations_has_nobody_to_borrow_from_and_is_judged_as_by_rule_1():
    for requested in (question(BASE, OTHER), question(BASE, OTHER, run=2), question(BASE[:3], OTHER[:3])):
        [old], [new] = judge([requested], rule=1), judge([requested])
        assert (old.rule, new.rule, old.kind, old.pairs) == (1, 2, new.kind, new.pairs)
        assert (new.p, new.low, new.high, new.ratio) == pytest.approx((old.p, old.low, old.high, old.ratio))
