"""Stored plans."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class Plan(models.Model):
    """A stored plan, which `results.domain.plan.read` makes a value of.

    toml: canonical TOML; text, since jsonb would lose the factors' order
    scheduled_by: who set the schedule, or changed the plan since; it runs by this user's rights
    scheduled_by_admin: whether they did so with an administrator's rights
    """

    name = models.CharField(max_length=120, unique=True)
    description = models.TextField(blank=True)
    workload = models.CharField(max_length=63)
    toml = models.TextField()
    hash = models.CharField(max_length=64)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)
    archived = models.BooleanField(default=False)
    schedule = models.OneToOneField(
        "django_celery_beat.PeriodicTask",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="plan",
    )
    scheduled_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    scheduled_by_admin = models.BooleanField(default=False, db_default=False)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
