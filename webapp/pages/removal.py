"""Runs that are to go off the lists, or to be deleted: what that takes away, and doing it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_http_methods

from results.domain.errors import StateError, TeitenError, restored
from results.domain.messages import gettext_lazy as _
from results.domain.states import Standing
from results.domain.units import format_quantity
from results.models.audit import Scope
from results.queries.runs.loss import RunLoss, run_losses
from results.removal import Deleted, archive_runs, delete_runs, restore_runs
from webapp.access import NO_DELETION, actor, may_delete, needs, require_deletion, require_own
from webapp.language import joined
from webapp.pages.common import list_address, ticked_runs
from webapp.problems import missing_is_404, status_of

ARCHIVE, RESTORE, DELETE = "archive", "restore", "delete"


@require_http_methods(["GET", "POST"])
@needs(Scope.RUN)
@missing_is_404()
def remove(request: HttpRequest) -> HttpResponse:
    """What is lost of the ticked runs; then archive, put back or delete them, as the button says.

    Fields: `run`, once for each run; `do`, one of the words above; `query` of the list to return to."""
    fields = request.POST if request.method == "POST" else request.GET
    losses = run_losses(ticked_runs(fields))
    if request.method == "GET":
        return _preview(request, fields, losses)
    try:
        _do(request, fields.get("do", ""), losses)
    except StateError as error:
        return _preview(request, fields, run_losses([one.id for one in losses]), error)
    return redirect(_back(fields, losses if fields.get("do") != DELETE else ()))


def _back(fields: QueryDict, losses: Sequence[RunLoss]) -> str:
    """Return the address to return to: the list, or the page of the one run from which its reader came."""
    if "query" in fields or len(losses) != 1:
        return list_address(fields.get("query", ""))
    return reverse("runs:detail", args=[losses[0].id])


def _preview(
    request: HttpRequest, fields: QueryDict, losses: Sequence[RunLoss], error: StateError | None = None
) -> HttpResponse:
    context = _choices(losses) | {
        "losses": losses,
        "total": _total(losses),
        "denied": "" if may_delete(request, [one.created_by_id for one in losses]) else NO_DELETION,
        "query": fields.get("query"),
        "back": _back(fields, losses),
        "problem": restored(error.as_dict()) if error else None,
    }
    return render(request, "runs/remove.html", context, status=status_of(error) if error else 200)


def _choices(losses: Sequence[RunLoss]) -> dict[str, Any]:
    """Which runs can be archived, put back or deleted, and which cannot."""
    to_archive = [one for one in losses if not one.archived]
    return {
        "to_archive": to_archive,
        "kept": sum(one.standing == Standing.KEPT for one in to_archive),
        "to_restore": [one for one in losses if one.archived],
        "not_archived": [one for one in losses if one.keeps_on_lists],
        "not_deleted": [one for one in losses if one.keeps_it],
    }


def _total(losses: Sequence[RunLoss]) -> dict[str, int]:
    names = ("trials", "measurements", "noise", "bundle_bytes")
    return {name: sum(getattr(one, name) for one in losses) for name in names} | {
        "bundles": sum(len(one.bundles) for one in losses)
    }


def _do(request: HttpRequest, do: str, losses: Sequence[RunLoss]) -> None:
    """Do it and say what was done. Raises StateError, PermissionDenied, TeitenError."""
    ids = [one.id for one in losses]
    if do in (ARCHIVE, RESTORE):
        require_own(request, [one.created_by_id for one in losses], Scope.PUBLISH, "A run is archived and put back")
    if do == ARCHIVE:
        count = archive_runs(ids, actor(request))
        notice = ngettext(
            "Archived {n:,} run. Nothing is lost, and can be put back.",
            "Archived {n:,} runs. Nothing is lost, and can be put back.",
            count,
        )
        messages.success(request, notice.format(n=count))
    elif do == RESTORE:
        count = restore_runs(ids, actor(request))
        notice = ngettext("Put back on the lists: {n:,} run.", "Put back on the lists: {n:,} runs.", count)
        messages.success(request, notice.format(n=count))
    elif do == DELETE:
        require_deletion(request, [one.created_by_id for one in losses])
        _show_notice(request, delete_runs(ids, actor(request)))
    else:
        todo = _("There are {archive}, {restore} and {delete}.", archive=ARCHIVE, restore=RESTORE, delete=DELETE)
        raise TeitenError(_("There is nothing called {word!r} to be done.", word=do), where="do", todo=todo)


def _show_notice(request: HttpRequest, deleted: Deleted) -> None:
    total, count = _total(deleted.runs), len(deleted.runs)
    lost = [ngettext("{n:,} trial", "{n:,} trials", total["trials"]).format(n=total["trials"])]
    if files := total["bundles"]:
        lost.append(ngettext("{n:,} archive of raw files", "{n:,} archives of raw files", files).format(n=files))
        lost.append(format_quantity(total["bundle_bytes"], "B"))
    notice = ngettext("Deleted {n:,} run: {lost}.", "Deleted {n:,} runs: {lost}.", count)
    messages.success(request, notice.format(n=count, lost=joined(lost)))
    if deleted.left:
        notice = gettext("These files could not be removed, and are named in the audit log: {files}.")
        messages.error(request, notice.format(files="; ".join(deleted.left)))
