"""Settings of a plan, held against those that the installations it chooses are known to have. Before anything starts: a
server with a setting that it does not have, or a value that it does not take, does not start."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Prefetch

from results import models
from results.domain.errors import PlanError, Problem
from results.domain.kinds import server_settings
from results.domain.kinds.reserved_names import initdb_setting
from results.domain.kinds.server_settings import SettingType
from results.domain.matrix import TrialSpec
from results.domain.plan import Plan

MOST_PLACES = 3  # that a problem names
_PREFIX = "setting."


@dataclass(frozen=True, order=True)
class Place:
    """An installation of an agent."""

    agent: str
    installation: str

    def __str__(self) -> str:
        return f"PostgreSQL {self.installation} on {self.agent}"


@dataclass(frozen=True)
class _Wanted:
    """field: of the plan, where it is set."""

    field: str
    name: str
    value: str


def names_settings(plan: Plan) -> bool:
    """Whether the plan sets or varies anything that could be checked."""
    return bool(_owners(plan) or any(initdb_setting(option) for option in plan.initdb))


def require_settings(plan: Plan, specs: Sequence[TrialSpec]) -> None:
    """Raises PlanError with every setting that an installation, where its settings are known, does not have or cannot
    have this value. Names with a dot are an extension's and pass. One query, none for a plan without settings."""
    wanted = _wanted(plan, specs)
    known = _known(wanted)
    faults: dict[tuple[_Wanted, str], list[Place]] = {}
    for place in sorted(known.keys() & wanted.keys()):
        for one in wanted[place]:
            if text := _fault(one, known[place]):
                faults.setdefault((one, text), []).append(place)
    if faults:
        raise PlanError([_problem(one, text, places, known) for (one, text), places in faults.items()])


def installations_of_agents() -> Prefetch[str]:
    """An agent's installations with what `unchecked` asks of them."""
    known = Exists(models.InstallationSettings.objects.filter(installation=OuterRef("pk")))
    return Prefetch("installations", models.Installation.objects.annotate(settings_known=known))


def unchecked(plan: Plan, specs: Sequence[TrialSpec], agents: Iterable[models.Agent]) -> list[Place]:
    """Installations whose settings are not known yet, where the plan sets some. agents: with `installations_of_agents`.
    No query."""
    rows = [(agent.name, row) for agent in agents for row in agent.installations.all()]
    known = {Place(agent, row.name) for agent, row in rows if getattr(row, "settings_known", False)}
    return sorted(_wanted(plan, specs).keys() - known)


def _owners(plan: Plan) -> dict[str, str]:
    """Setting → the plan's field that sets it: its own, or that of the factor that varies it."""
    fields = {name: f"settings.{name}" for name in plan.settings}
    targets = [(target, factor.name) for factor in plan.factors for level in factor.levels for target in level.values]
    varied = {t.removeprefix(_PREFIX): f"factors.{factor}" for t, factor in targets if t.startswith(_PREFIX)}
    return fields | varied


def _wanted(plan: Plan, specs: Sequence[TrialSpec]) -> dict[Place, dict[_Wanted, None]]:
    """By installation what servers on it are to have, each thing once and in the plan's order."""
    fields = _owners(plan)
    of_initdb = [_Wanted("initdb", *pair) for option in plan.initdb if (pair := initdb_setting(option))]
    found: dict[Place, dict[_Wanted, None]] = {}
    for spec in specs:
        settings = [_Wanted(fields[name], name, value) for name, value in spec.settings.items()]
        of_server = dict.fromkeys(one for one in (*settings, *of_initdb) if "." not in one.name)
        for node in spec.servers if of_server else ():
            if node not in spec.outside:
                found.setdefault(Place(spec.agents[node], spec.installation_of(node).name), {}).update(of_server)
    return found


def _known(places: Mapping[Place, object]) -> dict[Place, dict[str, SettingType]]:
    """The settings of those installations of which they are known."""
    if not places:
        return {}
    rows = models.InstallationSettings.objects.filter(
        installation__present=True, installation__agent__name__in={place.agent for place in places}
    ).values_list("installation__agent__name", "installation__name", "lines")
    found = {Place(agent, name): lines for agent, name, lines in rows}
    return {place: server_settings.read(lines) for place, lines in found.items() if place in places}


def _fault(wanted: _Wanted, known: Mapping[str, SettingType]) -> str:
    """What is wrong, without a place; '' for nothing."""
    setting = known.get(wanted.name.lower())
    if setting is None:
        return f"There is no setting {wanted.name}"
    fault = server_settings.fault(setting, wanted.value)
    return f"{wanted.name} {fault}" if fault else ""


def _problem(
    wanted: _Wanted, text: str, places: Sequence[Place], known: Mapping[Place, Mapping[str, SettingType]]
) -> Problem:
    more = f" and {len(places) - MOST_PLACES} more" if len(places) > MOST_PLACES else ""
    what = f"{text} in {', '.join(map(str, places[:MOST_PLACES]))}{more}."
    return Problem(wanted.field, what, _todo(wanted.name, known[places[0]], known))


def _todo(name: str, own: Mapping[str, SettingType], known: Mapping[Place, Mapping[str, SettingType]]) -> str:
    if name.lower() in own:
        return "Write it as in postgresql.conf."
    having = next((place for place, settings in known.items() if name.lower() in settings), None)
    if having:
        return f"{having} has it: set it in a level together with that installation."
    near = server_settings.nearest(name, own)
    return f"Did you mean {near}?" if near else "Settings are named as in postgresql.conf."
