"""/metrics: what Prometheus reads, what it costs, and who may read it."""

from __future__ import annotations

import re
import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.test import Client
from django.utils import timezone
from django_celery_beat.models import IntervalSchedule, PeriodicTask
from prometheus_client import parser
from prometheus_client.openmetrics import parser as openmetrics

from results import models
from results.models.audit import Role, Scope
from results.viewer import EVERYTHING, read_as
from tests import factories
from webapp.access import new_token
from workers.app import app

pytestmark = pytest.mark.django_db
GUIDE = (Path(__file__).parents[3] / "docs" / "operations.md").read_text()
Labels = frozenset[tuple[str, str]]


@pytest.fixture(autouse=True)
def _open(settings: Any) -> None:
    settings.TEITEN_OPEN_READING = True


def scraped(client: Client, **headers: str) -> dict[str, dict[Labels, float]]:
    """Name of a metric → labels → value, as Prometheus' own parser reads them."""
    answer = client.get("/metrics", headers=headers)
    assert answer.status_code == 200, answer.content
    assert answer["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    families = list(parser.text_string_to_metric_families(answer.content.decode()))
    assert all(family.type == "gauge" and family.documentation for family in families)
    return {family.name: {frozenset(one.labels.items()): one.value for one in family.samples} for family in families}


def of(**labels: str) -> Labels:
    return frozenset(labels.items())


def token(scope: Scope = Scope.READ) -> dict[str, str]:
    _, secret = new_token(factories.member("eve", Role.ADMINISTRATOR), "prometheus", scope)
    return {"Authorization": f"Bearer {secret}"}


def test_what_waits_and_runs_is_counted(client: Client) -> None:
    run = factories.run()
    trials = list(run.trials.order_by("position").select_related("configuration"))
    factories.begin(trials[0], "measure")
    later = factories.run()
    models.Run.objects.filter(pk=later.pk).update(state="scheduled")
    values = scraped(client)
    waiting = len(trials) - 1
    assert values["teiten_trials"] == {
        of(state="running"): 1,
        of(state="waiting"): waiting,
        of(state="scheduled"): later.trials.count(),
    }
    assert values["teiten_attempts_running"] == {of(): 1}
    assert values["teiten_attempts_unstored"] == values["teiten_attempts_left"] == {of(): 0}
    assert values["teiten_attempts_unstored_timestamp_seconds"] == {}
    assert values["teiten_agents"] == {of(state="ready"): models.Agent.objects.count()}


def test_the_room_of_the_bundle_folder_is_told_also_before_it_is_made(
    client: Client, settings: Any, tmp_path: Path
) -> None:
    settings.TEITEN_BUNDLE_DIR = tmp_path / "not" / "yet"
    free = scraped(client)["teiten_bundle_folder_free_bytes"]
    assert free == {of(): pytest.approx(shutil.disk_usage(tmp_path).free, rel=0.2)}


def test_plans_whose_schedule_missed_its_times_are_counted(client: Client) -> None:
    now = timezone.now()
    factories.agent()
    plans = [factories.stored_plan(name=name) for name in ("nightly", "weekly")]
    times = {"first_at": now, "last_at": now, "count": 3}
    for plan, noted_at in ((plans[0], now), (plans[1], now - timedelta(hours=2))):
        for _ in range(2):
            models.MissedRuns.objects.create(plan=plan, cause="down", noted_at=noted_at, **times)
    assert scraped(client)["teiten_last_hour_plans_missed"] == {
        of(cause="down"): 1,
        of(cause="going"): 0,
        of(cause="refused"): 0,
    }


def test_a_lease_tells_when_its_holder_was_heard_of(client: Client) -> None:
    trial = factories.run().trials.order_by("position").first()
    assert trial is not None
    attempt = factories.begin(trial)
    lease = attempt.leases.select_related("agent").get()
    values = scraped(client)
    labels = of(agent=lease.agent.name, purpose="trial")
    for name, at in (("heartbeat", lease.heartbeat_at), ("acquired", lease.acquired_at)):
        assert values[f"teiten_lease_{name}_timestamp_seconds"] == {labels: pytest.approx(at.timestamp())}


def test_a_bundle_that_is_archived_and_not_stored_is_lag(client: Client) -> None:
    trial = factories.run().trials.order_by("position").first()
    assert trial is not None
    attempt = factories.begin(trial, "clean")
    models.Attempt.objects.filter(pk=attempt.pk).update(bundle="1/1-1.tar.gz", left_at=timezone.now())
    trial.refresh_from_db()
    assert trial.phase_at is not None
    values = scraped(client)
    assert values["teiten_attempts_unstored"] == values["teiten_attempts_left"] == {of(): 1}
    since = values["teiten_attempts_unstored_timestamp_seconds"][of()]
    assert since == pytest.approx(trial.phase_at.timestamp())


def test_what_ended_lately_is_counted_by_its_error(client: Client) -> None:
    run = factories.run()
    done, failed, lost, old = list(run.trials.order_by("position").select_related("configuration"))[:4]
    models.Attempt.objects.create(
        run=run, trial=lost, number=1, state="lost", ended_at=timezone.now(), error={"kind": "lost"}, bundle="x"
    )
    for trial in (done, lost, old):
        factories.finish(trial)
    factories.fail(failed, kind="deadline")
    hour_ago = timezone.now() - timedelta(hours=1)
    models.Trial.objects.filter(pk=old.pk).update(state_at=hour_ago)
    values = scraped(client)
    assert values["teiten_last_hour_attempts"] == {
        of(state="done", error=""): 2,
        of(state="failed", error="deadline"): 1,
        of(state="lost", error="lost"): 1,
    }
    assert values["teiten_last_hour_attempts_unstored"][of(state="lost", error="lost")] == 1
    phases = {of(phase="prepare"): 1, of(phase="load"): 2, of(phase="measure"): 5.5}
    assert values["teiten_last_hour_phase_duration_median_seconds"] == phases
    assert values["teiten_last_hour_phase_duration_max_seconds"] == phases


def test_durations_are_the_median_and_the_longest(client: Client) -> None:
    run = factories.run()
    trials = list(run.trials.order_by("position").select_related("configuration"))[:3]
    for trial, seconds in zip(trials, (10, 20, 90), strict=True):
        attempt = factories.finish(trial)
        ended = attempt.started_at + timedelta(seconds=seconds)
        models.Attempt.objects.filter(pk=attempt.pk).update(started_at=attempt.started_at, ended_at=ended)
    values, labels = scraped(client), of(state="done", error="")
    assert values["teiten_last_hour_attempt_duration_median_seconds"] == {labels: 20}
    assert values["teiten_last_hour_attempt_duration_max_seconds"] == {labels: 90}


def test_what_another_teiten_measured_did_not_end_here(client: Client) -> None:
    run = factories.finished_run()
    models.Trial.objects.filter(run=run).update(agents=[])
    values = scraped(client)
    assert values["teiten_last_hour_attempts"] == values["teiten_last_hour_phase_duration_max_seconds"] == {}


def test_messages_that_wait_are_counted_by_their_queue(client: Client) -> None:
    app.control.purge()
    empty = {of(queue=name): 0 for name in ("control", "agents", "trials")}
    values = scraped(client)
    assert (values["teiten_queue_messages"], values["teiten_redis_up"]) == (empty, {of(): 1})
    app.send_task("workers.tasks.prune", (factories.NO_ID,))
    assert scraped(client)["teiten_queue_messages"] == empty | {of(queue="agents"): 1}
    app.control.purge()


def test_a_redis_that_is_away_has_no_numbers(client: Client, settings: Any) -> None:
    settings.CELERY_BROKER_URL = "redis://127.0.0.1:1/0"
    values = scraped(client)
    assert (values["teiten_queue_messages"], values["teiten_redis_up"]) == ({}, {of(): 0})
    assert values["teiten_trials"]


def test_beat_tells_what_it_sent(client: Client) -> None:
    every = IntervalSchedule.objects.create(every=2, period="seconds")
    at = timezone.now()
    PeriodicTask.objects.create(name="dispatch", task="workers.tasks.dispatch", interval=every, last_run_at=at)
    PeriodicTask.objects.create(name="never", task="workers.tasks.reap", interval=every)
    sent = scraped(client)["teiten_beat_sent_timestamp_seconds"]
    assert sent == {of(task="dispatch"): pytest.approx(at.timestamp())}


def test_the_number_of_queries_does_not_depend_on_what_there_is(
    client: Client, django_assert_num_queries: Any, django_assert_max_num_queries: Any
) -> None:
    headers = token()
    scraped(client, **headers)  # notes that the token was used
    for _ in range(2):
        with django_assert_num_queries(9):
            scraped(client, **headers)
        read_as(lambda: EVERYTHING)
        for trial in factories.run().trials.all()[:2]:
            factories.finish(trial)


def test_open_metrics_is_spoken_where_it_is_asked_for(client: Client) -> None:
    accept = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
    answer = client.get("/metrics", headers={"Accept": accept})
    assert answer["Content-Type"].startswith("application/openmetrics-text; version=1.0.0")
    assert list(openmetrics.text_string_to_metric_families(answer.content.decode()))


def test_a_token_reads_where_reading_is_closed_and_nobody_without_one(client: Client, settings: Any) -> None:
    settings.TEITEN_OPEN_READING = False
    refused = client.get("/metrics")
    assert (refused.status_code, refused["WWW-Authenticate"]) == (401, "Bearer")
    assert refused.json()["error"]["kind"] == "access"
    assert client.get("/metrics", headers={"Authorization": "Bearer teiten_no"}).status_code == 401
    headers = token()
    assert client.get("/metrics", headers=headers).status_code == 200
    assert client.post("/metrics", headers=headers).status_code in (403, 405)


def test_private_runs_are_counted_for_those_who_see_them(client: Client) -> None:
    private = factories.run(factories.member("ada", Role.OPERATOR), private=True)
    assert scraped(client)["teiten_trials"][of(state="waiting")] == 0
    read_as(lambda: EVERYTHING)
    assert scraped(client, **token(Scope.ADMIN))["teiten_trials"][of(state="waiting")] == private.trials.count()


def test_every_metric_is_in_the_manual(client: Client) -> None:
    documented = re.findall(r"^\| `(teiten_[a-z_]+)", GUIDE, re.M)
    assert sorted(documented) == sorted(scraped(client))


def test_the_manuals_alerts_ask_for_metrics_that_there_are(client: Client) -> None:
    (text,) = re.findall(r"```yaml\n(groups:.*?)```", GUIDE, re.S)
    rules = yaml.safe_load(text)["groups"][0]["rules"]
    named = {name for rule in rules for name in re.findall(r"teiten_[a-z_]+", rule["expr"])}
    assert named and named <= set(scraped(client))
