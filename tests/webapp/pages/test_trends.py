"""The trends' page and its notes."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from html import unescape
from typing import Any

import pytest
from django.test import Client

from results import models
from results.queries.trends import trends
from tests import environments, factories, histories
from tests.page_text import page_text

HTMX = {"HX-Request": "true"}


def text_of(client: Client, path: str, **headers: str) -> str:
    answer = client.get(path, **headers)
    assert answer.status_code == 200
    return page_text(answer)


def figure_of(text: str) -> Any:
    return json.loads(re.findall(r'<script id="figure" type="application/json">(.*?)</script>', text)[0])


def test_two_runs_on_other_servers_have_a_page_and_an_answer(db: None, stranger: Client) -> None:
    plan = histories.nightly()
    for version, major in (("18.0", 16), ("18.1", 18)):
        (run,) = histories.months(plan, [8000.0], version=version)
        for trial in environments.done(run):
            assert trial.attempt is not None
            environments.ran_in(trial.attempt, environments.layers(major))
    for query in ("plan=nightly", "plan=nightly&x=version", "workload=pgbench", "workload=pgbench&x=version"):
        assert "18.1" in text_of(stranger, f"/trends/?{query}")
        assert stranger.get(f"/api/v1/trends/?{query}").status_code == 200


def test_without_any_run_it_says_what_to_do(db: None, stranger: Client) -> None:
    assert "There is nothing to follow yet." in text_of(stranger, "/trends/")
    factories.stored_plan(name="nightly")
    assert "No trial is done yet." in text_of(stranger, "/trends/?plan=nightly")
    for query, todo in (("plan=nobody", "There are nightly."), ("workload=nothing", "There is none yet.")):
        for path in ("/trends/", "/api/v1/trends/"):
            answer = stranger.get(f"{path}?{query}")
            assert answer.status_code == 400
            assert todo in page_text(answer)


def test_one_run_is_told_to_be_too_few(db: None, stranger: Client) -> None:
    histories.months(histories.nightly(), [8000.0])
    text = text_of(stranger, "/trends/?plan=nightly")
    assert "1 run so far; a change of level takes at least 10" in text
    assert "No change of level was found." in text and "“Before” and “after”" not in text


def test_builds_that_name_no_commit_are_said(db: None, stranger: Client) -> None:
    histories.months(histories.nightly(), [8000.0])
    text = text_of(stranger, "/trends/?plan=nightly&x=commit")
    assert "No build names its commit, so 3 trials are left out." in text


def test_the_long_address_of_a_form_becomes_the_short_one(db: None, stranger: Client) -> None:
    plan = histories.nightly(name="wide", factors={"clients": [1, 8]}, parameters={"scale": 5})
    histories.measured(plan, datetime(2026, 1, 1, tzinfo=UTC), 8000)
    answer = stranger.get("/trends/?plan=wide&metric=&x=&series=&filter.clients=1")
    assert answer.status_code == 302
    assert answer["Location"] == "/trends/?plan=wide"
    fragment = stranger.get("/trends/?plan=wide&metric=&x=version&filter.clients=8", headers=HTMX)
    assert fragment["HX-Push-Url"] == "/trends/?plan=wide&x=version&filter.clients=8"
    assert "<html" not in page_text(fragment)


def test_the_form_can_show_one_level_of_the_series_and_give_it_back(db: None, stranger: Client) -> None:
    histories.over_versions()
    query = "plan=builds&filter.installation=17"
    answer = stranger.get(f"/trends/?{query}")
    assert answer.status_code == 200
    assert [line["name"] for line in stranger.get(f"/api/v1/trends/?{query}").json()["lines"]] == ["17"]
    assert re.search(r'<input type="checkbox" name="filter.installation" value="17"[^>]* checked>', page_text(answer))


def test_what_a_form_held_is_no_filter_once_it_is_told_apart(db: None, stranger: Client) -> None:
    plan = histories.nightly(name="wide", factors={"clients": [1, 8]}, parameters={"scale": 5})
    histories.measured(plan, datetime(2026, 1, 1, tzinfo=UTC), 8000)
    assert '<input type="hidden" name="held" value="clients">' in text_of(stranger, "/trends/?plan=wide")
    sent = "/trends/?plan=wide&metric=&of=&series=clients&held=clients&filter.clients=8"
    assert stranger.get(sent)["Location"] == "/trends/?plan=wide&series=clients"
    kept = stranger.get(sent.replace("series=clients", "series="))
    assert kept["Location"] == "/trends/?plan=wide&filter.clients=8"


def test_the_heading_names_the_node_and_another_metric_does_not_keep_it(db: None, stranger: Client) -> None:
    histories.months(histories.nightly(), [8000.0])
    text = text_of(stranger, "/trends/?plan=nightly&metric=cpu.user&node=primary")
    assert "(primary) by date" in re.findall("<h1>(.*?)<span", text)[0]
    assert '<input type="hidden" name="of" value="cpu.user">' in text
    assert "(client) by date" in text_of(stranger, "/trends/?plan=nightly&metric=cpu.user")
    answer = stranger.get("/trends/?plan=nightly&metric=&of=cpu.user&node=primary")
    assert answer["Location"] == "/trends/?plan=nightly"


def test_a_metric_without_a_total_names_the_label_it_shows_and_offers_the_others(db: None, stranger: Client) -> None:
    (run,) = histories.months(histories.nightly(), [8000.0])
    tps = models.Measurement.objects.filter(run=run, metric="tps")
    tps.update(label="analyze")
    models.Measurement.objects.bulk_create(
        models.Measurement(
            run=run, attempt_id=one.attempt_id, metric_id="tps", node=one.node, label="load", value=2 * one.value
        )
        for one in list(tps)
    )
    text = text_of(stranger, "/trends/?plan=nightly")
    assert "(analyze) by date" in re.findall("<h1>(.*?)<span", text)[0]
    assert re.findall(r'<select name="label".*?</select>', text)[0].count("<option") == 2
    assert "(load) by date" in text_of(stranger, "/trends/?plan=nightly&label=load")
    assert "There are analyze, load." in page_text(stranger.get("/trends/?plan=nightly&label=copy"))


def test_an_unknown_name_is_an_error_that_names_it(db: None, stranger: Client) -> None:
    histories.months(histories.nightly(), [8000.0])
    for query in (*(f"{name}=nonsense" for name in ("x", "series", "metric", "node", "label")), "filter.nonsense=1"):
        answer = stranger.get(f"/trends/?plan=nightly&{query}")
        assert answer.status_code == 400
        assert "nonsense" in page_text(answer)


def test_a_member_notes_something_and_it_stands_on_the_axis(db: None, member: Client, stranger: Client) -> None:
    histories.months(histories.nightly(), [8000.0, 8010.0])
    note = {"at": "2026-01-31T02:00", "text": "moved to <b>rack 2</b>", "plan_only": "nightly", "query": "plan=nightly"}
    answer = member.post("/trends/annotations/", note)
    assert answer["Location"] == "/trends/?plan=nightly"
    text = text_of(stranger, "/trends/?plan=nightly")
    assert "moved to &lt;b&gt;rack 2&lt;/b&gt;" in text
    mark = next(trace for trace in figure_of(text)["data"] if trace.get("name") == "annotations")
    assert mark["x"] == ["2026-01-31 02:00:00"]
    assert "rack 2" not in text_of(stranger, "/trends/?workload=pgbench").partition("Notes")[0]
    assert "Remove" not in text
    assert [(e.actor, e.verb) for e in models.AuditEntry.objects.filter(object__startswith="annotation")] == [
        ("member", "annotate")
    ]


def test_only_its_author_or_staff_removes_a_note(db: None, member: Client, admin: Client) -> None:
    other = Client()
    other.force_login(factories.member("other"))
    for remover, status, left in ((other, 403, 1), (member, 302, 0)):
        models.Annotation.objects.all().delete()
        member.post("/trends/annotations/", {"at": "2026-01-31T02:00", "text": "moved"})
        address = f"/trends/annotations/{models.Annotation.objects.get().pk}/remove/"
        assert remover.post(address).status_code == status
        assert models.Annotation.objects.count() == left
    member.post("/trends/annotations/", {"at": "2026-01-31T02:00", "text": "moved"})
    assert admin.post(f"/trends/annotations/{models.Annotation.objects.get().pk}/remove/").status_code == 302


def test_a_time_with_a_zone_is_taken_at_its_word(db: None, member: Client) -> None:
    member.post("/trends/annotations/", {"at": "2026-01-31T02:00+05:30", "text": "moved"})
    assert models.Annotation.objects.get().at == datetime(2026, 1, 30, 20, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    "note",
    [
        {"at": "soon", "text": "x"},
        {"at": "0001-01-01T00:00+14:00", "text": "x"},
        {"at": "2026-01-31T02:00", "text": " "},
        {"at": "2026-01-31T02:00", "text": "rack\0 2"},
        {"at": "2026-01-31T02:00", "text": "moved", "plan_only": "night\0ly"},
    ],
)
def test_a_note_without_time_or_text_is_refused_in_words(note: dict[str, str], member: Client) -> None:
    answer = member.post("/trends/annotations/", note)
    assert answer.status_code == 400
    assert not models.Annotation.objects.exists()


def test_a_note_needs_the_csrf_token(db: None) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(factories.member())
    assert client.post("/trends/annotations/", {"at": "2026-01-31T02:00", "text": "moved"}).status_code == 403


def test_what_is_true_of_several_lines_is_said_once(db: None, stranger: Client) -> None:
    factories.finished_run(factors={"installation": ["16", "18"]}, name="two")
    text = text_of(stranger, "/trends/?workload=pgbench")
    lead = " ".join(text[text.index('<p class="lead">') :].partition("</p>")[0].split())
    assert lead.count("so far") == 1
    assert re.search(r"<b>[^<,]*16[^<,]*, [^<,]*18[^<,]*</b>: 1 run so far", lead)


def test_plans_without_a_kept_run_are_folded_below_those_that_can_be_followed(db: None, stranger: Client) -> None:
    factories.finished_run(name="toy", standing="exploratory")
    assert "No run is kept yet." in text_of(stranger, "/trends/")
    factories.finished_run(name="nightly", workload="pgbench", stored=factories.stored_plan(name="nightly"))
    text = text_of(stranger, "/trends/")
    assert "No run is kept yet." not in text
    assert text.index("nightly") < text.index("1 plan without a kept run")


def test_of_many_dimensions_those_first_are_what_is_drawn_or_held(db: None, stranger: Client) -> None:
    settings = ("work_mem", "maintenance_work_mem", "temp_buffers", "shared_buffers", "max_wal_size", "wal_buffers")
    for own in ({}, dict.fromkeys(settings, "64MB")):
        factories.finished_run(name="trial of settings", settings=own)
    text = text_of(stranger, "/trends/?workload=pgbench")
    form = text[text.index('id="choice"') :]
    near, _, more = form.partition('id="more-facets"')
    assert 'name="filter.installation"' in near
    assert "6 more filters" in more
    assert 'name="filter.setting.wal_buffers"' in more and 'name="filter.setting.wal_buffers"' not in near


@pytest.mark.django_db
def test_it_says_how_many_of_the_runs_it_shows_and_leads_to_earlier_ones(stranger: Client, monkeypatch: Any) -> None:
    made = histories.months(histories.nightly(), [8000.0] * 3)
    assert "Earlier runs" not in text_of(stranger, "/trends/?plan=nightly")
    monkeypatch.setattr(trends, "MOST_VALUES", 6)
    text = text_of(stranger, "/trends/?plan=nightly")
    assert "The newest 2 of 3 kept runs." in text
    assert f'href="/trends/?plan=nightly&before={made[1].pk}">Earlier runs</a>' in unescape(text)
    text = text_of(stranger, f"/trends/?plan=nightly&before={made[1].pk}")
    assert f"1 of 3 kept runs, the newest before run {made[1].pk}." in text
    assert 'href="/trends/?plan=nightly">The newest runs</a>' in text
    assert "Earlier runs" not in text
