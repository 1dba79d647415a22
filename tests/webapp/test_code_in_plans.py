"""A plan with code of its own runs where the agent's administrator allows that, or by an administrator."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone
from django_celery_beat.models import PeriodicTask
from rest_framework.test import APIClient

from results import agents, models, runs, stored_plans
from results.domain.errors import CodeError, StateError
from results.domain.plan import from_mapping, to_toml
from results.domain.plan.recipes import example
from results.domain.states import RunState
from results.models.audit import Role
from results.plan_code import refused_code
from tests import factories
from tests.page_text import page_text
from tests.ready_plans import RECIPES
from tests.webapp.api.conftest import owner, visitor
from workers.registry import kinds
from workers.tasks import start_plan

__all__ = ["owner", "visitor"]
pytestmark = pytest.mark.django_db
NONE = "From operators, agent db1 takes none."
ONE_TRIAL: dict[str, Any] = {"replicates": 1, "factors": {"installation": ["16"]}, "collectors": []}
PLAIN = factories.mapping(name="Mine", **ONE_TRIAL)
SCRIPT = PLAIN | {"workload": "script"}
QUERIES = {"form": "queries", "text": "SELECT 1;"}
SHELL = {"script": "custom", "custom_script": "\\shell touch /tmp/canary"}
CODE: dict[str, tuple[str, dict[str, Any]]] = {
    "a command": ("parameters.text", SCRIPT | {"parameters": {"form": "command", "text": "echo a 1"}}),
    "psql's shell": ("parameters.text", SCRIPT | {"parameters": QUERIES | {"text": "\\! touch /tmp/canary"}}),
    "COPY TO PROGRAM": (
        "parameters.setup",
        SCRIPT | {"parameters": QUERIES | {"setup": "COPY (SELECT 1) TO PROGRAM 'touch /tmp/canary'"}},
    ),
    "LOAD": ("parameters.setup_script", PLAIN | {"parameters": {"setup_script": "LOAD 'canary'"}}),
    "pgbench's shell": ("parameters.custom_script", PLAIN | {"parameters": SHELL}),
    "pgbench's shell in a level": (
        "factors.kind",
        PLAIN | {"factors": {"installation": ["16"], "kind": [{"label": "x", "values": SHELL}]}},
    ),
    "archive_command": ("settings.archive_command", PLAIN | {"settings": {"archive_command": "touch /tmp/canary"}}),
    "archive_command varied": (
        "factors.setting.archive_command",
        PLAIN | {"factors": {"installation": ["16"], "setting.archive_command": ["true", "touch /tmp/canary"]}},
    ),
    "session_preload_libraries": (
        "settings.session_preload_libraries",
        PLAIN | {"settings": {"session_preload_libraries": "/tmp/canary.so"}},
    ),
    "initdb's --set": ("initdb", PLAIN | {"initdb": ["--set=archive_command=/tmp/canary"]}),
    "primary_conninfo": ("settings.primary_conninfo", PLAIN | {"settings": {"primary_conninfo": "host=10.0.0.1"}}),
    "servers that are not Teiten's": ("topology", PLAIN | {"topology": "endpoints"}),
}
MAPPINGS = {name: mapping for name, (_, mapping) in CODE.items()}
each_code = pytest.mark.parametrize("name", MAPPINGS)


@pytest.fixture(autouse=True)
def agent(db: None, settings: Any) -> models.Agent:
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    }
    return factories.agent()


def allow(allowed: bool) -> None:
    agents.update_agent(models.Agent.objects.get(name="db1"), {"allows_code": allowed}, "tests")


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


def rows() -> tuple[int, int]:
    return models.Run.objects.count(), models.Trial.objects.count()


@each_code
def test_a_member_stores_it_and_cannot_run_it(name: str, member: Client) -> None:
    toml = to_toml(factories.a_plan(**MAPPINGS[name]))
    assert member.post("/plans/import/", {"toml": toml}).status_code == 302
    stored = models.Plan.objects.get()
    answer = member.post(f"/plans/{stored.pk}/run/")
    assert answer.status_code == 403
    assert NONE in page_text(answer)
    assert rows() == (0, 0)
    page = page_text(member.get(f"/plans/{stored.pk}/"))
    assert NONE in page
    assert "Run now" not in page


@each_code
def test_a_token_of_the_scope_run_gets_403_with_the_field_and_no_row(
    name: str, visitor: Callable[[str], APIClient]
) -> None:
    mapping = MAPPINGS[name]
    answer = visitor("run").post("/api/v1/runs/", mapping, format="json")
    error = answer.json()["error"]
    assert (answer.status_code, error["kind"]) == (403, "access")
    fields = [problem["field"] for problem in error["problems"]]
    assert CODE[name][0] in fields
    assert NONE in error["problems"][0]["what"]
    assert "An administrator can run the plan" in error["problems"][0]["todo"]
    assert rows() == (0, 0)


@each_code
def test_it_runs_where_the_agents_administrator_allows_it(name: str, visitor: Callable[[str], APIClient]) -> None:
    allow(True)
    assert visitor("run").post("/api/v1/runs/", MAPPINGS[name], format="json").status_code == 201
    assert models.Run.objects.get().operators_code


def test_an_administrator_may_always(visitor: Callable[[str], APIClient]) -> None:
    assert visitor("admin").post("/api/v1/runs/", MAPPINGS["a command"], format="json").status_code == 201
    assert not models.Run.objects.get().operators_code


def test_an_agent_that_plays_any_role_is_asked(visitor: Callable[[str], APIClient]) -> None:
    allow(True)
    factories.agent("db2")
    mapping = MAPPINGS["psql's shell"] | {"agents": {"primary": "db1", "client": "db2"}}
    answer = visitor("run").post("/api/v1/runs/", mapping, format="json")
    assert answer.status_code == 403
    assert "From operators, agent db2 takes none." in answer.json()["error"]["problems"][0]["what"]


def test_the_preview_says_which_field_and_which_agent(visitor: Callable[[str], APIClient], member: Client) -> None:
    mapping = MAPPINGS["archive_command"]
    for scope, refused in (("run", ["settings.archive_command"]), ("admin", [])):
        answer = visitor(scope).post("/api/v1/plans/preview/", mapping, format="json")
        assert answer.status_code == 200
        assert [problem["field"] for problem in answer.json()["refused"]] == refused
    form = {
        "name": "Mine",
        "workload": "script",
        "agents.primary": "db1",
        "replicates": "1",
        "factor-name": ["installation"],
        "factor-value": ["16"],
        "parameters.form": "queries",
        "parameters.text": "SELECT 1;",
    }
    text = page_text(member.post("/plans/preview/", form))
    assert "An administrator has to run it" in text
    assert NONE in text
    assert "1 trial" in text
    page = member.post("/plans/add/", form | {"run": "1"})
    assert page.status_code == 422
    assert NONE in page_text(page)
    assert (models.Plan.objects.count(), rows()) == (1, (0, 0))


@pytest.mark.parametrize(
    "path",
    [
        "/plans/{plan}/run/",
        "/plans/{plan}/schedule/",
        "/runs/{run}/repeat/",
        "/runs/{run}/retry/",
        "/runs/{run}/retry-cancelled/",
        "/runs/blocks/",
        "/trials/{trial}/retry/",
    ],
)
def test_a_member_cannot_have_an_administrators_one_run(path: str, member: Client, admin: Client) -> None:
    mapping = MAPPINGS["a command"]
    stored = factories.stored_plan(**mapping)
    run = factories.run(stored=stored, **mapping)
    trial = run.trials.select_related("configuration").get()
    factories.fail(trial)
    before = (*rows(), models.Trial.objects.get().state)
    body = {"cron": "0 2 * * 6", "run": run.pk, "blocks": "1", f"had-{run.pk}": run.blocks}
    url = path.format(plan=stored.pk, run=run.pk, trial=trial.pk)
    answer = member.post(url, body)
    assert answer.status_code == 403
    assert NONE in page_text(answer)
    stored.refresh_from_db()
    assert (*rows(), models.Trial.objects.get(pk=trial.pk).state, stored.schedule) == (*before, None)
    assert admin.post(url, body).status_code == 302


def test_a_token_of_the_scope_run_cannot_either(visitor: Callable[[str], APIClient]) -> None:
    mapping = MAPPINGS["a command"]
    client, admin = visitor("run"), visitor("admin")
    stored = factories.stored_plan(**mapping)
    run = factories.run(stored=stored, **mapping)
    trial = run.trials.select_related("configuration").get()
    factories.fail(trial)
    calls: list[tuple[str, Any]] = [
        ("runs/", {"plan": stored.pk}),
        ("runs/", {"toml": to_toml(factories.a_plan(**mapping))}),
        (f"runs/{run.pk}/repeat/", {}),
        (f"runs/{run.pk}/blocks/", {"blocks": 1}),
        (f"runs/{run.pk}/retry-failed/", {}),
        (f"runs/{run.pk}/retry-cancelled/", {}),
        (f"trials/{trial.pk}/retry/", {}),
    ]
    before = rows()
    for path, body in calls:
        answer = client.post(f"/api/v1/{path}", body, format="json")
        assert answer.status_code == 403, path
        assert NONE in answer.json()["error"]["what"], path
    assert rows() == before
    assert models.Trial.objects.get(pk=trial.pk).state == "failed"
    unseen = admin.post("/api/v1/runs/", {"plan": stored.pk}, format="json")
    assert (unseen.status_code, unseen.json()["error"]["where"]) == (400, "hash")
    changed = admin.post("/api/v1/runs/", {"plan": stored.pk, "hash": "of another"}, format="json")
    assert changed.status_code == 409
    calls[0] = ("runs/", {"plan": stored.pk, "hash": stored.hash})
    for path, body in calls[:-2]:
        assert admin.post(f"/api/v1/{path}", body, format="json").status_code in (200, 201), path


def test_a_member_may_stop_and_clone_it_and_end_its_schedule(member: Client) -> None:
    stored = factories.stored_plan(**MAPPINGS["a command"])
    run = factories.run(stored=stored, **MAPPINGS["a command"])
    assert member.post(f"/runs/{run.pk}/cancel/").status_code == 302
    assert member.post(f"/plans/{stored.pk}/schedule/", {"cron": ""}).status_code == 302
    assert member.get(f"/plans/add/?from={stored.pk}").status_code == 200


def scheduled(client: Client, mapping: dict[str, Any]) -> models.Plan:
    stored = factories.stored_plan(**mapping)
    assert client.post(f"/plans/{stored.pk}/schedule/", {"cron": "0 2 * * 6"}).status_code == 302
    return stored


def test_an_administrators_schedule_runs_code_until_they_are_none(admin: Client) -> None:
    stored = scheduled(admin, MAPPINGS["a command"])
    factories.fall_due(stored)
    start_plan(stored.pk)
    assert models.Run.objects.count() == 1
    models.Member.objects.update(role=Role.PUBLISHER)
    models.Run.objects.update(state=RunState.FINISHED)
    factories.fall_due(stored)
    start_plan(stored.pk)
    assert models.Run.objects.count() == 1
    entry = models.AuditEntry.objects.get(verb="could not run plan")
    assert NONE in entry.detail["error"]["what"]


@pytest.mark.parametrize("change", ["closed", "reader"])
def test_a_schedule_starts_nothing_once_who_set_it_may_run_no_plans(change: str, member: Client) -> None:
    stored = scheduled(member, PLAIN)
    factories.fall_due(stored)
    start_plan(stored.pk)
    assert models.Run.objects.count() == 1
    models.Run.objects.update(state=RunState.FINISHED)
    if change == "closed":
        User.objects.filter(username="member").update(is_active=False)
    else:
        models.Member.objects.update(role=Role.READER)
    factories.fall_due(stored)
    start_plan(stored.pk)
    assert models.Run.objects.count() == 1
    entry = models.AuditEntry.objects.get(verb="could not run plan")
    assert "member set the schedule, and may run plans no longer." in entry.detail["error"]["what"]


def test_a_members_schedule_ends_with_the_agents_permission(member: Client) -> None:
    allow(True)
    stored = scheduled(member, MAPPINGS["a command"])
    factories.fall_due(stored)
    start_plan(stored.pk)
    assert models.Run.objects.count() == 1
    allow(False)
    models.Run.objects.update(state=RunState.FINISHED)
    factories.fall_due(stored)
    start_plan(stored.pk)
    assert models.Run.objects.count() == 1
    text = page_text(member.get(f"/plans/{stored.pk}/"))
    assert "could not be started" in text


def test_a_member_cannot_put_code_under_an_administrators_schedule(
    admin: Client, visitor: Callable[[str], APIClient]
) -> None:
    stored = scheduled(admin, PLAIN)
    code = MAPPINGS["archive_command"]
    answer = visitor("run").put(f"/api/v1/plans/{stored.pk}/", code, format="json")
    assert answer.status_code == 403
    assert "canary" not in models.Plan.objects.get().toml
    allow(True)
    assert visitor("run").put(f"/api/v1/plans/{stored.pk}/", code, format="json").status_code == 200
    allow(False)
    factories.fall_due(stored)
    start_plan(stored.pk)
    assert not models.Run.objects.exists()
    assert PeriodicTask.objects.filter(name=f"plan {stored.pk}").exists()


def test_a_plan_that_gets_code_while_an_administrator_schedules_it_is_not_scheduled() -> None:
    stored = factories.stored_plan(**PLAIN)
    as_read = models.Plan.objects.get(pk=stored.pk)
    stored_plans.save_plan(
        from_mapping(MAPPINGS["a command"], kinds()), kinds(), user=None, actor="member", stored=stored
    )
    with pytest.raises(StateError, match="has just been changed"):
        stored_plans.schedule_plan(as_read, "0 2 * * 6", "admin", user=factories.member(staff=True), as_admin=True)
    assert not PeriodicTask.objects.filter(name=f"plan {stored.pk}").exists()


def test_a_plan_that_is_scheduled_while_a_member_changes_it_keeps_its_schedule_and_gets_no_code() -> None:
    stored = factories.stored_plan(**PLAIN)
    as_read = models.Plan.objects.get(pk=stored.pk)
    stored_plans.schedule_plan(stored, "0 2 * * 6", "admin", user=factories.member(staff=True), as_admin=True)
    with pytest.raises(CodeError):
        stored_plans.save_plan(
            from_mapping(MAPPINGS["a command"], kinds()), kinds(), user=None, actor="member", stored=as_read
        )
    stored_plans.save_plan(
        factories.a_plan(**PLAIN | {"replicates": 2}), kinds(), user=None, actor="member", stored=as_read
    )
    row = models.Plan.objects.get(pk=stored.pk)
    assert row.schedule == PeriodicTask.objects.get(name=f"plan {stored.pk}") and not row.scheduled_by_admin


@pytest.mark.parametrize("path", ["run", "schedule"])
def test_an_administrator_does_not_start_what_was_put_in_after_they_looked(
    path: str, admin: Client, visitor: Callable[[str], APIClient]
) -> None:
    stored = factories.stored_plan(**PLAIN)
    page = page_text(admin.get(f"/plans/{stored.pk}/"))
    assert page.count(f'name="hash" value="{stored.hash}"') == 3
    code = MAPPINGS["archive_command"]
    assert visitor("run").put(f"/api/v1/plans/{stored.pk}/", code, format="json").status_code == 200
    answer = admin.post(f"/plans/{stored.pk}/{path}/", {"hash": stored.hash, "cron": "0 2 * * 6"})
    assert answer.status_code == 409
    assert "has been changed since this page was shown" in page_text(answer)
    assert not models.Run.objects.exists()
    assert not PeriodicTask.objects.filter(name=f"plan {stored.pk}").exists()


def test_a_run_for_later_is_cancelled_where_the_permission_was_withdrawn(member: Client) -> None:
    allow(True)
    stored = factories.stored_plan(**MAPPINGS["a command"])
    later = (timezone.now() + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M")
    assert member.post(f"/plans/{stored.pk}/run/", {"start_at": later}).status_code == 302
    allow(False)
    assert runs.start_due(timezone.now() + timedelta(hours=2)) == 0
    assert models.Run.objects.get().state == RunState.CANCELLED
    entry = models.AuditEntry.objects.get(verb="could not start run")
    assert entry.detail == {"agents_without_code": ["db1"]}


def test_the_agents_of_trials_that_are_still_to_be_made_are_asked_as_well(member: Client) -> None:
    allow(True)
    factories.agent("db2")
    stored = factories.stored_plan(**MAPPINGS["a command"])
    later = (timezone.now() + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M")
    assert member.post(f"/plans/{stored.pk}/run/", {"start_at": later}).status_code == 302
    run = models.Run.objects.get()
    configuration = run.configurations.get()
    configuration.pk, configuration.index = None, 1
    configuration.spec |= {"agents": {"client": "db1", "primary": "db2"}}
    configuration.save()
    models.Run.objects.update(making=True)
    assert runs.start_due(timezone.now() + timedelta(hours=2)) == 0
    assert models.Run.objects.get().state == RunState.CANCELLED
    entry = models.AuditEntry.objects.get(verb="could not start run")
    assert entry.detail == {"agents_without_code": ["db2"]}


def test_the_command_line_of_the_worker_asks_for_no_right(tmp_path: Any) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(to_toml(factories.a_plan(**MAPPINGS["a command"])))
    call_command("run_plan", str(path), "--no-wait", stdout=io.StringIO())
    assert models.Run.objects.get().headline == "script.seconds"


@pytest.mark.parametrize("slug", RECIPES)
def test_ready_plans_run_without_the_permission_but_for_scripts_of_their_own(slug: str) -> None:
    plan = from_mapping(example(RECIPES[slug], RECIPES[slug].report), kinds())
    named = [problem.field for problem in refused_code(plan, kinds(), plan.agents.values)]
    assert named == (["parameters.setup", "parameters.text"] if slug == "own-queries" else [])


def test_permission_is_on_the_agents_page_and_in_the_audit_log(admin: Client, member: Client) -> None:
    assert "only administrators run scripts" in page_text(member.get("/agents/db1/"))
    assert 'name="allows_code"' in page_text(admin.get("/agents/db1/edit/"))
    allow(True)
    assert "whoever may run plans can run any program there" in page_text(member.get("/agents/db1/"))
    entry = models.AuditEntry.objects.filter(verb="change agent").latest("pk")
    assert entry.detail == {"allows_code": {"before": False, "after": True}}


def test_only_an_administrator_gives_the_permission(visitor: Callable[[str], APIClient], member: Client) -> None:
    body = {"allows_code": True}
    assert visitor("run").patch("/api/v1/agents/db1/", body, format="json").status_code == 403
    assert member.post("/agents/db1/edit/", body).status_code == 403
    assert not models.Agent.objects.get().allows_code
    answer = visitor("admin").patch("/api/v1/agents/db1/", body, format="json")
    assert answer.json()["allows_code"] is True


@pytest.mark.parametrize(("options", "allowed"), [((), False), (("--allow-code",), True)])
def test_the_command_line_gives_the_permission_only_where_it_is_asked_for(
    options: tuple[str, ...], allowed: bool
) -> None:
    words = (
        "agents",
        "add",
        "db9",
        "--host",
        "127.0.0.1",
        "--port",
        "1",
        "--data-dir",
        "/srv/d",
        "--work-dir",
        "/srv/w",
    )
    with pytest.raises(CommandError, match="db9"):  # nobody answers there
        call_command(*words, *options)
    assert models.Agent.objects.get(name="db9").allows_code is allowed
