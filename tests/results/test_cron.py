"""Cron lines: their times are those of Celery's own crontab, by which beat goes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from celery.schedules import crontab as celery_crontab

from results.cron import read_cron
from results.domain.errors import PlanError

START = datetime(2027, 12, 30, 23, 59, 30, tzinfo=UTC)
LINES = [
    "* * * * *",
    "0 2 * * 6",
    "*/7 1-3 * * *",
    "30 4 1,15 * *",
    "0 0 13 * 5",
    "5,50 23,0 * * mon-fri",
    "0 12 29 2 *",
    "59 23 31 12 *",
    "0 */5 */2 3-11/4 sun",
]


def by_celery(line: str, after: datetime, count: int) -> list[datetime]:
    """What Celery's crontab says is next, time after time."""
    minute, hour, day, month, weekday = line.split()
    schedule = celery_crontab(minute, hour, weekday, day, month, nowfun=lambda: START)
    times = []
    for _ in range(count):
        last, delta, _now = schedule.remaining_delta(after, tz=UTC)
        after = last + delta
        times.append(after)
    return times


@pytest.mark.parametrize("line", LINES)
def test_the_next_times_are_those_that_beat_goes_by(line: str) -> None:
    assert list(read_cron(line).next_times(START, 10)) == by_celery(line, START, 10)


@pytest.mark.parametrize(
    ("line", "shortest_s"),
    [
        ("* * * * *", 60),
        ("0 2 * * 6", 7 * 86400),
        ("0,50 23,0 * * *", 600),
        ("0 0,23 * * *", 3600),
        ("0 2 1 * *", 28 * 86400),
        ("0 12 1 1 *", 365 * 86400),
    ],
)
def test_the_shortest_interval_is_that_of_the_closest_two_times(line: str, shortest_s: float) -> None:
    assert read_cron(line).shortest_interval_s() == shortest_s


def test_a_time_that_comes_once_in_forty_years_has_no_interval() -> None:
    times = read_cron("0 0 29 2 1")
    assert times.next_times(START) == (datetime(2044, 2, 29, tzinfo=UTC),)
    assert times.shortest_interval_s() is None


def test_times_are_counted_after_the_first_moment_and_up_to_the_second() -> None:
    hour = datetime(2026, 11, 26, 2, tzinfo=UTC)
    times = read_cron("0 * * * *")
    assert list(times.times(hour, hour + timedelta(hours=2))) == [hour + timedelta(hours=1), hour + timedelta(hours=2)]
    assert list(times.times(hour, hour)) == []


@pytest.mark.parametrize("line", ["", "0 2 *", "0 0 31 4 *", "0 0 * * 7", "*/0 * * * *", f"0{',0' * 200} * * * *"])
def test_what_is_no_line_or_names_no_time_is_a_problem(line: str) -> None:
    with pytest.raises(PlanError):
        read_cron(line)


def test_what_celery_says_of_a_line_ends_as_a_sentence_does() -> None:
    with pytest.raises(PlanError) as raised:
        read_cron("0 5-99 * * *")
    assert [problem.what for problem in raised.value.problems] == ["'0 5-99 * * *': Invalid end range: 99 > 23."]
