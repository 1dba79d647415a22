"""A plan that runs a shell command on an agent takes an administrator, on every way in."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from rest_framework.test import APIClient

from results import models
from results.domain.plan import to_toml
from tests import factories
from tests.webapp.api.conftest import owner, visitor
from webapp.access import NO_COMMANDS

__all__ = ["owner", "visitor"]
pytestmark = pytest.mark.django_db
COMMAND = factories.mapping(
    name="Mine",
    workload="script",
    replicates=1,
    factors={"installation": ["16"]},
    collectors=[],
    parameters={"form": "command", "text": "echo a 1"},
)
VARIED = COMMAND | {
    "parameters": {"text": "echo a 1"},
    "factors": {"installation": ["16"], "form": ["pgbench", "command"]},
}
IN_A_LEVEL = VARIED | {
    "factors": {"installation": ["16"], "kind": [{"label": "mine", "values": {"form": "command", "clients": 2}}]}
}
QUERIES = COMMAND | {"parameters": {"form": "queries", "text": "SELECT 1;"}}


@pytest.fixture(autouse=True)
def _agent(db: None, settings: Any) -> None:
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    }
    factories.agent()


def signed_in(name: str, *, staff: bool) -> Client:
    client = Client()
    client.force_login(factories.member(name, staff=staff))
    return client


@pytest.fixture
def member() -> Client:
    return signed_in("member", staff=False)


@pytest.fixture
def admin() -> Client:
    return signed_in("admin", staff=True)


def form(mapping: dict[str, Any]) -> dict[str, Any]:
    parameters = {f"parameters.{name}": str(value) for name, value in mapping["parameters"].items()}
    factors = {name: levels for name, levels in mapping["factors"].items() if isinstance(levels[0], str)}
    return parameters | {
        "name": mapping["name"],
        "workload": "script",
        "agents.primary": "db1",
        "replicates": "1",
        "factor-name": list(factors),
        "factor-value": [", ".join(levels) for levels in factors.values()],
    }


def test_a_member_cannot_store_one_and_sees_why_beside_the_field(member: Client, admin: Client) -> None:
    for mapping in (COMMAND, VARIED):
        for path in ("/plans/add/", "/plans/preview/"):
            answer = member.post(path, form(mapping))
            text = answer.content.decode()
            assert NO_COMMANDS in text
            assert '"field": "parameters.form"' in text
    assert not models.Plan.objects.exists()
    assert admin.post("/plans/add/", form(COMMAND)).status_code == 302
    assert models.Plan.objects.get().name == "Mine"


def test_a_member_stores_queries_and_scripts(member: Client) -> None:
    assert member.post("/plans/add/", form(QUERIES)).status_code == 302


@pytest.mark.parametrize("mapping", [COMMAND, VARIED, IN_A_LEVEL], ids=["set", "varied", "in a level"])
def test_a_member_cannot_import_one(member: Client, mapping: dict[str, Any]) -> None:
    answer = member.post("/plans/import/", {"toml": to_toml(factories.a_plan(**mapping))})
    assert answer.status_code == 403
    assert NO_COMMANDS in answer.content.decode()
    assert not models.Plan.objects.exists()


def test_a_member_cannot_make_one_of_a_stored_plan(member: Client) -> None:
    stored = factories.stored_plan(name="Mine", **{k: v for k, v in QUERIES.items() if k != "name"})
    member.post(f"/plans/{stored.pk}/edit/", form(COMMAND))
    stored.refresh_from_db()
    assert "command" not in stored.toml


@pytest.mark.parametrize(
    "path", ["/plans/{plan}/run/", "/plans/{plan}/schedule/", "/runs/{run}/repeat/", "/runs/blocks/"]
)
def test_a_member_cannot_have_an_administrators_one_run(path: str, member: Client, admin: Client) -> None:
    stored = factories.stored_plan(**COMMAND)
    run = factories.run(stored=stored, **COMMAND)
    before = models.Run.objects.count(), models.Trial.objects.count()
    body = {"cron": "0 2 * * 6", "run": run.pk, "blocks": "1", f"had-{run.pk}": run.blocks}
    url = path.format(plan=stored.pk, run=run.pk)
    answer = member.post(url, body)
    assert answer.status_code == 403
    assert NO_COMMANDS in answer.content.decode()
    stored.refresh_from_db()
    assert (models.Run.objects.count(), models.Trial.objects.count(), stored.schedule) == (*before, None)
    assert admin.post(url, body).status_code == 302


def test_a_member_may_stop_retry_and_read_it(member: Client) -> None:
    stored = factories.stored_plan(**COMMAND)
    run = factories.run(stored=stored, **COMMAND)
    factories.fail(run.trials.select_related("configuration").get())
    assert member.post(f"/runs/{run.pk}/retry/").status_code == 302
    assert member.post(f"/runs/{run.pk}/cancel/").status_code == 302
    assert member.post(f"/plans/{stored.pk}/schedule/", {"cron": ""}).status_code == 302
    assert member.get(f"/plans/add/?from={stored.pk}").status_code == 200


def test_a_token_of_the_scope_run_cannot_either(visitor: Callable[[str], APIClient]) -> None:
    client, admin = visitor("run"), visitor("admin")
    stored = factories.stored_plan(name="Theirs", **{k: v for k, v in COMMAND.items() if k != "name"})
    queries = factories.stored_plan(name="Queries", **{k: v for k, v in QUERIES.items() if k != "name"})
    run = factories.run(stored=stored, **COMMAND)
    calls: list[tuple[str, str, Any]] = [
        ("post", "plans/", COMMAND),
        ("post", "plans/", VARIED),
        ("post", "plans/", IN_A_LEVEL),
        ("put", f"plans/{queries.pk}/", COMMAND),
        ("post", "runs/", COMMAND),
        ("post", "runs/", {"plan": stored.pk}),
        ("post", "runs/", {"toml": to_toml(factories.a_plan(**COMMAND))}),
        ("post", f"runs/{run.pk}/repeat/", {}),
        ("post", f"runs/{run.pk}/blocks/", {"blocks": 1}),
    ]
    before = models.Run.objects.count(), models.Plan.objects.count(), models.Trial.objects.count()
    for method, path, body in calls:
        answer = getattr(client, method)(f"/api/v1/{path}", body, format="json")
        assert (answer.status_code, answer.json()["error"]["what"]) == (403, NO_COMMANDS), path
    assert (models.Run.objects.count(), models.Plan.objects.count(), models.Trial.objects.count()) == before
    assert client.post("/api/v1/runs/", QUERIES, format="json").status_code == 201
    for method, path, body in calls[3:]:
        assert getattr(admin, method)(f"/api/v1/{path}", body, format="json").status_code in (200, 201), path


def test_the_command_line_of_the_worker_asks_for_no_right(tmp_path: Any) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(to_toml(factories.a_plan(**COMMAND)))
    call_command("run_plan", str(path), "--no-wait", stdout=io.StringIO())
    assert models.Run.objects.get().headline == "script.seconds"
