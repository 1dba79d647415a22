"""Whom a plan tells, on its page."""

from __future__ import annotations

import re
from typing import Any

from django.test import Client
from django.utils import timezone

from results import alerts, models
from tests import histories
from tests.page_text import page_text


def page(client: Client, plan: models.Plan) -> str:
    return page_text(client.get(f"/plans/{plan.pk}/"))


def test_a_member_sets_and_removes_an_address(member: Client) -> None:
    plan = histories.nightly()
    member.post(f"/plans/{plan.pk}/watches/", {"channel": "email", "target": "ada@example.org"})
    watch = models.Watch.objects.get()
    assert "ada@example.org" in page(member, plan)
    assert member.post(f"/plans/{plan.pk}/watches/{watch.pk}/remove/").status_code == 302
    assert not models.Watch.objects.exists()
    assert "No alerts are set up." in page(member, plan)


def test_a_webhook_takes_an_administrator(member: Client, admin: Client) -> None:
    plan = histories.nightly()
    sent = {"channel": "webhook", "target": "http://127.0.0.1:9/hook/s3cret"}
    assert "watch-url" not in page(member, plan)
    assert member.post(f"/plans/{plan.pk}/watches/", sent).status_code == 403
    assert "watch-url" in page(admin, plan)
    assert admin.post(f"/plans/{plan.pk}/watches/", sent).status_code == 302
    watch = models.Watch.objects.get()
    assert watch.target == sent["target"] and watch.target in page(admin, plan)
    text = page(member, plan)
    assert "127.0.0.1" in text and "s3cret" not in text and f"/watches/{watch.pk}/remove/" not in text
    assert member.post(f"/plans/{plan.pk}/watches/{watch.pk}/remove/").status_code == 403
    assert admin.post(f"/plans/{plan.pk}/watches/{watch.pk}/remove/").status_code == 302


def test_a_stranger_sees_the_outcome_and_no_address(stranger: Client, member: Client) -> None:
    plan = histories.nightly(replicates=5)
    alerts.watch(plan, "email", "ada@example.org", user=None, actor="tests")
    before, run = histories.months(plan, [8000, 7200])
    alerts.judge_runs(timezone.now())
    models.Alert.objects.filter(run=run).update(state="failed", error="550 no such user", tries=7)
    text = page(stranger, plan)
    assert "ada@example.org" not in text
    assert "550 no such user" not in text
    assert "could not be sent" in text
    assert f"/compare/?run={before.pk},{run.pk}&amp;x=workload&amp;series=run&amp;baseline={before.pk}" in text
    assert re.search(r"Worse: the only configuration: worse in these runs ×0\.\d{3} \(95 % interval ×0\.\d{3} to", text)
    assert "550 no such user" in page(member, plan)


def test_what_was_not_measured_again_and_what_is_new_is_named(stranger: Client, db: None) -> None:
    plan = histories.nightly(replicates=5)
    alerts.watch(plan, "email", "ada@example.org", user=None, actor="tests")
    _, run = histories.months(plan, [8000, 8000])
    run.trials.update(state="failed")
    alerts.judge_runs(timezone.now())
    text = page(stranger, plan)
    assert "Measured in the run before, but not in this one" in text
    assert "the only configuration (5 trials failed)" in text
    assert "Every trial of it failed." in text
    models.Alert.objects.filter(run=run).update(state="quiet")
    alert = models.Alert.objects.get(run=run)
    alert.content |= {"lost": [], "failed": 2, "unmatched": ["clients 64"]}
    alert.save()
    text = page(stranger, plan)
    assert "New in this run: clients 64." in text
    assert "2 of its 5 trials failed." in text


def test_a_run_that_could_not_be_judged_is_said_to_be_so(stranger: Client, member: Client) -> None:
    plan = histories.nightly()
    watch = alerts.watch(plan, "email", "ada@example.org", user=None, actor="tests")
    (run,) = histories.months(plan, [8000])
    models.Alert.objects.create(
        watch=watch, run=run, state="unjudged", content={}, error="TypeError: secret", decided_at=timezone.now()
    )
    text = page(stranger, plan)
    assert "could not be judged" in text
    assert "secret" not in text
    assert "has no earlier run to be compared with" not in text
    assert "TypeError: secret" in page(member, plan)


def test_watches_cost_two_queries_however_many(db: None, stranger: Client, django_assert_num_queries: Any) -> None:
    plan = histories.nightly()
    histories.months(plan, [8000])
    with django_assert_num_queries(5):
        page(stranger, plan)
    for name in "abc":
        alerts.watch(plan, "email", f"{name}@example.org", user=None, actor="tests")
    alerts.judge_runs(timezone.now())
    with django_assert_num_queries(6):
        page(stranger, plan)


def test_what_is_no_address_is_refused_in_words(member: Client) -> None:
    plan = histories.nightly()
    answer = member.post(f"/plans/{plan.pk}/watches/", {"channel": "email", "target": "nobody"})
    assert answer.status_code == 400
    assert "is no e-mail address" in page_text(answer)
