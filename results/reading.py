"""Which server is read: the warehouse, or a standby of it.

Said once a request (`webapp.replica`), and asked in two places: where raw SQL is run (`results.sql`) and where rows are
read by the ORM (`Router`). What is written goes to the warehouse, and so does everything that is read after it, or in a
transaction. Workers and commands read the warehouse alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from django.db import connections
from django.db.models import Model

PRIMARY, REPLICA = "default", "replica"  # in Django's DATABASES
# Who may what must hold at once, such as that a session has ended or a token was revoked.
_ACCOUNTS = frozenset({"auth", "sessions", "contenttypes", "django_celery_beat"})
_OF_ACCOUNTS = frozenset({"apitoken", "member"})
_alias: ContextVar[str] = ContextVar("read_from", default=PRIMARY)


def alias() -> str:
    """Return the name of the server that is read now, in Django's DATABASES."""
    if _alias.get() == PRIMARY or connections[PRIMARY].in_atomic_block:
        return PRIMARY
    return REPLICA


@contextmanager
def decided() -> Iterator[None]:
    """What is decided inside the block ends with it; at its beginning it is the warehouse."""
    before = _alias.set(PRIMARY)
    try:
        yield
    finally:
        _alias.reset(before)


def from_replica() -> None:
    """Read the standby from now on."""
    _alias.set(REPLICA)


def from_primary() -> None:
    """Read the warehouse from now on: something is written, or the standby does not answer."""
    _alias.set(PRIMARY)


class Router:
    """Django's database router."""

    def db_for_read(self, model: type[Model], **_hints: Any) -> str:
        of_accounts = model._meta.app_label in _ACCOUNTS or model._meta.model_name in _OF_ACCOUNTS
        return PRIMARY if of_accounts else alias()

    def db_for_write(self, _model: type[Model], **_hints: Any) -> str:
        from_primary()
        return PRIMARY

    def allow_relation(self, *_objects: Model, **_hints: Any) -> bool:
        return True

    def allow_migrate(self, db: str, *_names: str, **_hints: Any) -> bool:
        return db != REPLICA
