"""The audit log, the roles of people, and the tokens of programs."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class AuditEntry(models.Model):
    """Something that somebody did.

    actor: user name, 'token NAME (user)', 'schedule' or 'command …'
    object: 'run 12', 'agent db1'
    """

    at = models.DateTimeField(auto_now_add=True)
    actor = models.CharField(max_length=200)
    verb = models.CharField(max_length=60)
    object = models.CharField(max_length=200)
    detail = models.JSONField(default=dict)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["object", "verb"], name="audit_by_object")]


class Scope(models.TextChoices):
    READ = "read", "read"
    RUN = "run", "read and run"
    PUBLISH = "publish", "read, run and publish"
    ADMIN = "admin", "everything"


class Role(models.TextChoices):
    """What an account may do; each may what those before may. `webapp.access` says what that is."""

    READER = "reader", "reader"
    OPERATOR = "operator", "operator"
    PUBLISHER = "publisher", "publisher"
    ADMINISTRATOR = "administrator", "administrator"


class Member(models.Model):
    """The role of an account. One without a row is a reader."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, primary_key=True, on_delete=models.CASCADE, related_name="member"
    )
    role = models.CharField(max_length=13, choices=Role.choices, default=Role.READER)

    def __str__(self) -> str:
        return f"{self.role} {self.user_id}"


class ApiToken(models.Model):
    """A token of a program. The token is shown once; stored is only a digest.

    digest: SHA-256 of the token, in hexadecimal
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=100)
    digest = models.CharField(max_length=64, unique=True)
    scope = models.CharField(max_length=10, choices=Scope.choices, default=Scope.READ)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
