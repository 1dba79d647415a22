"""Plans: the list, one plan, and the form with its live preview."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from results import alerts, models, runs, stored_plans
from results.domain import toml_text
from results.domain.errors import PlanError, Problem, StateError, TeitenError, restored
from results.domain.kinds.host_factors import BUILT_IN
from results.domain.messages import gettext_lazy as _
from results.domain.messages import localized
from results.domain.plan import Plan, draft_of_toml
from results.domain.plan import read as read_plan
from results.domain.plan.aa import twinned
from results.models.agents import AgentState
from results.models.audit import Scope
from results.plan_check import complete_plan
from results.preview import preview as preview_of
from results.queries.agents.agents import list_agents
from results.queries.runs.plans import free_name, list_plans, plan_detail
from results.queries.trends.watches import plan_watches
from results.schedules import plan_schedule
from webapp.access import (
    actor,
    allows,
    is_admin,
    needs,
    person,
    refused_code,
    require_standing,
    scope_of,
)
from webapp.forms.plan import PlanForm, Posted, describe, draft_of_form, mapping_of, switched
from webapp.language import joined
from webapp.pages.common import PAGE, moment, number, page_of, toml_file
from webapp.problems import missing_is_404
from workers.registry import kinds
from workers.tasks import retry_after_discovery, wake_dispatcher

FRESH: Mapping[str, Any] = {"factors": {"installation": [], "clients": [1, 4]}}
LONGEST_TOML = 1_000_000


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """Plans by name: the first, or those after a name."""
    after = request.GET.get("after", "")
    page = page_of(list_plans(after=after, limit=PAGE + 1), PAGE, attrgetter("name"), "after", at=after)
    return render(request, "plans/list.html", {"page": page, "may_run": _may_run(request)})


@require_safe
@missing_is_404()
def detail(request: HttpRequest, plan_id: int) -> HttpResponse:
    watches, newest = plan_watches(plan_id)
    shown = plan_detail(plan_id)
    may_run, may_webhook = _may_run(request), allows(scope_of(request.user), Scope.ADMIN)
    context = {
        "detail": shown,
        "schedule": plan_schedule(plan_id, kinds(), timezone.now()) if shown.row.schedule else None,
        "watches": [(one, may_webhook or (may_run and one.channel != alerts.WEBHOOK)) for one in watches],
        "newest": newest,
        "may_run": may_run,
        "may_webhook": may_webhook,
        "refused": _refused(request, shown.toml) if may_run else [],
    }
    return render(request, "plans/detail.html", context)


def _refused(request: HttpRequest, toml: str) -> list[Problem]:
    """What of a plan's code keeps the visitor from running it; nothing where its kinds are gone: nobody can."""
    try:
        return refused_code(request, read_plan(toml, kinds()), kinds())
    except PlanError:
        return []


@require_http_methods(["GET", "POST"])
@needs(Scope.RUN)
@missing_is_404()
def add(request: HttpRequest) -> HttpResponse:
    """An empty form, or with ?from=ID a copy of that plan, with ?aa-plan=ID or ?aa-run=ID the A/A plan of a plan or a
    run; a POST stores the plan."""
    if request.method == "POST":
        return _saved(request, None)
    source = request.GET.get("from", "")
    if source:
        copy = _stored_plan(source).to_mapping()
        return show_form(request, copy | {"name": f"{copy['name']} (copy)"[:120]})
    if "aa-plan" in request.GET or "aa-run" in request.GET:
        plan = twinned(_aa_source(request))
        return show_form(request, plan.to_mapping() | {"name": free_name(plan.name)})
    return show_form(request, _suggested())


def _aa_source(request: HttpRequest) -> Plan:
    """The plan of `aa-plan`, or of the run of `aa-run`."""
    if "aa-run" in request.GET:
        return runs.plan_of_run(number(request.GET["aa-run"]) or 0, kinds())
    return _stored_plan(request.GET["aa-plan"])


def _stored_plan(plan_id: str) -> Plan:
    return stored_plans.load_plan(models.Plan.objects.get(pk=number(plan_id) or 0), kinds())


