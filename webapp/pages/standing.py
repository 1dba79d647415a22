"""What users say of runs, of one or of several ticked: their standing and their tags."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from results.domain.errors import TeitenError
from results.domain.messages import gettext_lazy as _
from results.domain.messages import localized
from results.domain.states import Standing
from results.models.audit import Scope
from results.standing import change_tags, read_standing, set_private, set_standing
from webapp.access import actor, authors_of, lacking, may, needs, require_own
from webapp.language import joined
from webapp.pages.common import list_address, ticked_runs
from webapp.problems import missing_is_404

COMPARE, REMOVE, TAG, UNTAG = "compare", "remove", "tag", "untag"
HIDE, SHOW = "private", "public"
MEANS = {
    Standing.EXPLORATORY: _("Exploratory: on its own pages and in comparisons that name it, no part of what is known."),
    Standing.KEPT: _(
        "Kept: versions, access methods, topologies, trends and alerts are made of it and other kept runs."
    ),
    Standing.EXCLUDED: _("Excluded: not to be relied on, so it is in no view and lends other runs nothing."),
}

PRIVATE = _("Private: seen by its author and by administrators, and part of nothing that others see.")


@require_POST
@needs(Scope.RUN)
@missing_is_404()
def change(request: HttpRequest) -> HttpResponse:
    """Do to the ticked runs what the button says.

    Fields: `run`, once for each run; `do`, a standing or one of the words above; `tags`; `query` of the list to return
    to, `to` = overview for the first page; without either it is the run's page."""
    run_ids, do = ticked_runs(request.POST), request.POST.get("do", "")
    if do == COMPARE:
        return redirect(f"{reverse('comparison')}?run={','.join(map(str, run_ids))}")
    if do == REMOVE:
        query = urlencode({"run": run_ids, "query": request.POST.get("query", "")}, doseq=True)
        return redirect(f"{reverse('runs:remove')}?{query}")
    _require(request, do, run_ids)
    messages.success(
        request, _done(do, run_ids, request.POST.get("tags", "").replace(",", " ").split(), actor(request))
    )
    return _back(request.POST, run_ids)


def _require(request: HttpRequest, do: str, run_ids: Sequence[int]) -> None:
    """Refuse what the visitor may not do. Raises PermissionDenied."""
    if do in (TAG, UNTAG):
        require_own(request, authors_of(run_ids), Scope.PUBLISH, "A run is tagged")
    elif do in (HIDE, SHOW):
        require_own(request, authors_of(run_ids), Scope.ADMIN, "A run is made private or public")
    elif not may(request, Scope.PUBLISH):
        raise PermissionDenied(lacking(Scope.PUBLISH))


def _done(do: str, run_ids: Sequence[int], tags: Sequence[str], actor: str) -> str:
    """Do it, and return what was done in words."""
    if do in (TAG, UNTAG):
        if not tags:
            todo = _("Write one or several, with spaces between them.")
            raise TeitenError(_("No tag is named."), where="tags", todo=todo)
        count = change_tags(run_ids, actor, add=tags if do == TAG else (), remove=tags if do == UNTAG else ())
        return _tagged(do, count).format(n=count, tags=joined(tags))
    if do in (HIDE, SHOW):
        return _made(do, set_private(run_ids, do == HIDE, actor))
    standing = read_standing(do)
    count = set_standing(run_ids, standing, actor)
    notice = ngettext("{n:,} run changed. {means}", "{n:,} runs changed. {means}", count)
    return notice.format(n=count, means=localized(MEANS[standing]))


def _tagged(do: str, count: int) -> str:
    """Return what was done to the tags of so many runs, with places for their number and for the tags."""
    if do == TAG:
        return ngettext("Tagged {n:,} run: {tags}.", "Tagged {n:,} runs: {tags}.", count)
    return ngettext("Took tags off {n:,} run: {tags}.", "Took tags off {n:,} runs: {tags}.", count)


def _made(do: str, count: int) -> str:
    """Return that so many runs are private, or public, and what that means."""
    if do == HIDE:
        notice = ngettext("{n:,} run made private. {means}", "{n:,} runs made private. {means}", count)
        return notice.format(n=count, means=localized(PRIVATE))
    notice = ngettext(
        "{n:,} run made public. Everybody who may read sees it.",
        "{n:,} runs made public. Everybody who may read sees it.",
        count,
    )
    return notice.format(n=count)


def _back(fields: QueryDict, run_ids: Sequence[int]) -> HttpResponse:
    if fields.get("to") == "overview":
        return redirect("overview")
    if "query" in fields:
        return redirect(list_address(fields.get("query", "")))
    return redirect("runs:detail", run_ids[0])
