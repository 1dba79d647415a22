"""Check the settings of a plan against those that its installations are known to have, before anything starts.

A server with a setting that it does not have, or a value that it does not accept, does not start."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Prefetch

from results import models
from results.domain.errors import PlanError, Problem
from results.domain.kinds import server_settings
from results.domain.kinds.reserved_names import initdb_setting
from results.domain.kinds.server_settings import SettingType
from results.domain.matrix import TrialSpec
from results.domain.messages import Message
from results.domain.messages import gettext_lazy as _
from results.domain.nearest import did_you_mean
from results.domain.plan import Plan

MAX_NAMED = 3  # installations that a problem names
_PREFIX = "setting."


@dataclass(frozen=True, order=True)
class AgentInstallation:
    """An installation on an agent, by their names."""

    agent: str
    installation: str

    @property
    def words(self) -> Message:
        return _("PostgreSQL {installation} on {agent}", installation=self.installation, agent=self.agent)


_KnownSettings = Mapping[AgentInstallation, Mapping[str, SettingType]]


@dataclass(frozen=True)
class _Setting:
    """A setting with its value in the plan.

    field: the plan's field that sets it
    """

    field: str
    name: str
    value: str


def names_settings(plan: Plan) -> bool:
    """Return whether the plan sets or varies any setting that could be checked."""
    return bool(_fields(plan) or any(initdb_setting(option) for option in plan.initdb))


def require_settings(plan: Plan, specs: Sequence[TrialSpec]) -> None:
    """Raise PlanError with every setting that an installation does not have, or that does not accept its value.

    Installations whose settings are not known pass, and so do names with a dot, which are an extension's. One query,
    none for a plan without settings.
    """
    planned = _settings(plan, specs)
    known = _known_settings(planned)
    faults: dict[tuple[_Setting, str], list[AgentInstallation]] = {}
    for installation in sorted(known.keys() & planned.keys()):
        for setting in planned[installation]:
            if text := _fault(setting, known[installation]):
                faults.setdefault((setting, text), []).append(installation)
    if faults:
        raise PlanError([_problem(setting, text, where, known) for (setting, text), where in faults.items()])


def require_settings_somewhere(plan: Plan, specs: Sequence[TrialSpec], *, anywhere: bool) -> None:
    """Raise PlanError with the settings that are in no trial of `specs`, as something else is wrong there, and that no
    installation on the plan's agents takes. One query, none where every setting is in a trial.

    anywhere: where nothing of these is known, all installations are asked
    """
    placed = {setting for settings in _settings(plan, specs).values() for setting in settings}
    unplaced = [setting for setting in _every_setting(plan) if setting not in placed]
    if unplaced and (problems := list(_unknown_everywhere(unplaced, _candidates(plan, anywhere)))):
        raise PlanError(problems)


def installations_of_agents() -> Prefetch[str]:
    """Return the prefetch of an agent's installations that `unchecked_installations` needs."""
    known = Exists(models.InstallationSettings.objects.filter(installation=OuterRef("pk")))
    return Prefetch("installations", models.Installation.objects.annotate(settings_known=known))


def unchecked_installations(
    plan: Plan, specs: Sequence[TrialSpec], agents: Iterable[models.Agent]
) -> list[AgentInstallation]:
    """Return the installations that the plan has settings for, but whose own settings are not known. No query.

    agents: queried with `installations_of_agents`
    """
    known: set[AgentInstallation] = set()
    for agent in agents:
        for row in agent.installations.all():
            if getattr(row, "settings_known", False):
                known.add(AgentInstallation(agent.name, row.name))
    return sorted(_settings(plan, specs).keys() - known)


def _fields(plan: Plan) -> dict[str, str]:
    """Return setting → the plan's field that sets it, or the factor that varies it."""
    fields = {name: f"settings.{name}" for name in plan.settings}
    for factor in plan.factors:
        for level in factor.levels:
            for target in level.values:
                if target.startswith(_PREFIX):
                    fields[target.removeprefix(_PREFIX)] = f"factors.{factor.name}"
    return fields


def _settings(plan: Plan, specs: Sequence[TrialSpec]) -> dict[AgentInstallation, dict[_Setting, None]]:
    """Return the settings that the plan has for servers of each installation, each once and in the plan's order."""
    fields = _fields(plan)
    of_initdb = [_Setting("initdb", *pair) for option in plan.initdb if (pair := initdb_setting(option))]
    planned: dict[AgentInstallation, dict[_Setting, None]] = {}
    for spec in specs:
        of_server = [_Setting(fields[name], name, value) for name, value in spec.settings.items()]
        settings = dict.fromkeys(setting for setting in (*of_server, *of_initdb) if "." not in setting.name)
        for node in spec.servers if settings else ():
            if node not in spec.outside:
                installation = AgentInstallation(spec.agents[node], spec.installation_of(node).name)
                planned.setdefault(installation, {}).update(settings)
    return planned


