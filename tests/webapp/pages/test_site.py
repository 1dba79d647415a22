"""The whole site: every address answers, and who may do what."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from results import models
from results.published.catalogue import TABLES
from results.published.load import load
from tests import factories
from tests.imported import imported
from tests.page_text import page_text
from workers.registry import known_metrics

Pattern = URLPattern | URLResolver


def names(patterns: list[Pattern], prefix: str = "") -> list[str]:
    """Every page's name; the API has its own walk."""
    route_names: list[str] = []
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            if not str(pattern.pattern).startswith("api/"):
                route_names += names(
                    pattern.url_patterns, f"{prefix}{pattern.namespace}:" if pattern.namespace else prefix
                )
        elif pattern.name:
            route_names.append(f"{prefix}{pattern.name}")
    return route_names


READING = [
    "overview",
    "now",
    "lately",
    "runs:list",
    "runs:detail",
    "runs:live",
    "runs:toml",
    "trials:detail",
    "trials:bundle",
    "trials:file",
    "trials:plan",
    "trials:flame",
    "comparison",
    "comparison-cell",
    "changes",
    "diff",
    "flame",
    "plans:list",
    "plans:detail",
    "plans:export",
    "plans:ready",
    "plans:ready-detail",
    "capabilities",
    "agents:list",
    "agents:detail",
    "why",
    "why_metrics",
    "citations:list",
    "citations:detail",
    "versions",
    "access-methods",
    "topologies",
    "reports:list",
    "reports:edition",
    "reports:export",
    "reports:feed",
    "published:list",
    "published:detail",
    "published:file",
    "imports:list",
    "imports:detail",
    "trends",
    "agents:host-toml",
    "manual:list",
    "manual:page",
]
OPEN = ["account:sign-in", "account:sign-out", "health", "reports:newest"]
PUBLIC = ["reports:list", "reports:edition", "reports:export", "reports:feed"]  # what is published is open to anybody
MEMBERS = [
    "reports:new",
    "reports:edit",
    "plans:add",
    "plans:edit",
    "plans:import",
    "plans:ready-form",
    "imports:add",
    "account:tokens",
    "runs:blocks",
    "runs:remove",
]
ADMINS = ["agents:add", "agents:edit", "agents:accept", "agents:clusters", "agents:host-add", "agents:host-edit"]
VERBS = [
    "reports:preview",
    "reports:publish",
    "reports:withdraw",
    "runs:change",
    "runs:cancel",
    "runs:retry",
    "runs:retry-cancelled",
    "runs:repeat",
    "trials:cancel",
    "trials:retry",
    "plans:preview",
    "imports:preview",
    "plans:run",
    "plans:schedule",
    "plans:archive",
    "citations:cite",
    "citations:refer",
    "plans:watch",
    "plans:unwatch",
    "annotate",
    "remove-annotation",
]
ADMIN_VERBS = ["agents:contact", "agents:host-import", "agents:host-remove"]
OWN_VERBS = ["account:revoke"]


