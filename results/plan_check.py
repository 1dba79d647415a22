"""Check a plan against the agents as they were last seen: everything that is wrong is said at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from results import models
from results.domain.errors import PlanError, Problem
from results.domain.matrix import Configuration, InstallationRef, TrialSpec, expand, resolve
from results.domain.messages import gettext_lazy as _
from results.domain.plan import Kinds, Plan, PlanDraft
from results.domain.plan.checks import MAXIMUM_CONFIGURATIONS, passwords, too_many_trials
from results.hostfactors import require_host_factors
from results.requirements import require_programs, require_software
from results.settings_check import names_settings, require_settings, require_settings_somewhere

_FROM_AGENTS = ("agents", "installation", "client_programs")  # fields that hang on agents alone
_DECIDE_NODES = ("workload", "topology", "topology_parameters", "parameters", "duration_s", "factors")


def present_installations() -> dict[str, list[InstallationRef]]:
    """Return agent name → the installations that are present on it."""
    names = models.Agent.objects.filter(archived=False).values_list("name", flat=True)
    installations: dict[str, list[InstallationRef]] = {name: [] for name in names}
    for row in models.Installation.objects.filter(present=True, agent__archived=False).select_related("agent"):
        ref = InstallationRef(row.name, row.bin_dir, row.client_bin, row.version, row.version_num)
        installations[row.agent.name].append(ref)
    return installations


def complete_plan(draft: PlanDraft, kinds: Kinds) -> Plan:
    """Return the plan of a draft with nothing wrong in it. Raises PlanError with what is wrong in the draft, and with
    what the agents lack for what could be read of it."""
    if not draft.problems:
        return draft.plan
    raise PlanError(list(dict.fromkeys([*draft.problems, *_problems_of_draft(draft, kinds)])))


def resolve_plan(plan: Plan, kinds: Kinds) -> tuple[tuple[Configuration, ...], tuple[TrialSpec, ...]]:
    """Return the plan's configurations and the trial specification of each. Raises PlanError."""
    configurations = _configurations(plan)
    if not configurations:
        raise PlanError([Problem("exclude", _("Every combination is excluded."), _("Exclude fewer."))])
    specs, problems = _resolved(plan, configurations, kinds)
    problems += _lacks(plan, specs, kinds, complete=not problems)
    problems += passwords(plan, kinds)
    if problems:
        raise PlanError(_at_fields(plan, problems))
    require_programs(specs, kinds)
    return configurations, tuple(specs)


def require_storable(plan: Plan, kinds: Kinds) -> None:
    """Raise PlanError for passwords, and for settings that the plan's installations do not take, as far as these are
    known: a plan may be stored before its agents are there."""
    if problems := list(passwords(plan, kinds)):
        raise PlanError(problems)
    if names_settings(plan):
        specs, problems = _resolved(plan, _configurations(plan), kinds)
        if faults := list(_of_settings(plan, specs, kinds, complete=not problems, anywhere=False)):
            raise PlanError(faults)


def _configurations(plan: Plan) -> tuple[Configuration, ...]:
    """Return the plan's configurations. Raises PlanError for more than a web request can check."""
    configurations = expand(plan)
    if len(configurations) > MAXIMUM_CONFIGURATIONS:
        what = _(
            "The plan has {count:,} configurations; at most {most:,} are taken.",
            count=len(configurations),
            most=MAXIMUM_CONFIGURATIONS,
        )
        raise PlanError([Problem("factors", what, _("Fewer levels, or several plans."))])
    return configurations


def _resolved(
    plan: Plan, configurations: Iterable[Configuration], kinds: Kinds
) -> tuple[list[TrialSpec], list[Problem]]:
    """Return the trial specifications of what the present agents can run, and why the rest cannot run."""
    installations, specs, problems = present_installations(), list[TrialSpec](), list[Problem]()
    for configuration in configurations:
        try:
            specs += resolve(plan, [configuration], installations, kinds)
        except PlanError as error:
            problems += error.problems
    return specs, [*_naming_archived(plan, problems)] if problems else problems


def _naming_archived(plan: Plan, problems: Iterable[Problem]) -> Iterator[Problem]:
    """Say of agents that are archived that they are, and not that they are not there."""
    archived = set(models.Agent.objects.filter(archived=True).values_list("name", flat=True))
    for problem in problems:
        agent = plan.agents.get(problem.field.removeprefix("agents."), "")
        if problem.field.startswith("agents.") and agent in archived:
            what = _("Agent {agent!r} is archived.", agent=agent)
            yield Problem(problem.field, what, _("Name another, or put it back on its page."))
        else:
            yield problem


def _lacks(plan: Plan, specs: Sequence[TrialSpec], kinds: Kinds, *, complete: bool) -> Iterator[Problem]:
    """Return what agents and their installations lack for these trials, but for programs.

    complete: these are all trials of the plan
    """
    yield from _problems_of(lambda: require_host_factors(specs, kinds))
    yield from _of_settings(plan, specs, kinds, complete=complete, anywhere=True)
    yield from _problems_of(lambda: require_software(specs, kinds))


def _of_settings(
    plan: Plan, specs: Sequence[TrialSpec], kinds: Kinds, *, complete: bool, anywhere: bool
) -> Iterator[Problem]:
    yield from _problems_of(lambda: require_settings(plan, specs))
    if not complete and not kinds.topologies[str(plan.conditions["topology"])].outside:
        yield from _problems_of(lambda: require_settings_somewhere(plan, specs, anywhere=anywhere))


def _problems_of(check: Callable[[], None]) -> tuple[Problem, ...]:
    """Return what a check refuses, for the checks after it to be made as well."""
    try:
        check()
    except PlanError as error:
        return error.problems
    return ()


def _at_fields(plan: Plan, problems: Iterable[Problem]) -> list[Problem]:
    """Return each problem once, at the field of the plan that is to be mended."""
    return list(dict.fromkeys(replace(problem, field=plan.field_of(problem.field)) for problem in problems))


def _problems_of_draft(draft: PlanDraft, kinds: Kinds) -> list[Problem]:
    """Return what the agents lack for what could be read of a plan, but nothing that only its stand-ins are to blame
    for."""
    plan = draft.plan
    if any(too_many_trials(plan)) or not plan.agents:
        return _at_fields(plan, _of_settings(plan, (), kinds, complete=False, anywhere=True))
    named = [one for one in expand(plan)[:MAXIMUM_CONFIGURATIONS] if one.values["installation"]]
    specs, problems = _resolved(plan, named, kinds)
    lacks = list(_lacks(plan, specs, kinds, complete=bool(named) and not problems))
    if _tables(draft.problems) & {*_DECIDE_NODES}:
        problems = [problem for problem in problems if problem.field.split(".")[0] in _FROM_AGENTS]
    return _at_fields(plan, [*problems, *lacks])


def _tables(problems: Iterable[Problem]) -> set[str]:
    return {problem.field.split(".")[0] for problem in problems}
