"""Agents: which there are, what is known of each, and whose host keys are trusted."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from results.agents import accept_host_key, create_agent, update_agent
from results.domain.environment.layers import flatten
from results.domain.errors import AgentError
from results.domain.matrix.program_needs import programs_of_kinds
from results.models import Agent
from results.models.agents import AgentState
from results.models.audit import Scope
from results.queries.agents.agents import agent_detail, archived_agents, list_agents
from results.queries.agents.clusters import agent_clusters
from results.queries.agents.noise import agent_noise
from webapp.access import actor, allows, needs, scope_of
from webapp.forms.agent import AgentForm
from webapp.problems import missing_is_404
from workers.registry import kinds
from workers.tasks import contact_now

KEY_STATES = (AgentState.UNKNOWN_KEY, AgentState.CHANGED_KEY)


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    context = {
        "agents": list_agents(),
        "archived": archived_agents(),
        "tools": programs_of_kinds(kinds()),
        "may_admin": _may_admin(request),
    }
    return render(request, "agents/list.html", context)


@require_safe
@missing_is_404()
def detail(request: HttpRequest, name: str) -> HttpResponse:
    agent, now = agent_detail(name), timezone.now()
    context = {
        "detail": agent,
        "agent": agent.row,
        "tools": programs_of_kinds(kinds()),
        "noise": agent_noise(name),
        "clusters": agent_clusters(agent.row, kinds(), now),
        "now": now,
        "layers": [(layer, flatten(layer.content)) for layer in agent.layers],
        "may_admin": _may_admin(request),
    }
    return render(request, "agents/detail.html", context)


@require_http_methods(["GET", "POST"])
@needs(Scope.ADMIN)
def add(request: HttpRequest) -> HttpResponse:
    form = AgentForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            agent = create_agent(form.fields_given(), actor(request))
        except ValidationError as error:
            form.refuse(error)
        else:
            return _contacted(request, agent)
    return render(request, "agents/form.html", {"form": form}, status=422 if form.errors else 200)


@require_http_methods(["GET", "POST"])
@needs(Scope.ADMIN)
@missing_is_404()
def edit(request: HttpRequest, name: str) -> HttpResponse:
    agent = Agent.objects.get(name=name)
    form = AgentForm(request.POST or None, instance=agent)
    if request.method == "POST" and form.is_valid():
        try:
            changed = update_agent(Agent.objects.get(name=name), form.fields_given(), actor(request))
        except ValidationError as error:
            form.refuse(error)
        else:
            return _contacted(request, changed)
    return render(request, "agents/form.html", {"form": form, "name": name}, status=422 if form.errors else 200)


@require_http_methods(["GET", "POST"])
@needs(Scope.ADMIN)
@missing_is_404()
def accept(request: HttpRequest, name: str) -> HttpResponse:
    """The host key: shown, and trusted only after an explicit yes to this very fingerprint."""
    agent = Agent.objects.get(name=name)
    if request.method == "POST":
        accept_host_key(agent, request.POST.get("fingerprint", ""), actor(request))
        return _contacted(request, agent)
    return render(request, "agents/accept.html", {"agent": agent})


@require_POST
@needs(Scope.ADMIN)
@missing_is_404()
def contact(request: HttpRequest, name: str) -> HttpResponse:
    return _contacted(request, Agent.objects.get(name=name))


def _contacted(request: HttpRequest, agent: Agent) -> HttpResponse:
    """Reach the agent now; what comes of it is stored on the agent and shown on the page we go to."""
    try:
        contact_now(agent.pk)
    except AgentError:
        agent.refresh_from_db()  # the error stands on the agent's page, unchanged
        return redirect("agents:accept" if _waits_for_key(agent) else "agents:detail", agent.name)
    messages.success(request, gettext("Agent {agent} was reached; its facts are up to date.").format(agent=agent.name))
    return redirect("agents:detail", agent.name)


def _waits_for_key(agent: Agent) -> bool:
    return agent.state in KEY_STATES and bool(agent.offered_fingerprint)


def _may_admin(request: HttpRequest) -> bool:
    return allows(scope_of(request.user), Scope.ADMIN)
