"""Adding replicates: the question, what it names, and who may answer it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from results import models
from tests import factories
from tests.page_text import page_text


def text_of(client: Client, path: str, status: int = 200) -> str:
    answer = client.get(path)
    assert answer.status_code == status
    return re.sub(r"\s+", " ", page_text(answer))


def answer_of(text: str) -> dict[str, list[str]]:
    """What the page's own button sends."""
    form = text[text.index('<form method="post" action="/runs/blocks/">') :].partition("</form>")[0]
    sent: dict[str, list[str]] = {}
    for name, value in re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form):
        sent.setdefault(name, []).append(value)
    return sent


def test_it_names_runs_trials_and_time_and_adds_nothing_yet(done: models.Run, member: Client) -> None:
    longer = factories.run(seed=8)
    before = models.Trial.objects.count()
    text = text_of(member, f"/runs/blocks/?run={done.pk}&run={longer.pk}&blocks=3")
    assert f"Add replicates to runs {done.pk} and {longer.pk}?" in text
    assert "<b>24 trials</b>" in text and "The 8 that still wait run first." in text
    assert 'name="blocks" id="blocks" value="3" min="1" max="1000"' in text
    assert "2 → 5" in text
    assert models.Trial.objects.count() == before
    member.post("/runs/blocks/", answer_of(text))
    assert models.Trial.objects.count() == before + 24
    assert list(models.Run.objects.order_by("pk").values_list("blocks", flat=True)) == [5, 5]
    assert models.AuditEntry.objects.filter(verb="add blocks", actor="member").count() == 2


def test_who_sends_it_twice_adds_once(done: models.Run, member: Client) -> None:
    sent = answer_of(text_of(member, f"/runs/blocks/?run={done.pk}&blocks=2"))
    assert member.post("/runs/blocks/", sent)["Location"] == f"/runs/{done.pk}/"
    again = member.post("/runs/blocks/", sent)
    assert again.status_code == 409
    assert f"Run {done.pk} has 4 replicates by now, not 2." in page_text(again)
    assert done.trials.count() == 16


def test_what_the_page_has_not_asked_for_is_asked_first(done: models.Run, member: Client) -> None:
    answer = member.post("/runs/blocks/", {"run": done.pk, "blocks": "237"})
    assert answer["Location"] == f"/runs/blocks/?run={done.pk}&blocks=237"
    assert "<b>948 trials</b>" in text_of(member, answer["Location"])
    assert done.trials.count() == 8


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ("run={run}&blocks=0", 422, "0 is not between 1 and 1000"),
        ("run={run}&blocks=1001", 422, "1001 is not between 1 and 1000"),
        ("run={run}&blocks=many", 422, "is not between 1 and 1000"),
        ("blocks=2", 400, "No run is named."),
        (f"run={factories.NO_ID}", 404, ""),
        ("run=x", 404, ""),
        ("run=0", 404, ""),
    ],
)
def test_what_cannot_be_is_said(query: str, status: int, words: str, done: models.Run, member: Client) -> None:
    path = f"/runs/blocks/?{query.format(run=done.pk)}"
    assert words in text_of(member, path, status)
    fields = {"run": done.pk, "blocks": "0", f"had-{done.pk}": done.blocks}
    assert member.post("/runs/blocks/", fields).status_code == 422
    assert done.trials.count() == 8


def test_more_trials_than_a_run_may_have_are_refused(done: models.Run, member: Client) -> None:
    models.Run.objects.filter(pk=done.pk).update(blocks=24_999)
    words = "2 more would make 100,004 trials of the run; at most 100,000 are taken. Add at most 1."
    assert words in text_of(member, f"/runs/blocks/?run={done.pk}&blocks=2", 422)
    answer = member.post("/runs/blocks/", {"run": done.pk, "blocks": "2", f"had-{done.pk}": 24_999})
    assert (answer.status_code, done.trials.count()) == (422, 8)


def test_a_run_says_how_many_of_its_trials_are_still_to_be_made(done: models.Run, member: Client) -> None:
    member.post("/runs/blocks/", {"run": done.pk, "blocks": "300", f"had-{done.pk}": done.blocks})
    text = text_of(member, f"/runs/{done.pk}/")
    assert "8 of 1208 trials, none running, 1200 waiting, 200 of them still to be made" in text


def test_a_run_that_has_not_started_and_published_figures_take_none(done: models.Run, member: Client) -> None:
    models.Run.objects.filter(pk=done.pk).update(state="scheduled")
    assert "has not started" in text_of(member, f"/runs/blocks/?run={done.pk}", 409)
    publication = models.Publication.objects.create(
        slug="p", title="t", publisher="p", year=2012, place="p", file="p.csv", sha256="0"
    )
    models.Run.objects.filter(pk=done.pk).update(publication=publication)
    assert "holds published figures" in text_of(member, f"/runs/blocks/?run={done.pk}", 409)


def test_a_stranger_is_asked_to_sign_in(done: models.Run, stranger: Client) -> None:
    sent = {"run": done.pk, "blocks": "1", f"had-{done.pk}": done.blocks}
    for answer in (stranger.get(f"/runs/blocks/?run={done.pk}"), stranger.post("/runs/blocks/", sent)):
        assert answer.status_code == 302
        assert answer["Location"].startswith("/account/sign-in/")
    assert done.trials.count() == 8


def test_it_takes_as_few_queries_for_more_runs(member: Client, db: None, django_assert_max_num_queries: Any) -> None:
    few = [factories.finished_run(seed=seed).pk for seed in (1, 2)]
    many = [*few, *(factories.finished_run(seed=seed, replicates=6).pk for seed in (3, 4))]
    for runs in (few, many):
        with django_assert_max_num_queries(6):
            text_of(member, "/runs/blocks/?" + "&".join(f"run={pk}" for pk in runs))