def _every_setting(plan: Plan) -> list[_Setting]:
    """Return the settings of the plan and of all levels of its factors, but for an extension's."""
    fields = _fields(plan)
    fixed = {name: value for name, value in plan.settings.items() if fields[name] == f"settings.{name}"}
    settings = [_Setting(fields[name], name, value) for name, value in fixed.items()]
    for factor in plan.factors:
        for level in factor.levels:
            for target, value in level.values.items():
                if target.startswith(_PREFIX):
                    settings.append(_Setting(f"factors.{factor.name}", target.removeprefix(_PREFIX), str(value)))
    settings += [_Setting("initdb", *pair) for option in plan.initdb if (pair := initdb_setting(option))]
    return list(dict.fromkeys(setting for setting in settings if "." not in setting.name))


def _candidates(plan: Plan, anywhere: bool) -> _KnownSettings:
    """Return the installations that may be meant by a plan, with their settings."""
    rows = models.InstallationSettings.objects.filter(installation__present=True)
    of_all = rows.values_list("installation__agent__name", "installation__name", "lines")
    lines = {AgentInstallation(agent, name): text for agent, name, text in of_all}
    named = {where: text for where, text in lines.items() if where.agent in plan.agents.values()}
    chosen = named or (lines if anywhere else {})
    return {where: server_settings.read(chosen[where]) for where in sorted(chosen)}


def _unknown_everywhere(settings: Iterable[_Setting], known: _KnownSettings) -> Iterator[Problem]:
    """Return the settings that none of the installations has, or accepts so."""
    for setting in settings:
        texts = [_fault(setting, known[where]) for where in known]
        if texts and all(texts):
            yield _problem(setting, texts[0], list(known), known)


def _known_settings(installations: Collection[AgentInstallation]) -> _KnownSettings:
    """Return the settings of those installations whose settings are known."""
    if not installations:
        return {}
    agents = {installation.agent for installation in installations}
    rows = models.InstallationSettings.objects.filter(
        installation__present=True, installation__agent__name__in=agents
    ).values_list("installation__agent__name", "installation__name", "lines")
    known = {}
    for agent, name, lines in rows:
        installation = AgentInstallation(agent, name)
        if installation in installations:
            known[installation] = server_settings.read(lines)
    return known


def _fault(setting: _Setting, known: Mapping[str, SettingType]) -> str:
    """Return what is wrong with a setting, without the installation; '' for nothing."""
    setting_type = known.get(setting.name.lower())
    if setting_type is None:
        return _("There is no setting {setting}", setting=setting.name)
    fault = server_settings.fault(setting_type, setting.value)
    return _("{setting} {fault}", setting=setting.name, fault=fault) if fault else ""


def _problem(
    setting: _Setting, text: str, installations: Sequence[AgentInstallation], known: _KnownSettings
) -> Problem:
    named, more = _named(installations[:MAX_NAMED]), len(installations) - MAX_NAMED
    if more > 0:
        what = _("{fault} in {installations} and {more} more.", fault=text, installations=named, more=more)
    else:
        what = _("{fault} in {installations}.", fault=text, installations=named)
    return Problem(setting.field, what, _todo(setting, known[installations[0]], known))


def _named(installations: Sequence[AgentInstallation]) -> Message:
    named = installations[0].words
    for installation in installations[1:]:
        named = _("{installations}, {installation}", installations=named, installation=installation.words)
    return named


def _todo(setting: _Setting, settings: Mapping[str, SettingType], known: _KnownSettings) -> str:
    for installation, other_settings in known.items():
        if not _fault(setting, other_settings):
            return _(
                "{installation} has it: set it in a level together with that installation.",
                installation=installation.words,
            )
    if setting.name.lower() in settings:
        option = server_settings.BUILT_WITH.get(setting.value.lower())
        if option:
            return _("It takes a PostgreSQL built with {option}.", option=option)
        meant = server_settings.instead(settings[setting.name.lower()], setting.value)
        return did_you_mean(meant) if meant else ""
    meant = server_settings.nearest(setting.name, settings)
    return did_you_mean(meant) if meant else _("Settings are named as in postgresql.conf.")
