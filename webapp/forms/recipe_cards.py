"""The ready plans as cards: what each answers and needs, how long its short form takes, and which are asked for."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from results.domain.kinds.specs import TopologySpec
from results.domain.matrix import InstallationRef, TrialSpec, expand, resolve
from results.domain.messages import gettext_lazy as _
from results.domain.messages import localized
from results.domain.plan import Plan, from_mapping
from results.domain.plan.recipes import EXAMPLE_AGENT, EXAMPLES, Compare, Recipe, example
from results.estimates import Estimate, PastTrials, estimate
from results.queries.agents.agents import AgentRow
from webapp.forms.machine_fit import Demand, Fit, demand, fit
from webapp.forms.recipes import RecipeOptions, RecipeStamps, first_usable, form_address, recipes_at, stamps
from workers.registry import kinds

QUICK_S = 600.0
_ANY_VERSION = 90500
_INSTALLED = tuple(InstallationRef(name, "", "bin", name, int(name) * 10_000) for name in EXAMPLES)
MACHINES = {"one": _("one server"), "several": _("several servers")}


@dataclass(frozen=True)
class Card:
    """One ready plan in its short form, at a laptop's size, of two PostgreSQL.

    servers: that its largest configuration has.
    needs: what agents must have besides PostgreSQL.
    demand: what it takes of a machine; fit: how that compares with the agent that its form would choose, None without.
    """

    recipe: Recipe
    workload: str
    trials: int
    estimate: Estimate
    servers: int
    needs: tuple[str, ...]
    demand: Demand
    fit: Fit | None = None

    @property
    def minutes(self) -> int:
        """Rounded up: no estimate is better than that."""
        return math.ceil(self.estimate.seconds / 60)

    @property
    def quick(self) -> bool:
        return self.estimate.seconds <= QUICK_S


@dataclass(frozen=True)
class Choice:
    """One value of a filter: what is sent, what is read, how many plans it leaves."""

    value: str
    text: str
    count: int
    chosen: bool


@dataclass(frozen=True)
class Shelf:
    """The page: what is shown of all there is, and the filters."""

    cards: tuple[Card, ...]
    total: int
    topics: tuple[Choice, ...]
    machines: tuple[Choice, ...]
    quick: Choice
    text: str

    @property
    def filtered(self) -> bool:
        return len(self.cards) < self.total


def shelf(options: RecipeOptions, agents: Sequence[AgentRow] = ()) -> Shelf:
    """Return the cards that the address asks for, for the agent that their forms would choose. Two queries a workload
    at most."""
    cards = _cards(first_usable(agents))
    asked = {name: str(options.get(name) or "").strip() for name in ("topic", "servers", "quick", "q")}
    topics = dict.fromkeys(card.recipe.topic for card in cards)
    return Shelf(
        cards=tuple(card for card in cards if _fits(card, asked)),
        total=len(cards),
        topics=_choices("topic", {topic: topic for topic in topics}, cards, asked),
        machines=_choices("servers", MACHINES, cards, asked),
        quick=_choices("quick", {"1": _("ten minutes at most")}, cards, asked)[0],
        text=asked["q"],
    )


def _choices(
    name: str, values: Mapping[str, str], cards: Sequence[Card], asked: Mapping[str, str]
) -> tuple[Choice, ...]:
    """Return the values of a filter, each with what it would leave beside the other filters."""
    choices = []
    for value, text in values.items():
        count = sum(_fits(card, {**asked, name: value}) for card in cards)
        choices.append(Choice(value, text, count, asked[name] == value))
    return tuple(choices)


def _fits(card: Card, asked: Mapping[str, str]) -> bool:
    topic, servers, quick, text = (asked[name] for name in ("topic", "servers", "quick", "q"))
    return (
        (not topic or card.recipe.topic == topic)
        and (not servers or (card.servers > 1) == (servers == "several"))
        and (not quick or card.quick)
        and all(word in _words(card) for word in text.lower().split())
    )


def _words(card: Card) -> str:
    recipe = card.recipe
    texts = (recipe.slug, recipe.name, recipe.description, card.workload, recipe.source, recipe.topic, *card.needs)
    return " ".join((*texts, *map(localized, texts))).lower()


@lru_cache(maxsize=2)
def _examples(read: RecipeStamps) -> tuple[tuple[Recipe, Plan, tuple[TrialSpec, ...]], ...]:
    """Return each ready plan with its short form as a plan of two PostgreSQL, and its configurations' trials."""
    examples = []
    for recipe in recipes_at(read).plans:
        plan = from_mapping(example(recipe, recipe.laptop, whole=False), kinds())
        examples.append((recipe, plan, resolve(plan, expand(plan), {EXAMPLE_AGENT: _INSTALLED}, kinds())))
    return tuple(examples)


def first_fitting(agents: Sequence[AgentRow]) -> tuple[Card, str] | None:
    """Return the most useful ready plan for a first run, with the address of its form filled in: one server, ten
    minutes at most, and a known size on disk that is not too large for the first agent that is ready."""
    agent = first_usable(agents)
    if agent is None:
        return None
    for card in _cards(agent):
        easy = card.quick and card.servers == 1 and card.demand.disk_bytes and _enough(card.fit)
        if easy and (address := form_address(card.recipe, agent)):
            return card, address
    return None


def _cards(agent: AgentRow | None) -> list[Card]:
    past = PastTrials()
    return [_card(recipe, plan, specs, past, agent) for recipe, plan, specs in _examples(stamps())]


def _enough(fitting: Fit | None) -> bool:
    return fitting is not None and not (fitting.impossible or fitting.slow)


def _card(recipe: Recipe, plan: Plan, specs: Sequence[TrialSpec], past: PastTrials, agent: AgentRow | None) -> Card:
    workload, demanded = kinds().workloads[recipe.workload], demand(specs)
    return Card(
        recipe=recipe,
        workload=workload.title,
        trials=len(specs) * plan.replicates,
        estimate=estimate(plan, specs, workload, past),
        servers=max(len(spec.servers) for spec in specs),
        needs=tuple(dict.fromkeys(_needs(recipe, specs))),
        demand=demanded,
        fit=fit(demanded, agent) if agent else None,
    )


def _needs(recipe: Recipe, specs: Sequence[TrialSpec]) -> Iterable[str]:
    if recipe.minimum_version > _ANY_VERSION:
        yield _("PostgreSQL {version} or later", version=_version(recipe.minimum_version))
    if recipe.compare is Compare.BUILDS:
        yield _("a build with a table access method of its own, or the heap alone")
    for name in dict.fromkeys(spec.topology for spec in specs):
        yield from _of_topology(kinds().topologies[name])
    for spec in specs:
        yield from (_("host factor {name}", name=name) for name in spec.host)


def _of_topology(topology: TopologySpec) -> Iterable[str]:
    yield from topology.extensions
    for programs in topology.programs.values():
        yield from (program.name for program in programs if not program.with_postgresql)


def _version(number: int) -> str:
    """90600 → '9.6', 140000 → '14'."""
    return f"{number // 10000}" if number >= 100000 else f"{number // 10000}.{number // 100 % 100}"