@pytest.fixture
def address(db: None, tmp_path: Any) -> Any:
    """Name of a page → an address of it that exists."""
    plan = factories.stored_plan()
    run = factories.run(stored=plan)
    trial = run.trials.select_related("configuration").first()
    assert trial is not None
    factories.finish(trial, bundles=tmp_path)
    owner = factories.member("owner")
    factories.tokens(owner, ["read"])
    token = models.ApiToken.objects.get()
    load(TABLES[:1], known_metrics(), "tests")
    arguments: dict[str, list[Any]] = {
        "runs": [run.pk],
        "trials": [trial.pk],
        "plans": [plan.pk],
        "agents": ["db1"],
        "account": [token.pk],
        "citations": [factories.citation(run).pk],
        "published": ["wg1-2012-table-2.2"],
        "imports": [imported().slug],
        "manual": ["method"],
    }
    more = {"trials:bundle": [trial.pk, 1], "trials:file": [trial.pk, 1, "workload/stdout.txt"]}
    factories.define_host_factor()
    more |= {name: ["db1", "cpu_governor"] for name in ("agents:host-edit", "agents:host-remove")}
    more |= {"trials:plan": [trial.pk, 1, "q1"]}
    message = models.Annotation.objects.create(at=owner.date_joined, text="moved", created_by=owner)
    watch = models.Watch.objects.create(plan=plan, channel="email", target="ada@example.org")
    edition = factories.edition(run)
    more |= {name: [edition.report_id] for name in ("reports:edit", "reports:publish", "reports:newest")}
    more |= {name: [edition.report_id, 1] for name in ("reports:edition", "reports:withdraw")}
    more |= {"reports:export": [edition.report_id, 1, "provenance.json"]}
    more |= {"remove-annotation": [message.pk], "plans:unwatch": [plan.pk, watch.pk]}
    bare = {
        "runs:list",
        "plans:list",
        "plans:add",
        "plans:preview",
        "plans:import",
        "plans:ready",
        "agents:list",
        "agents:add",
        "account:sign-in",
        "account:sign-out",
        "account:tokens",
        "citations:list",
        "citations:cite",
        "published:list",
        "reports:list",
        "reports:new",
        "reports:feed",
        "reports:preview",
        "imports:list",
        "imports:add",
        "imports:preview",
        "runs:blocks",
        "runs:change",
        "runs:remove",
        "manual:list",
    }

    more |= {name: ["own-queries"] for name in ("plans:ready-detail", "plans:ready-form")}
    its = trial.configuration.dimensions
    parameters = dict.fromkeys(("runs:blocks", "runs:remove"), f"?run={run.pk}")
    parameters |= {"plans:ready-form": "?agents.primary=db1&installations=16.9"}
    parameters |= {"comparison-cell": f"?run={run.pk}&at={its['clients']}&of={its['installation']}"}

    def of(name: str) -> str:
        if name in bare or (":" not in name and name not in more):
            return reverse(name) + parameters.get(name, "")
        return reverse(name, args=more.get(name) or arguments[name.partition(":")[0]]) + parameters.get(name, "")

    return of


def test_every_page_is_in_one_of_the_lists() -> None:
    listed = [*READING, *OPEN, *MEMBERS, *ADMINS, *VERBS, *ADMIN_VERBS, *OWN_VERBS]
    assert sorted(names(get_resolver().url_patterns)) == sorted(listed)


@pytest.mark.parametrize("name", READING)
def test_a_stranger_reads_where_reading_is_open(name: str, address: Any, stranger: Client) -> None:
    assert stranger.get(address(name)).status_code == 200


@pytest.mark.parametrize("name", PUBLIC)
def test_a_stranger_reads_what_is_published_where_reading_is_closed(
    name: str, address: Any, stranger: Client, settings: Any
) -> None:
    settings.TEITEN_OPEN_READING = False
    assert stranger.get(address(name)).status_code == 200


@pytest.mark.parametrize("name", [name for name in READING if name not in PUBLIC])
def test_a_stranger_is_sent_to_sign_in_where_reading_is_closed(
    name: str, address: Any, stranger: Client, settings: Any
) -> None:
    settings.TEITEN_OPEN_READING = False
    answer = stranger.get(address(name))
    assert answer.status_code == 302
    assert answer["Location"].startswith(reverse("account:sign-in"))


@pytest.mark.parametrize("name", [*MEMBERS, *ADMINS])
def test_a_stranger_is_sent_to_sign_in_before_a_form(name: str, address: Any, stranger: Client) -> None:
    answer = stranger.get(address(name))
    assert answer.status_code == 302
    assert answer["Location"].startswith(reverse("account:sign-in"))


@pytest.mark.parametrize("name", [*VERBS, *ADMIN_VERBS, *OWN_VERBS])
def test_a_stranger_changes_nothing(name: str, address: Any, stranger: Client) -> None:
    url = address(name)
    before = list(models.Trial.objects.values_list("state")), models.AuditEntry.objects.count()
    answer = stranger.post(url)
    assert answer.status_code == 302
    assert answer["Location"].startswith(reverse("account:sign-in"))
    assert (list(models.Trial.objects.values_list("state")), models.AuditEntry.objects.count()) == before


@pytest.mark.parametrize("name", [*READING, *MEMBERS])
def test_a_member_reads_everything_and_opens_plan_forms(name: str, address: Any, member: Client) -> None:
    assert member.get(address(name)).status_code == 200


@pytest.mark.parametrize("name", ADMINS)
def test_agents_are_an_administrators_affair(name: str, address: Any, member: Client, admin: Client) -> None:
    url = address(name)
    assert member.get(url).status_code == 403
    assert admin.get(url).status_code == 200


@pytest.mark.parametrize("name", ADMIN_VERBS)
def test_a_member_neither_contacts_agents_nor_defines_host_factors(name: str, address: Any, member: Client) -> None:
    answer = member.post(address(name))
    assert answer.status_code == 403
    assert "Your account may not do this" in page_text(answer)


