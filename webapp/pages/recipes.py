"""Ready plans: what there is, and from a choice of size and agents to the plan form filled in."""

from __future__ import annotations

from collections.abc import Sequence

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from results.domain.errors import PlanError, Problem
from results.domain.plan import from_mapping
from results.domain.plan.aa import twinned
from results.domain.plan.recipes import Recipe
from results.models.audit import Scope
from results.queries.agents.agents import list_agents
from results.queries.runs.plans import free_name
from webapp.access import allows, needs, scope_of
from webapp.forms.recipe_cards import shelf
from webapp.forms.recipes import describe, find_recipe, plan_of, recipes
from webapp.pages.plans import listed, show_form
from workers.registry import kinds


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    return render(
        request, "plans/recipes.html", {"shelf": shelf(request.GET, list_agents()), "broken": recipes().broken}
    )


@require_safe
def detail(request: HttpRequest, slug: str) -> HttpResponse:
    """The experiment, and the choice that it leaves open."""
    return _shown(request, find_recipe(slug))


@require_safe
@needs(Scope.RUN)
def use(request: HttpRequest, slug: str) -> HttpResponse:
    """The plan form, filled in by the choice in the address, with `aa` by the A/A plan of it; the choice again where it
    is not right."""
    recipe = find_recipe(slug)
    try:
        mapping = plan_of(recipe, request.GET, free_name(recipe.name))
    except PlanError as error:
        return _shown(request, recipe, error.problems)
    if "aa" not in request.GET:
        return show_form(request, mapping)
    try:
        plan = twinned(from_mapping(mapping, kinds()))
    except PlanError as error:
        return show_form(request, mapping, problems=error.problems)
    return show_form(request, plan.to_mapping() | {"name": free_name(plan.name)})


def _shown(request: HttpRequest, recipe: Recipe, problems: Sequence[Problem] = ()) -> HttpResponse:
    context = {
        "recipe": recipe,
        "choice": describe(recipe, request.GET, list_agents(), sent=bool(problems)),
        "problems": listed(problems),
        "may_run": allows(scope_of(request.user), Scope.RUN),
    }
    return render(request, "plans/recipe.html", context, status=422 if problems else 200)
