"""Operations on stored plans and their schedules, for pages, API and commands; each writes the audit log in its own
transaction."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django_celery_beat.models import PeriodicTask

from results import models
from results.cron import cron_line, crontab
from results.domain import plan as plans
from results.domain.errors import PlanError, Problem, StateError
from results.domain.messages import gettext_lazy as _
from results.domain.plan import Kinds, Plan
from results.domain.secrets import masked_toml
from results.models.audit import Role
from results.plan_check import require_storable
from results.plan_code import require_code_allowed
from results.queries.runs.plan_loss import plan_loss
from results.runs import audit

START_PLAN = "workers.tasks.start_plan"


@transaction.atomic
def save_plan(
    plan: Plan,
    kinds: Kinds,
    *,
    user: User | None,
    actor: str,
    stored: models.Plan | None = None,
    as_admin: bool = False,
) -> models.Plan:
    """Store a plan, or replace `stored`.

    Raises PlanError when another plan has the name, or for settings that its installations are known not to have;
    CodeError when it is scheduled, and the user may not run it; StateError where another has changed it meanwhile.

    as_admin: whether the user has the rights of an administrator
    """
    require_storable(plan, kinds)
    same_name = models.Plan.objects.filter(name=plan.name).first()
    if same_name is not None and (stored is None or same_name.pk != stored.pk):
        what = _("There is already a plan {plan!r}.", plan=plan.name)
        raise PlanError([Problem("name", what, _("Choose another name."))])
    row = _locked(stored) if stored else models.Plan(created_by=user)
    before = {"before": row.hash} if stored else {}
    row.name, row.description, row.workload = plan.name, plan.description, plan.workload
    row.toml, row.hash, row.archived = plans.to_toml(plan), plan.hash, False
    if row.schedule_id is not None:
        _take_over_schedule(row, plan, kinds, user, as_admin=as_admin)
    row.save()
    audit(actor, "change plan" if stored else "create plan", f"plan {row.pk}", hash=plan.hash, **before)
    return row


def _locked(stored: models.Plan) -> models.Plan:
    """Return a plan as it is now, locked to the end of the transaction. Raises StateError where it was changed since it
    was read: what was decided about it (whether it brings code, by whose rights it runs) was decided about another."""
    row = models.Plan.objects.select_for_update().get(pk=stored.pk)
    if row.hash != stored.hash:
        what = _("The plan {plan!r} has just been changed by somebody else.", plan=row.name)
        raise StateError(what, where="plan", todo=_("Look at it again, then say once more what it shall be."))
    return row


def _take_over_schedule(stored: models.Plan, plan: Plan, kinds: Kinds, user: User | None, *, as_admin: bool) -> None:
    """Have the schedule of a plan that changes run by the rights of who changes it. Raises CodeError."""
    if not as_admin:
        require_code_allowed(plan, kinds)
    stored.scheduled_by, stored.scheduled_by_admin = user, as_admin


def load_plan(stored: models.Plan, kinds: Kinds) -> Plan:
    return plans.read(stored.toml, kinds)


@transaction.atomic
def archive_plan(stored: models.Plan, actor: str) -> None:
    """Take the plan off the list and end its schedule; its runs stay."""
    before = cron_line(_locked(stored).schedule)
    schedule_plan(stored, "", actor)
    models.Plan.objects.filter(pk=stored.pk).update(archived=True)
    audit(actor, "archive plan", f"plan {stored.pk}", cron=before)


@transaction.atomic
def restore_plan(stored: models.Plan, actor: str) -> None:
    """Put an archived plan back on the list, without a schedule."""
    if models.Plan.objects.filter(pk=stored.pk, archived=True).update(archived=False):
        audit(actor, "restore plan", f"plan {stored.pk}")


@transaction.atomic
def delete_plan(stored: models.Plan, actor: str) -> None:
    """Delete a plan of which no run was made. Raises StateError."""
    row, loss = _locked(stored), plan_loss(stored.pk)
    if loss.keeps_it:
        raise StateError(_("The plan {plan!r} cannot be deleted.", plan=row.name), where="plan", why=loss.keeps_it)
    lost = {"name": row.name, "cron": loss.schedule, "watches": loss.watches, "toml": masked_toml(row.toml)}
    audit(actor, "delete plan", f"plan {row.pk}", **lost)
    if row.schedule is not None:
        row.schedule.delete()
    row.delete()


@transaction.atomic
def schedule_plan(
    stored: models.Plan,
    cron: str,
    actor: str,
    *,
    user: User | None = None,
    as_admin: bool = False,
    make_up: bool = False,
) -> None:
    """Set a plan's schedule, or end it. Raises PlanError, StateError where another has changed the plan meanwhile.

    cron: 'minute hour day month weekday' (UTC); '' for no schedule
    user, as_admin: by whose rights it runs (`may_schedule_code`)
    make_up: whether one run makes up for those that were missed because nothing of Teiten ran
    """
    row = _locked(stored)
    previous = row.schedule
    before = cron_line(previous)
    row.schedule = None
    row.scheduled_by, row.scheduled_by_admin = (user, as_admin) if cron else (None, False)
    row.make_up, row.schedule_checked_at = bool(cron) and make_up, timezone.now() if cron else None
    row.save(update_fields=["schedule", "scheduled_by", "scheduled_by_admin", "make_up", "schedule_checked_at"])
    if previous is not None:
        previous.delete()
    if cron:
        row.schedule = PeriodicTask.objects.create(
            name=f"plan {row.pk}", task=START_PLAN, args=f"[{row.pk}]", crontab=crontab(cron)
        )
        row.save(update_fields=["schedule"])
    audit(actor, "schedule plan", f"plan {stored.pk}", cron=cron, before=before, make_up=row.make_up)


def require_scheduler(stored: models.Plan) -> None:
    """Raise PlanError where whoever set the schedule of a plan may run plans no longer."""
    user = stored.scheduled_by
    if user is not None and not _is(user, Role.OPERATOR, Role.PUBLISHER, Role.ADMINISTRATOR):
        what = _("{user} set the schedule, and may run plans no longer.", user=user.get_username())
        raise PlanError([Problem("schedule", what, _("Set it again, or end it, on the plan's page."))])


def may_schedule_code(stored: models.Plan) -> bool:
    """Return whether a schedule brings code to any agent: an administrator set it, and is one still."""
    user = stored.scheduled_by
    return stored.scheduled_by_admin and user is not None and _is(user, Role.ADMINISTRATOR)


def _is(user: User, *roles: Role) -> bool:
    return user.is_active and models.Member.objects.filter(user=user, role__in=roles).exists()
