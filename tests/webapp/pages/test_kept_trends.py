"""Trends that a process gives again: never one that would be another, were it made anew."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import caches
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from results import annotating, ingest, models, removal, runs, standing
from results.domain.states import Standing
from results.models.audit import Role
from tests import factories, histories
from webapp import computed

PAGE, API = "/trends/?plan=nightly", "/api/v1/trends/?plan=nightly"
QUERIES = {PAGE: 4, API: 2}  # of an answer that is given again
NEW = {"Cache-Control": "no-cache"}
TOKEN = re.compile(rb"\b[A-Za-z0-9]{64}\b")  # of forms, which each page has another of


@pytest.fixture(autouse=True)
def _followed(settings: Any, monkeypatch: pytest.MonkeyPatch, db: None) -> None:
    backend = {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
    settings.CACHES = settings.CACHES | {"answers": settings.CACHES["answers"] | backend}
    caches["answers"].clear()
    monkeypatch.setattr(computed, "kept", computed.cache(20_000))
    histories.months(histories.nightly(), [8000.0, 8010.0, 8020.0])
    factories.agent("db2")
    factories.run(agents={"primary": "db2"})


def visitor() -> Client:
    """With the cookie of forms, as all visitors have from their second page on."""
    client = Client()
    client.get("/")
    return client


def newest() -> models.Run:
    return models.Run.objects.filter(plan__name="nightly").latest("pk")


def a_trial() -> models.Trial:
    return newest().trials.earliest("position")


def note(text: str, plan: str = "") -> models.Annotation:
    return annotating.annotate(text, timezone.now(), plan=plan, user=factories.member("author"), actor="author")


def read_again() -> None:
    trial = a_trial()
    assert trial.attempt is not None
    ingest.replace(factories.parsed(trial, trial.attempt.number, 1234.0), trial.attempt.pk)


def judged_otherwise() -> None:
    trial = a_trial()
    assert trial.attempt is not None
    error = {"kind": "trial", "what": "aborted", "where": "measure", "why": "", "todo": "", "retryable": False}
    ingest.replace(factories.parsed(trial, trial.attempt.number, 1234.0, error), trial.attempt.pk)


def measured_once_more() -> None:
    run = newest()
    runs.add_blocks(run.pk, 1, "someone")
    factories.finish(run.trials.latest("position"), 4321.0)


def exploratory_run() -> None:
    changes = {"installation": "18", "factors": {}, "parameters": {"scale": 5, "clients": 8}, "standing": "exploratory"}
    factories.run(stored=models.Plan.objects.get(name="nightly"), **changes)


def a_run_begins() -> None:
    histories.measured(models.Plan.objects.get(name="nightly"), timezone.now() + timedelta(hours=1), 7000.0)


def plan_deleted() -> None:
    removal.archive_runs(list(models.Run.objects.filter(plan__name="nightly").values_list("pk", flat=True)), "someone")
    removal.delete_runs(list(models.Run.objects.filter(plan__name="nightly").values_list("pk", flat=True)), "someone")
    models.Plan.objects.filter(name="nightly").delete()


def removed() -> None:
    removal.archive_runs([newest().pk], "someone")
    removal.delete_runs([newest().pk], "someone")


OF_A_TREND: Mapping[str, Callable[[], object]] = {
    "a run begins": a_run_begins,
    "a trial more is done": measured_once_more,
    "numbers are read again": read_again,
    "an attempt is judged otherwise": judged_otherwise,
    "a run is excluded": lambda: standing.set_standing([newest().pk], Standing.EXCLUDED, "someone"),
    "a run is exploratory": lambda: standing.set_standing([newest().pk], Standing.EXPLORATORY, "someone"),
    "a run that is not followed is made": exploratory_run,
    "a run is archived": lambda: removal.archive_runs([newest().pk], "someone"),
    "a run is removed": removed,
    "the plan is deleted": plan_deleted,
    "the plan has another name": lambda: models.Plan.objects.update(name="weekly"),
    "the metric has another meaning": lambda: models.Metric.objects.filter(name="tps").update(label="turns"),
}
OF_ITS_PAGE: Mapping[str, Callable[[], object]] = {
    "a tag can be filtered by": lambda: standing.change_tags([newest().pk], "someone", add=["patched"]),
    "the agent has another name": lambda: models.Agent.objects.filter(name="db1").update(name="db9"),
    "a note on the plan": lambda: note("moved to the new rack", "nightly"),
    "a note on all trends": lambda: note("moved to the new rack"),
}
CHANGES = {**OF_A_TREND, **OF_ITS_PAGE}


def shown(client: Client, path: str, **headers: str) -> tuple[int, bytes]:
    answer = client.get(path, headers=headers)
    return answer.status_code, TOKEN.sub(b"", answer.content)


@pytest.mark.parametrize("path", QUERIES)
def test_the_same_trend_is_given_again_after_few_queries(path: str, django_assert_num_queries: Any) -> None:
    client = visitor()
    first = client.get(path)
    with django_assert_num_queries(QUERIES[path]):
        again = client.get(path)
    assert (again.status_code, again.content) == (200, first.content)
    names = ("Content-Type", "ETag", "HX-Push-Url", "Cache-Control", "Vary", "Allow")
    assert [again.get(name) for name in names] == [first.get(name) for name in names]
    with django_assert_num_queries(QUERIES[path]):
        assert client.get(path, headers={"If-None-Match": first["ETag"]}).status_code == 304


@pytest.mark.parametrize("path", QUERIES)
@pytest.mark.parametrize("what", CHANGES)
def test_it_is_made_anew_where_something_has_changed(path: str, what: str) -> None:
    client = visitor()
    before = shown(client, path)
    assert shown(client, path) == before
    CHANGES[what]()
    after = shown(client, path)
    assert after == shown(client, path, **NEW)
    assert (after != before) == (what in OF_A_TREND or path == PAGE)


def test_a_note_that_is_removed_or_whose_author_is_gone_is_no_longer_shown() -> None:
    client, written = visitor(), note("moved to the new rack")
    seen = [shown(client, PAGE)]
    User.objects.filter(username="author").update(username="writer")
    seen.append(shown(client, PAGE))
    annotating.remove(written, "author")
    seen.append(shown(client, PAGE))
    assert [b"author" in content for _, content in seen] == [True, False, False]
    assert [b"moved to the new rack" in content for _, content in seen] == [True, True, False]


def test_the_form_for_notes_has_the_time_at_which_it_is_asked_for(
    signed_in: Callable[[Role], Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    client = signed_in(Role.PUBLISHER)
    client.get("/")
    monkeypatch.setattr("webapp.pages.trends.datetime", Noon)
    noon = client.get(PAGE).content
    assert client.get(PAGE).content == noon
    monkeypatch.setattr("webapp.pages.trends.datetime", AMinuteLater)
    later = client.get(PAGE).content
    times = [re.findall(rb'id="note-at"[^>]* value="([^"]+)"', content) for content in (noon, later)]
    assert times == [[b"2026-01-31T12:00"], [b"2026-01-31T12:01"]]


def test_a_message_is_shown_once(signed_in: Callable[[Role], Client]) -> None:
    client = signed_in(Role.PUBLISHER)
    client.get("/")
    client.post("/trends/annotations/", {"at": "2026-01-31T02:00", "text": "moved", "query": "plan=nightly"})
    noted = client.get(PAGE)
    assert b"Noted on the axis." in noted.content and "ETag" not in noted
    again = client.get(PAGE)
    assert b"Noted on the axis." not in again.content and "ETag" in again


@pytest.mark.parametrize("path", QUERIES)
def test_a_plan_without_runs_that_is_deleted_is_unknown(path: str) -> None:
    histories.nightly(name="empty")
    client, path = visitor(), path.replace("nightly", "empty")
    first = client.get(path)
    assert first.status_code == 200
    models.Plan.objects.filter(name="empty").delete()
    assert client.get(path, headers={"If-None-Match": first["ETag"]}).status_code == 400


class Noon(datetime):
    @classmethod
    def now(cls, tz: Any = None) -> Any:
        return datetime(2026, 1, 31, 12, 0, 30, tzinfo=tz)


class AMinuteLater(datetime):
    @classmethod
    def now(cls, tz: Any = None) -> Any:
        return datetime(2026, 1, 31, 12, 1, tzinfo=tz)


def test_no_table_is_read_whose_changes_would_not_be_seen() -> None:
    """Those that its state is made of, and those of which nothing changes unless one of these does: configurations, and
    where a run comes from, are made with the run; values, layers and documents are stored with an attempt's numbers."""
    state = {"run", "runcount", "trial", "attempt", "metric", "annotation", "plan", "agent"}
    fixed = {
        "configuration",
        "runimport",
        "attemptvalues",
        "measurement",
        "measure",
        "layeruse",
        "environmentlayer",
        "layer",
    }
    histories.year(histories.nightly(name="yearly"))
    client = visitor()
    with CaptureQueriesContext(connection) as captured:
        for path in ("/trends/?plan=yearly", "/trends/?plan=yearly&x=commit", "/api/v1/trends/?plan=yearly"):
            assert client.get(path).status_code == 200
    text = " ".join(one["sql"] for one in captured.captured_queries)
    assert set(re.findall(r'(?:FROM|JOIN) "?results_(\w+)', text)) == {*state, *fixed}
