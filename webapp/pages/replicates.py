"""Adding replicates to runs: what that would take, and the question whether to."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from results import runs
from results.domain import plan
from results.domain.errors import TeitenError
from results.domain.messages import gettext_lazy as _
from results.models import Run
from results.models.audit import Scope
from results.queries.runs.extensions import extensions, longest
from results.queries.shared.ids import NotFound
from results.trial_making import require_room
from webapp.access import actor, needs, require_plan
from webapp.compare.confounders import listed
from webapp.pages.common import number
from webapp.problems import missing_is_404
from workers.registry import kinds
from workers.tasks import wake_dispatcher

HAD = "had-"  # before a run's number: the blocks that it had when the question was asked


@require_http_methods(["GET", "HEAD", "POST"])
@needs(Scope.RUN)
@missing_is_404()
def blocks(request: HttpRequest) -> HttpResponse:
    """Ask whether to add replicates, and add them once that was confirmed on the page.

    Parameters: `run`, once for each run; `blocks`, how many to add to each."""
    fields = request.POST if request.method == "POST" else request.GET
    run_ids, count = _run_ids(fields), number(fields.get("blocks", "1")) or 0
    _require(request, run_ids, count)
    if request.method != "POST":
        return _question(request, run_ids, count)
    had = {run_id: number(fields.get(f"{HAD}{run_id}", "")) for run_id in run_ids}
    if None in had.values():
        query = urlencode({"run": run_ids, "blocks": count}, doseq=True)
        return redirect(f"{reverse('runs:blocks')}?{query}")
    runs.extend({run_id: before for run_id, before in had.items() if before is not None}, count, actor(request))
    wake_dispatcher()
    text = ngettext("Added {n:,} replicate to {runs}.", "Added {n:,} replicates to {runs}.", count)
    messages.success(request, text.format(n=count, runs=_named(run_ids)))
    return redirect(_after(run_ids))


def _run_ids(fields: QueryDict) -> list[int]:
    texts = [text for text in fields.getlist("run") if text]
    if not texts:
        todo = _("Choose the runs that are to have more replicates.")
        raise TeitenError(_("No run is named."), where="run", todo=todo)
    ids = [number(text) for text in texts]
    if None in ids:
        raise NotFound(_("There is no run {run}.", run=texts[ids.index(None)]))
    return sorted({run_id for run_id in ids if run_id is not None})


def _require(request: HttpRequest, run_ids: list[int], count: int) -> None:
    """Refuse what `runs.extend` would refuse, and runs whose plan the visitor may not start. Raises TeitenError,
    PermissionDenied."""
    runs.require_count(count)
    stored = Run.objects.select_related("imported").in_bulk(run_ids)
    for run_id in run_ids:
        if (run := stored.get(run_id)) is None:
            raise NotFound(_("There is no run {run}.", run=run_id))
        runs.require_extendable(run)
        require_plan(request, plan.read(run.toml, kinds()), kinds())


def _question(request: HttpRequest, run_ids: list[int], count: int) -> HttpResponse:
    planned = extensions(run_ids)
    for one in planned:
        require_room(one.trials, one.blocks, count)
    seconds, trials = longest(planned), count * sum(one.trials for one in planned)
    context = {
        "extensions": planned,
        "blocks": count,
        "most": runs.MOST_BLOCKS,
        "trials": ngettext("{n:,} trial", "{n:,} trials", trials).format(n=trials),
        "seconds": None if seconds is None else count * seconds,
        "waiting": sum(one.waiting for one in planned),
        "rows": [
            (one, one.blocks + count, f"{one.trials * count:,}", None if one.seconds is None else one.seconds * count)
            for one in planned
        ],
        "named": _named(run_ids),
        "had": HAD,
        "back": _after(run_ids),
    }
    return render(request, "runs/replicates.html", context)


def _after(run_ids: list[int]) -> str:
    return reverse("runs:detail", args=run_ids) if len(run_ids) == 1 else reverse("runs:list")


def _named(run_ids: list[int]) -> str:
    """'run 3', 'runs 3, 4 and 7'."""
    texts = [str(run_id) for run_id in run_ids]
    return ngettext("run {runs}", "runs {runs}", len(texts)).format(runs=listed(texts))
