"""What a comparison rests on, graded."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from results.domain.statistics.trust import Grade, Noise, Sides, TrialFacts, Trust, trust

LONG = TrialFacts(
    attempt_id=1,
    trial_id=11,
    seconds=600.2,
    planned_s=600,
    warmup_s=60,
    cold=False,
    day="2026-01-01",
    shares_host=False,
    client_busy=40,
    server_busy=97,
    variation=5,
    trend=1,
    start=-0.5,
)
SHORT = LONG._replace(
    seconds=5.02,
    planned_s=5,
    warmup_s=0,
    shares_host=True,
    client_busy=99,
    server_busy=99,
    variation=None,
    trend=None,
    start=None,
)
GOOD = Sides((30, 30), (0.01, 0.012), (0.02,), minimum_effect=0.02, compared=True)
POOR = Sides((3, 3), (0.08, 0.06), (0.4,), minimum_effect=0.02, compared=True)


def graded(answer: Trust) -> dict[str, Grade]:
    return {fact.name: fact.grade for fact in answer.facts}


def in_words(answer: Trust) -> dict[str, str]:
    return {fact.name: fact.words for fact in answer.facts}


def test_thirty_trials_of_ten_minutes_are_fine_in_everything() -> None:
    answer = trust(GOOD, [LONG], Noise(4, 0.01))
    assert set(graded(answer).values()) == {Grade.FINE}
    assert (answer.basis, answer.is_weak) == ("from 30 replicates of 10 min", False)
    assert in_words(answer)["processors"] == "processors 40 % busy on the client, 97 % on the server"


def test_three_trials_of_five_seconds_on_a_full_machine_say_so() -> None:
    answer = trust(POOR, [SHORT], None)
    assert answer.basis == "from 3 replicates of 5 s that spread by 7 %, on one full machine"
    assert answer.is_weak
    assert " · ".join(in_words(answer).values()) == (
        "3 replicates · 5 s each · no warm-up · spread 7 % · steadiness not known · client on the server's host · "
        "processors 99 % busy · no drift seen · A/A noise never measured · shows differences from 40 %"
    )


@pytest.mark.parametrize(
    ("name", "changes", "grade"),
    [
        ("replicates", {"replicates": (10, 4)}, Grade.WEAK),
        ("replicates", {"replicates": (10, 5)}, Grade.MIND),
        ("spread", {"spreads": (0.03,)}, Grade.MIND),
        ("spread", {"spreads": ()}, Grade.WEAK),
        ("drift", {"drifting": (7,)}, Grade.WEAK),
        ("drift", {"ordered": (7,)}, Grade.WEAK),
        ("detectable", {"detectable": (0.07,)}, Grade.MIND),
        ("detectable", {"detectable": ()}, Grade.WEAK),
    ],
)
def test_samples_are_graded(name: str, changes: dict[str, Any], grade: Grade) -> None:
    assert graded(trust(replace(GOOD, **changes), [LONG], None))[name] is grade


@pytest.mark.parametrize(
    ("name", "changes", "grade", "words"),
    [
        ("duration", {"seconds": 30.0}, Grade.MIND, "30 s each"),
        ("duration", {"seconds": None}, Grade.MIND, "duration not recorded"),
        ("warm_up", {"warmup_s": 0, "cold": True}, Grade.FINE, "caches cold as planned"),
        ("warm_up", {"seconds": 3.0}, Grade.FINE, "each trial until its work is done"),
        ("steady", {"trend": 25.0}, Grade.WEAK, "1 of 1 trial unsteady"),
        ("steady", {"trend": 25.0, "variation": 200.0}, Grade.FINE, "steady"),
        ("client", {"shares_host": None}, Grade.MIND, "where the client ran is not recorded"),
        ("processors", {"client_busy": 95.0}, Grade.WEAK, "processors 95 % busy on the client, 97 % on the server"),
        ("processors", {"client_busy": None}, Grade.MIND, "server's processors 97 % busy"),
        ("processors", {"client_busy": None, "server_busy": None}, Grade.MIND, "processors not recorded"),
    ],
)
def test_trials_are_graded(name: str, changes: dict[str, Any], grade: Grade, words: str) -> None:
    answer = trust(GOOD, [LONG._replace(**changes)], None)
    assert (graded(answer)[name], in_words(answer)[name]) == (grade, words)


def test_noise_of_the_machine_is_graded_by_what_is_worth_a_verdict() -> None:
    of = [graded(trust(GOOD, [LONG], Noise(1, spread)))["noise"] for spread in (0.02, 0.05, 0.06)]
    assert of == [Grade.FINE, Grade.MIND, Grade.WEAK]


def test_sides_of_other_days_are_weak_until_it_is_known_how_far_runs_lie_apart() -> None:
    trials = [LONG, LONG._replace(attempt_id=2, day="2026-03-01")]
    sides = replace(GOOD, across_runs=True, base=frozenset({1}), other=frozenset({2}))
    assert in_words(trust(sides, trials, None))["days"] == "sides measured on other days (2026-01-01; 2026-03-01)"
    assert trust(sides, trials, None).basis == "from 30 replicates of 10 min with the sides measured on other days"
    assert graded(trust(replace(sides, levels_known=True), trials, None))["days"] is Grade.MIND
    same_day = [trial._replace(day="2026-01-01") for trial in trials]
    assert in_words(trust(sides, same_day, None))["days"] == "sides measured in different runs"


def test_a_drift_is_told_from_an_order_that_matters() -> None:
    drifting = trust(replace(GOOD, drifting=(7, 3, 7)), [LONG], None)
    assert in_words(drifting)["drift"] == "runs 3, 7 drifted"
    assert drifting.basis == "from 30 replicates of 10 min while values drifted"
    ordered = trust(replace(GOOD, ordered=(7,)), [LONG], None)
    assert in_words(ordered)["drift"] == "place within a block mattered in run 7"
    assert ordered.basis == "from 30 replicates of 10 min whose place within a block mattered"
    both = trust(replace(GOOD, drifting=(3,), ordered=(7,)), [LONG], None)
    assert in_words(both)["drift"] == "run 3 drifted, place within a block mattered in run 7"


def test_noise_of_other_values_is_no_noise_of_these() -> None:
    answer = trust(GOOD, [LONG], Noise(4, None))
    assert (graded(answer)["noise"], in_words(answer)["noise"]) == (
        Grade.MIND,
        "A/A noise of all these values not known",
    )


def test_nothing_measured_has_no_facts() -> None:
    assert trust(replace(GOOD, replicates=()), [], None) == Trust()