@require_http_methods(["GET", "POST"])
@needs(Scope.RUN)
@missing_is_404()
def edit(request: HttpRequest, plan_id: int) -> HttpResponse:
    stored = models.Plan.objects.get(pk=plan_id)
    if request.method == "POST":
        return _saved(request, stored)
    return show_form(request, toml_text.loads(stored.toml), stored=stored)


@require_POST
@needs(Scope.RUN)
def preview(request: HttpRequest) -> HttpResponse:
    """What the plan in the form would do, and what is wrong with it. With the form's fields as target: the fields
    anew, for the workload and topology chosen now."""
    if request.headers.get("HX-Target") == "plan-fields":
        form = _described(switched(request.POST, kinds()), request.POST)
        answer = render(request, "plans/_fields.html", {"form": form})
        answer["HX-Trigger-After-Settle"] = "fields-changed"  # the preview is of what stands in them now
        return answer
    return render(request, "plans/_preview.html", _previewed(request))


@require_http_methods(["GET", "POST"])
@needs(Scope.RUN)
def import_toml(request: HttpRequest) -> HttpResponse:
    """A plan as TOML, pasted or uploaded: stored, or opened in the form."""
    if request.method == "GET":
        return render(request, "plans/import.html")
    text = _posted_toml(request)
    try:
        if "open" in request.POST:
            return show_form(request, _parsed(text))
        plan = complete_plan(draft_of_toml(text, kinds()), kinds())
        require_standing(request, plan)
        stored = stored_plans.save_plan(plan, kinds(), user=person(request), actor=actor(request))
    except PlanError as error:
        return render(request, "plans/import.html", {"toml": text, "problem": restored(error.as_dict())}, status=422)
    messages.success(request, gettext("Imported {name}.").format(name=stored.name))
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
    """Start a run of the plan now, or at `start_at` (UTC)."""
    stored = models.Plan.objects.get(pk=plan_id)
    require_as_shown(request, stored)
    start_at = _moment(request.POST.get("start_at", ""))
    plan = stored_plans.load_plan(stored, kinds())
    created = retry_after_discovery(
        lambda: runs.create_run(
            plan,
            kinds(),
            actor=actor(request),
            stored=stored,
            user=person(request),
            start_at=start_at,
            as_admin=is_admin(request),
            private="private" in request.POST,
        )
    )
    wake_dispatcher()
    return redirect("runs:detail", created.pk)


def require_as_shown(request: HttpRequest, stored: models.Plan) -> None:
    """Raise StateError where somebody has changed the plan since its page was shown: who starts it answers for it."""
    if request.POST.get("hash", stored.hash) != stored.hash:
        what = _("The plan {name!r} has been changed since this page was shown.", name=stored.name)
        raise StateError(what, where="plan", todo=_("Look at it again, then start or schedule it."))


@require_POST
@needs(Scope.RUN)
@missing_is_404()
def watch(request: HttpRequest, plan_id: int) -> HttpResponse:
    """Have an address notified of runs that are worse. A webhook takes an administrator: the worker calls it from
    inside."""
    channel, target = request.POST.get("channel", ""), request.POST.get("target", "")
    _require_channel(request, channel)
    stored = models.Plan.objects.get(pk=plan_id)
    alerts.watch(stored, channel, target, user=person(request), actor=actor(request))
    messages.success(request, gettext("{target} is notified of runs that end from now on.").format(target=target))
    return redirect("plans:detail", plan_id)


@require_POST
@needs(Scope.RUN)
@missing_is_404()
def unwatch(request: HttpRequest, plan_id: int, watch_id: int) -> HttpResponse:
    row = models.Watch.objects.get(pk=watch_id, plan_id=plan_id)
    _require_channel(request, row.channel)
    alerts.unwatch(row, actor(request))
    messages.success(request, gettext("Removed."))
    return redirect("plans:detail", plan_id)


def _require_channel(request: HttpRequest, channel: str) -> None:
    if channel == alerts.WEBHOOK and not allows(scope_of(request.user), Scope.ADMIN):
        raise PermissionDenied(_("A webhook is set and removed by an administrator."))