@pytest.mark.parametrize("name", [*VERBS, *ADMIN_VERBS, *OWN_VERBS])
def test_verbs_are_never_reached_by_a_link(name: str, address: Any, admin: Client) -> None:
    assert admin.get(address(name)).status_code == 405


def test_another_members_token_is_not_there(address: Any, member: Client) -> None:
    assert member.post(address("account:revoke")).status_code == 404
    assert models.ApiToken.objects.get().revoked_at is None


@pytest.mark.parametrize("name", [*READING, *MEMBERS, *ADMINS])
def test_every_page_has_a_title_and_no_inline_style_or_script(name: str, address: Any, admin: Client) -> None:
    answer = admin.get(address(name))
    if "text/html" not in answer["Content-Type"]:
        return
    text = page_text(answer)
    assert " style=" not in text
    assert "onclick=" not in text
    for script in text.split("<script")[1:]:
        head = script.partition(">")[0]
        assert "src=" in head or 'type="application/json"' in head
    if name not in ("now", "lately", "runs:live"):
        assert "<title>" in text
        assert "· Teiten</title>" in text


def test_an_unknown_address_says_so_in_the_same_look(db: None, stranger: Client) -> None:
    for path in (
        "/nothing/",
        "/runs/999999/",
        "/runs/999999/live/",
        "/trials/999999/",
        "/plans/999999/",
        "/agents/nobody/",
    ):
        answer = stranger.get(path)
        assert answer.status_code == 404
        assert "There is nothing at this address" in page_text(answer)


def test_health_answers_without_signing_in(db: None, stranger: Client, settings: Any) -> None:
    settings.TEITEN_OPEN_READING = False
    assert stranger.get("/health").json() == {"status": "ok"}


def test_a_broken_page_says_that_teiten_failed(db: None, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(**_: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("webapp.pages.runs.list_runs", broken)
    answer = Client(raise_request_exception=False).get("/runs/")
    assert answer.status_code == 500
    assert "Teiten failed to answer" in page_text(answer)


HTMX = {"HX-Request": "true", "HX-Current-URL": "http://testserver/runs/?state=running#top"}


def test_a_fragment_takes_the_whole_page_to_sign_in(db: None, stranger: Client, settings: Any) -> None:
    settings.TEITEN_OPEN_READING = False
    answer = stranger.get("/now/", headers=HTMX)
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer["HX-Redirect"] == f"{reverse('account:sign-in')}?next=/runs/%3Fstate%3Drunning"
    elsewhere = stranger.get("/now/", headers=HTMX | {"HX-Current-URL": "https://example.org/x"})
    assert elsewhere["HX-Redirect"] == f"{reverse('account:sign-in')}?next=/"
    assert "HX-Redirect" not in stranger.get("/now/").headers


def test_a_form_left_open_past_signing_out_leads_to_sign_in(db: None, stranger: Client) -> None:
    answer = stranger.post("/plans/preview/", headers=HTMX)
    assert answer["HX-Redirect"].startswith(reverse("account:sign-in"))


def test_the_sign_in_page_asks_for_nothing_that_needs_signing_in(db: None, stranger: Client) -> None:
    assert "hx-get" not in page_text(stranger.get(reverse("account:sign-in")))


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/runs/?state=%00", 404),
        ("/agents/%00/", 404),
        ("/plans/add/?from=²", 404),
        (f"/plans/add/?from={'9' * 20}", 404),
        (f"/runs/{'9' * 20}/", 404),
        (f"/trials/{'9' * 20}/", 404),
        (f"/plans/{'9' * 20}/", 404),
        (f"/plans/{'9' * 20}/plan.toml", 404),
        (f"/runs/{'9' * 20}/plan.toml", 404),
        ("/trials/{trial}/?attempt=²", 200),
        (f"/trials/{{trial}}/?attempt={'9' * 20}", 200),
        (f"/trials/{{trial}}/{'9' * 20}/bundle/", 404),
        ("/trials/{trial}/1/file/%00", 404),
        ("/trials/{trial}/1/plan/%00/", 404),
        (f"/compare/?run={'9' * 20}", 400),
    ],
)
def test_an_odd_address_is_no_failure_of_teiten(path: str, status: int, member: Client) -> None:
    trial = factories.run().trials.first()
    assert trial is not None
    assert member.get(path.format(trial=trial.pk)).status_code == status
