"""Citations: who makes them, what they show, and that they stay."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from results import models
from tests import factories
from tests.page_text import page_text
from tests.step_runs import bulk_load_run, ssb_run
from webapp.pages import citations as citation_pages


def cite(client: Client, query: str) -> Any:
    return client.post("/compare/cite/", {"query": query})


def test_a_member_cites_and_anybody_reads(
    done: models.Run, member: Client, stranger: Client, django_assert_max_num_queries: Any
) -> None:
    answer = cite(member, f"run={done.pk}")
    snapshot = models.Snapshot.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, f"/c/{snapshot.pk}/")
    assert snapshot.created_by.get_username() == "member"
    with django_assert_max_num_queries(10):
        text = page_text(stranger.get(f"/c/{snapshot.pk}/"))
    assert "Transactions per second by clients, for each installation" in text
    assert "The stored trials give the same numbers today" in text
    for trial in done.trials.all():
        assert f"/trials/{trial.pk}/" in text
    assert f"@misc{{teiten-{snapshot.pk}," in text
    assert "Save as a reference" not in text
    (figure,) = re.findall(r'<script id="figure-1" type="application/json">(.*?)</script>', text)
    traces = [trial for trace in json.loads(figure)["data"] for trial in trace.get("customdata", ())]
    assert sorted(traces) == sorted(done.trials.values_list("pk", flat=True))
    assert ">undecided</span>" in text and ">too-few<" not in text


def test_a_stranger_is_led_to_a_citation_that_there_is_and_else_to_sign_in(
    done: models.Run, member: Client, stranger: Client
) -> None:
    answer = cite(stranger, f"run={done.pk}")
    assert answer["Location"].startswith("/account/sign-in/?next=/compare/%3Frun%3D")
    assert not models.Snapshot.objects.exists()
    there = cite(member, f"run={done.pk}")["Location"]
    assert cite(stranger, f"?run={done.pk}&x=clients")["Location"] == there


@pytest.mark.parametrize("made", [bulk_load_run, ssb_run])
def test_steps_are_stacked_as_in_the_comparison(made: Callable[[], models.Run], member: Client) -> None:
    def steps_in(text: str) -> list[str]:
        return re.findall(r'<script id="steps" type="application/json">(.*?)</script>', text)

    answer = member.get(f"/compare/?run={made().pk}", follow=True)
    query = answer.request["QUERY_STRING"]
    (compared,) = steps_in(page_text(answer))
    cited = steps_in(page_text(member.get(cite(member, query)["Location"])))
    assert cited == [compared]


def test_what_cannot_be_asked_cannot_be_cited(done: models.Run, member: Client) -> None:
    assert cite(member, f"run={done.pk}&x=nothing").status_code == 400
    assert cite(member, "").status_code == 400
    assert not models.Snapshot.objects.exists()


def test_it_shows_what_was_cited_and_says_what_is_otherwise_today(done: models.Run, stranger: Client) -> None:
    snapshot = factories.citation(done)
    one = models.Measurement.objects.filter(metric="tps", value=1001).get()
    models.Measurement.objects.filter(pk=one.pk).update(value=2002)
    text = page_text(stranger.get(f"/c/{snapshot.pk}/"))
    assert "1 of the cited trials has another value now" in text
    assert f"trial {one.attempt.trial_id}</a> 1,001 tps → 2,002 tps" in text.replace("\u202f", " ")


def test_it_says_what_was_asked_and_what_a_reader_must_know_besides(done: models.Run, stranger: Client) -> None:
    lacking = done.trials.filter(configuration__dimensions__clients=4, configuration__dimensions__major="18")
    models.Measurement.objects.filter(attempt__trial__in=lacking).delete()
    query = f"run={done.pk}&x=clients&series=installation&per=client&filter.clients=1,4&baseline=postgresql-16.9"
    publication = models.Publication.objects.create(slug="p", title="Table 7 & 8", year=2012)
    models.Run.objects.filter(pk=done.pk).update(publication=publication)
    snapshot = factories.citation(done, query)
    text = html.unescape(page_text(stranger.get(f"/c/{snapshot.pk}/")))
    named = "Transactions per second per client by clients, for each installation, only clients 1 or 4"
    assert text.count(f"{named}, against postgresql-16.9") == 3
    for remark in ("Published figures, not measured here: Table 7 & 8.", "18.1 has no result at clients 4."):
        assert text.replace("\\&", "&").count(remark) == 3
    assert "median per client" in text and "ratio of geometric means" in text
    mixed = factories.citation(done, f"run={done.pk}&series=none")
    assert page_text(stranger.get(f"/c/{mixed.pk}/")).count("Cells mix different installation") == 3


def test_a_deleted_run_leaves_the_citation(done: models.Run, stranger: Client) -> None:
    snapshot = factories.citation(done)
    done.delete()
    text = page_text(stranger.get(f"/c/{snapshot.pk}/"))
    assert "The stored trials give other numbers today" in text
    assert "8 of the cited trials were deleted" in text
    assert "postgresql-18.1" in text


def test_a_member_saves_a_line_as_a_reference(done: models.Run, member: Client) -> None:
    snapshot = factories.citation(done)
    address = f"/c/{snapshot.pk}/reference/"
    answer = member.post(address, {"name": "first", "series": "postgresql-16.9"}, follow=True)
    assert "Comparisons offer @first as their baseline" in page_text(answer)
    assert member.post(address, {"name": "first", "series": "postgresql-18.1"}).status_code == 409
    assert member.get(f"/compare/?run={done.pk}&baseline=@first").status_code == 200


def test_the_list_names_them_all(done: models.Run, stranger: Client, django_assert_max_num_queries: Any) -> None:
    hashes = [factories.citation(done, f"run={done.pk}&metric={name}").pk for name in ("tps", "latency.p99")]
    with django_assert_max_num_queries(1):
        text = page_text(stranger.get("/c/"))
    for hash_ in hashes:
        assert f"/c/{hash_}/" in text


def test_there_is_no_citation_of_another_hash(db: None, stranger: Client) -> None:
    assert stranger.get("/c/0123456789abcdef/").status_code == 404


def test_a_nul_byte_in_what_is_cited_is_refused(done: models.Run, member: Client) -> None:
    answer = member.post("/compare/cite/", {"query": f"run={done.pk}&x=cli%00ents"})
    assert (answer.status_code, models.Snapshot.objects.count()) == (400, 0)
    assert "NUL byte" in page_text(answer)


def test_a_citation_is_worded_in_the_language_of_its_reader(done: models.Run, stranger: Client) -> None:
    snapshot = factories.citation(done)
    of_page = f"/c/{snapshot.pk}/"
    english = page_text(stranger.get(of_page))
    japanese = page_text(stranger.get(of_page, HTTP_ACCEPT_LANGUAGE="ja"))
    assert "by clients, for each installation" in english and "Teiten citation " in english
    assert "インストレーションごと" in japanese and f"Teitenの引用{snapshot.pk}" in japanese
    assert f"@misc{{teiten-{snapshot.pk}," in japanese and "note = {" in japanese
    assert f"{snapshot.created_at:%Y-%m-%d}。" in japanese and f"{snapshot.created_at:%d %B %Y}." in english
    assert "for each installation" not in japanese


def test_a_page_has_some_citations_and_leads_to_older_ones(
    done: models.Run, stranger: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(citation_pages, "PAGE", 2)
    hashes = [
        factories.citation(done, f"run={done.pk}&metric={name}").pk for name in ("tps", "latency.p99", "cpu.user")
    ]
    newest = page_text(stranger.get("/c/"))
    assert [f"/c/{hash_}/" in newest for hash_ in hashes] == [False, True, True]
    (older,) = re.findall(r'href="(\?before=[^"]+)"', newest)
    oldest = page_text(stranger.get(f"/c/{html.unescape(older)}"))
    assert [f"/c/{hash_}/" in oldest for hash_ in hashes] == [True, False, False]
    assert "Older citations" in newest and "Older citations" not in oldest
    for wrong in ("never", "2026-13-45"):
        assert hashes[2] in page_text(stranger.get("/c/", {"before": wrong}))
