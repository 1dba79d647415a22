"""An agent that is to go off the lists, to be put back, or to be deleted: what hangs on it, and doing it."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from results.agent_removal import archive_agent, delete_agent, restore_agent
from results.domain.errors import StateError, TeitenError, restored
from results.domain.messages import gettext_lazy as _
from results.models.audit import Scope
from results.queries.agents.loss import agent_loss
from webapp.access import actor, needs
from webapp.problems import missing_is_404, status_of

ARCHIVE, RESTORE, DELETE = "archive", "restore", "delete"


@require_http_methods(["GET", "POST"])
@needs(Scope.ADMIN)
@missing_is_404()
def remove(request: HttpRequest, name: str) -> HttpResponse:
    """What hangs on an agent; then archive, put back or delete it, as the button `do` says."""
    if request.method == "GET":
        return _preview(request, name)
    do = request.POST.get("do", "")
    try:
        _do(request, do, name)
    except StateError as error:
        return _preview(request, name, error)
    return redirect("agents:detail", name) if do == RESTORE else redirect("agents:list")


def _preview(request: HttpRequest, name: str, error: StateError | None = None) -> HttpResponse:
    context = {"loss": agent_loss(name), "problem": restored(error.as_dict()) if error else None}
    return render(request, "agents/remove.html", context, status=status_of(error) if error else 200)


def _do(request: HttpRequest, do: str, name: str) -> None:
    """Do it and say what was done. Raises StateError, TeitenError."""
    if do == ARCHIVE:
        archive_agent(name, actor(request))
        notice = gettext("Archived agent {agent}. Nothing is lost, and it can be put back.")
    elif do == RESTORE:
        restore_agent(name, actor(request))
        notice = gettext("Put back on the lists: {agent}. It is given trials once it is enabled: Edit.")
    elif do == DELETE:
        delete_agent(name, actor(request))
        notice = gettext("Deleted agent {agent}. What lies on the machine is still there.")
    else:
        todo = _("There are {archive}, {restore} and {delete}.", archive=ARCHIVE, restore=RESTORE, delete=DELETE)
        raise TeitenError(_("There is nothing called {name} to be done.", name=repr(do)), where="do", todo=todo)
    messages.success(request, notice.format(agent=name))
