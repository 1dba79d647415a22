"""The warehouse is away: pages and API say so, as does the terminal, and all is well again when it is back."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from tests import factories, restarting
from tests.page_text import page_text
from tests.restarting import Warehouse

PAGES = ("/", "/runs/", "/runs/1/", "/trials/1/", "/compare/?run=1", "/plans/add/", "/agents/", "/account/tokens/")
ENDPOINTS = ("runs/", "runs/1/", "trials/1/", "measurements/", "plans/", "agents/", "comparison/?run=1", "tokens/")
WRITING = ("runs/", "plans/", "runs/1/cancel/", "tokens/")


@pytest.fixture(scope="module")
def server(django_db_setup: None, django_db_blocker: Any) -> Iterator[Warehouse]:
    with django_db_blocker.unblock(), restarting.in_place() as warehouse:
        yield warehouse


@pytest.fixture
def db(server: Warehouse) -> Iterator[None]:
    with server.emptied():
        yield


@pytest.fixture(autouse=True)
def _plain(settings: Any, tmp_path: Path) -> None:
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = settings.STORAGES | {"staticfiles": plain}
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.TEITEN_BUNDLE_DIR = tmp_path


@pytest.fixture
def member(db: None) -> Client:
    """Signed in as an administrator."""
    client = Client(raise_request_exception=False)
    client.force_login(factories.member("ada", staff=True))
    return client


@pytest.mark.parametrize("open_reading", [True, False])
def test_a_page_says_what_is_away(member: Client, server: Warehouse, settings: Any, open_reading: bool) -> None:
    settings.TEITEN_OPEN_READING = open_reading
    server.stop()
    for path in PAGES:
        answer = member.get(path)
        text = page_text(answer)
        assert (answer.status_code, answer["Retry-After"]) == (503, "10"), path
        assert "The warehouse does not answer." in text, path
        assert f'<a href="{path}">Load this page again</a>' in text.replace("&amp;", "&")
        assert "error in Teiten" not in text
        assert str(server.port) not in text, "where it is concerns nobody of whom nothing is known"
    server.start()
    assert [member.get(path).status_code for path in ("/", "/runs/", "/account/tokens/")] == [200, 200, 200]


def test_a_form_that_was_sent_is_not_offered_to_be_loaded_again(member: Client, server: Warehouse) -> None:
    server.stop()
    answer = member.post("/account/sign-in/", {"username": "ada", "password": "secret"})
    assert answer.status_code == 503
    assert "The warehouse does not answer." in page_text(answer)
    assert "Load this page again" not in page_text(answer)


def test_a_fragment_tells_it_beside_what_is_shown(member: Client, server: Warehouse) -> None:
    server.stop()
    answer = member.get("/runs/1/live/", headers={"HX-Request": "true"})
    assert (answer.status_code, answer["HX-Reswap"]) == (503, "none")
    assert '<div id="away" hx-swap-oob="true">' in page_text(answer)
    assert "<html" not in page_text(answer)
    server.start()
    assert '<div id="away" hx-swap-oob="true"></div>' in page_text(member.get("/now/"))


@pytest.mark.parametrize("by", ["token", "session"])
def test_the_api_answers_in_its_own_shape(member: Client, server: Warehouse, by: str) -> None:
    user = factories.member("grace", staff=True)
    header = {"Authorization": f"Bearer {factories.tokens(user)['admin']}"} if by == "token" else {}
    server.stop()
    answers = [member.get(f"/api/v1/{path}", headers=header) for path in ENDPOINTS]
    answers += [member.post(f"/api/v1/{path}", "{}", "application/json", headers=header) for path in WRITING]
    for answer in answers:
        assert (answer.status_code, answer["Retry-After"]) == (503, "10"), answer.request["PATH_INFO"]
        error = answer.json()["error"]
        assert (error["kind"], error["what"], error["retryable"]) == ("away", "The warehouse does not answer.", True)
        assert set(error) == {"kind", "what", "where", "why", "todo", "retryable"}
        assert str(server.port) not in page_text(answer)


def test_the_process_is_alive_and_says_that_it_is_not_ready(db: None, server: Warehouse) -> None:
    server.stop()
    client = Client(raise_request_exception=False)
    assert client.get("/healthz").status_code == 200
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["checks"]["warehouse"]["what"] == "The warehouse does not answer, or refuses Teiten."
    assert str(server.port) not in page_text(answer)


def test_doctor_comes_to_its_end(db: None, server: Warehouse) -> None:
    server.stop()
    connection.close()
    out = StringIO()
    with pytest.raises(CommandError, match=r"^\d to mend\.$"):
        call_command("doctor", stdout=out)
    lines = [line for line in out.getvalue().splitlines() if line.startswith(("ok", "mend"))]
    assert lines[0].startswith("mend  warehouse: cannot be reached:")
    assert [line.partition(":")[0] for line in lines] == [
        "mend  warehouse",
        "ok    Redis",
        "ok    Redis",
        "mend  workers",
        "mend  beat",
        "mend  clocks",
        "ok    bundle folder",
        "ok    static files",
        "ok    translations",
        "ok    programs",
        "ok    programs",
        "ok    programs",
        "ok    proxies",
        "ok    mail",
        "mend  agents",
    ]
    assert lines[-1] == "mend  agents: not known while the warehouse cannot be reached"


@pytest.mark.parametrize("command", [("agents",), ("member", "ada", "--disable"), ("reingest", "--check")])
def test_a_command_names_it(db: None, server: Warehouse, command: tuple[str, ...]) -> None:
    server.stop()
    connection.close()  # a command begins with none
    with pytest.raises(CommandError) as reported:
        call_command(*command, stdout=StringIO())
    assert f"127.0.0.1:{server.port}" in str(reported.value)
    assert "The warehouse does not answer." in str(reported.value)
    assert "Connection refused" in str(reported.value)
