"""The audit log, people's roles and languages, and the tokens of programs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from django.conf import settings
from django.db import models

from results.domain.messages import pgettext_lazy

_address: ContextVar[str] = ContextVar("address", default="")


@contextmanager
def acting_from(address: str) -> Iterator[None]:
    """Everything inside the block is done on behalf of somebody at this address, which the audit log notes."""
    token = _address.set(address[:45])
    try:
        yield
    finally:
        _address.reset(token)


def acting_address() -> str:
    """Return the address of who acts now; '' for a command or a worker."""
    return _address.get()


class AuditEntry(models.Model):
    """Something that somebody did. The warehouse refuses to change or remove one.

    actor: user name, 'token NAME (user)', 'schedule' or 'command …'
    object: 'run 12', 'agent db1'
    detail: what was set; of a change `before` has what was there
    address: from where; '' for a command or a worker
    """

    at = models.DateTimeField(auto_now_add=True)
    actor = models.CharField(max_length=300)
    verb = models.CharField(max_length=60)
    object = models.CharField(max_length=200)
    detail = models.JSONField(default=dict)
    address = models.CharField(max_length=45, blank=True, default=acting_address, db_default="")

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["object", "verb"], name="audit_by_object"),
            models.Index(fields=["verb", "at"], name="audit_by_verb"),
        ]


class Scope(models.TextChoices):
    READ = "read", pgettext_lazy("scope", "read")
    RUN = "run", pgettext_lazy("scope", "read and run")
    PUBLISH = "publish", pgettext_lazy("scope", "read, run and publish")
    ADMIN = "admin", pgettext_lazy("scope", "everything")


class Role(models.TextChoices):
    """What an account may do; each may what those before may. `webapp.access` says what that is."""

    READER = "reader", pgettext_lazy("role", "reader")
    OPERATOR = "operator", pgettext_lazy("role", "operator")
    PUBLISHER = "publisher", pgettext_lazy("role", "publisher")
    ADMINISTRATOR = "administrator", pgettext_lazy("role", "administrator")


class Member(models.Model):
    """The role of an account, and the language that it chose. One without a row is a reader and chose none.

    language: of the pages, as browsers get it when the account signs in; '' for none chosen
    """

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, primary_key=True, on_delete=models.CASCADE, related_name="member"
    )
    role = models.CharField(max_length=13, choices=Role.choices, default=Role.READER)
    language = models.CharField(max_length=10, blank=True, default="")

    def __str__(self) -> str:
        return f"{self.role} {self.user_id}"


class ApiToken(models.Model):
    """A token of a program. The token is shown once; stored is only a digest.

    digest: SHA-256 of the token, in hexadecimal
    expires_at: from when on it is worth nothing; None for never
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=100)
    digest = models.CharField(max_length=64, unique=True)
    scope = models.CharField(max_length=10, choices=Scope.choices, default=Scope.READ)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
