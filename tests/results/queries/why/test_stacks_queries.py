"""Sampled stacks of trials and configurations."""

from __future__ import annotations

from typing import Any

import pytest

from results import models
from results.queries.shared.ids import NotFound
from results.queries.why.stacks import choices, compared, profile
from tests import factories

pytestmark = pytest.mark.django_db


def of_version(run: models.Run, major: str) -> list[models.Trial]:
    trials = run.trials.select_related("configuration").order_by("pk")
    return [trial for trial in trials if trial.configuration.dimensions["major"] == major]


def test_a_trial_has_its_own_stacks(django_assert_num_queries: Any) -> None:
    trial = of_version(factories.finished_run(), "16")[0]
    with django_assert_num_queries(1):
        shown_profile = profile(str(trial.pk))
    assert shown_profile.stacks == factories.stacks(trial)
    assert (shown_profile.trials, shown_profile.how, shown_profile.samples) == (
        (trial.pk,),
        ("cpu-clock:u dwarf",),
        800,
    )


def test_a_configuration_has_those_of_all_its_counted_trials(django_assert_num_queries: Any) -> None:
    run = factories.finished_run()
    trials = [trial for trial in of_version(run, "18") if trial.configuration.dimensions["clients"] == 1]
    with django_assert_num_queries(1):
        shown_profile = profile(f"c{trials[0].configuration_id}")
    assert shown_profile.trials == tuple(trial.pk for trial in trials)
    assert shown_profile.samples == 2 * 801
    assert shown_profile.levels == {"installation": "18", "clients": "1"}


def test_a_failed_trial_is_in_no_profile() -> None:
    run = factories.run()
    first, second = [t for t in of_version(run, "16") if t.configuration.dimensions["clients"] == 1]
    factories.finish(first)
    factories.fail(second)
    assert profile(f"c{first.configuration_id}").trials == (first.pk,)
    with pytest.raises(NotFound, match="no call stacks of it that count"):
        profile(str(second.pk))


@pytest.mark.parametrize("key", ["", "x", "c", "c0", "-1", "1.5", "c1 or 1=1", "²", "9" * 19, "c" + "9" * 20])
def test_what_is_no_profile_is_not_found(key: str) -> None:
    with pytest.raises(NotFound):
        profile(key)


def test_two_profiles_say_what_differs_and_which_functions_do(django_assert_num_queries: Any) -> None:
    run = factories.finished_run()
    a, b = (of_version(run, major)[0] for major in ("16", "18"))
    with django_assert_num_queries(2):
        comparison = compared(str(a.pk), str(b.pk))
    assert {"major", "version"} <= {item.key for item in comparison.differs}
    assert comparison.alike
    changes = {change.function: change for change in comparison.changes}
    assert changes["hash_search"].own_points == pytest.approx(-12.5)
    assert changes["heap_getnext"].own_points == pytest.approx(100 * (300 / 801 - 200 / 800))


def test_profiles_sampled_in_different_ways_are_not_alike() -> None:
    run = factories.finished_run()
    a, b = (of_version(run, major)[0] for major in ("16", "18"))
    models.Document.objects.filter(attempt__trial=b, kind="stacks").update(label="cycles fp")
    assert not compared(str(a.pk), str(b.pk)).alike


def test_choices_are_the_configurations_that_have_stacks(django_assert_num_queries: Any) -> None:
    run, other = factories.finished_run(), factories.finished_run()
    trial = of_version(run, "16")[0]
    models.Document.objects.filter(kind="stacks", attempt__trial__configuration=trial.configuration).exclude(
        attempt__trial=trial
    ).delete()
    with django_assert_num_queries(1):
        offered = choices([run.pk])
    assert sorted(len(choice.trials) for choice in offered) == [1, 2, 2, 2]
    assert not any(choice.own for choice in offered)
    assert {choice.run_id for choice in choices()} == {run.pk, other.pk}
    [own] = [choice for choice in choices(trial_id=trial.pk) if choice.own]
    assert (own.id, own.trials) == (trial.configuration_id, (trial.pk,))
    assert choices([run.pk], limit=1) == offered[:1]
