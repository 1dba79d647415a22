"""manage.py member NAME: makes an account, changes its rights or password, or closes it."""

from __future__ import annotations

import getpass
import sys
from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError

from results.runs import audit
from webapp.management.command import WarehouseCommand


class Command(WarehouseCommand):
    help = "Makes or changes an account. A member may run plans; with --admin also change agents and tokens."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--admin", action="store_true", help="may change agents too")
        parser.add_argument("--disable", action="store_true", help="close the account; its tokens end with it")

    def handle(self, *args: Any, name: str, admin: bool, disable: bool, **options: Any) -> None:
        user = User.objects.filter(username=name).first() or User(username=name)
        if disable and user.pk is None:
            raise CommandError(f"There is no account {name!r}.")
        user.is_active, user.is_staff = not disable, admin and not disable
        try:
            if not disable:
                user.set_password(_password(user))
            user.full_clean()
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        user.save()
        verb = "close account" if disable else "set account"
        audit("command member", verb, f"user {name}", admin=user.is_staff)
        self.stdout.write(f"{name}: {'closed' if disable else 'admin' if admin else 'member'}")


def _password(user: User) -> str:
    """Read a password: twice from a terminal, else the first line of standard input. Raises ValidationError."""
    if sys.stdin.isatty():
        password = getpass.getpass("Password: ")
        if getpass.getpass("Once more: ") != password:
            raise ValidationError("The two passwords differ.")
    else:
        password = sys.stdin.readline().rstrip("\n")
    validate_password(password, user)
    return password
