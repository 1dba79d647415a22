"""In which language a visitor reads."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from tests.page_text import page_text

pytestmark = pytest.mark.django_db
SIGN_IN = "/account/sign-in/"


@pytest.fixture(autouse=True)
def _open(settings: Any) -> None:
    settings.TEITEN_OPEN_READING = True


def language(client: Client, address: str = SIGN_IN, **headers: str) -> str:
    """The language of a page, which its text, its root and its header must agree in."""
    response = client.get(address, headers={name.replace("_", "-"): value for name, value in headers.items()})
    page = response.content.decode()
    code = response["Content-Language"]
    assert f'<html lang="{code}">' in page
    assert ("サインイン" in page) == (code == "ja")
    assert ("Sign in" in page) == (code == "en")
    return code


def test_it_is_that_of_the_browser_where_nothing_was_chosen() -> None:
    assert language(Client()) == "en"
    assert language(Client(), accept_language="ja,en;q=0.8") == "ja"
    assert language(Client(), accept_language="ja-JP") == "ja"
    assert language(Client(), accept_language="de, en;q=0.5, ja;q=0.4") == "en"


def test_it_is_that_of_the_setting_where_the_browser_asks_for_neither(settings: Any) -> None:
    settings.LANGUAGE_CODE = "ja"
    assert language(Client(), accept_language="de") == "ja"
    assert language(Client(), accept_language="en") == "en"


def test_a_choice_is_kept_whatever_the_browser_asks_for() -> None:
    client = Client()
    answer = client.post("/account/language/", {"language": "ja", "next": "/agents/?page=2"})
    assert (answer.status_code, answer["Location"]) == (302, "/agents/?page=2")
    cookie = answer.cookies["teiten_language"]
    assert (cookie.value, cookie["max-age"], cookie["httponly"]) == ("ja", 365 * 86400, True)
    assert language(client, accept_language="en") == "ja"
    client.post("/account/language/", {"language": "en", "next": SIGN_IN})
    assert language(client, accept_language="ja") == "en"


def test_a_choice_that_is_none_changes_nothing_and_leads_nowhere_else() -> None:
    client = Client()
    answer = client.post("/account/language/", {"language": "tlh", "next": "https://example.org/"})
    assert answer["Location"] == "/"
    assert "teiten_language" not in client.cookies
    assert client.get("/account/language/").status_code == 405


def test_an_anonymous_visitor_may_choose_where_reading_is_closed(settings: Any) -> None:
    settings.TEITEN_OPEN_READING = False
    client = Client()
    assert client.post("/account/language/", {"language": "ja", "next": SIGN_IN})["Location"] == SIGN_IN
    assert language(client) == "ja"


def test_a_link_forces_a_language_for_its_page_alone() -> None:
    client = Client()
    client.post("/account/language/", {"language": "en"})
    assert language(client, f"{SIGN_IN}?lang=ja", accept_language="en") == "ja"
    assert language(client) == "en"
    assert language(client, f"{SIGN_IN}?lang=tlh") == "en"
    assert language(client, f"{SIGN_IN}?lang=") == "en"
    assert language(client, f"{SIGN_IN}?lang=en&lang=ja-JP") == "ja"


def test_no_address_on_a_page_has_the_language_that_was_forced() -> None:
    page = Client().get("/runs/?tag=a,b&lang=ja&q=x+y%2C").content.decode()
    assert 'name="next" value="/runs/?tag=a,b&amp;q=x+y%2C"' in page
    assert "lang=ja" not in page


def test_a_redirect_keeps_the_language_that_was_forced(settings: Any) -> None:
    settings.TEITEN_OPEN_READING = False
    answer = Client().get("/runs/?lang=ja")
    assert answer["Location"] == "/account/sign-in/?next=/runs/&lang=ja"


def test_a_part_of_a_page_is_in_the_language_of_its_page() -> None:
    client = Client()
    client.post("/account/language/", {"language": "en"})
    page = client.get("/?lang=ja").content.decode()
    assert '"Teiten-Language": "ja"' in page
    part = client.get("/now/", headers={"HX-Request": "true", "Teiten-Language": "ja"})
    assert part["Content-Language"] == "ja"
    assert "Teiten-Language" in part["Vary"]


def test_the_api_follows_what_a_program_asks_for_and_what_a_visitor_chose() -> None:
    program, visitor = Client(), Client()
    assert program.get("/api/v1/runs/")["Content-Language"] == "en"
    assert program.get("/api/v1/runs/", headers={"Accept-Language": "ja"})["Content-Language"] == "ja"
    assert program.get("/api/v1/runs/?lang=ja").json() == program.get("/api/v1/runs/").json()
    visitor.post("/account/language/", {"language": "ja"})
    assert visitor.get("/api/v1/runs/")["Content-Language"] == "ja"


def test_an_error_of_the_api_is_in_the_language_and_its_kind_is_not() -> None:
    english, japanese = (Client().get("/api/v1/runs/0/", headers={"Accept-Language": code}) for code in ("en", "ja"))
    errors = [answer.json()["error"] for answer in (english, japanese)]
    assert [error["kind"] for error in errors] == ["not-found", "not-found"]
    assert errors[0]["what"] == "There is no run 0."
    assert errors[1]["what"] == "実行0はありません。"


def test_a_page_that_was_made_in_one_language_is_not_taken_for_another() -> None:
    answer = Client().get(SIGN_IN)
    assert {"Accept-Language", "Cookie"} <= {name.strip() for name in answer["Vary"].split(",")}


def test_static_files_have_no_language() -> None:
    assert "Accept-Language" not in Client().get("/static/css/base.css").headers.get("Vary", "")


def test_the_other_language_is_named_by_its_own_name() -> None:
    english = page_text(Client().get(SIGN_IN))
    assert '<button class="link-button" name="language" value="ja" lang="ja">日本語</button>' in english
    assert 'value="en"' not in english
    assert 'lang="en">English</button>' in page_text(Client().get(f"{SIGN_IN}?lang=ja"))


def test_a_choice_on_a_page_that_answers_a_form_leads_to_where_the_form_was() -> None:
    page = Client().post(f"{SIGN_IN}?next=/runs/", {}, headers={"Referer": f"http://testserver{SIGN_IN}"})
    assert f'name="next" value="{SIGN_IN}"' in page.content.decode()
