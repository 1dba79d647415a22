"""manage.py member."""

from __future__ import annotations

import io
import os
import pty

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from results.models import AuditEntry
from results.models.audit import Role
from tests import factories
from webapp.access import role_of, scope_of

pytestmark = pytest.mark.django_db


def run(*words: str, password: str = "", monkeypatch: pytest.MonkeyPatch) -> User:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{password}\n"))
    call_command("member", "hana", *words, stdout=io.StringIO())
    return User.objects.get(username="hana")


def test_an_account_is_made_raised_and_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    user = run(password="correct horse battery", monkeypatch=monkeypatch)
    assert (role_of(user), user.check_password("correct horse battery")) == (Role.READER, True)
    assert role_of(run("--role", "operator", monkeypatch=monkeypatch)) == Role.OPERATOR
    user = run("--admin", monkeypatch=monkeypatch)
    assert (role_of(user), user.check_password("correct horse battery")) == (Role.ADMINISTRATOR, True)
    user = run(password="another horse battery", monkeypatch=monkeypatch)
    assert (role_of(user), user.check_password("another horse battery")) == (Role.ADMINISTRATOR, True)
    user = run("--disable", monkeypatch=monkeypatch)
    assert (user.is_active, scope_of(user)) == (False, None)
    entries = AuditEntry.objects.filter(object="user hana").order_by("pk").values_list("verb", "detail")
    assert [entry for entry in entries if entry[0] == "set role"] == [
        ("set role", {"role": "reader", "before": "reader"}),
        ("set role", {"role": "operator", "before": "reader"}),
        ("set role", {"role": "administrator", "before": "operator"}),
    ]
    assert entries.filter(verb="close account").count() == 1


@pytest.mark.parametrize("words", [["--role", "king"], ["--role", "reader", "--admin"], ["--admin", "--disable"]])
def test_a_role_that_there_is_not_is_refused(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    factories.member("hana", Role.OPERATOR)
    with pytest.raises(CommandError):
        run(*words, monkeypatch=monkeypatch)
    assert role_of(User.objects.get(username="hana")) == Role.OPERATOR


def test_a_weak_password_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("short\n"))
    with pytest.raises(CommandError, match="too short"):
        call_command("member", "hana", stdout=io.StringIO())
    assert not User.objects.exists()


def test_a_terminal_whose_input_ends_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, typed = pty.openpty()

    def ended(prompt: str) -> str:
        raise EOFError  # as getpass does at Ctrl-D

    monkeypatch.setattr("getpass.getpass", ended)
    with os.fdopen(typed) as standard_input, os.fdopen(terminal, "wb"):
        monkeypatch.setattr("sys.stdin", standard_input)
        with pytest.raises(CommandError, match="No password was typed: nothing is changed"):
            call_command("member", "hana", stdout=io.StringIO())
    assert not User.objects.exists()
