"""Stored plans."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class Plan(models.Model):
    """A stored plan, which `results.domain.plan.read` makes a value of.

    toml: canonical TOML; text, since jsonb would lose the factors' order
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

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
