"""Who may do what, at every endpoint."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from rest_framework.test import APIClient

from results import models
from results.models.audit import Role
from tests import factories
from tests.webapp.worlds import more_of_api_world
from webapp import access

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("kept_world")]
GUIDE_FOLDER = Path(__file__).parents[3] / "docs"
GUIDE = (GUIDE_FOLDER / "api.md").read_text()
READING = (
    "",
    "agents/",
    "agents/db1/",
    "agents/db1/clusters/",
    "agents/db1/host-factors/",
    "agents/db1/host-factors/cpu_governor/",
    "installations/",
    "plans/",
    "plans/{plan}/",
    "plans/{plan}.toml",
    "plans/{plan}/schedule/",
    "plans/{plan}/loss/",
    "agents/db1/loss/",
    "ready-plans/",
    "ready-plans/own-queries/",
    "runs/",
    "runs/{run}/",
    "runs/{run}/medians/",
    "runs/{run}/loss/",
    "runs/{compared}/export/",
    "trials/",
    "trials/{done}/",
    "trials/{done}/series/",
    "trials/{done}/histograms/",
    "trials/{done}/documents/",
    "trials/{done}/bundle/",
    "trials/{done}/files/server/log.txt",
    "measurements/",
    "metrics/",
    "noise/",
    "kinds/",
    "comparison/?run={run}",
    "comparison.csv?run={run}",
    "comparison/changes/?run={run}",
    "comparison/why/?run={compared}",
    "citations/",
    "citations/{citation}/",
    "citations/{citation}.csv",
    "references/",
    "trends/?workload=pgbench",
    "annotations/",
    "annotations/{annotation}/",
    "versions.md",
    "versions/",
    "access-methods/",
    "topologies/",
    "publications/",
    "reports/",
    "reports/{report}/1/",
    "imports/",
    "imports/{imported}/",
    "capabilities/",
    "flame/?a={done}&b={done}",
    "diff/?left=trial:{done}&right=run:{run}",
    "schema/",
    "docs/",
)
NEW_AGENT = {"name": "db9", "host": "db9.example", "data_dir": "/srv/data", "work_dir": "/srv/work"}
WRITING: tuple[tuple[str, str, str, dict[str, Any], int], ...] = (
    ("post", "plans/", "run", factories.mapping(name="another"), 201),
    ("put", "plans/{plan}/", "run", factories.mapping(name="renamed"), 200),
    ("patch", "plans/{plan}/", "run", {"archived": True}, 200),
    ("delete", "plans/{plan}/", "admin", {}, 409),
    ("post", "plans/preview/", "run", factories.mapping(), 200),
    ("post", "ready-plans/own-queries/plan/", "run", {"agents": {"primary": "db1"}}, 200),
    ("post", "runs/", "run", factories.mapping(), 201),
    ("patch", "runs/{run}/", "publish", {"standing": "excluded", "tags": ["paper"]}, 200),
    ("delete", "runs/{compared}/", "admin", {}, 200),
    ("post", "runs/{run}/cancel/", "run", {}, 200),
    ("post", "runs/{run}/retry-failed/", "run", {}, 200),
    ("post", "runs/{run}/retry-cancelled/", "run", {}, 200),
    ("post", "runs/{run}/repeat/", "run", {}, 201),
    ("post", "runs/import/", "admin", {}, 400),
    ("post", "runs/{run}/blocks/", "run", {"blocks": 1}, 200),
    ("post", "annotations/", "publish", {"at": "2026-01-31T02:00:00Z", "text": "moved"}, 201),
    ("delete", "annotations/{annotation}/", "publish", {}, 204),
    ("post", "trials/{waiting}/cancel/", "run", {}, 200),
    ("post", "trials/{waiting}/bundle/", "admin", {}, 400),
    ("post", "trials/{failed}/retry/", "run", {}, 200),
    ("post", "citations/", "publish", {"query": "filter.clients=1,4"}, 400),
    ("post", "references/", "publish", {"name": "a", "citation": "0", "series": "b"}, 404),
    ("post", "imports/", "run", {}, 415),
    ("post", "imports/preview/", "run", {}, 415),
    ("post", "agents/", "admin", NEW_AGENT, 201),
    ("patch", "agents/db1/", "admin", {"enabled": False}, 200),
    ("patch", "agents/db1/", "admin", {"archived": True}, 409),
    ("delete", "agents/db1/", "admin", {}, 409),
    ("post", "agents/db1/accept-host-key/", "admin", {"fingerprint": "SHA256:wrong"}, 409),
    ("post", "agents/db1/contact/", "admin", {}, 502),
    ("post", "agents/db1/remove-clusters/", "admin", {"directories": ["/srv/data/clusters/a"]}, 502),
    ("post", "agents/db1/host-factors/", "admin", {"toml": factories.HOST_FACTOR}, 201),
    ("put", "agents/db1/host-factors/cpu_governor/", "admin", factories.host_factor().to_mapping(), 200),
    ("delete", "agents/db1/host-factors/cpu_governor/", "admin", {}, 204),
)
BY_SESSION = ("tokens/", "tokens/0/")
FOR_ADMINISTRATORS = ("audit/",)  # tests/webapp/pages/test_audit.py
SCOPES = ("anonymous", "revoked", "read", "run", "publish", "admin")
ROLES = {scope.value: role for scope, role in access.ROLES.items()}


OF_AUTHORS = (  # authors may more, as sentences say
    "annotations/{annotation}/",
    "runs/{run}/",
    "runs/{compared}/",
    "plans/{plan}/",
)


def signed_in(role: Role) -> APIClient:
    """A client of an account that has the role."""
    client = APIClient()
    client.force_login(User.objects.filter(username=role).first() or factories.member(role, role))
    return client


@pytest.fixture(scope="module")
def kept_world(kept_world: tuple[dict[str, Any], Path]) -> tuple[dict[str, Any], Path]:
    """And a run that is finished: `compared`."""
    ids, bundles = kept_world
    return ids | more_of_api_world(bundles), bundles


@pytest.mark.parametrize("path", READING)
def test_reading_is_open_or_needs_a_token(
    path: str, world: dict[str, int], visitor: Callable[[str], APIClient], settings: Any
) -> None:
    url = f"/api/v1/{path.format(**world)}"
    settings.TEITEN_OPEN_READING = True
    open_answer = visitor("anonymous").get(url)
    assert open_answer.status_code == 200
    open_answer.getvalue()
    settings.TEITEN_OPEN_READING = False
    visitors = ("anonymous", "read", "run", "publish", "admin", "revoked")
    answers = [visitor(scope).get(url) for scope in visitors]
    got = [answer.status_code for answer in answers]
    for answer in answers:
        answer.getvalue()  # to its end, so that no more files are made at a time than may be
    assert got == [401, 200, 200, 200, 200, 401]
    for role in ROLES.values():
        answer = signed_in(role).get(url)
        assert answer.status_code == 200, role
        answer.getvalue()


@pytest.mark.parametrize(("method", "path", "scope", "body", "status"), WRITING, ids=[row[1] for row in WRITING])
def test_writing_needs_the_scope(
    method: str,
    path: str,
    scope: str,
    body: dict[str, Any],
    status: int,
    world: dict[str, int],
    visitor: Callable[[str], APIClient],
) -> None:
    url = f"/api/v1/{path.format(**world)}"
    before = models.AuditEntry.objects.count()
    for lower in SCOPES[: SCOPES.index(scope)]:
        if lower != "revoked":
            answer = getattr(visitor(lower), method)(url, body, format="json")
            assert answer.status_code == (401 if lower == "anonymous" else 403), lower
            assert answer.json()["error"]["kind"] == "access"
        if lower in ROLES:
            answer = getattr(signed_in(ROLES[lower]), method)(url, body, format="json")
            assert answer.status_code == 403, lower
            assert (path in OF_AUTHORS) or f"the role {ROLES[scope].value}" in answer.json()["error"]["what"]
    assert models.AuditEntry.objects.count() == before
    with transaction.atomic():
        person = signed_in(ROLES[scope])
        models.Annotation.objects.update(created_by=User.objects.get(username=ROLES[scope]))
        assert getattr(person, method)(url, body, format="json").status_code == status
        transaction.set_rollback(True)
    assert getattr(visitor(scope), method)(url, body, format="json").status_code == status
    assert getattr(visitor("revoked"), method)(url, body, format="json").status_code == 401


def test_every_endpoint_is_in_one_of_the_lists(routes: list[str]) -> None:
    listed = [
        path.partition("?")[0] for path in (*READING, *(row[1] for row in WRITING), *BY_SESSION, *FOR_ADMINISTRATORS)
    ]
    assert {route for route in routes if not any(_fits(route, path) for path in listed)} == set()


def _fits(route: str, path: str) -> bool:
    parts, words = route.split("/"), path.split("/")
    if route.endswith("<path:path>"):
        words = [*words[: len(parts) - 1], "/".join(words[len(parts) - 1 :])]
    if len(parts) != len(words):
        return False
    return all(p == w or ("<" in p and w.startswith(p.partition("<")[0])) for p, w in zip(parts, words, strict=True))


def test_an_operator_may_run_and_only_an_administrator_may_change_agents(world: dict[str, int]) -> None:
    client = signed_in(Role.OPERATOR)
    assert client.post(f"/api/v1/runs/{world['run']}/cancel/").status_code == 200
    assert client.patch("/api/v1/agents/db1/", {"enabled": False}, format="json").status_code == 403


@pytest.mark.parametrize("role", Role)
def test_a_token_is_no_more_than_its_owner(role: Role, world: dict[str, int]) -> None:
    secrets = factories.tokens(factories.member("grace", role), ["admin"])
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {secrets['admin']}")
    run = f"/api/v1/runs/{world['run']}/"
    answers = {
        Role.ADMINISTRATOR: client.patch("/api/v1/agents/db1/", {"enabled": False}, format="json"),
        Role.PUBLISHER: client.patch(run, {"standing": "kept"}, format="json"),
        Role.OPERATOR: client.post(f"{run}cancel/"),
        Role.READER: client.get(run),
    }
    allowed = {needed for needed, answer in answers.items() if answer.status_code == 200}
    assert allowed == set(list(Role)[: list(Role).index(role) + 1])
    assert {answer.status_code for answer in answers.values()} <= {200, 403}


@pytest.mark.parametrize(("method", "path", "scope"), [row[:3] for row in WRITING], ids=[row[1] for row in WRITING])
def test_the_guide_names_the_scope_of_every_method(method: str, path: str, scope: str) -> None:
    heading = {_placeholders(found): found for found in re.findall(r"^### `/api/v1/(.*)`$", GUIDE, flags=re.M)}
    section = GUIDE.partition(f"### `/api/v1/{heading[_placeholders(path)]}`\n")[2].partition("\n### ")[0]
    (named,) = re.findall(rf"{method.upper()} \(([^)]*)\)", section)
    assert f"`{scope}`" in named


def _placeholders(path: str) -> str:
    """The path with '*' in place of what stands for a value."""
    return re.sub(r"\{[^}]*\}|(?<=^agents/)db1|(?<=/)cpu_governor|(?<=^ready-plans/)own-queries", "*", path)


def test_the_manual_names_each_role_with_its_scope() -> None:
    table = (GUIDE_FOLDER / "security.md").read_text().partition("## Who may do what\n")[2].partition("\n\n")[0]
    rows = [line.split("|")[1:3] for line in table.splitlines()[2:]]
    assert [(role.strip(), scope.strip()) for role, scope in rows] == [
        (role.value, f"`{scope}`") for scope, role in ROLES.items()
    ]


@pytest.mark.parametrize(
    ("body", "own", "others"),
    [
        ({"standing": "kept"}, "publish", "publish"),
        ({"standing": "kept", "tags": []}, "publish", "publish"),
        ({"tags": ["paper"]}, "run", "publish"),
        ({"archived": True}, "run", "publish"),
    ],
)
def test_a_run_is_changed_by_its_author_and_by_those_who_publish(
    body: dict[str, Any], own: str, others: str, world: dict[str, int]
) -> None:
    url = f"/api/v1/runs/{world['compared']}/"
    for scope, role in ROLES.items():
        for needed, mine in ((own, True), (others, False)):
            client = signed_in(role)
            author = models.Member.objects.get(user__username=role).user if mine else None
            models.Run.objects.filter(pk=world["compared"]).update(created_by=author)
            status = 403 if SCOPES.index(scope) < SCOPES.index(needed) else 200
            assert client.patch(url, body, format="json").status_code == status, (role, mine)


def test_a_plan_whose_runs_are_kept_at_once_is_stored_by_a_publisher(world: dict[str, int]) -> None:
    kept = factories.mapping(name="kept") | {"standing": "kept"}
    for path in ("plans/", "runs/"):
        answer = signed_in(Role.OPERATOR).post(f"/api/v1/{path}", kept, format="json")
        assert (answer.status_code, answer.json()["error"]["kind"]) == (403, "access")
    assert not models.Plan.objects.filter(name="kept").exists()
    plan = signed_in(Role.PUBLISHER).post("/api/v1/plans/", kept, format="json").json()
    answer = signed_in(Role.OPERATOR).post("/api/v1/runs/", {"plan": plan["plan"]["id"]}, format="json")
    assert (answer.status_code, answer.json()["standing"]) == (201, "kept")


def test_a_session_without_the_csrf_token_changes_nothing(world: dict[str, int]) -> None:
    client = APIClient(enforce_csrf_checks=True)
    client.force_login(factories.member("grace"))
    assert client.post(f"/api/v1/runs/{world['run']}/cancel/").status_code == 403
    assert models.Run.objects.get(pk=world["run"]).state == "running"


@pytest.mark.parametrize("path", [*READING[:-2], *sorted({row[1] for row in WRITING}), *BY_SESSION])
def test_every_endpoint_answers_options_and_refuses_other_methods_in_json(
    path: str, world: dict[str, int], visitor: Callable[[str], APIClient]
) -> None:
    url = f"/api/v1/{path.format(**world)}"
    assert visitor("anonymous").options(url).status_code == 200
    answer = visitor("admin").generic("TRACE", url)
    assert (answer.status_code, answer.json()["error"]["kind"]) == (405, "api")


@pytest.mark.parametrize("path", ["schema/", "docs/"])
def test_what_describes_the_api_is_only_read(path: str, anonymous: APIClient) -> None:
    assert anonymous.delete(f"/api/v1/{path}").status_code == 405


@pytest.mark.parametrize("scope", ["read", "run", "publish", "admin"])
def test_a_token_makes_and_revokes_no_token(scope: str, visitor: Callable[[str], APIClient]) -> None:
    client = visitor(scope)
    before = list(models.ApiToken.objects.values_list("pk", "revoked_at"))
    entries = models.AuditEntry.objects.count()
    mine = models.ApiToken.objects.get(scope=scope).pk
    answers = (
        client.post("/api/v1/tokens/", {"name": "heir"}, format="json"),
        client.delete(f"/api/v1/tokens/{mine}/"),
    )
    for answer in answers:
        error = answer.json()["error"]
        assert (answer.status_code, error["kind"]) == (403, "access")
        assert "Sign in" in error["todo"] or scope == "read"
    assert list(models.ApiToken.objects.values_list("pk", "revoked_at")) == before
    assert models.AuditEntry.objects.count() == entries


def test_a_stranger_makes_no_token(anonymous: APIClient) -> None:
    assert anonymous.post("/api/v1/tokens/", {"name": "x"}, format="json").status_code == 401
