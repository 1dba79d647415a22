"""A plan that is to go off the list, to be put back, or to be deleted: what that takes away, and doing it."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from results import models, stored_plans
from results.domain.errors import StateError, TeitenError, restored
from results.domain.messages import gettext_lazy as _
from results.models.audit import Scope
from results.queries.runs.plan_loss import PlanLoss, plan_loss
from webapp.access import NO_PLAN_DELETION, actor, may_delete, needs, require_plan_deletion
from webapp.problems import missing_is_404, status_of

ARCHIVE, RESTORE, DELETE = "archive", "restore", "delete"


@require_http_methods(["GET", "POST"])
@needs(Scope.RUN)
@missing_is_404()
def remove(request: HttpRequest, plan_id: int) -> HttpResponse:
    """What goes with a plan; then archive, put back or delete it, as the button `do` says."""
    loss = plan_loss(plan_id)
    if request.method == "GET":
        return _preview(request, loss)
    do = request.POST.get("do", "")
    try:
        _do(request, do, loss)
    except StateError as error:
        return _preview(request, plan_loss(plan_id), error)
    return redirect("plans:list") if do in (ARCHIVE, DELETE) else redirect("plans:detail", plan_id)


def _preview(request: HttpRequest, loss: PlanLoss, error: StateError | None = None) -> HttpResponse:
    context = {
        "loss": loss,
        "denied": "" if may_delete(request, [loss.created_by_id]) else NO_PLAN_DELETION,
        "problem": restored(error.as_dict()) if error else None,
    }
    return render(request, "plans/remove.html", context, status=status_of(error) if error else 200)


def _do(request: HttpRequest, do: str, loss: PlanLoss) -> None:
    """Do it and say what was done. Raises StateError, PermissionDenied, TeitenError."""
    stored = models.Plan.objects.get(pk=loss.id)
    if do == ARCHIVE:
        stored_plans.archive_plan(stored, actor(request))
        done = gettext("Archived {name}: it is off the list, its runs stay.")
        if loss.schedule:
            done = gettext("Archived {name}: it is off the list, its runs stay. Its schedule has ended.")
        messages.success(request, done.format(name=loss.name))
    elif do == RESTORE:
        stored_plans.restore_plan(stored, actor(request))
        done = gettext("Put back on the list: {name}. It has no schedule.")
        messages.success(request, done.format(name=loss.name))
    elif do == DELETE:
        require_plan_deletion(request, [loss.created_by_id])
        stored_plans.delete_plan(stored, actor(request))
        messages.success(request, gettext("Deleted {name}.").format(name=loss.name))
    else:
        what = _("There is nothing called {do!r} to be done.", do=do)
        todo = _("There are {archive}, {restore} and {delete}.", archive=ARCHIVE, restore=RESTORE, delete=DELETE)
        raise TeitenError(what, where="do", todo=todo)
