"""In which language a visitor reads."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from results import models
from tests import factories
from tests.page_text import page_text

pytestmark = pytest.mark.django_db
SIGN_IN = "/account/sign-in/"
CHOOSE = "/account/language/"
ADA = {"username": "ada", "password": "a long password of the tests"}
FORCED_PAGE = {"Referer": "http://testserver/runs/?state=running&lang=ja"}


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


def test_an_account_keeps_its_choice_for_other_browsers() -> None:
    factories.member("ada")
    one, another = Client(), Client()
    one.post(SIGN_IN, ADA)
    assert "teiten_language" not in one.cookies
    one.post(CHOOSE, {"language": "ja"})
    answer = another.post(SIGN_IN, ADA)
    cookie = answer.cookies["teiten_language"]
    assert (cookie.value, cookie["max-age"], cookie["httponly"], cookie["samesite"]) == ("ja", 31536000, True, "Lax")
    assert language(another, accept_language="en") == "ja"
    another.post(CHOOSE, {"language": "en"})
    one.post("/account/sign-out/")
    assert language(one) == "ja"
    one.post(SIGN_IN, ADA)
    assert language(one) == "en"


def test_an_account_that_chose_nothing_leaves_the_browser_its_choice() -> None:
    factories.member("ada")
    client = Client()
    client.post(CHOOSE, {"language": "ja"})
    client.post(SIGN_IN, ADA)
    assert language(client, accept_language="en") == "ja"
    assert models.Member.objects.get().language == ""


def test_an_account_without_a_role_keeps_its_choice_and_stays_a_reader() -> None:
    user = factories.member("ada")
    models.Member.objects.all().delete()
    client = Client()
    client.force_login(user)
    client.post(CHOOSE, {"language": "ja"})
    assert models.Member.objects.values_list("user__username", "role", "language").get() == ("ada", "reader", "ja")


def test_what_is_no_language_of_the_pages_is_not_kept() -> None:
    client = Client()
    client.force_login(factories.member("ada"))
    for text in ("tlh", "de", "", "ja" * 10):
        client.post(CHOOSE, {"language": text})
    assert models.Member.objects.get().language == ""


def test_the_choice_goes_with_the_account() -> None:
    user = factories.member("ada")
    client = Client()
    client.force_login(user)
    client.post(CHOOSE, {"language": "ja"})
    user.delete()
    assert not models.Member.objects.exists()


def test_a_choice_of_the_account_costs_its_pages_no_query(django_assert_num_queries: Any) -> None:
    client = Client()
    client.force_login(factories.member("ada"))
    for _ in range(2):
        with django_assert_num_queries(2):  # the session, and the account with its role
            client.get(SIGN_IN)
        client.post(CHOOSE, {"language": "ja"})


def test_signing_in_keeps_the_language_that_was_forced() -> None:
    factories.member("ada")
    client = Client()
    address = f"{SIGN_IN}?lang=ja&next=/runs/"
    page = client.get(address).content.decode()
    assert '<form method="post" class="narrow">' in page  # without an action it goes to the address of the page
    assert 'name="next" value="/runs/"' in page
    failed = client.post(address, ADA | {"password": "wrong", "next": "/runs/"})
    assert (failed.status_code, failed["Content-Language"]) == (200, "ja")
    assert "サインイン" in failed.content.decode()
    answer = client.post(address, ADA | {"next": "/runs/"})
    assert answer["Location"] == "/runs/?lang=ja"


def test_a_visitor_who_has_to_sign_in_lands_where_a_link_led_in_its_language(settings: Any) -> None:
    settings.TEITEN_OPEN_READING = False
    factories.member("ada")
    client = Client()
    first = client.get("/runs/?state=running&lang=ja")
    assert language(client, first["Location"]) == "ja"
    answer = client.post(first["Location"], ADA | {"next": "/runs/?state=running"})
    assert answer["Location"] == "/runs/?state=running&lang=ja"
    assert client.get(answer["Location"])["Content-Language"] == "ja"


def test_a_forced_language_leads_to_no_other_site() -> None:
    factories.member("ada")
    for elsewhere in ("https://example.org/", "//example.org/", "/\\example.org/", "javascript:alert(1)"):
        answer = Client().post(f"{SIGN_IN}?lang=ja", ADA | {"next": elsewhere})
        assert answer["Location"] == "/?lang=ja"


def test_a_form_that_goes_elsewhere_keeps_the_language_of_its_page() -> None:
    client = Client()
    client.force_login(factories.member("ada"))
    answer = client.post("/account/sign-out/", headers=FORCED_PAGE)
    assert (answer["Location"], answer["Content-Language"]) == ("/?lang=ja", "ja")
    other = Client().post("/account/sign-out/", headers={"Referer": "http://testserver/runs/?lang=tlh"})
    assert (other["Location"], other["Content-Language"]) == ("/", "en")


def test_a_link_on_a_page_whose_language_was_forced_forces_none() -> None:
    assert language(Client(), Referer=FORCED_PAGE["Referer"]) == "en"


def test_a_choice_ends_what_a_link_forced() -> None:
    client = Client()
    answer = client.post(CHOOSE, {"language": "en", "next": "/runs/?state=running"}, headers=FORCED_PAGE)
    assert answer["Location"] == "/runs/?state=running"
    assert language(client, accept_language="ja") == "en"


def test_a_part_of_a_page_that_has_to_sign_in_keeps_the_language_once(settings: Any) -> None:
    settings.TEITEN_OPEN_READING = False
    factories.member("ada")
    client, page = Client(), FORCED_PAGE["Referer"]
    part = client.get("/now/", headers={"HX-Request": "true", "HX-Current-URL": page, "Referer": page})
    address = part["HX-Redirect"]
    assert address == f"{SIGN_IN}?next=/runs/%3Fstate%3Drunning%26lang%3Dja&lang=ja"
    answer = client.post(address, ADA | {"next": "/runs/?state=running&lang=ja"})
    assert answer["Location"] == "/runs/?state=running&lang=ja"


def test_a_new_report_begins_in_the_language_that_is_read() -> None:
    client = Client()
    client.force_login(factories.member("ada"))
    for code in ("en", "ja"):
        page = page_text(client.get("/reports/new/", headers={"Accept-Language": code}))
        assert f'<option value="{code}" selected>' in page
        client.post("/reports/new/", {"title": code, "kind": "observation"}, headers={"Accept-Language": code})
        assert models.Draft.objects.get(title=code).language == code
    assert '<option value="en" selected>' in page_text(client.get("/reports/new/?lang=ja&language=en"))
