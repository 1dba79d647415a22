"""Signing in and out, and one's own tokens."""

from __future__ import annotations

import re

from django.test import Client

from results import models
from tests import factories
from tests.page_text import page_text


def test_a_member_signs_in_and_lands_where_they_wanted_to(db: None, stranger: Client) -> None:
    factories.member()
    assert "Sign in" in page_text(stranger.get("/account/sign-in/"))
    data = {"username": "member", "password": "a long password of the tests", "next": "/plans/add/"}
    assert stranger.post("/account/sign-in/", data)["Location"] == "/plans/add/"
    elsewhere = Client().post("/account/sign-in/", data | {"next": "https://example.org/"})
    assert elsewhere["Location"] == "/"


def test_a_wrong_password_says_so(db: None, stranger: Client) -> None:
    text = page_text(stranger.post("/account/sign-in/", {"username": "x", "password": "y"}))
    assert "Please enter a correct username and password" in text


def test_the_form_of_sign_in_has_the_words_of_the_rest_in_japanese(db: None, stranger: Client) -> None:
    data = {"username": "x", "password": "y"}
    text = page_text(stranger.post("/account/sign-in/", data, HTTP_ACCEPT_LANGUAGE="ja"))
    assert "利用者名とパスワードを確かめてください。" in text
    assert ">利用者名<" in re.sub(r"\s", "", text)


def test_signing_out_is_a_button_not_a_link(member: Client) -> None:
    assert member.get("/account/sign-out/").status_code == 405
    member.post("/account/sign-out/")
    assert "Sign in" in page_text(member.get("/"))


def test_a_token_is_shown_once_works_and_is_revoked(member: Client) -> None:
    made = page_text(member.post("/account/tokens/", {"name": "notebook", "scope": "read"}))
    secret = re.findall(r'id="secret">([^<]+)<', made)[0]
    assert secret not in page_text(member.get("/account/tokens/"))
    program = Client(headers={"Authorization": f"Bearer {secret}"})
    assert program.get("/api/v1/runs/").status_code == 200
    token = models.ApiToken.objects.get()
    assert "Revoked" in page_text(member.post(f"/account/tokens/{token.pk}/revoke/", follow=True))
    assert program.get("/api/v1/runs/").status_code == 401


def test_a_token_never_exceeds_its_owner(member: Client, admin: Client) -> None:
    refused = member.post("/account/tokens/", {"name": "too much", "scope": "admin"})
    assert refused.status_code == 422
    assert not models.ApiToken.objects.exists()
    admin.post("/account/tokens/", {"name": "all", "scope": "admin"})
    assert models.ApiToken.objects.get().scope == "admin"


def test_tokens_are_in_the_audit_log(member: Client) -> None:
    member.post("/account/tokens/", {"name": "notebook", "scope": "read"})
    token = models.ApiToken.objects.get()
    for _ in range(2):
        member.post(f"/account/tokens/{token.pk}/revoke/")
    entries = models.AuditEntry.objects.order_by("id").values_list("actor", "verb", "object", "detail")
    detail = {"name": "notebook", "scope": "read", "owner": "member"}
    assert list(entries) == [
        ("member", "create token", f"token {token.pk}", detail),
        ("member", "revoke token", f"token {token.pk}", detail),
    ]
