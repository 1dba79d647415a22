"""What goes with a plan when it is deleted, and what keeps it from that."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count

from results import models
from results.cron import cron_line
from results.domain.messages import gettext_lazy as _
from results.queries.shared.ids import NotFound, known_id
from results.queries.shared.words import name_of


@dataclass(frozen=True)
class PlanLoss:
    """One plan.

    created_by_id: of its author; None where the user is gone.
    schedule: its cron line (UTC), '' without one.
    runs: that were made of it, as far as the reader may see them.
    has_runs: whether there are any.
    watches: addresses that are notified; alerts: judgements for them.
    missed: rows of what its schedule missed."""

    id: int
    name: str
    archived: bool
    created_by_id: int | None
    schedule: str
    runs: int
    has_runs: bool
    watches: int
    alerts: int
    missed: int

    @property
    def keeps_it(self) -> str:
        """Why it cannot be deleted; '' where it can."""
        if not self.has_runs:
            return ""
        if self.archived:
            return _("Runs were made of it, whose history it is.")
        return _("Runs were made of it, whose history it is. Archive it instead.")


def plan_loss(plan_id: int) -> PlanLoss:
    """Return what would be lost of a plan. Five queries. Raises NotFound."""
    plans = models.Plan.objects.select_related("schedule__crontab").annotate(missed_rows=Count("missed"))
    plan = plans.filter(pk=known_id(plan_id, "plan")).first()
    if plan is None:
        raise NotFound(_("There is no {kind} {number}.", kind=name_of("plan"), number=plan_id))
    return PlanLoss(
        id=plan.pk,
        name=plan.name,
        archived=plan.archived,
        created_by_id=plan.created_by_id,
        schedule=cron_line(plan.schedule),
        runs=models.Run.objects.filter(plan=plan).count(),
        has_runs=models.Run._base_manager.filter(plan=plan).exists(),
        watches=models.Watch.objects.filter(plan=plan).count(),
        alerts=models.Alert.objects.filter(watch__plan=plan).count(),
        missed=plan.missed_rows,
    )
