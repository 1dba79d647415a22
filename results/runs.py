"""Operations on runs, for pages, API and commands; each writes the audit log in its own transaction."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models.functions import Coalesce
from django.utils import timezone

from results import models, noise, sql
from results.agents import keep_agent_names
from results.domain import plan as plans
from results.domain.errors import PlanError, Problem, StateError
from results.domain.kinds.parameters import Kind
from results.domain.matrix import Configuration, TrialSpec, dimensions
from results.domain.messages import gettext_lazy as _
from results.domain.messages import pgettext_lazy
from results.domain.plan import Kinds, Plan, code_of
from results.domain.states import (
    ENDED_RUNS,
    RUN_TRANSITIONS,
    TRIAL_TRANSITIONS,
    RunState,
    Standing,
    TrialState,
    sources,
)
from results.models.runs import end_state
from results.plan_check import resolve_plan
from results.plan_code import require_code_allowed
from results.trial_making import AT_ONCE, make_next, require_room

PAST_TOLERANCE = timedelta(minutes=1)
RESTORE_RUN = "restore run"  # the audit log's verb
MOST_BLOCKS = 1000  # that may be added at once


def lock(run_id: int) -> models.Run:
    """Lock the run's row to the end of the transaction, and return it.

    Whatever changes states of its trials locks it first, so that the last two trials to end see each other. New rows
    may refer to the run meanwhile.
    """
    return models.Run.objects.select_for_update(no_key=True).get(pk=run_id)


def require_measured(run: models.Run) -> None:
    """Raise StateError for a run of published figures or imported results."""
    if run.publication is not None:
        what = _("Run {run} holds published figures.", run=run.pk)
        if run.publication.program:
            what = _("Run {run} holds imported results.", run=run.pk)
        raise StateError(
            what,
            why=_("They were measured elsewhere: Teiten has neither their plan nor their servers."),
            todo=_("Take a ready plan to measure the same on servers of your own."),
        )


def require_own(run: models.Run) -> None:
    """Raise StateError for a run of which Teiten can measure no more: published figures, and what was imported."""
    require_measured(run)
    source: models.RunImport | None = getattr(run, "imported", None)
    if source:
        raise StateError(
            _(
                "Run {run} is from another Teiten, which measured it as its run {other}.",
                run=run.pk,
                other=source.source_run,
            ),
            why=_(
                "Its agents ({agents}) are machines of that one, whatever agents here are called.",
                agents=", ".join(source.agents),
            ),
            todo=_("Store its plan, with agents of your own, and run that."),
        )


def refuse_private(runs: Iterable[models.Run], done: str) -> None:
    """Raise StateError where one of the runs is private.

    done: what it cannot be, as a message: 'cited'"""
    if private := [str(run.pk) for run in runs if run.private]:
        what = _("Run {runs} is private, and cannot be {done}.", runs=", ".join(private), done=done)
        raise StateError(what, where="private", why=_("Nobody else could look at it."), todo=_("Make it public first."))


def audit(actor: str, verb: str, subject: str, **detail: Any) -> None:
    models.AuditEntry.objects.create(actor=actor, verb=verb, object=subject, detail=detail)


def plan_of_run(run_id: int, kinds: Kinds) -> Plan:
    """Return the plan that a run executes. Raises StateError for a run of published figures."""
    run = models.Run.objects.only("toml", "publication_id").get(pk=run_id)
    require_measured(run)
    return plans.read(run.toml, kinds)


@transaction.atomic
def create_run(
    plan: Plan,
    kinds: Kinds,
    *,
    actor: str,
    stored: models.Plan | None = None,
    user: User | None = None,
    start_at: datetime | None = None,
    as_admin: bool = False,
    private: bool = False,
) -> models.Run:
    """Create a run of the plan with all its trials, to start at once or at `start_at`.

    Raises PlanError; CodeError where the plan brings code that an agent takes from administrators only.

    as_admin: whether who starts it has the rights of an administrator, as whoever has Teiten's environment does
    """
    if private and plan.standing == Standing.KEPT:
        raise PlanError([Problem("private", _("A private run cannot be kept."), _("Leave the plan's `standing` out."))])
    keep_agent_names()
    configurations, specs = resolve_plan(plan, kinds)
    if not as_admin:
        require_code_allowed(plan, kinds)
    now = timezone.now()
    if start_at is not None and start_at < now - PAST_TOLERANCE:
        what = _(
            "{moment} UTC has passed: it is {now} UTC.",
            moment=f"{start_at:%Y-%m-%d %H:%M}",
            now=f"{now:%Y-%m-%d %H:%M}",
        )
        raise PlanError([Problem("start_at", what, _("Give a time to come, or none to start at once."))])
    later = start_at is not None and start_at > now
    run = models.Run.objects.create(
        plan=stored,
        name=plan.name,
        workload=plan.workload,
        headline=kinds.workloads[plan.workload].headline_for(plan.parameters),
        toml=plans.to_toml(plan),
        factors=[{"name": factor.name, "levels": [level.label for level in factor.levels]} for factor in plan.factors],
        plan_hash=plan.hash,
        seed=plan.seed,
        blocks=plan.replicates,
        standing=plan.standing,
        private=private,
        state=RunState.SCHEDULED if later else RunState.RUNNING,
        created_by=user,
        start_at=start_at,
        started_at=None if later else now,
        operators_code=not as_admin and bool(code_of(plan, kinds)),
    )
    _store_configurations(run, configurations, specs, kinds)
    make_next(run)
    trials = len(configurations) * plan.replicates
    audit(actor, "create run", f"run {run.pk}", plan=plan.name, trials=trials, private=private)
    return run


def _store_configurations(
    run: models.Run, configurations: Sequence[Configuration], specs: Sequence[TrialSpec], kinds: Kinds
) -> None:
    rows = (
        models.Configuration(
            run=run,
            index=index,
            name=configuration.name[:500],
            levels=dict(configuration.levels),
            spec=spec.to_json(),
            dimensions=stored_dimensions(spec, kinds),
        )
        for index, (configuration, spec) in enumerate(zip(configurations, specs, strict=True))
    )
    models.Configuration.objects.bulk_create(rows, batch_size=1000)


def stored_dimensions(spec: TrialSpec, kinds: Kinds) -> dict[str, Any]:
    """Return the dimensions of a configuration as they are stored.

    duration_s is no dimension of a trial that lasts until its work is done, but one of its part that runs for so long.
    A script is stored as its hash, by which pages name and choose it.
    """
    values: dict[str, Any] = dimensions(spec)
    workload = kinds.workloads[spec.workload]
    if workload.measured_s(spec.parameters, spec.duration_s) is None:
        duration_s = values.pop("duration_s")
        if part := workload.part_by_duration(spec.parameters):
            values[f"{part}.duration_s"] = duration_s
    for parameter in workload.parameters:
        text = values.get(parameter.name)
        if parameter.kind is Kind.SCRIPT and text:
            values[parameter.name] = f"SHA-256 {hashlib.sha256(str(text).encode()).hexdigest()[:12]}"
    return values


@transaction.atomic
def make_trials(run_id: int) -> bool:
    """Make some more trials of a run that has fewer than its blocks need; return whether any are still to be made.

    Does nothing while somebody else works on the run, or where it was deleted."""
    run = models.Run.objects.select_for_update(no_key=True, skip_locked=True).filter(pk=run_id, making=True).first()
    if run is None:
        return False
    make_next(run)
    if not run.making:
        close_finished(run_id)  # all its trials may have ended meanwhile
    return run.making


def analyze_trials() -> None:
    """Let PostgreSQL count the trials again. Until autovacuum does, some minutes after a large run was made, it would
    expect none of that run, and its page would take seconds."""
    sql.execute("ANALYZE results_trial, results_configuration")


def in_making() -> list[int]:
    """Return the runs of which trials are still to be made."""
    return list(models.Run.objects.filter(making=True).order_by("pk").values_list("pk", flat=True))


@transaction.atomic
def add_blocks(run_id: int, blocks: int, actor: str, at_once: int = AT_ONCE) -> int:
    """Add replicates of every configuration, after the trials that are there. Where some of these have ended, somebody
    may have looked at them, which verdicts pay for (docs/method.md). Raises StateError, PlanError.

    at_once: trials to make now, the rest is left to a worker. Returns how many were made"""
    require_count(blocks)
    run = lock(run_id)
    require_extendable(run)
    _require_agents(run_id)
    require_room(run.configurations.count(), run.blocks, blocks)
    _reopen(run_id, actor)
    run.refresh_from_db()
    if models.Trial.objects.filter(run_id=run_id, state=TrialState.DONE).exists():
        run.looks = [*run.looks, run.blocks]
    run.blocks += blocks
    run.save(update_fields=["blocks", "looks"])
    made = make_next(run, at_once)
    audit(actor, "add blocks", f"run {run_id}", blocks=blocks)
    return made


@transaction.atomic
def extend(blocks_before: Mapping[int, int], blocks: int, actor: str) -> None:
    """Add blocks to each of several runs, or to none. Raises StateError, PlanError.

    blocks_before: run → how many blocks it had when this was decided, so that a form sent twice adds them once
    """
    at_once = AT_ONCE
    for run_id, before in sorted(blocks_before.items()):
        if (now := lock(run_id).blocks) != before:
            what = _("Run {run} has {now} replicates by now, not {before}.", run=run_id, now=now, before=before)
            raise StateError(
                what, why=_("Somebody has added some."), todo=_("Look again at what more of them would take.")
            )
        at_once -= add_blocks(run_id, blocks, actor, at_once)


def require_count(blocks: int) -> None:
    """Raise PlanError for a number of blocks that may not be added at once."""
    if not 1 <= blocks <= MOST_BLOCKS:
        what = _("{blocks} is not between 1 and {most}.", blocks=blocks, most=MOST_BLOCKS)
        raise PlanError([Problem("blocks", what)])


def require_extendable(run: models.Run) -> None:
    """Raise StateError for a run that takes no more blocks, or not now."""
    require_own(run)
    if run.state == RunState.SCHEDULED:
        raise StateError(_("Run {run} has not started.", run=run.pk), todo=_("Change its plan and schedule it anew."))
    _require_made(run)


@transaction.atomic
def repeat_run(run_id: int, kinds: Kinds, *, user: User | None, actor: str, as_admin: bool = False) -> models.Run:
    """Create a run of the same plan, on the installations as they are now; private where that one is. Raises as
    `create_run`."""
    run = models.Run.objects.select_related("plan").get(pk=run_id)
    require_own(run)
    plan = plans.read(run.toml, kinds)
    return create_run(plan, kinds, actor=actor, stored=run.plan, user=user, as_admin=as_admin, private=run.private)


@transaction.atomic
def cancel_run(run_id: int, actor: str) -> None:
    """Cancel the waiting and running trials of a run; those that have ended stay. Raises StateError."""
    run = lock(run_id)
    require_own(run)
    if RunState.CANCELLED not in RUN_TRANSITIONS[RunState(run.state)]:
        state = pgettext_lazy("state", run.state)
        raise StateError(_("Run {run} is {state}: nothing is left to cancel.", run=run_id, state=state))
    _set_trials(models.Trial.objects.filter(run_id=run_id), TrialState.CANCELLED)
    now = timezone.now()
    models.Run.objects.filter(pk=run_id).update(state=RunState.CANCELLED, ended_at=now, cancelled_at=now)
    audit(actor, "cancel run", f"run {run_id}")


@transaction.atomic
def cancel_trial(trial_id: int, actor: str) -> None:
    """Cancel a trial; its worker stops a running attempt within a heartbeat. Raises StateError."""
    run = lock(models.Trial.objects.values_list("run_id", flat=True).get(pk=trial_id))
    require_own(run)
    if not _set_trials(models.Trial.objects.filter(pk=trial_id), TrialState.CANCELLED):
        raise StateError(_("Trial {trial} has already ended.", trial=trial_id))
    close_finished(run.pk)
    audit(actor, "cancel trial", f"trial {trial_id}")


@transaction.atomic
def retry_trial(trial_id: int, actor: str) -> None:
    """Queue a failed or cancelled trial once more. Raises StateError."""
    run = lock(models.Trial.objects.values_list("run_id", flat=True).get(pk=trial_id))
    require_own(run)
    _require_made(run)
    _require_agents(run.pk)
    trial = models.Trial.objects.get(pk=trial_id)
    if trial.state == TrialState.RUNNING or not _requeue(models.Trial.objects.filter(pk=trial_id)):
        raise StateError(
            _(
                "Trial {trial} is {state}: only a failed or cancelled one can be retried.",
                trial=trial_id,
                state=pgettext_lazy("state", trial.state),
            )
        )
    _reopen(trial.run_id, actor)
    audit(actor, "retry trial", f"trial {trial_id}")


@transaction.atomic
def retry_failed(run_id: int, actor: str) -> int:
    """Queue every failed trial of the run once more; return how many. Raises StateError for published figures."""
    return _retry_all(run_id, TrialState.FAILED, actor)


@transaction.atomic
def retry_cancelled(run_id: int, actor: str) -> int:
    """Queue every cancelled trial of the run once more; return how many. Raises StateError for published figures."""
    return _retry_all(run_id, TrialState.CANCELLED, actor)


def _retry_all(run_id: int, state: TrialState, actor: str) -> int:
    run = lock(run_id)
    require_own(run)
    _require_made(run)
    _require_agents(run_id)
    count = _requeue(models.Trial.objects.filter(run_id=run_id, state=state))
    if count:
        _reopen(run_id, actor)
        audit(actor, f"retry {state} trials", f"run {run_id}", trials=count)
    return count


def _require_made(run: models.Run) -> None:
    """Raise StateError for a cancelled run of which trials are still to be made: they would wait, and not be cancelled,
    if it went on now."""
    if run.making and run.state == RunState.CANCELLED:
        raise StateError(_("Trials of run {run} are still being made.", run=run.pk), todo=_("Try again in a minute."))


def _require_agents(run_id: int) -> None:
    """Raise StateError where an agent of the run is archived: its trials would wait for ever."""
    keep_agent_names()
    for agent in models.Agent.objects.filter(archived=True):
        if models.Trial.objects.filter(run_id=run_id, agents__contains=[agent.pk]).exists():
            what = _("Agent {agent} of run {run} is archived.", agent=agent.name, run=run_id)
            raise StateError(
                what, where=_("agent {agent}", agent=agent.name), todo=_("Put it back on the lists, on its page.")
            )


def _requeue(trials: Any) -> int:
    states = [TrialState.FAILED, TrialState.CANCELLED]
    count = trials.filter(state__in=states).update(
        state=TrialState.WAITING,
        state_at=timezone.now(),
        attempts_made=0,
        not_before=None,
        error=None,
        phase="",
    )
    return int(count)


def _set_trials(trials: Any, target: TrialState) -> int:
    allowed = sources(TRIAL_TRANSITIONS, target)
    return int(trials.filter(state__in=allowed).update(state=target, state_at=timezone.now(), phase=""))


def _reopen(run_id: int, actor: str) -> None:
    """Set an ended run to running, and put it back on the lists; a scheduled one stays scheduled."""
    started_at = Coalesce("started_at", timezone.now())
    ended = models.Run.objects.filter(pk=run_id, state__in=ENDED_RUNS)
    if ended.filter(archived=True).update(archived=False):
        audit(actor, RESTORE_RUN, f"run {run_id}")
    ended.update(state=RunState.RUNNING, ended_at=None, started_at=started_at)


@transaction.atomic
def start_due(now: datetime) -> int:
    """Start the scheduled runs whose time has come; return how many.

    One with code of an operator is cancelled where an agent of it takes that no longer.
    """
    waiting = models.Run.objects.filter(state=RunState.SCHEDULED, start_at__lte=now)
    due = [run.pk for run in waiting.select_for_update(no_key=True, skip_locked=True)]
    refused = _with_refused_code(due)
    for run_id, agents in refused.items():
        cancel_run(run_id, "schedule")
        audit("schedule", "could not start run", f"run {run_id}", agents_without_code=agents)
    due = [run_id for run_id in due if run_id not in refused]
    for run_id in due:
        models.Run.objects.filter(pk=run_id, state=RunState.SCHEDULED).update(state=RunState.RUNNING, started_at=now)
        close_finished(run_id)  # all its trials may have been cancelled before
    return len(due)


def _with_refused_code(run_ids: Sequence[int]) -> dict[int, list[str]]:
    """Return run → its agents that take no code from operators, of the runs with such code."""
    runs = models.Run.objects.filter(pk__in=run_ids, operators_code=True)
    without_code = dict(models.Agent.objects.filter(allows_code=False).values_list("pk", "name")) if run_ids else {}
    refused: dict[int, set[str]] = {}
    for run_id, agents in models.Trial.objects.filter(run__in=runs).values_list("run_id", "agents").distinct():
        refused.setdefault(run_id, set()).update(without_code[agent] for agent in agents if agent in without_code)
    in_making = models.Configuration.objects.filter(run__in=runs.filter(making=True))  # some have no trial yet
    for run_id, agents in in_making.values_list("run_id", "spec__agents").distinct():
        refused.setdefault(run_id, set()).update({*agents.values()} & {*without_code.values()})
    return {run_id: sorted(names) for run_id, names in refused.items() if names}


def close_finished(run_id: int) -> bool:
    """End a running run of which every trial has ended, and store its noise; return whether it ended now.

    A run whose trials were cancelled one by one counts as cancelled at once: a retry of some does not finish it.
    """
    open_states = [TrialState.WAITING, TrialState.RUNNING]
    open_trials = models.Trial.objects.filter(run_id=run_id, state__in=open_states)
    closed = (
        models.Run.objects.filter(pk=run_id, state=RunState.RUNNING, making=False)
        .exclude(pk__in=open_trials.values("run_id"))
        .update(state=end_state(), ended_at=timezone.now())
    )
    if closed:
        ended = models.Run.objects.filter(pk=run_id, state=RunState.CANCELLED, cancelled_at=None)
        ended.update(cancelled_at=timezone.now())
        noise.store_noise(run_id)
    return bool(closed)
