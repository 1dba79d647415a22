"""One thin task a verb: ids in, one call. A task is a doorbell; the database is the queue."""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.conf import settings
from django.contrib.auth.models import User
from django.db import Error as DatabaseError
from django.db import transaction
from django.utils import timezone
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from results import alerts, hostfactors, models, runs, warehouse
from results.domain.errors import AgentError, PlanError, StateError, TeitenError
from results.domain.matrix.program_needs import MissingProgramsError, ProgramNeed
from results.models.agents import AgentState
from results.queries.clusters import Pruned
from workers import alerting, pruning, registry
from workers import attempt as attempts
from workers import contact as contacts
from workers import dispatch as dispatching
from workers import lease as leasing
from workers.app import app
from workers.bundle.writer import discard_unfinished
from workers.reingest import Reread
from workers.reingest import reread as read_again

log = logging.getLogger(__name__)
T = TypeVar("T")
FACTS_AGE_S = 600.0


def ring() -> None:
    """After the present transaction: ask the dispatcher to look. Beat asks every 2 s in any case."""
    transaction.on_commit(lambda: _send(dispatch))


def contact_now(agent_id: int, patience_s: float = 0.0) -> None:
    """Reaches the agent at once. Raises AgentError or HostKeyError, which are stored on the agent too, and StateError
    while a trial or another contact uses the agent: discovery starts servers and would disturb what is measured. While
    it lasts, no trial starts there. patience_s: how long to wait for an agent in use."""
    with leasing.contact(agent_id, timezone.now, patience_s):
        contacts.contact(agent_id)


def after_looking_again(verb: Callable[[], T]) -> T:
    """What the verb returns. Where it is refused for programs that agents lack, they are looked for there first: the
    refusal may rest on facts of hours ago. Raises what the verb does."""
    try:
        return verb()
    except MissingProgramsError as missing:
        looks = {agent: _look(agent, missing.needs) for agent in {need.agent for need in missing.needs}}
    try:
        return verb()
    except MissingProgramsError as missing:
        raise MissingProgramsError(missing.needs, looks) from None


def _look(agent: str, needs: Sequence[ProgramNeed]) -> str:
    """Why the programs could not be looked for; '' where they were."""
    row = models.Agent.objects.get(name=agent)
    if row.state != AgentState.READY:
        return f"its state is {row.get_state_display()}."
    try:
        contacts.look(row.pk, {need.program for need in needs if need.agent == agent})
    except AgentError as error:
        return str(error)
    return ""


def requeue() -> list[int]:
    """Puts the trials back into the queue that dead workers left running, at once instead of when their leases expire,
    and frees all agents; for a start of everything. Returns the trials. Raises StateError while a worker answers."""
    if not leasing.any_held():
        return []
    if names := listening():
        raise StateError(
            f"Workers are alive: {', '.join(names)}.",
            why="What they run goes on; what a dead one ran is queued again when its lease expires.",
            todo=f"Wait {leasing.TTL_S:g} s, or stop them first.",
        )
    discard_unfinished(settings.TEITEN_BUNDLE_DIR)
    return dispatching.requeue(timezone.now())


def remove_clusters(agent_id: int, directories: Collection[str], actor: str) -> Pruned:
    """Removes these clusters of the agent at once. Raises AgentError, StateError while something uses the machine, or
    where one of them may not be removed."""
    with pruning.alone(agent_id) as lost:
        return pruning.prune(agent_id, lost, directories, actor)


def reread(run_id: int | None, *, replace: bool) -> Iterator[Reread]:
    """See `workers.reingest.reread`."""
    return read_again(run_id, replace=replace)


def listening(timeout_s: float = 2.0) -> list[str]:
    """The names of the Celery workers that answer now. Raises TeitenError when the broker cannot be reached."""
    try:
        return sorted(name for answer in app.control.ping(timeout=timeout_s) or () for name in answer)
    except (OperationalError, RedisError) as error:
        raise TeitenError(
            "Redis cannot be reached.",
            where="TEITEN_REDIS_URL",
            why=str(error),
            todo="Start it, or set its URL.",
        ) from error


@contextmanager
def _or_next_time() -> Iterator[None]:
    """For what beat asks for again and again: a warehouse that is away now is no failure."""
    try:
        yield
    except DatabaseError as error:
        if not warehouse.is_away(error):
            raise
        warehouse.hang_up()
        log.warning("the warehouse is away: %s", error)


