"""manage.py member."""

from __future__ import annotations

import io

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from results.models import AuditEntry

pytestmark = pytest.mark.django_db


def test_a_member_is_made_raised_and_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("correct horse battery\n"))
    call_command("member", "hana", stdout=io.StringIO())
    user = User.objects.get(username="hana")
    assert (user.is_staff, user.check_password("correct horse battery")) == (False, True)
    monkeypatch.setattr("sys.stdin", io.StringIO("another horse battery\n"))
    call_command("member", "hana", "--admin", stdout=io.StringIO())
    call_command("member", "hana", "--disable", stdout=io.StringIO())
    user.refresh_from_db()
    assert (user.is_active, user.is_staff) == (False, False)
    assert AuditEntry.objects.filter(object="user hana").count() == 3


def test_a_weak_password_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("short\n"))
    with pytest.raises(CommandError, match="too short"):
        call_command("member", "hana", stdout=io.StringIO())
    assert not User.objects.exists()
