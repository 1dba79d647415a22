"""Serve a made-up warehouse, for looking at pages: `python -m tests.look grown`, beside running services.

Ctrl-C ends it. The warehouse is a database of its own, made anew at each start. Sign in as look, password look."""

from __future__ import annotations

import argparse
import os
import sys
from urllib.parse import urlsplit, urlunsplit

import django
import psycopg
from django.core.management import call_command
from psycopg import sql

PORT = 8700


def main() -> None:
    os.environ["TEITEN_DATABASE_URL"] = _fresh_database(os.environ["TEITEN_DATABASE_URL"])
    os.environ |= {"DJANGO_SETTINGS_MODULE": "webapp.settings", "TEITEN_DEBUG": "1", "TEITEN_OPEN_READING": "1"}
    django.setup()
    from django.contrib.auth.models import User

    from results.models import Member
    from results.models.audit import Role
    from tests import single_values
    from tests.warehouses import WAREHOUSES

    parser = argparse.ArgumentParser(description="Serve a made-up warehouse.")
    parser.add_argument("warehouse", choices=sorted(WAREHOUSES))
    chosen = parser.parse_args().warehouse
    call_command("migrate", verbosity=0)
    single_values.allow()
    call_command("compilemessages", verbosity=0)
    WAREHOUSES[chosen]()
    look = User.objects.create_user("look", password="look")
    Member.objects.create(user=look, role=Role.ADMINISTRATOR)
    sys.argv = ["manage.py", "runserver"]
    call_command("runserver", f"127.0.0.1:{os.environ.get('TEITEN_PORT', PORT)}", use_reloader=False)


def _fresh_database(url: str, name: str = "look") -> str:
    """Return the address of an empty database on the same server."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))


if __name__ == "__main__":
    main()