def _saved(request: HttpRequest, stored: models.Plan | None) -> HttpResponse:
    try:
        plan = _posted_plan(request)
        row = stored_plans.save_plan(
            plan, kinds(), user=person(request), actor=actor(request), stored=stored, as_admin=is_admin(request)
        )
    except PlanError as error:
        mapping = mapping_of(request.POST, kinds())
        return show_form(request, mapping, stored=stored, problems=error.problems, posted=request.POST)
    if "run" not in request.POST:
        messages.success(request, gettext("Stored {name}.").format(name=row.name))
        return redirect("plans:detail", row.pk)
    return _run_stored(request, plan, row)


def _posted_plan(request: HttpRequest) -> Plan:
    """The plan in the form. Raises PlanError with everything that is wrong."""
    draft = draft_of_form(request.POST, kinds())
    require_standing(request, draft.plan)
    return complete_plan(draft, kinds())


def _run_stored(request: HttpRequest, plan: Plan, row: models.Plan) -> HttpResponse:
    try:
        created = retry_after_discovery(
            lambda: runs.create_run(
                plan,
                kinds(),
                actor=actor(request),
                stored=row,
                user=person(request),
                as_admin=is_admin(request),
                private="private" in request.POST,
            )
        )
    except PlanError as error:
        return show_form(request, plan.to_mapping(), stored=row, problems=error.problems)
    wake_dispatcher()
    return redirect("runs:detail", created.pk)


def show_form(
    request: HttpRequest,
    mapping: Mapping[str, Any],
    *,
    stored: models.Plan | None = None,
    problems: Sequence[Problem] = (),
    posted: Posted | None = None,
) -> HttpResponse:
    """The plan form, filled with a mapping, right or wrong."""
    context = {
        "form": _described(mapping, posted),
        "stored": stored,
        "problems": listed(problems),
    }
    return render(request, "plans/form.html", context, status=422 if problems else 200)


def listed(problems: Sequence[Problem]) -> list[dict[str, str]]:
    """Problems in the reader's language, for a page and its script."""
    return [{name: localized(text) for name, text in restored(problem.as_dict()).items()} for problem in problems]


def _described(mapping: Mapping[str, Any], posted: Posted | None = None) -> PlanForm:
    agents = list_agents()
    installations: set[str] = set()
    host_factors: dict[str, str] = dict(BUILT_IN)
    for agent in agents:
        installations.update(installation.name for installation in agent.installations if installation.present)
        for factor in agent.host_factors:
            levels = joined(level.label for level in factor.levels)
            host_factors[factor.name] = gettext("{levels}. {help}").format(levels=levels, help=factor.help)
    return describe(mapping, kinds(), [agent.name for agent in agents], sorted(installations), posted, host_factors)


def _previewed(request: HttpRequest) -> dict[str, Any]:
    try:
        plan = _posted_plan(request)
        previewed = retry_after_discovery(lambda: preview_of(plan, kinds()))
        refused = listed(refused_code(request, plan, kinds()))
        return {"preview": previewed, "problems": [], "refused": refused}
    except PlanError as error:
        return {"problems": listed(error.problems)}


def _suggested() -> Mapping[str, Any]:
    """A start: the first agent that is ready, every version on it."""
    ready = [agent for agent in list_agents() if agent.enabled and agent.state == AgentState.READY]
    if not ready:
        return FRESH
    agent = ready[0]
    versions = [installation.name for installation in reversed(agent.installations) if installation.present]
    return {"agents": {"primary": agent.name}, "factors": FRESH["factors"] | {"installation": versions}}


def _posted_toml(request: HttpRequest) -> str:
    upload = request.FILES.get("file")
    if upload is None:
        return request.POST.get("toml", "").replace("\r\n", "\n")
    if (upload.size or 0) > LONGEST_TOML:
        raise PlanError([Problem("file", _("The file is larger than 1 MB."), _("A plan is a small text file."))])
    return upload.read().decode("utf-8", errors="replace")


def _parsed(text: str) -> dict[str, Any]:
    try:
        return toml_text.loads(text)
    except tomllib.TOMLDecodeError as error:
        what = _("The file is not TOML: {error}.", error=str(error))
        raise PlanError([Problem("TOML", what, _("Correct that line."))]) from error


def _moment(text: str) -> datetime | None:
    try:
        return moment(text, "start_at") if text else None
    except TeitenError as error:
        raise PlanError([Problem(error.where, error.what, error.todo)]) from error


def _may_run(request: HttpRequest) -> bool:
    return allows(scope_of(request.user), Scope.RUN)
