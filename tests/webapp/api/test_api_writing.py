"""What the endpoints change."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from rest_framework.test import APIClient

from results import models
from results.domain import plan
from tests import factories
from workers.registry import kinds

pytestmark = pytest.mark.django_db
API = "/api/v1"
TOML = """
name = "sent"
installation = "16"
[agents]
primary = "db1"
[settings]
shared_bufers = "lots"
"""


@pytest.fixture
def runner(visitor: Callable[[str], APIClient]) -> APIClient:
    return visitor("run")


@pytest.fixture
def admin(visitor: Callable[[str], APIClient]) -> APIClient:
    return visitor("admin")


def post(client: APIClient, path: str, body: Any = None, status: int = 200) -> Any:
    answer = client.post(f"{API}/{path}", body if body is not None else {}, format="json")
    assert answer.status_code == status, answer.content
    return answer.json()


def test_a_plan_is_the_same_sent_as_toml_or_as_json(runner: APIClient) -> None:
    toml = plan.to_toml(factories.a_plan())
    by_json = post(runner, "plans/", factories.mapping(), 201)
    models.Plan.objects.all().delete()
    by_toml = post(runner, "plans/", {"toml": toml}, 201)
    assert (by_json["toml"], by_json["hash"]) == (by_toml["toml"], by_toml["hash"])
    assert by_toml["plan"]["created_by"] == "ada"


def test_a_plan_is_replaced(runner: APIClient, world: dict[str, int]) -> None:
    answer = runner.put(f"{API}/plans/{world['plan']}/", factories.mapping(name="renamed"), format="json")
    assert answer.json()["plan"]["name"] == "renamed"
    stored = models.Plan.objects.get(pk=world["plan"])
    assert plan.read(stored.toml, kinds()).name == "renamed"
    assert models.AuditEntry.objects.latest("id").actor == "token run token (ada)"


def test_every_problem_of_a_plan_is_named_by_its_field(runner: APIClient) -> None:
    body = factories.mapping(colour="red", duration_s="long", factors={"clients": [0]})
    error = post(runner, "plans/", body, 422)["error"]
    assert error["kind"] == "plan"
    assert {problem["field"] for problem in error["problems"]} == {
        "colour",
        "duration_s",
        "factors.clients",
        "installation",
    }
    assert models.Plan.objects.count() == 0


@pytest.mark.parametrize("path", ["plans/", "plans/preview/", "runs/"])
def test_a_setting_that_no_installation_has_is_refused_everywhere(runner: APIClient, path: str) -> None:
    factories.agent()
    factories.settings_known()
    for body in (factories.mapping(settings={"shared_bufers": "lots"}), {"toml": TOML}):
        [problem] = post(runner, path, body, 422)["error"]["problems"]
        assert (problem["field"], problem["todo"]) == ("settings.shared_bufers", "Did you mean shared_buffers?")
    assert not models.Plan.objects.exists() and not models.Run.objects.exists()


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"toml": 1}, "toml"),
        ({"toml": "", "name": "x"}, "toml"),
        ({"plan": "1"}, "plan"),
        ({"plan": 1, "seed": 2}, "plan"),
    ],
)
def test_a_body_that_is_two_things_is_refused(runner: APIClient, body: dict[str, Any], field: str) -> None:
    error = post(runner, "runs/", body, 400)["error"]
    assert (error["kind"], error["problems"][0]["field"]) == ("invalid", field)


@pytest.mark.parametrize("body", [[], "text", 1, None])
def test_a_body_that_is_no_object_is_refused(runner: APIClient, body: Any) -> None:
    answer = runner.generic("POST", f"{API}/runs/", "null" if body is None else str(body), "application/json")
    assert answer.status_code in (400, 422)
    assert answer.json()["error"]["what"]


def test_a_preview_stores_nothing(runner: APIClient) -> None:
    factories.agent()
    preview = post(runner, "plans/preview/", factories.mapping())
    assert (preview["trials"], len(preview["configurations"])) == (8, 4)
    assert preview["configurations"][0]["levels"] == {"installation": "16", "clients": "1"}
    assert preview["seconds"] > 40
    assert "replicates" in {warning["field"] for warning in preview["warnings"]}
    assert (models.Plan.objects.count(), models.Run.objects.count()) == (0, 0)


@pytest.mark.parametrize("path", ["plans/preview/", "runs/"])
def test_an_access_method_that_no_installation_has_is_refused(path: str, runner: APIClient) -> None:
    factories.agent()
    builds = [{"label": "zheap", "values": {"installation": "16", "access_method": "zheap"}}]
    error = post(runner, path, factories.mapping(factors={"build": builds}), 422)["error"]
    assert error["problems"][0]["field"] == "factors.build"
    assert error["what"] == "PostgreSQL postgresql-16.9 on db1 has no table access method zheap."


@pytest.mark.parametrize("form", ["plan", "toml", "mapping"])
def test_a_run_is_made_of_a_plan_in_any_form(form: str, runner: APIClient, world: dict[str, int]) -> None:
    toml = models.Plan.objects.get(pk=world["plan"]).toml
    body = {"plan": {"plan": world["plan"]}, "toml": {"toml": toml}, "mapping": factories.mapping()}[form]
    run = post(runner, "runs/", body, 201)
    assert (run["state"], run["trials_waiting"], run["created_by"]) == ("running", 8, "ada")
    assert run["plan_id"] == (world["plan"] if form == "plan" else None)


def test_a_run_can_wait_for_its_time(runner: APIClient) -> None:
    factories.agent()
    later = timezone.now() + timedelta(days=1)
    run = post(runner, "runs/", factories.mapping() | {"start_at": later.isoformat()}, 201)
    assert run["state"] == "scheduled"
    error = post(runner, "runs/", factories.mapping() | {"start_at": "soon"}, 400)["error"]
    assert error["problems"][0]["field"] == "start_at"


def test_a_run_on_an_agent_that_is_not_there_names_the_role(runner: APIClient) -> None:
    error = post(runner, "runs/", factories.mapping(agents={"primary": "gone"}), 422)["error"]
    assert any(problem["field"].startswith("agents.") for problem in error["problems"])


def test_a_run_is_cancelled_once(runner: APIClient, world: dict[str, int]) -> None:
    run = post(runner, f"runs/{world['run']}/cancel/")
    assert (run["state"], run["trials_cancelled"], run["trials_done"]) == ("cancelled", 6, 1)
    error = post(runner, f"runs/{world['run']}/cancel/", status=409)["error"]
    assert (error["kind"], "cancelled" in error["what"]) == ("state", True)


def test_failed_trials_are_queued_once_more(runner: APIClient, world: dict[str, int]) -> None:
    answer = post(runner, f"runs/{world['run']}/retry-failed/")
    assert (answer["retried"], answer["run"]["trials_failed"], answer["run"]["trials_waiting"]) == (1, 0, 7)


def test_cancelled_trials_are_queued_once_more(runner: APIClient, world: dict[str, int]) -> None:
    cancelled = post(runner, f"runs/{world['run']}/cancel/")["trials_cancelled"]
    answer = post(runner, f"runs/{world['run']}/retry-cancelled/")
    assert (answer["retried"], answer["run"]["trials_cancelled"]) == (cancelled, 0)
    assert answer["run"]["state"] == "running"


def test_a_run_is_repeated(runner: APIClient, world: dict[str, int]) -> None:
    again = post(runner, f"runs/{world['run']}/repeat/", status=201)
    assert (again["id"] != world["run"], again["plan_id"], again["trials_total"]) == (True, world["plan"], 8)


def test_blocks_are_added(runner: APIClient, world: dict[str, int]) -> None:
    run = post(runner, f"runs/{world['run']}/blocks/", {"blocks": 2})
    assert (run["blocks"], run["trials_total"]) == (4, 16)
    assert post(runner, f"runs/{world['run']}/blocks/", {"blocks": 0}, 400)["error"]["where"] == "blocks"


def test_blocks_beyond_the_trials_that_a_run_may_have_are_refused(runner: APIClient, world: dict[str, int]) -> None:
    models.Run.objects.filter(pk=world["run"]).update(blocks=24_990)
    problems = post(runner, f"runs/{world['run']}/blocks/", {"blocks": 11}, 422)["error"]["problems"]
    assert [problem["field"] for problem in problems] == ["blocks"]
    assert models.Trial.objects.filter(run=world["run"]).count() == 8


def test_a_run_tells_how_many_of_its_trials_are_still_to_be_made(runner: APIClient, world: dict[str, int]) -> None:
    run = post(runner, f"runs/{world['run']}/blocks/", {"blocks": 300})
    assert (run["trials_total"], run["trials_to_make"]) == (1208, 200)


def test_a_trial_is_cancelled_and_retried(runner: APIClient, world: dict[str, int]) -> None:
    assert post(runner, f"trials/{world['waiting']}/cancel/")["state"] == "cancelled"
    assert post(runner, f"trials/{world['waiting']}/retry/")["state"] == "waiting"
    assert post(runner, f"trials/{world['done']}/retry/", status=409)["error"]["kind"] == "state"


@pytest.mark.parametrize(
    "verb",
    [
        "runs/0/cancel/",
        "runs/0/retry-failed/",
        "runs/0/retry-cancelled/",
        "runs/0/repeat/",
        "trials/0/cancel/",
        "trials/0/retry/",
    ],
)
def test_a_verb_on_what_is_not_there_is_404(verb: str, runner: APIClient) -> None:
    assert post(runner, verb, status=404)["error"]["kind"] == "not-found"


def test_an_agent_is_added_and_changed(admin: APIClient) -> None:
    fields = {"name": "db2", "host": "db2.example", "data_dir": "/srv/data", "work_dir": "/srv/work"}
    made = post(admin, "agents/", fields | {"search": ["/opt/pg"]}, 201)
    assert (made["state"], made["port"], made["search"]) == ("unknown-key", 22, ["/opt/pg"])
    behind = post(admin, "agents/", fields | {"name": "db3", "jump": "db2"}, 201)
    assert behind["jump"] == "db2"
    answer = admin.patch(f"{API}/agents/db3/", {"jump": None, "port": 2200}, format="json").json()
    assert (answer["jump"], answer["port"]) == ("", 2200)


@pytest.mark.parametrize(
    ("field", "value"),
    [("name", "a b"), ("host", "$(id)"), ("port", 0), ("data_dir", "relative"), ("jump", "gone"), ("host_key", "x")],
)
def test_a_field_of_an_agent_that_is_not_right_is_named(admin: APIClient, field: str, value: Any) -> None:
    fields = {"name": "db2", "host": "db2.example", "data_dir": "/srv/data", "work_dir": "/srv/work"}
    error = post(admin, "agents/", fields | {field: value}, 400)["error"]
    assert [problem["field"] for problem in error["problems"]] == [field]
    assert models.Agent.objects.count() == 0


def test_only_the_host_key_offered_is_accepted(admin: APIClient) -> None:
    agent = factories.agent()
    models.Agent.objects.filter(pk=agent.pk).update(offered_fingerprint="SHA256:right", state="unknown-key")
    error = post(admin, "agents/db1/accept-host-key/", {"fingerprint": "SHA256:wrong"}, 409)["error"]
    assert "SHA256:right" in error["why"]
    shown = post(admin, "agents/db1/accept-host-key/", {"fingerprint": "SHA256:right"})
    assert shown["host_key_fingerprint"] == "SHA256:right"


def test_an_agent_that_cannot_be_reached_says_why(admin: APIClient) -> None:
    factories.agent()
    error = post(admin, "agents/db1/contact/", status=502)["error"]
    assert error["what"]
    stored = models.Agent.objects.get(name="db1").error
    assert stored is not None
    assert stored["what"] == error["what"]


@pytest.fixture
def grace(db: None) -> APIClient:
    """A member, signed in."""
    client = APIClient()
    client.force_login(factories.member("grace"))
    return client


@pytest.fixture
def staff(owner: User) -> APIClient:
    client = APIClient()
    client.force_login(owner)
    return client


def test_a_tokens_secret_is_shown_once(grace: APIClient) -> None:
    made = post(grace, "tokens/", {"name": "ci", "scope": "read"}, 201)
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {made['secret']}")
    listed = client.get(f"{API}/tokens/").json()["results"]
    assert (listed[0]["name"], listed[0]["scope"], listed[0]["user"]) == ("ci", "read", "grace")
    assert "secret" not in listed[0]
    assert grace.delete(f"{API}/tokens/{made['token']['id']}/").status_code == 204
    assert client.get(f"{API}/tokens/").status_code == 401
    assert grace.delete(f"{API}/tokens/{made['token']['id']}/").status_code == 404
    assert list(models.AuditEntry.objects.values_list("verb", "actor")) == [
        ("revoke token", "grace"),
        ("create token", "grace"),
    ]


def test_no_token_gives_more_than_its_maker_has(grace: APIClient) -> None:
    post(grace, "tokens/", {"name": "ci", "scope": "admin"}, 403)
    assert post(grace, "tokens/", {"name": "ci", "scope": "root"}, 400)["error"]["where"] == "scope"


def test_tokens_of_others_are_the_affair_of_staff(grace: APIClient, staff: APIClient, owner: User) -> None:
    factories.tokens(User.objects.get(username="grace"), ["read"])
    factories.tokens(owner, ["read"])
    token = models.ApiToken.objects.get(user=owner)
    assert grace.get(f"{API}/tokens/", {"user": "ada"}).status_code == 403
    assert grace.delete(f"{API}/tokens/{token.pk}/").status_code == 404
    listed = staff.get(f"{API}/tokens/", {"user": "grace"}).json()["results"]
    assert [token["user"] for token in listed] == ["grace"]
    assert staff.delete(f"{API}/tokens/{listed[0]['id']}/").status_code == 204


def test_a_visitor_has_no_tokens(anonymous: APIClient) -> None:
    assert anonymous.get(f"{API}/tokens/").status_code == 401
