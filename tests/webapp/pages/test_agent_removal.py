"""Agents go off the lists, are put back, or are deleted, after a look at what hangs on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from rest_framework.test import APIClient

from results import agents, models, runs, stored_plans
from results.agent_removal import archive_agent, delete_agent
from results.domain.errors import PlanError, StateError
from results.queries.agents.agents import list_agents
from results.queries.agents.loss import agent_loss
from tests import factories
from tests.page_text import page_text
from tests.webapp.api.conftest import owner, visitor
from workers.registry import kinds
from workers.tasks import contact_all, contact_now

__all__ = ["owner", "visitor"]
ADDRESS = "/agents/db1/remove/"


def flat(answer: Any) -> str:
    return " ".join(page_text(answer).split())


def measured() -> models.Run:
    """A finished run of a scheduled plan on db1, which has a host factor, a key and a cluster of 3 GB."""
    plan = factories.stored_plan()
    run = factories.finished_run()
    models.Run.objects.filter(pk=run.pk).update(plan=plan)
    stored_plans.schedule_plan(plan, "0 2 * * 6", "tests")
    factories.define_host_factor()
    factories.clusters(factories.lies("/srv/data/clusters/a", gb=3))
    models.Agent.objects.filter(name="db1").update(key_path="/etc/teiten/id_ed25519", places={"nvme": "/mnt/nvme"})
    return run


def test_the_preview_says_what_hangs_on_it_and_what_stays_on_the_machine(
    admin: Client, django_assert_max_num_queries: Any
) -> None:
    run = measured()
    plan = models.Plan.objects.get()
    with django_assert_max_num_queries(13):
        text = flat(admin.get(ADDRESS))
    assert "8 trials in 1 run" in text and f'<a href="/runs/{run.pk}/">{run.pk}</a>' in text
    assert f'<a href="/plans/{plan.pk}/">16 against 18</a>' in text
    assert "scheduled: <code>0 2 * * 6</code> (UTC)" in text
    assert "1, 3 GB" in text or "1, 3.0 GB" in text or "1, 3.000 GB" in text
    assert "cpu_governor" in text and "/etc/teiten/id_ed25519" in text
    for folder in ("/srv/data", "/srv/work", "/mnt/nvme"):
        assert f'<span class="mono">{folder}</span>' in text
    assert "It cannot be deleted. Trials were made for it, whose history names it. Archive it instead." in text
    assert "It cannot be archived." not in text


def test_a_plan_that_names_the_agent_otherwise_is_not_concerned(admin: Client) -> None:
    factories.agent()
    factories.stored_plan(name="db1", agents={"primary": "db2"})
    factories.stored_plan(name="in use", agents={"primary": "db2", "client": "db1"})
    factories.stored_plan(name="archived", agents={"primary": "db1"})
    stored_plans.archive_plan(models.Plan.objects.get(name="archived"), "tests")
    assert [plan.name for plan in agent_loss("db1").plans] == ["in use"]
    assert ">in use</a>" in flat(admin.get(ADDRESS))


def test_an_archived_agent_is_off_the_lists_and_its_history_stays(admin: Client, stranger: Client) -> None:
    run = measured()
    answer = admin.post(ADDRESS, {"do": "archive"}, follow=True)
    assert "Archived agent db1." in page_text(answer)
    assert list_agents() == []
    text = flat(stranger.get("/agents/"))
    assert 'Archived: <a href="/agents/db1/">db1</a>' in text and "<b>No agents.</b>" in text
    page = flat(stranger.get("/agents/db1/"))
    assert "<b>Archived:</b>" in page and f"/trials/{run.trials.earliest('pk').pk}/" in page
    assert "Contact now" not in flat(admin.get("/agents/db1/"))
    assert stranger.get(f"/runs/{run.pk}/").status_code == 200
    assert stranger.get(f"/compare/?run={run.pk}").status_code == 200
    entry = models.AuditEntry.objects.get(verb="archive agent")
    assert (entry.object, entry.detail["trials"], entry.detail["key"]) == ("agent db1", 8, "/etc/teiten/id_ed25519")


def test_an_archived_agent_is_not_contacted_changed_or_given_trials(admin: Client) -> None:
    run = measured()
    archive_agent("db1", "tests")
    agent = models.Agent.objects.get(name="db1")
    with pytest.raises(StateError, match="Agent db1 is archived"):
        contact_now(agent.pk)
    contact_all()
    assert not models.Lease.objects.exists()
    for refused in (
        lambda: agents.update_agent(agent, {"enabled": True}, "tests"),
        lambda: agents.accept_host_key(agent, "SHA256:x", "tests"),
        lambda: runs.add_blocks(run.pk, 1, "tests"),
        lambda: runs.retry_failed(run.pk, "tests"),
        lambda: runs.retry_cancelled(run.pk, "tests"),
        lambda: runs.retry_trial(run.trials.earliest("pk").pk, "tests"),
    ):
        with pytest.raises(StateError, match="archived"):
            refused()
    with pytest.raises(PlanError, match="Agent 'db1' is archived"):
        runs.repeat_run(run.pk, kinds(), user=None, actor="tests")
    with pytest.raises(ValidationError, match="archived, and not contacted"):
        agents.create_agent(
            {"name": "db2", "host": "h", "data_dir": "/srv/a/data", "work_dir": "/srv/a/work", "jump": agent}, "tests"
        )
    assert admin.post("/agents/db1/contact/").status_code == 409


def test_one_that_is_put_back_is_given_trials_once_it_is_enabled(admin: Client) -> None:
    measured()
    archive_agent("db1", "tests")
    assert "Put the agent back" in page_text(admin.get(ADDRESS))
    assert admin.post(ADDRESS, {"do": "restore"})["Location"] == "/agents/db1/"
    (row,) = list_agents()
    assert (row.name, row.archived, row.enabled) == ("db1", False, False)
    agents.update_agent(models.Agent.objects.get(name="db1"), {"enabled": True}, "tests")
    assert models.AuditEntry.objects.filter(verb="restore agent", object="agent db1").count() == 1


def test_it_stays_while_something_needs_it(admin: Client) -> None:
    run = factories.run()
    agent = models.Agent.objects.get(name="db1")
    for done in ("archive", "delete"):
        answer = admin.post(ADDRESS, {"do": done})
        assert answer.status_code == 409
        assert "8 trials wait for it or run on it" in page_text(answer)
    runs.cancel_run(run.pk, "tests")
    factories.held_by_contact(agent.pk, run.created_at)
    with pytest.raises(StateError, match="cannot be archived"):
        archive_agent("db1", "tests")
    models.Lease.objects.all().delete()
    factories.not_back("db1")
    assert "cpu_governor is not back at its own value" in page_text(admin.post(ADDRESS, {"do": "archive"}))
    models.HostChange.objects.all().delete()
    behind = factories.agent("db2")
    models.Agent.objects.filter(pk=behind.pk).update(jump=agent)
    assert "db2 is reached through it" in page_text(admin.post(ADDRESS, {"do": "archive"}))
    archive_agent("db2", "tests")
    archive_agent("db1", "tests")
    assert models.Agent.objects.filter(archived=True).count() == 2


def test_nothing_is_archived_while_trials_are_being_made(admin: Client) -> None:
    run = measured()
    models.Run.objects.filter(pk=run.pk).update(making=True)
    assert admin.post(ADDRESS, {"do": "archive"}).status_code == 409


def test_one_that_never_measured_is_deleted(admin: Client) -> None:
    factories.agent()
    jumped = factories.agent("db2")
    models.Agent.objects.filter(pk=jumped.pk).update(jump=models.Agent.objects.get(name="db1"), archived=True)
    assert "db2, archived, is reached through it." in page_text(admin.post(ADDRESS, {"do": "delete"}))
    delete_agent("db2", "tests")
    answer = admin.post(ADDRESS, {"do": "delete"}, follow=True)
    assert "Deleted agent db1. What lies on the machine is still there." in page_text(answer)
    assert not models.Agent.objects.exists() and not models.Installation.objects.exists()
    entry = models.AuditEntry.objects.get(verb="delete agent", object="agent db1")
    assert entry.detail["folders"] == ["/srv/data", "/srv/work"]


def test_there_is_nothing_else_to_be_done_with_it(admin: Client) -> None:
    factories.agent()
    assert admin.post(ADDRESS, {"do": "burn"}).status_code == 400
    assert admin.get("/agents/nobody/remove/").status_code == 404
    assert admin.post("/agents/nobody/remove/", {"do": "delete"}).status_code == 404


def test_the_api_archives_lists_puts_back_and_deletes(visitor: Callable[[str], APIClient]) -> None:
    run = measured()
    client, address = visitor("admin"), "/api/v1/agents/db1/"
    loss = visitor("read").get(f"{address}loss/").json()
    assert (loss["trials"], loss["run_ids"], loss["plans"][0]["schedule"]) == (8, [run.pk], "0 2 * * 6")
    assert (loss["keeps_on_lists"], loss["keeps_it"][:16]) == ("", "Trials were made")
    assert client.patch(address, {"archived": True, "port": 23}, format="json").status_code == 400
    assert client.patch(address, {"archived": True}, format="json").json()["archived"] is True
    assert client.get("/api/v1/agents/").json()["results"] == []
    (row,) = client.get("/api/v1/agents/", {"archived": "true"}).json()["results"]
    assert (row["name"], row["enabled"]) == ("db1", False)
    assert client.patch(address, {"archived": False}, format="json").json()["archived"] is False
    assert client.delete(address).status_code == 409
    factories.agent("db9")
    assert client.delete("/api/v1/agents/db9/").json()["name"] == "db9"
    assert client.get("/api/v1/agents/db9/").status_code == 404
