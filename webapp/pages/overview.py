"""What runs now, the latest runs, the agents."""

from __future__ import annotations

from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from results.domain.states import RunState, TrialState
from results.queries.agents.agents import list_agents
from results.queries.presets.publications import any_published
from results.queries.runs.runs import count_runs, list_runs, run_detail

MOST_RUNNING = 3


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    latest = list_runs(published=False, limit=12)
    agents = list_agents()
    running = list_runs(state=RunState.RUNNING, limit=None)
    details = [run_detail(run.id, timezone.now()) for run in running[:MOST_RUNNING]]
    now_running = [
        (
            detail,
            [(row, cell) for row in detail.configurations for cell in row.cells if cell.state == TrialState.RUNNING],
        )
        for detail in details
    ]
    context = {
        "latest": latest,
        "agents": agents,
        "published": any_published(),
        "count": len(running),
        "running": now_running,
        "more": len(running) - len(details),
    }
    template = "overview/_now.html" if request.headers.get("HX-Target") == "overview" else "overview/index.html"
    return render(request, template, context)


@require_safe
def now(request: HttpRequest) -> HttpResponse:
    """The line in the page's head."""
    return render(request, "parts/_running.html", {"running": count_runs(RunState.RUNNING)})


@require_safe
def health(request: HttpRequest) -> JsonResponse:
    """For load balancers and process managers: 200 when the warehouse answers."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return JsonResponse({"status": "ok"})
