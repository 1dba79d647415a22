"""Cron lines of schedules, all in UTC: read as Celery reads them, and the times that they name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice, pairwise

from celery.schedules import ParseException
from django.core.exceptions import ValidationError
from django.utils import timezone
from django_celery_beat.models import CrontabSchedule, PeriodicTask

from results.domain.errors import PlanError, Problem
from results.domain.messages import gettext_lazy as _

NEXT_RUNS = 5
_DAY_S = 86_400
_HORIZON = timedelta(days=366 * 41)  # the 29th of February is each weekday once in 40 years, but for 2100


@dataclass(frozen=True)
class CronLine:
    """The times of a cron line (UTC). A day must be in all three of day, month and weekday, as Celery has it; cron
    itself takes a day that is in one of day and weekday.

    minutes: of the day, sorted."""

    minutes: tuple[int, ...]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]

    def names(self, day: date) -> bool:
        return day.month in self.months and day.day in self.days and day.isoweekday() % 7 in self.weekdays

    def times(self, after: datetime, until: datetime) -> Iterator[datetime]:
        """Yield the times that are later than `after` and not later than `until`."""
        for day in self._days(after.date(), until.date()):
            midnight = datetime.combine(day, time(), UTC)
            for minute in self.minutes:
                at = midnight + timedelta(minutes=minute)
                if after < at <= until:
                    yield at

    def next_times(self, after: datetime, count: int = NEXT_RUNS) -> tuple[datetime, ...]:
        """Return the next times; fewer where there are fewer in the next 40 years."""
        return tuple(islice(self.times(after, after + _HORIZON), count))

    def shortest_interval_s(self) -> float | None:
        """Return the seconds between the two times that are closest to each other; None where there is only one."""
        start = date(2000, 1, 1)
        gaps = [60.0 * (right - left) for left, right in pairwise(self.minutes)]
        days = self._days(start, start + _HORIZON)
        nights = [(right - left).days for left, right in pairwise(days)]
        if nights:
            gaps.append(min(nights) * _DAY_S - 60.0 * (self.minutes[-1] - self.minutes[0]))
        return min(gaps, default=None)

    def _days(self, first: date, last: date) -> Iterator[date]:
        for number in range((last - first).days + 1):
            day = first + timedelta(days=number)
            if self.names(day):
                yield day


def cron_line(schedule: PeriodicTask | None) -> str:
    """Return a schedule as it was written; '' without one."""
    line = schedule.crontab if schedule else None
    return f"{line.minute} {line.hour} {line.day_of_month} {line.month_of_year} {line.day_of_week}" if line else ""


def read_cron(cron: str) -> CronLine:
    """Return the times of a line 'minute hour day month weekday' (UTC). Raises PlanError."""
    parsed = _schedule(cron).schedule
    minutes = tuple(sorted(60 * hour + minute for hour in parsed.hour for minute in parsed.minute))
    return CronLine(
        minutes, frozenset(parsed.day_of_month), frozenset(parsed.month_of_year), frozenset(parsed.day_of_week)
    )


def crontab(cron: str) -> CrontabSchedule:
    """Return the stored schedule of a line 'minute hour day month weekday' (UTC). Raises PlanError."""
    new = _schedule(cron)
    fields = {name: getattr(new, name) for name in ("minute", "hour", "day_of_month", "month_of_year", "day_of_week")}
    same = CrontabSchedule.objects.filter(**fields, timezone="UTC").first()
    return same or CrontabSchedule.objects.create(**fields, timezone="UTC")


def _schedule(cron: str) -> CrontabSchedule:
    parts = cron.split()
    if len(parts) != 5:
        todo = _("minute hour day month weekday, as '0 2 * * 6'.")
        raise PlanError([Problem("schedule", _("{line!r} is not a cron line.", line=cron), todo)])
    minute, hour, day, month, weekday = parts
    fields = {"minute": minute, "hour": hour, "day_of_month": day, "month_of_year": month, "day_of_week": weekday}
    schedule = CrontabSchedule(**fields, timezone="UTC")
    try:
        schedule.schedule.is_due(timezone.now())
    except (ValueError, KeyError, ParseException) as error:
        what = _("{line!r}: {error}.", line=cron, error=str(error).removesuffix("."))
        raise PlanError([Problem("schedule", what, _("As '0 2 * * 6'."))]) from error
    try:
        schedule.clean_fields()
    except ValidationError as error:
        what = _("A part of the line is too long: {error}", error=" ".join(error.messages))
        raise PlanError([Problem("schedule", what, _("Use */ and -."))]) from error
    return schedule
