"""The schedule of a plan: set or ended, and what a line would do before it is."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from results import models, stored_plans
from results.domain.errors import PlanError, restored
from results.models.audit import Scope
from results.schedules import plan_schedule
from webapp.access import actor, is_admin, needs, person, require_plan
from webapp.pages.plans import require_as_shown
from webapp.problems import missing_is_404
from workers.registry import kinds


@require_safe
@needs(Scope.RUN)
@missing_is_404()
def preview(request: HttpRequest, plan_id: int) -> HttpResponse:
    """What the line in the form would do, or what is wrong with it."""
    context: dict[str, Any] = {}
    try:
        context["schedule"] = plan_schedule(plan_id, kinds(), timezone.now(), request.GET.get("cron", ""))
    except PlanError as error:
        context["schedule_problem"] = restored(error.as_dict())
    return render(request, "plans/_schedule.html", context)


@require_POST
@needs(Scope.RUN)
@missing_is_404()
def save(request: HttpRequest, plan_id: int) -> HttpResponse:
    cron = request.POST.get("cron", "").strip()
    stored = models.Plan.objects.get(pk=plan_id)
    if cron:
        require_as_shown(request, stored)
        require_plan(request, stored_plans.load_plan(stored, kinds()), kinds())
    stored_plans.schedule_plan(
        stored,
        cron,
        actor(request),
        user=person(request),
        as_admin=is_admin(request),
        make_up="make_up" in request.POST,
    )
    done = gettext("It runs at “{cron}” (UTC).") if cron else gettext("It runs by itself no longer.")
    messages.success(request, done.format(cron=cron))
    return redirect("plans:detail", plan_id)
