"""Cron lines of schedules."""

from __future__ import annotations

from celery.schedules import ParseException
from django.utils import timezone
from django_celery_beat.models import CrontabSchedule, PeriodicTask

from results.domain.errors import PlanError, Problem


def cron_line(schedule: PeriodicTask | None) -> str:
    """Return a schedule as it was written; '' without one."""
    line = schedule.crontab if schedule else None
    return f"{line.minute} {line.hour} {line.day_of_month} {line.month_of_year} {line.day_of_week}" if line else ""


def crontab(cron: str) -> CrontabSchedule:
    """Return the schedule of a line 'minute hour day month weekday' (UTC). Raises PlanError."""
    parts = cron.split()
    if len(parts) != 5:
        raise PlanError(
            [
                Problem(
                    "schedule",
                    f"{cron!r} is not a cron line.",
                    "minute hour day month weekday, as '0 2 * * 6'.",
                )
            ]
        )
    minute, hour, day, month, weekday = parts
    fields = {"minute": minute, "hour": hour, "day_of_month": day, "month_of_year": month, "day_of_week": weekday}
    try:
        CrontabSchedule(**fields, timezone="UTC").schedule.is_due(timezone.now())
    except (ValueError, KeyError, ParseException) as error:
        raise PlanError([Problem("schedule", f"{cron!r}: {error}.", "As '0 2 * * 6'.")]) from error
    return CrontabSchedule.objects.filter(**fields, timezone="UTC").first() or CrontabSchedule.objects.create(
        **fields, timezone="UTC"
    )
