"""Stored plans."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from results.domain.messages import gettext_lazy as _


class Plan(models.Model):
    """A stored plan, which `results.domain.plan.read` makes a value of.

    toml: canonical TOML; text, since jsonb would lose the factors' order
    scheduled_by: who set the schedule, or changed the plan since; it runs by this user's rights
    scheduled_by_admin: whether they did so with an administrator's rights
    schedule_checked_at: up to when the times of its schedule are dealt with: a run made, or noted as missed
    make_up: whether one run makes up for those that were missed because nothing of Teiten ran
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
    schedule_checked_at = models.DateTimeField(null=True)
    make_up = models.BooleanField(default=False, db_default=False)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class MissedCause(models.TextChoices):
    DOWN = "down", _("nothing looked at the schedule")
    GOING = "going", _("the run before had not ended")
    REFUSED = "refused", _("the plan could not be run")


class MissedRuns(models.Model):
    """Times of a plan's schedule that passed without a run, one after the other for the same cause.

    first_at, last_at, count: of the times
    since: down: when the schedule had last been looked at
    noted_at: when it was looked at again, or the last of several was noted
    error: refused: why, `TeitenError.as_dict()`; down: why the run that makes up for them was refused
    run: going: the one that had not ended; down: the one that makes up for them
    """

    plan = models.ForeignKey(Plan, on_delete=models.CASCADE, related_name="missed")
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()
    count = models.PositiveIntegerField()
    cause = models.CharField(max_length=8, choices=MissedCause.choices)
    since = models.DateTimeField(null=True)
    noted_at = models.DateTimeField()
    error = models.JSONField(null=True)
    run = models.ForeignKey("results.Run", null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.count} of plan {self.plan_id}, {self.cause}"
