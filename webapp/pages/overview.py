"""The first page: what is known, what runs now, the latest runs, the agents."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_safe

from results.domain.messages import localized
from results.domain.states import RunState, Standing, TrialState
from results.models.audit import Scope
from results.queries.agents.agents import list_agents
from results.queries.agents.lines import agent_lines
from results.queries.presets.publications import any_published
from results.queries.presets.versions import versions
from results.queries.runs.going import count_going
from results.queries.runs.runs import Chosen, RunDetail, RunRow, list_runs, run_outline, with_cells
from results.queries.shared.run_filter import Archived, RunSearch, run_filter_choices
from results.queries.trends.lately import lately_changed
from results.queries.trends.watches import latest_worse
from webapp import run_filter
from webapp.access import allows, scope_of
from webapp.chooser import Chooser, text_choice
from webapp.forms.recipe_cards import first_fitting
from webapp.health import why_no_trial_starts
from webapp.versions.bars import bars
from webapp.versions.grid import carried, grid, metric_chips

MOST_RUNNING = 3
MOST_WORSE = 5
MOST_CHANGED = 3  # runs that are judged, with up to eight queries each
PAGE, KNOWN, NOW = "overview/index.html", "known", "overview"


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """What is known, and what runs now; htmx asks for either part alone."""
    part = request.headers.get("HX-Target", "")
    context: dict[str, Any] = {}
    if part != KNOWN:
        context |= _now()
    if part != NOW:
        context |= _known(request)
    response = render(request, {KNOWN: "overview/_known.html", NOW: "overview/_now.html"}.get(part, PAGE), context)
    if part == KNOWN:
        response["HX-Push-Url"] = reverse("overview") + (f"?{context['query']}" if context["query"] else "")
    return response


def _known(request: HttpRequest) -> dict[str, Any]:
    """What measured runs say of the versions, and what became worse lately."""
    workload, metric = (request.GET.get(name, "") for name in ("workload", "metric"))
    runs = run_filter.read(request.GET)
    table = versions(workload, metric=metric, chosen=runs, published=False)
    nothing = not (table.kept or table.exploratory or runs)
    pairs = [("workload", table.workload), ("metric", table.metric), *run_filter.pairs(runs)]
    put_away = nothing and _any_measured()
    workloads = text_choice(
        "workload", gettext("workload"), ("", *table.workloads), table.workload, gettext("all, one row each")
    )
    return grid(table) | {
        "bars": bars(table),
        "worse": latest_worse(MOST_WORSE),
        "chooser": Chooser((metric_chips(table.metric),), (workloads,)),
        "run_filter": run_filter.form(runs, run_filter_choices(), leave_out=(run_filter.PLAN, run_filter.TAG)),
        "counts": table,
        "carried": carried(pairs),
        "query": urlencode([(name, text) for name, text in pairs if text]),
        "put_away": put_away,
        "steps": _first_steps(request) if nothing and not put_away else None,
        "to_keep": _run_to_keep() if table.exploratory and not table.kept and not runs else None,
        "may_keep": allows(scope_of(request.user), Scope.PUBLISH),
    }


def _any_measured() -> bool:
    """Whether there is a run that was measured here, be it excluded or archived."""
    return bool(run_filter_choices(standings=(), archived=Archived.TOO).workloads)


def _first_steps(request: HttpRequest) -> list[tuple[str, str, bool]]:
    """Return (what to do, where, whether it is done) on the way to a first run."""
    agents = list_agents()
    run, address = gettext("Choose a ready plan that fits it, and run it"), reverse("plans:ready")
    if first := first_fitting(agents):
        card, address = first
        agent = card.fit.agent if card.fit else ""
        run = ngettext(
            "Look through {recipe} for {agent}, about {n:,} minute, and run it",
            "Look through {recipe} for {agent}, about {n:,} minutes, and run it",
            card.minutes,
        ).format(recipe=localized(card.recipe.name), agent=agent, n=card.minutes)
    return [
        (gettext("Sign in"), f"{reverse('account:sign-in')}?next=/", request.user.is_authenticated),
        (gettext("Add the machine to measure on"), reverse("agents:add"), bool(agents)),
        (run, address, False),
    ]


def _run_to_keep() -> RunRow | None:
    """The newest finished run that only its being exploratory leaves out of what is known. One query."""
    search = RunSearch(state=RunState.FINISHED, standing=Standing.EXPLORATORY)
    return next(iter(list_runs(search=search, published=False, limit=1)), None)


def _now() -> dict[str, Any]:
    going = list_runs(state=RunState.RUNNING, limit=None)
    running = sorted(going, key=lambda run: run.all_wait)  # those of which all trials wait come last
    waiting = sum(run.all_wait for run in going)
    details = [
        with_cells(run_outline(run, timezone.now(), summaries=False), Chosen()) for run in running[:MOST_RUNNING]
    ]
    return {
        "latest": list_runs(published=False, archived=False, limit=12),
        "agents": agent_lines(),
        "published": any_published(),
        "count": len(going) - waiting,
        "waiting": waiting,
        "running": [(detail, _running_cells(detail)) for detail in details],
        "more": len(running) - len(details),
        "no_room": why_no_trial_starts() if any(run.trials_waiting for run in going) else "",
    }


def _running_cells(detail: RunDetail) -> list[tuple[Any, Any]]:
    """Return (configuration, trial) of each trial that runs now."""
    running: list[tuple[Any, Any]] = []
    for row in detail.configurations:
        running += [(row, cell) for cell in row.cells if cell.state == TrialState.RUNNING]
    return running


@require_safe
def lately(request: HttpRequest) -> HttpResponse:
    """What changed in plans that nobody watches; asked for after the page, since every run of it is judged anew."""
    return render(request, "overview/_lately.html", {"lately": lately_changed(MOST_CHANGED)})


@require_safe
def now(request: HttpRequest) -> HttpResponse:
    """The line in the page's head."""
    return render(request, "parts/_running.html", {"going": count_going()})
