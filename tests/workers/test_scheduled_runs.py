"""Runs of schedules, with beat's own scheduler: on time, missed, made up for, and never twice.

Beat's clock is Celery's, which is the machine's. A pause is made by moving back what beat and Teiten have noted."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone
from django_celery_beat.models import PeriodicTask

from results import models, scheduled_runs, stored_plans
from results.cron import crontab
from results.domain.errors import PlanError, Problem
from results.domain.states import RunState
from results.models.audit import Role
from results.queries.runs.plans import plan_detail
from tests import factories
from workers.app import app
from workers.beat import Scheduler
from workers.registry import kinds
from workers.tasks import check_schedules, start_plan

pytestmark = pytest.mark.django_db
NIGHT = datetime(2026, 11, 21, 2, tzinfo=UTC)  # a Saturday


def weekly(*, make_up: bool = False, checked_at: datetime = NIGHT - timedelta(hours=1)) -> models.Plan:
    """A plan that runs on Saturdays at 2, and that was last looked at an hour before one."""
    factories.agent()
    plan = factories.stored_plan()
    stored_plans.schedule_plan(plan, "0 2 * * 6", "tests", make_up=make_up)
    models.Plan.objects.update(schedule_checked_at=checked_at)
    plan.refresh_from_db()
    return plan


def end_all() -> None:
    models.Run.objects.update(state=RunState.FINISHED)


def missed(plan: models.Plan) -> list[tuple[str, int]]:
    return [(one.cause, one.count) for one in plan_detail(plan.pk).missed]


@pytest.fixture
def tasks_at_once(transactional_db: None) -> Iterator[None]:
    """What is sent runs in this process, at once."""
    app.conf.task_always_eager = True
    yield
    app.conf.task_always_eager = False


def start_beat(plan: models.Plan) -> bool:
    """Start beat with the schedules of plans alone, and let it do what it finds to do; whether it sent this plan."""
    before = PeriodicTask.objects.get(plan=plan).total_run_count
    scheduler = Scheduler(app, lazy=True)
    scheduler.tick()
    scheduler.sync()
    return PeriodicTask.objects.get(plan=plan).total_run_count > before


def a_line_that_was_due(hours_ago: int) -> str:
    return f"0 {(timezone.now() - timedelta(hours=hours_ago)).hour} * * *"


def test_a_run_is_made_at_its_time_once_however_often_beat_says_so() -> None:
    plan = weekly()
    late = NIGHT + timedelta(seconds=3)
    assert scheduled_runs.start_due(plan.pk, kinds(), NIGHT - timedelta(seconds=1)) is None
    run = scheduled_runs.start_due(plan.pk, kinds(), late)
    assert run is not None
    assert (run.due_at, run.makes_up_for, run.plan_id) == (NIGHT, 0, plan.pk)
    end_all()
    assert scheduled_runs.start_due(plan.pk, kinds(), late + timedelta(seconds=5)) is None
    assert (missed(plan), models.Run.objects.count()) == ([], 1)


def test_what_passed_while_nothing_ran_is_noted_in_one_row_and_starts_nothing() -> None:
    plan = weekly()
    back = NIGHT + timedelta(days=15)
    assert scheduled_runs.plans_due(back) == [plan.pk]
    assert scheduled_runs.start_due(plan.pk, kinds(), back) is None
    (one,) = plan_detail(plan.pk).missed
    assert (one.first_at, one.last_at, one.count, one.cause) == (NIGHT, NIGHT + timedelta(days=14), 3, "down")
    assert "from 2026-11-21 01:00 to 2026-12-06 02:00 UTC" in one.why
    assert scheduled_runs.plans_due(back) == []
    assert not models.Run.objects.exists()


def test_one_run_makes_up_for_all_that_were_missed_where_the_plan_says_so() -> None:
    plan = weekly(make_up=True)
    run = scheduled_runs.start_due(plan.pk, kinds(), NIGHT + timedelta(days=15))
    assert run is not None
    assert (run.due_at, run.makes_up_for) == (NIGHT + timedelta(days=14), 3)
    assert [one.run_id for one in plan_detail(plan.pk).missed] == [run.pk]
    end_all()
    assert scheduled_runs.start_due(plan.pk, kinds(), NIGHT + timedelta(days=15, minutes=1)) is None
    assert models.Run.objects.count() == 1


def test_a_time_that_comes_after_the_missed_ones_gets_its_own_run_and_no_second_one() -> None:
    plan = weekly(make_up=True)
    run = scheduled_runs.start_due(plan.pk, kinds(), NIGHT + timedelta(days=14, minutes=5))
    assert run is not None
    assert (run.due_at, run.makes_up_for) == (NIGHT + timedelta(days=14), 0)
    assert (missed(plan), models.Run.objects.count()) == ([("down", 2)], 1)


def test_a_month_of_minutes_is_one_row_and_one_run() -> None:
    plan = weekly(make_up=True)
    PeriodicTask.objects.filter(plan=plan).update(crontab=crontab("* * * * *"))
    assert scheduled_runs.start_due(plan.pk, kinds(), NIGHT + timedelta(days=30)) is not None
    assert missed(plan) == [("down", 30 * 1440 + 59)]
    assert models.Run.objects.count() == 1


def test_no_run_is_made_while_the_one_before_goes_on() -> None:
    plan = weekly(make_up=True)
    first = scheduled_runs.start_due(plan.pk, kinds(), NIGHT)
    assert first is not None
    for week in (1, 2):
        assert scheduled_runs.start_due(plan.pk, kinds(), NIGHT + timedelta(days=7 * week)) is None
    (one,) = plan_detail(plan.pk).missed
    assert (one.cause, one.count, one.run_id, one.why) == ("going", 2, first.pk, "The run before had not ended.")
    end_all()
    third = scheduled_runs.start_due(plan.pk, kinds(), NIGHT + timedelta(days=21))
    assert third is not None and third.makes_up_for == 0


def test_a_run_that_a_person_started_holds_no_schedule_up() -> None:
    plan = weekly()
    factories.run(stored=plan)
    assert scheduled_runs.start_due(plan.pk, kinds(), NIGHT) is not None


@pytest.mark.parametrize("make_up", [False, True])
def test_a_plan_that_is_refused_is_noted_with_the_cause(make_up: bool) -> None:
    plan = weekly(make_up=make_up)
    models.Installation.objects.all().delete()
    for week in (0, 1):
        now = NIGHT + timedelta(days=7 * week)
        with pytest.raises(PlanError) as refused:
            scheduled_runs.start_due(plan.pk, kinds(), now)
        scheduled_runs.note_refused(plan.pk, now, refused.value)
    (one,) = plan_detail(plan.pk).missed
    assert (one.cause, one.count, one.first_at) == ("refused", 2, NIGHT)
    assert one.why.startswith("No PostgreSQL of agent db1 is known.")
    assert models.AuditEntry.objects.filter(verb="could not run plan").count() == 2


def test_why_missed_runs_are_not_made_up_for_is_said_with_them() -> None:
    plan = weekly(make_up=True)
    now = NIGHT + timedelta(days=1)
    scheduled_runs.note_refused(plan.pk, now, PlanError([Problem("agents", "There is no agent 'db1'.", "Add it.")]))
    (one,) = plan_detail(plan.pk).missed
    assert (one.cause, one.run_id) == ("down", None)
    assert one.why.endswith("No run makes up for it: There is no agent 'db1'. Add it.")


def test_a_look_notes_until_when_nothing_was_missed() -> None:
    plan = weekly()
    assert scheduled_runs.plans_due(NIGHT - timedelta(minutes=5)) == []
    plan.refresh_from_db()
    assert plan.schedule_checked_at == NIGHT - timedelta(minutes=5)


def test_a_new_line_owes_nothing_of_the_time_before_it() -> None:
    plan = weekly()
    stored_plans.schedule_plan(plan, "* * * * *", "tests", make_up=True)
    assert scheduled_runs.start_due(plan.pk, kinds(), timezone.now() - timedelta(hours=1)) is None
    stored_plans.archive_plan(plan, "tests")
    assert scheduled_runs.plans_due(timezone.now() + timedelta(days=30)) == []


def test_a_schedule_of_somebody_who_may_run_nothing_more_is_refused() -> None:
    user = factories.member("ada", Role.OPERATOR)
    plan = weekly()
    models.Plan.objects.update(scheduled_by=user)
    models.Member.objects.update(role=Role.READER)
    factories.fall_due(plan)
    start_plan(plan.pk)
    assert missed(plan)[0][0] == "refused"


def test_beat_at_its_start_sends_what_was_due_hours_ago_and_teiten_notes_it_as_missed(tasks_at_once: None) -> None:
    """What beat does by itself: any time after the last that it knows of is sent at once, however late."""
    plan = weekly()
    two_days = timezone.now() - timedelta(days=2)
    line = crontab(a_line_that_was_due(hours_ago=2))
    PeriodicTask.objects.filter(plan=plan).update(crontab=line, last_run_at=two_days)
    models.Plan.objects.update(schedule_checked_at=two_days)
    assert start_beat(plan)
    assert not models.Run.objects.exists()
    assert missed(plan) == [("down", 2)]
    assert not start_beat(plan)


def test_beat_that_was_killed_says_the_same_time_again_and_no_second_run_is_made(tasks_at_once: None) -> None:
    """Beat stores when it last sent a task every three minutes only, and at its end."""
    plan = weekly()
    factories.fall_due(plan)
    an_hour = timezone.now() - timedelta(hours=1)
    PeriodicTask.objects.filter(plan=plan).update(last_run_at=an_hour)
    assert start_beat(plan)
    assert models.Run.objects.count() == 1
    end_all()
    PeriodicTask.objects.filter(plan=plan).update(last_run_at=an_hour)
    models.Plan.objects.update(schedule_checked_at=timezone.now())
    assert start_beat(plan)
    assert (models.Run.objects.count(), missed(plan)) == (1, [])


def test_what_beat_leaves_out_is_found_by_the_look_of_every_minute(tasks_at_once: None) -> None:
    """django-celery-beat knows no line whose hour is more than two hours away, even when it is overdue."""
    plan = weekly()
    hour = next(h for h in range(24) if h != 4 and 4 <= (timezone.now().hour - h) % 24 <= 8)
    two_days = timezone.now() - timedelta(days=2)
    PeriodicTask.objects.filter(plan=plan).update(crontab=crontab(f"0 {hour} * * *"), last_run_at=two_days)
    models.Plan.objects.update(schedule_checked_at=timezone.now() - timedelta(hours=20))
    assert not start_beat(plan)
    check_schedules()
    assert missed(plan) == [("down", 1)]
    assert not models.Run.objects.exists()
