"""Plans: the list, one plan, and the form with its live preview."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from results import models, runs
from results.errors import PlanError, Problem
from results.models.agents import AgentState
from results.models.audit import Scope
from results.plan import Plan, read
from results.preview import preview as preview_of
from results.queries.agents import list_agents
from results.queries.plans import list_plans, plan_detail
from webapp.access import actor, allows, needs, person, scope_of
from webapp.forms.plan import PlanForm, Posted, describe, mapping_of, plan_of
from webapp.pages.common import number, toml_file
from webapp.problems import missing_is_404
from workers.registry import kinds
from workers.tasks import ring

FRESH: Mapping[str, Any] = {"factors": {"installation": [], "clients": [1, 4]}}
LONGEST_TOML = 1_000_000


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    return render(request, "plans/list.html", {"plans": list_plans(), "may_run": _may_run(request)})


@require_safe
@missing_is_404()
def detail(request: HttpRequest, plan_id: int) -> HttpResponse:
    return render(request, "plans/detail.html", {"detail": plan_detail(plan_id), "may_run": _may_run(request)})


@require_http_methods(["GET", "POST"])
@needs(Scope.RUN)
@missing_is_404()
def add(request: HttpRequest) -> HttpResponse:
    """An empty form, or with ?from=ID a copy of that plan; a POST stores the plan."""
    if request.method == "POST":
        return _saved(request, None)
    source = request.GET.get("from", "")
    if source:
        copy = runs.load_plan(models.Plan.objects.get(pk=number(source) or 0), kinds()).to_mapping()
        return _form(request, copy | {"name": f"{copy['name']} (copy)"[:120]})
    return _form(request, _suggested())


@require_http_methods(["GET", "POST"])
@needs(Scope.RUN)
@missing_is_404()
def edit(request: HttpRequest, plan_id: int) -> HttpResponse:
    stored = models.Plan.objects.get(pk=plan_id)
    if request.method == "POST":
        return _saved(request, stored)
    return _form(request, tomllib.loads(stored.toml), stored=stored)


@require_POST
@needs(Scope.RUN)
def preview(request: HttpRequest) -> HttpResponse:
    """What the plan in the form would do, and what is wrong with it. With the form's fields as target: the fields
    anew, for the workload and topology chosen now."""
    if request.headers.get("HX-Target") == "plan-fields":
        form = _described(mapping_of(request.POST, kinds()), request.POST)
        return render(request, "plans/_fields.html", {"form": form})
    return render(request, "plans/_preview.html", _previewed(request.POST))


@require_http_methods(["GET", "POST"])
@needs(Scope.RUN)
def import_toml(request: HttpRequest) -> HttpResponse:
    """A plan as TOML, pasted or uploaded: stored, or opened in the form."""
    if request.method == "GET":
        return render(request, "plans/import.html")
    text = _posted_toml(request)
    try:
        if "open" in request.POST:
            return _form(request, _parsed(text))
        stored = runs.save_plan(read(text, kinds()), user=person(request), actor=actor(request))
    except PlanError as error:
        return render(request, "plans/import.html", {"toml": text, "problem": error.as_dict()}, status=422)
    messages.success(request, f"Imported {stored.name}.")
    return redirect("plans:detail", stored.pk)


@require_safe
@missing_is_404()
def export(request: HttpRequest, plan_id: int) -> HttpResponse:
    stored = models.Plan.objects.only("toml", "name").get(pk=plan_id)
    return toml_file(stored.toml, stored.name)


@require_POST
@needs(Scope.RUN)
@missing_is_404()
def run(request: HttpRequest, plan_id: int) -> HttpResponse:
    """Now, or at `start_at` (UTC)."""
    stored = models.Plan.objects.get(pk=plan_id)
    start_at = _moment(request.POST.get("start_at", ""))
    made = runs.create_run(
        runs.load_plan(stored, kinds()),
        kinds(),
        actor=actor(request),
        stored=stored,
        user=person(request),
        start_at=start_at,
    )
    ring()
    return redirect("runs:detail", made.pk)


@require_POST
@needs(Scope.RUN)
@missing_is_404()
def schedule(request: HttpRequest, plan_id: int) -> HttpResponse:
    cron = request.POST.get("cron", "").strip()
    runs.schedule_plan(models.Plan.objects.get(pk=plan_id), cron, actor(request))
    messages.success(request, f"It runs at “{cron}” (UTC)." if cron else "It runs by itself no longer.")
    return redirect("plans:detail", plan_id)


@require_POST
@needs(Scope.RUN)
@missing_is_404()
def archive(request: HttpRequest, plan_id: int) -> HttpResponse:
    runs.archive_plan(models.Plan.objects.get(pk=plan_id), actor(request))
    messages.success(request, "Archived: the plan is off the list, its runs stay.")
    return redirect("plans:list")


def _saved(request: HttpRequest, stored: models.Plan | None) -> HttpResponse:
    try:
        plan = plan_of(request.POST, kinds())
        row = runs.save_plan(plan, user=person(request), actor=actor(request), stored=stored)
    except PlanError as error:
        mapping = mapping_of(request.POST, kinds())
        return _form(request, mapping, stored=stored, problems=error.problems, posted=request.POST)
    if "run" not in request.POST:
        messages.success(request, f"Stored {row.name}.")
        return redirect("plans:detail", row.pk)
    return _run_stored(request, plan, row)


def _run_stored(request: HttpRequest, plan: Plan, row: models.Plan) -> HttpResponse:
    try:
        made = runs.create_run(plan, kinds(), actor=actor(request), stored=row, user=person(request))
    except PlanError as error:
        return _form(request, plan.to_mapping(), stored=row, problems=error.problems)
    ring()
    return redirect("runs:detail", made.pk)


def _form(
    request: HttpRequest,
    mapping: Mapping[str, Any],
    *,
    stored: models.Plan | None = None,
    problems: Sequence[Problem] = (),
    posted: Posted | None = None,
) -> HttpResponse:
    context = {
        "form": _described(mapping, posted),
        "stored": stored,
        "problems": [problem.as_dict() for problem in problems],
    }
    return render(request, "plans/form.html", context, status=422 if problems else 200)


def _described(mapping: Mapping[str, Any], posted: Posted | None = None) -> PlanForm:
    agents = list_agents()
    names = {one.name for agent in agents for one in agent.installations if one.present}
    return describe(mapping, kinds(), [agent.name for agent in agents], sorted(names), posted)


def _previewed(posted: Posted) -> dict[str, Any]:
    try:
        return {"preview": preview_of(plan_of(posted, kinds()), kinds()), "problems": []}
    except PlanError as error:
        return {"problems": [problem.as_dict() for problem in error.problems]}


def _suggested() -> Mapping[str, Any]:
    """A start: the first agent that is ready, every version on it."""
    ready = [agent for agent in list_agents() if agent.enabled and agent.state == AgentState.READY]
    if not ready:
        return FRESH
    versions = [one.name for one in reversed(ready[0].installations) if one.present]
    return {"agents": {"primary": ready[0].name}, "factors": FRESH["factors"] | {"installation": versions}}


def _posted_toml(request: HttpRequest) -> str:
    upload = request.FILES.get("file")
    if upload is None:
        return request.POST.get("toml", "").replace("\r\n", "\n")
    if (upload.size or 0) > LONGEST_TOML:
        raise PlanError([Problem("file", "The file is larger than 1 MB.", "A plan is a small text file.")])
    return upload.read().decode("utf-8", errors="replace")


def _parsed(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PlanError([Problem("TOML", f"The file is not TOML: {error}.", "Mend that line.")]) from error


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC) if text else None
    except ValueError as error:
        raise PlanError([Problem("start_at", f"{text!r} is not a time.", "As 2026-01-31T02:00, in UTC.")]) from error


def _may_run(request: HttpRequest) -> bool:
    return allows(scope_of(request.user), Scope.RUN)
