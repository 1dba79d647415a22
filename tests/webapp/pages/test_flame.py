"""Where the CPU time goes, on pages."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from results import models
from tests import factories
from tests.page_text import page_text
from webapp.pages.flame import warnings


@pytest.fixture
def pair(db: None) -> tuple[models.Trial, models.Trial]:
    """A trial of 16 and one of 18, of one run, all of whose trials are done."""
    trials = list(factories.finished_run().trials.select_related("configuration").order_by("pk"))
    of = {trial.configuration.dimensions["major"]: trial for trial in reversed(trials)}
    return of["16"], of["18"]


def text_of(client: Client, path: str, **headers: str) -> str:
    answer = client.get(path, headers=headers)
    assert answer.status_code == 200
    return page_text(answer)


def test_the_trial_page_loads_the_flame_chart_only_when_it_is_looked_at(
    pair: tuple[models.Trial, models.Trial], stranger: Client
) -> None:
    text = text_of(stranger, f"/trials/{pair[0].pk}/")
    assert f'hx-get="/trials/{pair[0].pk}/flame/?attempt=1" hx-trigger="revealed"' in text
    assert "heap_getnext" not in text
    models.Document.objects.filter(kind="stacks").delete()
    assert f"/trials/{pair[0].pk}/flame/" not in text_of(stranger, f"/trials/{pair[0].pk}/")


def test_the_flame_chart_is_a_part_of_a_page_and_a_page(
    pair: tuple[models.Trial, models.Trial], stranger: Client, django_assert_num_queries: Any
) -> None:
    path = f"/trials/{pair[0].pk}/flame/?attempt=1"
    with django_assert_num_queries(3):
        part = text_of(stranger, path, **{"HX-Request": "true"})
    assert "<html" not in part
    page = text_of(stranger, path)
    assert "<html" in page
    for text in (part, page):
        assert "heap_getnext" in text
        assert "800 samples by cpu-clock:u dwarf" in text
        assert "Only time in user mode was seen" in text
        assert f"?a=c{pair[1].configuration_id}&amp;b=c{pair[0].configuration_id}" in text
        assert "raw_parser <x>" not in text


def test_an_attempt_that_does_not_count_has_its_chart_too(db: None, stranger: Client) -> None:
    trial = factories.run().trials.select_related("configuration").first()
    assert trial is not None
    factories.fail(trial)
    assert "heap_getnext" in text_of(stranger, f"/trials/{trial.pk}/flame/")


def test_a_trial_without_stacks_has_no_flame_page(pair: tuple[models.Trial, models.Trial], stranger: Client) -> None:
    models.Document.objects.filter(kind="stacks").delete()
    assert stranger.get(f"/trials/{pair[0].pk}/flame/").status_code == 404


def test_two_configurations_are_compared_function_by_function(
    pair: tuple[models.Trial, models.Trial], stranger: Client, django_assert_num_queries: Any
) -> None:
    a, b = (f"c{trial.configuration_id}" for trial in pair)
    with django_assert_num_queries(3):
        text = text_of(stranger, f"/flame/?a={a}&b={b}")
    rows = [part.partition("</tr>")[0] for part in text.split('<tr><th scope="row" class="mono">')[1:]]
    assert [row.partition("</th>")[0] for row in rows[:2]] == ["hash_search", "heap_getnext"]
    assert "<td>12.5</td><td>0.0</td><td><b>−12.5</b></td>" in rows[0]
    assert "<td>25.0</td><td>37.5</td><td><b>+12.5</b></td>" in rows[1]
    assert "raw_parser &lt;x&gt;" in text
    assert '<th scope="row">major</th><td>16</td><td>18</td>' in text
    assert f'href="/flame/?a={b}&amp;b={a}">Swap' in text


def test_the_table_is_in_the_order_of_either_change(pair: tuple[models.Trial, models.Trial], stranger: Client) -> None:
    path = f"/flame/?a={pair[0].pk}&b={pair[1].pk}"
    firsts = [text_of(stranger, path + by).split('class="mono">')[1].partition("<")[0] for by in ("", "&by=total")]
    assert firsts == ["hash_search", "table_scan"]
    assert f'href="{path.replace("&", "&amp;")}&amp;by=total"' in text_of(stranger, path)


def sampled(trial: models.Trial, **counts: int) -> None:
    """Store these samples of functions called by main as the only ones of the trial."""
    stacks = {f"backend;main;{function}": count for function, count in counts.items()}
    models.Document.objects.filter(kind="stacks", attempt__trial=trial).update(content=stacks)


def test_the_title_says_which_is_a_and_which_is_b(pair: tuple[models.Trial, models.Trial], stranger: Client) -> None:
    a, b = (f"c{trial.configuration_id}" for trial in pair)
    assert "Where the CPU time goes: from a, 16, to b, 18" in text_of(stranger, f"/flame/?a={a}&b={b}")
    assert "Where the CPU time goes: from a, 18, to b, 16" in text_of(stranger, f"/flame/?a={b}&b={a}")


def test_two_trials_of_one_configuration_are_told_apart_by_their_numbers(
    pair: tuple[models.Trial, models.Trial], stranger: Client
) -> None:
    other = models.Trial.objects.filter(configuration=pair[0].configuration).exclude(pk=pair[0].pk).get()
    text = text_of(stranger, f"/flame/?a={pair[0].pk}&b={other.pk}")
    assert f"from a, trial {pair[0].pk}, to b, trial {other.pk}" in text


@pytest.mark.parametrize("swapped", [False, True])
def test_what_the_sentence_counts_is_what_is_bold_in_both_directions(
    swapped: bool, pair: tuple[models.Trial, models.Trial], stranger: Client
) -> None:
    sampled(pair[0], grows=100, steady=500, shrinks_a_lot=300, shrinks=100)
    sampled(pair[1], grows=480, steady=505, shrinks_a_lot=10, shrinks=5)
    a, b = reversed(pair) if swapped else pair
    text = text_of(stranger, f"/flame/?a={a.pk}&b={b.pk}")
    larger, smaller = (2, 1) if swapped else (1, 2)
    assert f"Of 5 functions, 3 changed their self share ({larger} larger in b, {smaller} smaller)" in text
    bold = [part.partition("</b>")[0] for part in text.partition("<tbody>")[2].split("<b>")[1:]]
    own = bold[::2]  # each of the three has its self share on top and no callee: both its differences are bold
    assert own == bold[1::2]
    assert [points[0] for points in own].count("+") == larger
    assert [points[0] for points in own].count("−") == smaller


def test_nothing_is_bold_where_the_two_were_sampled_differently(
    pair: tuple[models.Trial, models.Trial], stranger: Client
) -> None:
    models.Document.objects.filter(kind="stacks", attempt__trial=pair[1]).update(label="cycles fp")
    text = text_of(stranger, f"/flame/?a={pair[0].pk}&b={pair[1].pk}")
    assert "no difference below is called more than chance" in text
    assert "<b>" not in text.partition("<tbody>")[2]


def test_differences_within_chance_are_faint(pair: tuple[models.Trial, models.Trial], stranger: Client) -> None:
    trial = pair[0]
    other = models.Trial.objects.filter(configuration=trial.configuration).exclude(pk=trial.pk).get()
    text = text_of(stranger, f"/flame/?a={trial.pk}&b={other.pk}")
    assert "<b>" not in text.partition("<tbody>")[2]
    assert "Nothing that a plan sets" in text


def test_profiles_sampled_differently_are_not_shown_without_a_warning(
    pair: tuple[models.Trial, models.Trial], stranger: Client
) -> None:
    path = f"/flame/?a={pair[0].pk}&b={pair[1].pk}"
    assert "sampled in different ways" not in text_of(stranger, path)
    models.Document.objects.filter(kind="stacks", attempt__trial=pair[1]).update(label="cycles fp")
    assert "cpu-clock:u dwarf against cycles fp: the shares of functions are not comparable" in text_of(stranger, path)


def test_one_alone_is_drawn_and_none_is_a_choice(pair: tuple[models.Trial, models.Trial], stranger: Client) -> None:
    alone = text_of(stranger, f"/flame/?a=c{pair[0].configuration_id}")
    assert 'id="flame-figure"' in alone
    assert "2 trials together" in alone
    none = text_of(stranger, f"/flame/?run={pair[0].run_id}")
    assert none.count("<option value=") == 1 + 2 * 4
    assert "flame-figure" not in none


def test_the_run_page_leads_here_where_there_is_something_to_see(
    pair: tuple[models.Trial, models.Trial], stranger: Client
) -> None:
    link = f'href="/flame/?run={pair[0].run_id}"'
    assert link in text_of(stranger, f"/runs/{pair[0].run_id}/")
    models.Document.objects.filter(kind="stacks").delete()
    assert link not in text_of(stranger, f"/runs/{pair[0].run_id}/")


def test_without_any_stacks_the_page_says_how_to_get_some(db: None, stranger: Client) -> None:
    assert "Add the collector perf to a plan" in text_of(stranger, "/flame/")


@pytest.mark.parametrize("query", ["a=0", "a=c", "a=999999", "a=x&b=1", f"a={'9' * 30}", "a=<b>"])
def test_what_is_not_there_is_not_found(query: str, pair: tuple[models.Trial, models.Trial], stranger: Client) -> None:
    assert stranger.get(f"/flame/?{query}").status_code == 404


def test_the_reader_is_told_what_the_shares_do_not_hold() -> None:
    assert warnings({"k;main;f": 1}, ["cycles fp"]) == []
    user, unnamed, cut = warnings({"k;main;f": 6, "k;main;[postgres]": 2, "k;g": 2}, ["cycles:u fp"])
    assert user.startswith("Only time in user mode")
    assert unnamed.startswith("20% of the samples are in functions without a known name")
    assert cut.startswith("The callers of 20% of the samples")
    assert warnings({"k;g": 1}, ["cycles no callers"]) == ["Callers could not be found."]
