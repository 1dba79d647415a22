"""Plans go off the list, are put back, or are deleted, after a look at what goes with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django_celery_beat.models import PeriodicTask
from rest_framework.test import APIClient

from results import alerts, models, stored_plans
from results.domain.errors import StateError
from results.models.audit import Role
from tests import factories
from tests.page_text import page_text
from tests.webapp.api.conftest import owner, visitor

__all__ = ["owner", "visitor"]


def scheduled(**changes: Any) -> models.Plan:
    """A plan with a schedule and an address that is notified."""
    plan = factories.stored_plan(**changes)
    stored_plans.schedule_plan(plan, "0 2 * * 6", "tests")
    alerts.watch(plan, "email", "ada@example.org", user=None, actor="tests")
    plan.refresh_from_db()
    return plan


def test_the_preview_says_what_goes_and_what_keeps_it(member: Client, django_assert_max_num_queries: Any) -> None:
    plan = scheduled()
    run = factories.run(stored=plan)
    with django_assert_max_num_queries(9):
        text = " ".join(page_text(member.get(f"/plans/{plan.pk}/remove/")).split())
    assert "1 run · scheduled: 0 2 * * 6 (UTC) · 1 address notified" in text
    assert "Its schedule <code>0 2 * * 6</code> (UTC) ends, and is not set again when the plan is put back." in text
    assert "It cannot be deleted. Runs were made of it" in text
    assert "A plan is deleted by its author, or by an administrator." in text
    refused = member.post(f"/plans/{plan.pk}/remove/", {"do": "delete"})
    assert refused.status_code == 403
    assert models.Run.objects.get(pk=run.pk).plan_id == plan.pk


def test_a_plan_with_runs_is_archived_with_its_schedule_and_put_back_without(member: Client) -> None:
    plan = scheduled()
    run = factories.run(stored=plan)
    answer = member.post(f"/plans/{plan.pk}/remove/", {"do": "archive"}, follow=True)
    assert "it is off the list, its runs stay. Its schedule has ended." in page_text(answer)
    assert not PeriodicTask.objects.filter(name=f"plan {plan.pk}").exists()
    text = page_text(member.get(f"/plans/{plan.pk}/"))
    assert "<b>Archived:</b>" in text and f"/runs/{run.pk}/" in text
    assert "Put the plan back" in page_text(member.get(f"/plans/{plan.pk}/remove/"))
    member.post(f"/plans/{plan.pk}/remove/", {"do": "restore"})
    assert f"/plans/{plan.pk}/" in page_text(member.get("/plans/"))
    verbs = list(models.AuditEntry.objects.filter(object=f"plan {plan.pk}").values_list("verb", flat=True))
    assert [verb for verb in verbs if verb in ("archive plan", "restore plan")] == ["restore plan", "archive plan"]
    assert models.AuditEntry.objects.get(verb="archive plan").detail == {"cron": "0 2 * * 6"}


def test_a_plan_without_runs_is_deleted_and_the_audit_log_keeps_it(admin: Client) -> None:
    plan = scheduled()
    answer = admin.post(f"/plans/{plan.pk}/remove/", {"do": "delete"}, follow=True)
    assert "Deleted 16 against 18." in page_text(answer)
    assert not models.Plan.objects.exists() and not models.Watch.objects.exists()
    assert not PeriodicTask.objects.filter(name=f"plan {plan.pk}").exists()
    entry = models.AuditEntry.objects.get(verb="delete plan")
    assert (entry.object, entry.detail["cron"], entry.detail["watches"]) == (f"plan {plan.pk}", "0 2 * * 6", 1)
    assert entry.detail["toml"] == plan.toml


def test_a_plan_with_runs_is_not_deleted_even_where_they_are_private(admin: Client) -> None:
    plan = scheduled()
    factories.run(stored=plan, private=True)
    answer = admin.post(f"/plans/{plan.pk}/remove/", {"do": "delete"})
    assert answer.status_code == 409
    assert "cannot be deleted" in page_text(answer)
    with pytest.raises(StateError):
        stored_plans.delete_plan(plan, "tests")
    assert models.Plan.objects.exists()


def test_one_deletes_ones_own_plan(signed_in: Any, db: None) -> None:
    client = signed_in(Role.OPERATOR)
    author = models.Member.objects.get(user__username=Role.OPERATOR).user
    plan = factories.stored_plan(user=author)
    assert client.post(f"/plans/{plan.pk}/remove/", {"do": "delete"}).status_code == 302
    assert not models.Plan.objects.exists()


def test_there_is_nothing_else_to_be_done_with_it(member: Client) -> None:
    plan = factories.stored_plan()
    assert member.post(f"/plans/{plan.pk}/remove/", {"do": "burn"}).status_code == 400
    assert member.get(f"/plans/{factories.NO_ID}/remove/").status_code == 404


def test_the_api_archives_puts_back_and_deletes(visitor: Callable[[str], APIClient]) -> None:
    plan = scheduled()
    address, client = f"/api/v1/plans/{plan.pk}/", visitor("run")
    archived = client.patch(address, {"archived": True}, format="json").json()["plan"]
    assert (archived["archived"], archived["schedule"]) == (True, "")
    assert client.patch(address, {"archived": False}, format="json").json()["plan"]["archived"] is False
    assert client.patch(address, {}, format="json").status_code == 400
    loss = client.get(f"{address}loss/").json()
    assert (loss["has_runs"], loss["keeps_it"], loss["watches"]) == (False, "", 1)
    assert client.delete(address).status_code == 403
    run = factories.run(stored=plan)
    assert visitor("admin").delete(address).status_code == 409
    models.Run.objects.filter(pk=run.pk).delete()
    assert visitor("admin").delete(address).json()["name"] == plan.name
    assert client.get(address).status_code == 404
