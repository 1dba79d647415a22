"""What is wrong with a plan as a whole, though each of its parts is right."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Iterator
from functools import partial

from results.domain.errors import Problem
from results.domain.kinds.parameters import Scalar
from results.domain.kinds.reserved_names import initdb_setting
from results.domain.kinds.specs import WorkloadSpec
from results.domain.messages import gettext_lazy as _
from results.domain.plan.code import declared_parameters
from results.domain.plan.values import Kinds, Level, Plan
from results.domain.secrets import masked, masked_plan

MAXIMUM_TRIALS = 100_000
MAXIMUM_CONFIGURATIONS = 2500  # a web request checks and stores them at once (bench/large_run.py)
_MOST_COMBINATIONS = 1000


def too_many_trials(plan: Plan) -> Iterator[Problem]:
    """Counted with what is left out (`exclude`)."""
    trials = plan.replicates * math.prod(len(factor.levels) for factor in plan.factors)
    if trials > MAXIMUM_TRIALS:
        what = _("The plan has {trials:,} trials; at most {most:,} are taken.", trials=trials, most=MAXIMUM_TRIALS)
        yield Problem("factors", what, _("Fewer levels."))


def required_but_not_collected(plan: Plan) -> Iterator[Problem]:
    missing = set(plan.required_collectors) - set(plan.collectors)
    if missing:
        what = _("{collectors} is required but not collected.", collectors=", ".join(sorted(missing)))
        yield Problem("required_collectors", what, _("Add it to collectors."))


def cold_cache_warmed(plan: Plan) -> Iterator[Problem]:
    """Only where both are the same in every trial: what a factor varies is for each trial to see to."""
    warmup_s = float(plan.conditions["warmup_s"])
    varied = {target for factor in plan.factors for target in factor.targets}
    if plan.conditions["cache"] == "cold" and warmup_s > 0 and not varied & {"cache", "warmup_s"}:
        what = _("A warm-up of {seconds:g} s fills the caches that are to be cold.", seconds=warmup_s)
        yield Problem("cache", what, _("Set warmup_s to 0, or cache to prewarm or as-found."))


def passwords(plan: Plan, kinds: Kinds) -> Iterator[Problem]:
    """What of a plan holds a password or a key: whoever may read sees plans, and a bundle holds them.

    What only names a column, a variable or a function so is none.
    """
    shells = _shells(plan, kinds)
    todo = _("Leave it on the agent: in the account's ~/.pgpass, or in a file there that the script reads (\\set).")
    values = [(field, target.removeprefix("setting."), str(value)) for field, target, value in plan.fields()]
    values += [("initdb", *setting) for option in plan.initdb if (setting := initdb_setting(option))]
    values += [("initdb", "initdb", " ".join(plan.initdb)), ("description", "description", plan.description)]
    for field, name, value in dict.fromkeys(values):
        mask = partial(masked_plan, in_shell=name in shells or name.endswith("command"))
        hidden = mask(value) if name.endswith("command") else masked(name, value, mask)
        if hidden != value:
            what = _("A password or a key stands in it, which every reader of the plan would see.")
            yield Problem(field, what, todo)


def _shells(plan: Plan, kinds: Kinds) -> set[str]:
    """The targets whose texts are shell scripts, at least with one of the plan's levels; initdb's options as well."""
    chosen: dict[str, set[str]] = {}
    for _field, target, value in plan.fields():
        chosen.setdefault(target, set()).add(str(value))
    shells = {"initdb"}
    declared = declared_parameters(plan, kinds)
    for target, parameter in declared.items():
        if parameter.shell_with is None:
            continue
        prefix = target.removesuffix(parameter.name)
        others = {f"{prefix}{name}": wanted for name, wanted in parameter.shell_with.items()}
        if all(chosen.get(name, {str(declared[name].default)}) & set(wanted) for name, wanted in others.items()):
            shells.add(target)
    return shells


def parameters_at_odds(plan: Plan, workload: WorkloadSpec) -> list[Problem]:
    """What the workload finds wrong with its parameters together, in the first combinations of the factors."""
    names = {parameter.name for parameter in workload.parameters}
    owner = {target: factor.name for factor in plan.factors for target in factor.targets}
    touching = [factor.levels for factor in plan.factors if names & factor.targets]
    problems: dict[tuple[str, str], Problem] = {}
    for levels in itertools.islice(itertools.product(*touching), _MOST_COMBINATIONS):
        varied = _values_of(levels, names)
        for problem in workload.problems(workload.complete({**plan.parameters, **varied})):
            field = problem.field
            where = f"factors.{owner[field]}" if field in owner else f"parameters.{field}"
            problems[where, problem.what] = Problem(where, problem.what, problem.todo)
    return list(problems.values())


def _values_of(levels: Iterable[Level], names: Collection[str]) -> dict[str, Scalar]:
    """What a combination of levels sets of these parameters."""
    values: dict[str, Scalar] = {}
    for level in levels:
        values |= {name: value for name, value in level.values.items() if name in names}
    return values
