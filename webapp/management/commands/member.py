"""manage.py member NAME: makes an account, changes its role or password, or closes it."""

from __future__ import annotations

import getpass
import sys
from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from results.domain.messages import gettext_lazy as _
from results.domain.messages import localized, pgettext_lazy
from results.models import ApiToken
from results.models.audit import Role
from results.runs import audit
from webapp.access import role_of, set_role
from webapp.management.command import WarehouseCommand

ACTOR = "command member"
CLOSED = pgettext_lazy("of an account", "closed")


class Command(WarehouseCommand):
    help = _(
        "Makes an account, a reader's where no role is named, or changes one. With a role, an account that there is "
        "keeps its password; without one it keeps its role and gets a new password."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name")
        role = parser.add_mutually_exclusive_group()
        may = gettext("what it may do; each may what those before may")
        role.add_argument("--role", choices=Role.values, help=may)
        admin = gettext("short for that")
        role.add_argument("--admin", action="store_const", dest="role", const=Role.ADMINISTRATOR, help=admin)
        disable = gettext("close the account; its tokens end with it")
        parser.add_argument("--disable", action="store_true", help=disable)

    @transaction.atomic
    def handle(self, *args: Any, name: str, role: str | None, disable: bool, **options: Any) -> None:
        if disable and role:
            raise CommandError(gettext("A closed account has no role: leave the role out."))
        user = _account(name, existing=disable)
        user.is_active = not disable
        try:
            if user.pk is None or not (disable or role):
                user.set_password(_password(user))
            user.full_clean()
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        user.save()
        if disable:  # opened again, it has none of them
            ApiToken.objects.filter(user=user, revoked_at=None).update(revoked_at=timezone.now())
        if not disable:
            set_role(user, Role(role) if role else role_of(user), ACTOR)
        audit(ACTOR, "close account" if disable else "set account", f"user {name}")
        state = CLOSED if disable else Role(role_of(user)).label
        self.stdout.write(localized(_("{where}: {what}", where=name, what=state)))


def _account(name: str, *, existing: bool) -> User:
    """Return the account of this name, or a new one that is not stored. Raises CommandError where one has to exist."""
    user = User.objects.filter(username=name).first()
    if user is None and existing:
        raise CommandError(gettext("There is no account {name}.").format(name=repr(name)))
    return user or User(username=name)


def _password(user: User) -> str:
    """Read a password: twice from a terminal, else the first line of standard input. Raises ValidationError."""
    if sys.stdin.isatty():
        password = _typed(gettext("Password: "))
        if _typed(gettext("Once more: ")) != password:
            raise ValidationError(gettext("The two passwords differ."))
    else:
        password = sys.stdin.readline().rstrip("\n")
    validate_password(password, user)
    return password


def _typed(prompt: str) -> str:
    try:
        return getpass.getpass(prompt)
    except EOFError:
        raise ValidationError(gettext("No password was typed: nothing is changed.")) from None
