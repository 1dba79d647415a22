"""An agent's host factors: defined in a form or as TOML, by operators only."""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from results import hostfactors
from results.domain.errors import DefinitionError, restored
from results.domain.kinds.host_factors import HostFactor as Definition
from results.domain.kinds.host_factors import read, to_toml
from results.models import Agent, HostFactor
from results.models.audit import Scope
from webapp.access import actor, needs
from webapp.forms.host import HostForm, described, factor_posted, refused
from webapp.language import joined
from webapp.pages.common import toml_file
from webapp.problems import missing_is_404


@require_http_methods(["GET", "POST"])
@needs(Scope.ADMIN)
@missing_is_404()
def edit(request: HttpRequest, name: str, factor: str = "") -> HttpResponse:
    """A new host factor, or one that is there."""
    agent = Agent.objects.get(name=name)
    stored = HostFactor.objects.get(agent=agent, name=factor) if factor else None
    form = described(read(stored.toml)[0]) if stored else HostForm()
    if request.method == "POST":
        try:
            definition = factor_posted(request.POST, factor)
        except DefinitionError as error:
            form = refused(request.POST, error)
        else:
            hostfactors.define(agent, [definition], actor(request))
            _show_notice(request, [definition])
            return redirect("agents:detail", agent.name)
    context = {"agent": agent, "form": form, "factor": factor}
    return render(request, "agents/host.html", context, status=422 if _has_problems(form) else 200)


@require_POST
@needs(Scope.ADMIN)
@missing_is_404()
def import_toml(request: HttpRequest, name: str) -> HttpResponse:
    """Defines every factor of the text, or none where something is wrong with it."""
    agent = Agent.objects.get(name=name)
    text = request.POST.get("toml", "").replace("\r\n", "\n")
    try:
        definitions = read(text)
    except DefinitionError as error:
        context = {"agent": agent, "form": HostForm(), "factor": "", "toml": text, "problem": restored(error.as_dict())}
        return render(request, "agents/host.html", context, status=422)
    hostfactors.define(agent, definitions, actor(request))
    _show_notice(request, definitions)
    return redirect("agents:detail", agent.name)


@require_safe
@missing_is_404()
def export(request: HttpRequest, name: str) -> HttpResponse:
    agent = Agent.objects.prefetch_related("host_factors").get(name=name)
    return toml_file(to_toml(hostfactors.known_host(agent).factors.values()), f"{name} host factors")


@require_POST
@needs(Scope.ADMIN)
@missing_is_404()
def remove(request: HttpRequest, name: str, factor: str) -> HttpResponse:
    agent = Agent.objects.get(name=name)
    hostfactors.remove(agent, factor, actor(request))
    notice = gettext("Plans may no longer name {factor} on {agent}.")
    messages.success(request, notice.format(factor=f"host.{factor}", agent=name))
    return redirect("agents:detail", name)


def _show_notice(request: HttpRequest, definitions: Iterable[Definition]) -> None:
    names = joined(f"host.{definition.name}" for definition in definitions)
    messages.success(request, gettext("Plans may name {factors} now.").format(factors=names))


def _has_problems(form: HostForm) -> bool:
    return bool(form.problems) or any(level.problem for level in form.levels)
