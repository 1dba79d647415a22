"""The whole site: every address answers, and who may do what."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import Resolver404, get_resolver, resolve, reverse

from results import models
from results.models.audit import Role
from tests import factories
from tests.page_text import page_text
from tests.webapp.worlds import page_addresses, page_names
from webapp.access import scope_of

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
    "comparison-rows",
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
OPEN = ["account:sign-in", "account:sign-out", "account:language", "reports:newest", "metrics"]
PUBLIC = ["reports:list", "reports:edition", "reports:export", "reports:feed"]  # what is published is open to anybody
OPERATORS = [
    "reports:new",
    "reports:edit",
    "plans:add",
    "plans:edit",
    "plans:import",
    "plans:schedule-preview",
    "plans:remove",
    "plans:ready-form",
    "imports:add",
    "runs:blocks",
    "runs:remove",
]
ACCOUNTS = ["account:tokens"]
ADMINS = [
    "audit",
    "agents:add",
    "agents:edit",
    "agents:accept",
    "agents:clusters",
    "agents:remove",
    "agents:host-add",
    "agents:host-edit",
]
VERBS = [
    "reports:preview",
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
    "plans:watch",
    "plans:unwatch",
]
PUBLISHER_VERBS = [
    "reports:publish",
    "reports:withdraw",
    "citations:cite",
    "citations:refer",
    "annotate",
    "remove-annotation",
]
ADMIN_VERBS = ["agents:contact", "agents:host-import", "agents:host-remove"]
OWN_VERBS = ["account:revoke"]
LADDER = list(Role)
NEEDED = {  # name → the role that it takes
    **dict.fromkeys([*READING, *OPEN, *ACCOUNTS, *OWN_VERBS], Role.READER),
    **dict.fromkeys([*OPERATORS, *VERBS], Role.OPERATOR),
    **dict.fromkeys(PUBLISHER_VERBS, Role.PUBLISHER),
    **dict.fromkeys([*ADMINS, *ADMIN_VERBS], Role.ADMINISTRATOR),
}
LED_TO = ("citations:cite", "plans:ready-form")  # to the citation that there is; a choice without a button to send it
POSTED = {*VERBS, *PUBLISHER_VERBS, *ADMIN_VERBS, *OWN_VERBS}
BY_AUTHOR = {  # name → the role that it takes where somebody else made it
    "reports:edit": Role.PUBLISHER,
    "remove-annotation": Role.ADMINISTRATOR,
}
DEEDS: list[tuple[str, dict[str, str], Role, Role]] = [  # of one's own runs, and of those of others
    ("runs:change", {"do": "kept"}, Role.PUBLISHER, Role.PUBLISHER),
    ("runs:change", {"do": "excluded"}, Role.PUBLISHER, Role.PUBLISHER),
    ("runs:change", {"do": "tag", "tags": "paper"}, Role.OPERATOR, Role.PUBLISHER),
    ("runs:change", {"do": "untag", "tags": "paper"}, Role.OPERATOR, Role.PUBLISHER),
    ("runs:remove", {"do": "archive"}, Role.OPERATOR, Role.PUBLISHER),
    ("runs:remove", {"do": "restore"}, Role.OPERATOR, Role.PUBLISHER),
    ("runs:remove", {"do": "delete"}, Role.OPERATOR, Role.ADMINISTRATOR),
]


@pytest.fixture(scope="module", autouse=True)
def made(kept: None, tmp_path_factory: pytest.TempPathFactory) -> tuple[Callable[[str], str], Path]:
    """The addresses of a warehouse that all tests begin with, and the folder of its bundles."""
    bundles = tmp_path_factory.mktemp("bundles")
    return page_addresses(bundles), bundles


@pytest.fixture
def address(db: None, made: tuple[Callable[[str], str], Path], settings: Any) -> Callable[[str], str]:
    settings.TEITEN_BUNDLE_DIR = made[1]
    return made[0]


def test_every_page_is_in_one_of_the_lists() -> None:
    assert sorted(page_names(get_resolver().url_patterns)) == sorted(NEEDED)


@pytest.mark.parametrize("name", NEEDED)
def test_every_address_is_refused_below_its_role_and_answers_from_there_on(
    name: str, address: Any, signed_in: Any, settings: Any
) -> None:
    settings.TEITEN_OPEN_READING = False
    url, needed = address(name), BY_AUTHOR.get(name, NEEDED[name])
    before = models.AuditEntry.objects.count()
    for role in LADDER:
        client = signed_in(role)
        answer = client.post(url) if name in POSTED else client.get(url)
        if LADDER.index(role) < LADDER.index(needed):
            assert answer.status_code == 403, role
            assert "Your account may not do this" in page_text(answer)
            assert name in BY_AUTHOR or f"the role {needed.value}" in page_text(answer)
            assert models.AuditEntry.objects.count() == before
        else:
            assert answer.status_code not in (403, 401, 500), role
            assert not answer.headers.get("Location", "").startswith(reverse("account:sign-in"))


@pytest.mark.parametrize(("name", "fields", "own", "others"), DEEDS, ids=[row[1]["do"] for row in DEEDS])
def test_what_is_done_to_runs_takes_a_role_that_depends_on_whose_they_are(
    name: str, fields: dict[str, str], own: Role, others: Role, db: None, signed_in: Any
) -> None:
    for role in LADDER:
        for needed, mine in ((own, True), (others, False)):
            client, run = signed_in(role), factories.finished_run()
            author = models.Member.objects.get(user__username=role).user if mine else factories.member()
            models.Run.objects.filter(pk=run.pk).update(created_by=author)
            answer = client.post(reverse(name), fields | {"run": str(run.pk)})
            refused = LADDER.index(role) < LADDER.index(needed)
            assert answer.status_code == (403 if refused else 302), (role, mine)
            if not mine:
                author.delete()


def test_a_closed_account_may_nothing(db: None, stranger: Client, settings: Any) -> None:
    settings.TEITEN_OPEN_READING = False
    user = factories.member("ada", staff=True)
    stranger.force_login(user)
    assert stranger.get("/runs/").status_code == 200
    User.objects.filter(pk=user.pk).update(is_active=False)
    assert stranger.get("/runs/").status_code == 302
    user.refresh_from_db()
    assert scope_of(user) is None


def test_an_account_without_a_role_is_a_readers(db: None, stranger: Client) -> None:
    user = factories.member("ada")
    models.Member.objects.all().delete()
    stranger.force_login(user)
    assert "Your role is <b>reader</b>" in page_text(stranger.get(reverse("account:tokens")))
    assert stranger.get(reverse("plans:add")).status_code == 403


@pytest.mark.parametrize("role", LADDER)
def test_pages_offer_what_their_reader_may_do(role: Role, address: Any, signed_in: Any) -> None:
    client = signed_in(role)
    beyond = set()
    for name in (name for name, needed in NEEDED.items() if needed == Role.READER and name not in POSTED):
        answer = client.get(address(name))
        if "text/html" not in answer.headers.get("Content-Type", ""):
            continue
        for path in re.findall(r'(?:action|href|hx-post|hx-get)="(/[^"?#]*)', page_text(answer)):
            try:
                offered = resolve(path).view_name
            except Resolver404:
                continue
            if LADDER.index(NEEDED.get(offered, role)) > LADDER.index(role) and offered not in LED_TO:
                beyond.add(f"{name} offers {offered}")
    assert beyond == set()


@pytest.mark.parametrize("name", READING)
def test_a_stranger_reads_where_reading_is_open(name: str, address: Any, stranger: Client) -> None:
    answer = stranger.get(address(name))
    assert answer.status_code == 200
    assert "script-src 'self'" in answer["Content-Security-Policy"].split("; ")
    if answer["Content-Type"].startswith("text/html"):
        scripts = re.findall(r"<script([^>]*)>", page_text(answer))
        assert [words for words in scripts if "src=" not in words and "application/json" not in words] == []


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


@pytest.mark.parametrize("name", [*OPERATORS, *ACCOUNTS, *ADMINS])
def test_a_stranger_is_sent_to_sign_in_before_a_form(name: str, address: Any, stranger: Client) -> None:
    answer = stranger.get(address(name))
    assert answer.status_code == 302
    assert answer["Location"].startswith(reverse("account:sign-in"))


@pytest.mark.parametrize("name", [*VERBS, *PUBLISHER_VERBS, *ADMIN_VERBS, *OWN_VERBS])
def test_a_stranger_changes_nothing(name: str, address: Any, stranger: Client) -> None:
    url = address(name)
    before = list(models.Trial.objects.values_list("state")), models.AuditEntry.objects.count()
    answer = stranger.post(url)
    assert answer.status_code == 302
    assert answer["Location"].startswith(reverse("account:sign-in"))
    assert (list(models.Trial.objects.values_list("state")), models.AuditEntry.objects.count()) == before


@pytest.mark.parametrize("name", [*READING, *OPERATORS, *ACCOUNTS])
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


@pytest.mark.parametrize("name", [*VERBS, *PUBLISHER_VERBS, *ADMIN_VERBS, *OWN_VERBS])
def test_verbs_are_never_reached_by_a_link(name: str, address: Any, admin: Client) -> None:
    assert admin.get(address(name)).status_code == 405


def test_another_members_token_is_not_there(address: Any, member: Client) -> None:
    assert member.post(address("account:revoke")).status_code == 404
    assert models.ApiToken.objects.get().revoked_at is None


@pytest.mark.parametrize("name", [*READING, *OPERATORS, *ACCOUNTS, *ADMINS])
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
    if name not in ("now", "lately", "runs:live", "plans:schedule-preview"):
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
