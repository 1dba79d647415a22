"""Signing in: what too many failures do, what is filed, and how passwords are kept."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.contrib.auth.models import User
from django.forms import model_to_dict
from django.test import Client
from django.utils import timezone

from results import models, sign_ins
from results.models.audit import acting_from
from tests import factories
from tests.page_text import page_text

PASSWORD = "a long password of the tests"
PATH = "/account/sign-in/"
_NAMES = ((1, "ada"), (2, "nobody"))


@pytest.fixture
def ada(db: None) -> User:
    return factories.member("ada")


def attempt(name: str, password: str = "wrong", address: str = "192.0.2.1") -> Any:
    return Client().post(PATH, {"username": name, "password": password}, REMOTE_ADDR=address)


def filed() -> list[tuple[str, str, str, str]]:
    entries = models.AuditEntry.objects.order_by("pk")
    return list(entries.values_list("actor", "verb", "object", "address"))


def earlier(by: timedelta, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let so much time pass."""
    moment = timezone.now() + by
    monkeypatch.setattr("django.utils.timezone.now", lambda: moment)


def test_failures_of_an_account_from_one_address_keep_it_waiting_there_and_nowhere_else(
    ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert {attempt("ada").status_code for _ in range(5)} == {200}
    refused = attempt("ada", PASSWORD)
    assert refused.status_code == 429
    assert 890 < int(refused["Retry-After"]) <= 901
    text = page_text(refused)
    assert "Too many tries: 5 of this account from your address failed within 15 minutes" in text
    assert attempt("ada", PASSWORD, "192.0.2.2").status_code == 302
    earlier(sign_ins.WINDOW + timedelta(seconds=2), monkeypatch)
    assert attempt("ada", PASSWORD).status_code == 302


def test_failures_of_many_accounts_from_one_address_keep_the_address_waiting(ada: User) -> None:
    assert {attempt(f"name {number}").status_code for number in range(20)} == {200}
    assert attempt("another").status_code == 429
    assert attempt("ada", PASSWORD).status_code == 429
    assert attempt("ada", PASSWORD, "192.0.2.2").status_code == 302


def test_failures_of_an_account_from_everywhere_keep_it_waiting_at_last(ada: User) -> None:
    for number in range(100):
        with acting_from(f"198.51.100.{number}"):
            sign_ins.note_failure("ada")
    assert attempt("ada", PASSWORD, "203.0.113.1").status_code == 429


def test_signing_in_and_failing_are_filed_with_the_address_and_no_name_that_is_none(ada: User) -> None:
    attempt("ada")
    attempt("hunter2")  # a password in the wrong field
    attempt("ada", PASSWORD)
    attempt("", "")
    assert filed() == [
        ("anonymous", "fail to sign in", "account ada", "192.0.2.1"),
        ("anonymous", "fail to sign in", "account unknown", "192.0.2.1"),
        ("ada", "sign in", "account ada", "192.0.2.1"),
    ]


def test_a_name_that_is_no_account_waits_as_an_account_does(ada: User) -> None:
    answers = {name: [attempt(name, address=f"192.0.2.{number}") for _ in range(6)] for number, name in _NAMES}
    assert [answer.status_code for answer in answers["ada"]] == [200, 200, 200, 200, 200, 429]
    assert [answer.status_code for answer in answers["nobody"]] == [200, 200, 200, 200, 200, 429]
    assert "5 of this account from your address" in page_text(answers["nobody"][-1])
    for name in ("ada", "nobody"):
        for number in range(100):
            with acting_from(f"198.51.100.{number}"):
                sign_ins.note_failure(name)
    assert [attempt(name, address="203.0.113.1").status_code for name in ("ada", "nobody")] == [429, 429]


def test_a_name_that_is_no_account_is_not_read_from_the_audit_log(ada: User) -> None:
    attempt("hunter2")
    entry = models.AuditEntry.objects.get()
    assert "hunter2" not in str(model_to_dict(entry))
    assert hashlib.sha256(b"hunter2").hexdigest()[:32] not in str(entry.detail)


def test_a_name_with_a_nul_byte_is_refused(ada: User) -> None:
    assert attempt("ada\0").status_code == 400
    assert filed() == []


def test_the_address_is_the_one_that_the_trusted_proxies_name(ada: User, settings: Any) -> None:
    settings.REST_FRAMEWORK = settings.REST_FRAMEWORK | {"NUM_PROXIES": 1}
    sent = {"username": "ada", "password": "wrong"}
    Client().post(PATH, sent, headers={"X-Forwarded-For": "203.0.113.9, 198.51.100.7"}, REMOTE_ADDR="127.0.0.1")
    assert filed()[0][-1] == "198.51.100.7"


def test_passwords_are_kept_as_argon2_and_older_ones_become_so(db: None, settings: Any) -> None:
    settings.PASSWORD_HASHERS = [
        "django.contrib.auth.hashers.Argon2PasswordHasher",
        "django.contrib.auth.hashers.PBKDF2PasswordHasher",
    ]
    user = factories.member("grace")
    assert user.password.startswith("argon2$argon2id$")
    User.objects.filter(pk=user.pk).update(password=PBKDF2PasswordHasher().encode(PASSWORD, "salt", 1000))
    assert attempt("grace", PASSWORD).status_code == 302
    assert User.objects.get(pk=user.pk).password.startswith("argon2$argon2id$")


def test_pages_with_tokens_are_never_stored(member: Client) -> None:
    for answer in (member.get("/account/tokens/"), member.post("/account/tokens/", {"name": "ci", "scope": "read"})):
        assert "no-store" in answer["Cache-Control"]
    made = member.post("/api/v1/tokens/", {"name": "ci", "scope": "read"}, content_type="application/json")
    assert (made.status_code, made["Cache-Control"]) == (201, "no-store")


def test_a_token_ends_when_its_days_are_over(member: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    made = member.post("/api/v1/tokens/", {"name": "ci", "scope": "read", "days": 2}, content_type="application/json")
    program = Client(headers={"Authorization": f"Bearer {made.json()['secret']}"})
    assert program.get("/api/v1/runs/").status_code == 200
    expires = models.ApiToken.objects.get().expires_at
    assert expires is not None and made.json()["token"]["expires_at"][:16] == f"{expires:%Y-%m-%dT%H:%M}"
    earlier(timedelta(days=2, seconds=1), monkeypatch)
    refused = program.get("/api/v1/runs/")
    assert refused.status_code == 401
    assert "The token expired on" in refused.json()["error"]["what"]


@pytest.mark.parametrize("days", ["0", "3651", "-1", "x"])
def test_a_token_of_a_time_that_cannot_be_is_refused(days: str, member: Client) -> None:
    assert member.post("/account/tokens/", {"name": "ci", "scope": "read", "days": days}).status_code == 422
    sent = {"name": "ci", "scope": "read", "days": days}
    assert member.post("/api/v1/tokens/", sent, content_type="application/json").status_code == 400
    assert not models.ApiToken.objects.exists()


@pytest.mark.parametrize("spelling", [" ada ", "\uff41da"])
def test_another_spelling_of_a_name_is_the_same_account(spelling: str, ada: User) -> None:
    assert {attempt(spelling).status_code for _ in range(5)} == {200}
    assert attempt("ada", PASSWORD).status_code == 429
    assert attempt(spelling, PASSWORD).status_code == 429


def test_addresses_of_one_ipv6_network_count_as_one(ada: User) -> None:
    assert {attempt("ada", address=f"2001:db8::{number:x}").status_code for number in range(1, 6)} == {200}
    assert attempt("ada", PASSWORD, "2001:db8::ffff").status_code == 429
    assert attempt("ada", PASSWORD, "2001:db8:0:1::1").status_code == 302


def test_a_stranger_locks_out_nobody_else_whose_ipv4_address_is_mapped(ada: User) -> None:
    assert {attempt(f"name {number}", address="::ffff:1.2.3.4").status_code for number in range(20)} == {200}
    assert attempt("ada", PASSWORD, "1.2.3.4").status_code == 429
    assert attempt("ada", PASSWORD, "::ffff:9.9.9.9").status_code == 302


@pytest.mark.parametrize("spelling", ["192.0.2.1:{port}", "[2001:db8::1]:{port}", "unknown {port}"])
def test_a_new_port_is_no_new_address(spelling: str, ada: User) -> None:
    addresses = [spelling.format(port=40000 + number) for number in range(6)]
    assert [attempt("ada", address=address).status_code for address in addresses] == [200, 200, 200, 200, 200, 429]


def test_nobody_is_locked_out_of_a_network_from_which_they_signed_in_lately(ada: User) -> None:
    assert attempt("ada", PASSWORD, "203.0.113.1").status_code == 302
    for number in range(100):
        with acting_from(f"198.51.100.{number}"):
            sign_ins.note_failure("ada")
    assert attempt("ada", PASSWORD, "203.0.113.2").status_code == 429
    assert attempt("ada", PASSWORD, "203.0.113.1").status_code == 302
