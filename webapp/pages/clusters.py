"""An agent's clusters: which are chosen to be removed, and their removal."""

from __future__ import annotations

from collections.abc import Collection

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_http_methods

from results.domain.errors import StateError, restored
from results.domain.messages import gettext_lazy as _
from results.domain.units import format_quantity
from results.models.audit import Scope
from results.queries.agents.agents import agent_row
from results.queries.agents.clusters import ClusterRow, Pruned, agent_clusters
from webapp.access import actor, needs
from webapp.problems import missing_is_404, status_of
from workers.registry import kinds
from workers.tasks import remove_clusters


@require_http_methods(["GET", "POST"])
@needs(Scope.ADMIN)
@missing_is_404()
def remove(request: HttpRequest, name: str) -> HttpResponse:
    """What could be removed, and what is due; then the removal of what was chosen."""
    if request.method == "GET":
        return _preview(request, name)
    chosen = request.POST.getlist("directory")
    if not chosen:
        where = _("agent {agent}", agent=name)
        error = StateError(_("No cluster was chosen."), where=where, todo=_("Choose some, or leave them."))
        return _preview(request, name, error, chosen)
    try:
        done = remove_clusters(agent_row(name).id, chosen, actor(request))
    except StateError as error:
        return _preview(request, name, error, chosen)
    _show_notice(request, done)
    return redirect("agents:detail", name)


def _preview(
    request: HttpRequest, name: str, error: StateError | None = None, chosen: Collection[str] = ()
) -> HttpResponse:
    agent, now = agent_row(name), timezone.now()
    clusters = agent_clusters(agent, kinds(), now)
    context = {
        "agent": agent,
        "clusters": clusters,
        "chosen": [row for row in clusters.clusters if row.directory in chosen] if error else clusters.due(now),
        "now": now,
        "problem": restored(error.as_dict()) if error else None,
    }
    return render(request, "agents/clusters.html", context, status=status_of(error) if error else 200)


def _show_notice(request: HttpRequest, done: Pruned) -> None:
    if done.removed:
        messages.success(request, gettext("Removed: {clusters}.").format(clusters=_counted(done.removed)))
    if done.begun or done.left:
        notice = gettext(
            "Not all at once: {clusters} would take longer, or trials need them since. "
            "What was begun goes on by itself."
        )
        messages.info(request, notice.format(clusters=_counted([*done.begun, *done.left])))
    if done.failed:
        notice = gettext("Could not be removed: {clusters}. Why stands beside each.")
        messages.error(request, notice.format(clusters=_counted(done.failed)))


def _counted(rows: Collection[ClusterRow]) -> str:
    size = format_quantity(sum(row.size_bytes for row in rows), "B")
    return ngettext("{n:,} cluster, {size}", "{n:,} clusters, {size}", len(rows)).format(n=len(rows), size=size)
