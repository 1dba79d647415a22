"""The choice that makes a plan of a recipe: its size, the agents, and which of their PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlencode

from django.conf import settings
from django.http import Http404
from django.urls import reverse

from results.domain.messages import gettext_lazy as _
from results.domain.nearest import suggestion
from results.domain.plan.recipes import Build, Compare, Recipe, Recipes, read_all
from results.models.agents import AgentState
from results.queries.agents.agents import AgentRow, InstallationRow
from webapp.forms.levels import text_of, typed
from webapp.forms.plan import Input, agent_inputs
from workers.registry import kinds

HEAP = "heap"
RecipeStamps = tuple[Path, tuple[tuple[str, int, int], ...]]


class RecipeOptions(Protocol):
    """What a QueryDict offers."""

    def get(self, name: str, /) -> Any: ...
    def getlist(self, name: str, /) -> list[str]: ...
    def __contains__(self, name: object, /) -> bool: ...


@dataclass(frozen=True)
class Option:
    value: str
    chosen: bool
    note: str = ""


@dataclass(frozen=True)
class Choice:
    """What the page shows.

    whole: all levels, replicates and seconds of the plan, not its short form.
    field: what the options are called when they are sent.
    agent: the one they are of."""

    size: str
    whole: bool
    agents: tuple[Input, ...]
    agent: str
    field: str
    options: tuple[Option, ...]
    single: bool


def recipes() -> Recipes:
    """Every ready plan that comes with this Teiten. The files are read again when one of them has changed."""
    return recipes_at(stamps())


def stamps() -> RecipeStamps:
    """Return what tells whether the files of ready plans have changed."""
    folder: Path = settings.TEITEN_PLAN_DIR
    stats = ((path.name, path.stat()) for path in sorted(folder.glob("*.toml")))
    return folder, tuple((name, stat.st_mtime_ns, stat.st_size) for name, stat in stats)


@lru_cache(maxsize=2)
def recipes_at(read: RecipeStamps) -> Recipes:
    """Return the ready plans of a folder as its files are."""
    return read_all(read[0], kinds())


def find_recipe(slug: str) -> Recipe:
    """Raises Http404; PlanError where the file is no ready plan."""
    plans = recipes()
    for broken in plans.broken:
        if broken.slug == slug:
            raise broken.error
    if (recipe := plans.find(slug)) is None:
        nearest = suggestion(slug, [one.slug for one in plans.plans])
        raise Http404(_("There is no ready plan {slug!r}. {nearest}", slug=slug, nearest=nearest))
    return recipe


def plan_of(recipe: Recipe, options: RecipeOptions, name: str = "") -> dict[str, Any]:
    """The address's choice → the plan's mapping. Raises PlanError by field."""
    size = str(options.get("size") or "").strip()
    return recipe.plan(
        size=typed(recipe.size, size) if size else None,
        agents={role: agent for role in recipe.roles if (agent := options.get(f"agents.{role}"))},
        installations=options.getlist("installations"),
        builds=[build_of(text) for text in options.getlist("builds")],
        name=name,
        whole=bool(options.get("whole")),
    )


def build_of(text: str) -> Build:
    """'postgresql-16.9 heap2' → the installation and its access method."""
    installation, _, access_method = text.strip().rpartition(" ")
    return Build(installation, access_method) if installation else Build(access_method, HEAP)


def describe(recipe: Recipe, options: RecipeOptions, agents: Sequence[AgentRow], *, sent: bool = False) -> Choice:
    """What to choose from, as asked so far: without an agent the first that is ready, without PostgreSQL those that
    are sensible.

    sent: the choice was made, and what is not in it was not chosen."""
    main = recipe.roles[0]
    values = {role: str(options.get(f"agents.{role}") or "") for role in recipe.roles}
    values[main] = values[main] or _first_usable(agents)
    agent = _named(values[main], agents)
    field = _field(recipe)
    chosen = set(options.getlist(field)) if sent or field in options else set(sensible(recipe, agent))
    return Choice(
        size=str(options.get("size") or "") or text_of(recipe.laptop),
        whole=bool(options.get("whole")),
        agents=tuple(agent_inputs(values, recipe.roles, [agent.name for agent in agents])),
        agent=values[main],
        field=field,
        options=tuple(Option(value, value in chosen, _note(recipe, row)) for row, value in _offered(recipe, agent)),
        single=recipe.compare is Compare.ONE,
    )


def sensible(recipe: Recipe, agent: AgentRow | None) -> list[str]:
    """What is compared where nobody says what: of the agent's PostgreSQL that the workload can use, the oldest and the
    newest, so that it stays short; the newest where the plan measures one. Where the plan compares builds: all builds
    of each PostgreSQL that has another access method than heap, if there is one."""
    usable = [(row, value) for row, value in _offered(recipe, agent) if row.version_num >= recipe.minimum_version]
    values = [value for _, value in usable]
    if recipe.compare is Compare.ONE:
        return values[-1:]
    if recipe.compare is Compare.BUILDS:
        others = [value for row, value in usable if set(row.access_methods) - {HEAP}]
        if others:
            return others
    return list(dict.fromkeys(values[:1] + values[-1:]))


def complete_options(recipe: Recipe, chosen: Mapping[str, Any], agents: Sequence[AgentRow]) -> dict[str, Any]:
    """A choice by API or command (size, agents, installations, builds as texts), with what is sensible where
    neither installations nor builds are named → the keywords of `Recipe.plan`."""
    named = {key: list(chosen.get(key) or ()) for key in ("installations", "builds")}
    if not any(named.values()):
        main = chosen["agents"].get(recipe.roles[0])
        named[_field(recipe)] = sensible(recipe, _named(main, agents))
    return {
        "size": chosen.get("size"),
        "agents": chosen["agents"],
        "installations": named["installations"],
        "builds": [build_of(text) for text in named["builds"]],
        "name": chosen.get("name", ""),
        "whole": bool(chosen.get("whole")),
    }


def _offered(recipe: Recipe, agent: AgentRow | None) -> list[tuple[InstallationRow, str]]:
    """(installation, what is sent for it), oldest version first."""
    rows = [row for row in agent.installations if row.present] if agent else []
    rows.sort(key=lambda row: (row.version_num, row.name))
    if recipe.compare is not Compare.BUILDS:
        return [(row, row.name) for row in rows]
    return [(row, Build(row.name, method).label) for row in rows for method in row.access_methods or (HEAP,)]


def _field(recipe: Recipe) -> str:
    """What the PostgreSQL to compare are called where they are sent."""
    return "builds" if recipe.compare is Compare.BUILDS else "installations"


def _named(name: str | None, agents: Sequence[AgentRow]) -> AgentRow | None:
    return next((agent for agent in agents if agent.name == name), None)


def first_usable(agents: Sequence[AgentRow]) -> AgentRow | None:
    """Return the agent that is measured where nobody names one: the first that is ready."""
    return next((agent for agent in agents if _usable(agent)), None)


def _first_usable(agents: Sequence[AgentRow]) -> str:
    agent = first_usable(agents)
    return agent.name if agent else ""


def form_address(recipe: Recipe, agent: AgentRow) -> str:
    """Return the address of the plan form filled in for a first run on an agent, with what is sensible of its
    PostgreSQL. '' where it has none."""
    values = sensible(recipe, agent)
    if not values:
        return ""
    query = urlencode({f"agents.{recipe.roles[0]}": agent.name, _field(recipe): values}, doseq=True)
    return f"{reverse('plans:ready-form', args=[recipe.slug])}?{query}"


def _note(recipe: Recipe, row: InstallationRow) -> str:
    return "" if row.version_num >= recipe.minimum_version else _("older than the workload needs")


def _usable(agent: AgentRow) -> bool:
    return agent.enabled and agent.state == AgentState.READY