@app.task
@_or_next_time()
def dispatch() -> None:
    """Starts every attempt that may run now."""
    now = timezone.now()
    runs.start_due(now)
    while (attempt_id := dispatching.next_attempt(now)) is not None:
        if not _send(execute, attempt_id):
            dispatching.give_back(attempt_id, now)
            return


@app.task
def execute(attempt_id: int) -> None:
    """Runs one attempt to its end, then asks for the next. In between its agents are looked at, now and then, and
    pruned: where one trial follows another there is no other moment."""
    worker = f"{socket.gethostname()} process {os.getpid()} {threading.current_thread().name}"
    if attempts.run(attempt_id, worker):
        with _or_next_time():
            for agent_id in pruning.agents_to_look_at(attempt_id, timezone.now()):
                _prune(agent_id)
        dispatch()


@app.task
@_or_next_time()
def reap() -> None:
    """Requeues what vanished workers ran, and reverts what they left changed on agents that nothing uses. After the
    warehouse was away, workers that live have the time of a lease to be heard of again."""
    now = timezone.now()
    if warehouse.there_s() > leasing.TTL_S:
        dispatching.reap(now)
    for agent_id in hostfactors.forgotten(now):
        _send(settle, agent_id)


@app.task
@_or_next_time()
def settle(agent_id: int) -> None:
    """Reverts what is changed on an agent that nothing uses; what keeps it from that is in the worker's log."""
    try:
        with leasing.contact(agent_id, timezone.now):
            contacts.settle(models.Agent.objects.select_related("jump").get(pk=agent_id))
    except TeitenError as error:
        log.warning("agent %s: %s", agent_id, error)
    ring()


@app.task
@_or_next_time()
def contact(agent_id: int) -> None:
    try:
        contact_now(agent_id)
    except TeitenError as error:
        log.warning("agent %s: %s", agent_id, error)
    ring()


@app.task
@_or_next_time()
def contact_all() -> None:
    """Every agent that is not ready, and those not looked at for a while; see `contact`."""
    stale = timezone.now() - timedelta(seconds=FACTS_AGE_S)
    looked_at = models.Agent.objects.filter(state=AgentState.READY, facts_at__gte=stale)
    for agent in models.Agent.objects.filter(enabled=True).exclude(pk__in=looked_at):
        _send(contact, agent.pk)


@app.task
@_or_next_time()
def prune_all() -> None:
    """Every agent on which clusters are due to be removed and that nothing uses."""
    for agent_id in pruning.agents_due(timezone.now()):
        _send(prune, agent_id)


@app.task
@_or_next_time()
def prune(agent_id: int) -> None:
    """Removes what is due on an agent; what keeps it from that is on the agent's page, or in the worker's log."""
    _prune(agent_id)
    ring()


@app.task
def start_plan(plan_id: int) -> None:
    """A cron schedule's run of a plan. What keeps it from running is in the audit log and the worker's log."""
    warehouse.outlast(_start_plan, plan_id, timezone.now())
    with _or_next_time():
        ring()


def _start_plan(plan_id: int, since: datetime) -> None:
    """since: when the schedule asked for it. Asked again, as the connection broke off, the run may be there already."""
    if models.Run.objects.filter(plan=plan_id, created_at__gte=since).exists():
        return
    stored = models.Plan.objects.get(pk=plan_id)
    kinds = registry.kinds()
    user: User | None = stored.created_by
    try:
        plan = runs.load_plan(stored, kinds)
        after_looking_again(lambda: runs.create_run(plan, kinds, stored=stored, user=user, actor="schedule"))
    except PlanError as error:
        log.error("plan %s: %s", plan_id, error)
        runs.audit("schedule", "could not run plan", f"plan {plan_id}", error=error.as_dict())


@app.task
@_or_next_time()
def alert() -> None:
    """Judges the runs that have ended since, and tells whom it concerns: what is due is sent even if judging fails."""
    try:
        alerts.decide(timezone.now())
    finally:
        alerting.send_due(timezone.now())


def _prune(agent_id: int) -> None:
    try:
        with pruning.alone(agent_id) as lost:
            pruning.prune(agent_id, lost)
    except TeitenError as error:
        log.warning("agent %s: %s", agent_id, error)


def _send(task: Any, *args: Any) -> bool:
    try:
        task.delay(*args)
    except OperationalError as error:
        log.error("the broker cannot be reached (%s): %s waits for beat", error, task.name)
        return False
    return True
