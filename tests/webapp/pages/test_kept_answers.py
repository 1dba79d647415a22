"""Answers that a process gives the same visitor again, as long as they hold."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import caches
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from results import ingest, models, runs
from results.models.audit import Role
from tests import factories
from webapp import computed, conditional
from workers.dispatch import finish

LOCAL = "django.core.cache.backends.locmem.LocMemCache"
PAGES = (
    "/compare/?run={run}",
    "/compare/why/?run={run}",
    "/api/v1/comparison/?run={run}",
    "/api/v1/comparison/why/?run={run}",
)


@pytest.fixture(autouse=True)
def _answers_are_kept(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.CACHES = settings.CACHES | {"answers": settings.CACHES["answers"] | {"BACKEND": LOCAL}}
    caches["answers"].clear()
    monkeypatch.setattr(computed, "kept", computed.cache(20_000))


def visitor() -> Client:
    """With the cookie of forms, as all visitors have from their second page on."""
    client = Client()
    client.get("/")
    return client


def queries_of(client: Client, path: str, **headers: str) -> list[dict[str, str]]:
    with CaptureQueriesContext(connection) as captured:
        assert client.get(path, headers=headers).status_code == 200
    return captured.captured_queries


@pytest.mark.parametrize("path", PAGES)
def test_the_same_answer_is_given_again_after_one_query(
    done: models.Run, path: str, django_assert_num_queries: Any
) -> None:
    client, path = visitor(), path.format(run=done.pk)
    first = client.get(path)
    with django_assert_num_queries(1):
        again = client.get(path)
    assert (again.status_code, again.content) == (200, first.content)
    names = ("Content-Type", "ETag", "HX-Push-Url", "Cache-Control", "Vary", "Allow")
    assert [again.get(name) for name in names] == [first.get(name) for name in names]


@pytest.mark.parametrize("path", PAGES)
def test_it_is_made_anew_where_something_has_changed(done: models.Run, path: str) -> None:
    client, path = visitor(), path.format(run=done.pk)
    first = client.get(path)
    trial = done.trials.latest("pk")
    factories.finish(trial, 7_777_777)
    assert client.get(path).content != first.content


@pytest.mark.parametrize("path", [*PAGES, "/trends/?workload=pgbench", "/api/v1/trends/?workload=pgbench"])
def test_of_trials_that_end_at_one_time_the_last_to_be_committed_is_shown(db: None, path: str) -> None:
    run = factories.finished_run()
    runs.add_blocks(run.pk, 1, "someone")
    for trial in run.trials.filter(state="waiting"):
        factories.store(trial)
    first, second = run.trials.filter(state="running")[:2]
    client, path, now = visitor(), path.format(run=run.pk), timezone.now()
    finish(first.attempts.get().pk, None, now)
    assert queries_of(client, path)
    assert len(queries_of(client, path)) <= 4
    finish(second.attempts.get().pk, None, now - timedelta(milliseconds=1))
    assert run.trials.filter(state="running").exists()
    assert len(queries_of(client, path)) > 4


def test_of_trials_that_fail_at_one_time_the_last_to_be_committed_is_counted(db: None) -> None:
    run = factories.run()
    for trial in run.trials.all():
        factories.store(trial)
    first, second, third = (trial.attempts.get() for trial in run.trials.order_by("position")[:3])
    client, path, now = visitor(), f"/api/v1/comparison/?run={run.pk}", timezone.now()
    finish(third.pk, None, now - timedelta(milliseconds=2))
    error = {"kind": "trial", "what": "aborted", "where": "measure", "why": "", "todo": "", "retryable": False}
    finish(first.pk, error, now)
    assert client.get(path).json()["excluded"]["failed"] == 1
    finish(second.pk, error, now - timedelta(milliseconds=1))
    assert client.get(path).json()["excluded"]["failed"] == 2


@pytest.mark.parametrize("path", [*PAGES, "/trends/?workload=pgbench", "/api/v1/trends/?workload=pgbench"])
def test_numbers_that_a_slower_clock_reads_again_are_shown(db: None, path: str) -> None:
    run = factories.finished_run(name="kept", standing="kept")
    client, path = visitor(), path.format(run=run.pk)
    models.Attempt.objects.filter(trial__block=2).update(ingested_at=timezone.now() + timedelta(seconds=2))
    before = client.get(path).content
    for trial in run.trials.filter(block=1):
        assert trial.attempt is not None
        ingest.replace(factories.parsed(trial, trial.attempt.number, 777_777.0), trial.attempt.pk)
    assert client.get(path).content != before


def test_a_reload_without_the_browsers_cache_makes_it_anew(done: models.Run) -> None:
    client, path = visitor(), f"/compare/?run={done.pk}"
    client.get(path)
    assert len(queries_of(client, path)) == 1
    assert len(queries_of(client, path, **{"Cache-Control": "no-cache"})) > 1


def test_each_visitor_has_the_forms_of_their_own(done: models.Run) -> None:
    path = f"/compare/?run={done.pk}"
    tokens = []
    for client in (Client(enforce_csrf_checks=True), Client(enforce_csrf_checks=True)):
        for _ in range(3):
            text = client.get(path).content.decode()
        token = re.findall(r'name="csrfmiddlewaretoken" value="([^"]+)"', text)[0]
        answer = client.post("/language/", {"language": "ja", "next": "/", "csrfmiddlewaretoken": token})
        assert answer.status_code != 403
        tokens.append(token)
    assert tokens[0] != tokens[1]


def test_another_name_is_another_page(done: models.Run, signed_in: Callable[[Role], Client]) -> None:
    client, path = signed_in(Role.READER), f"/compare/?run={done.pk}"
    before = client.get(path)
    User.objects.filter(username=Role.READER).update(username="renamed")
    after = client.get(path, headers={"If-None-Match": before["ETag"]})
    assert after.status_code == 200 and b"renamed" in after.content


def test_another_role_is_another_page(done: models.Run, signed_in: Callable[[Role], Client]) -> None:
    client, path = signed_in(Role.READER), f"/compare/?run={done.pk}"
    client.get(path)
    before = client.get(path)
    models.Member.objects.filter(user__username=Role.READER).update(role=Role.PUBLISHER)
    assert client.get(path)["ETag"] != before["ETag"]


@pytest.mark.parametrize("larger", [0, 1])
def test_a_large_answer_is_not_kept(done: models.Run, monkeypatch: pytest.MonkeyPatch, larger: int) -> None:
    client, path = visitor(), f"/api/v1/comparison/?run={done.pk}"
    size = len(client.get(path, headers={"Cache-Control": "no-cache"}).content)
    caches["answers"].clear()
    monkeypatch.setattr(conditional, "LARGEST_KEPT", size - larger)
    client.get(path)
    assert (len(queries_of(client, path)) > 1) is bool(larger)


def test_what_a_process_keeps_is_bounded(settings: Any) -> None:
    options = settings.CACHES["answers"]["OPTIONS"]
    assert options["MAX_ENTRIES"] * conditional.LARGEST_KEPT < 40e6
