"""One thin task a verb: ids in, one call. A task is a doorbell; the database is the queue."""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from results import alerts, hostfactors, models, runs
from results.errors import PlanError, TeitenError
from results.models.agents import AgentState
from workers import alerting, registry
from workers import attempt as attempts
from workers import contact as contacts
from workers import dispatch as dispatching
from workers import lease as leasing
from workers.app import app
from workers.reingest import Reread
from workers.reingest import reread as read_again

log = logging.getLogger(__name__)
FACTS_AGE_S = 600.0


def ring() -> None:
    """After the present transaction: ask the dispatcher to look. Beat asks every 2 s in any case."""
    transaction.on_commit(lambda: _send(dispatch))


def contact_now(agent_id: int) -> None:
    """Reaches the agent at once. Raises AgentError or HostKeyError, which are stored on the agent too, and StateError
    while a trial or another contact uses the agent: discovery starts servers and would disturb what is measured. While
    it lasts, no trial starts there."""
    with leasing.contact(agent_id, timezone.now):
        contacts.contact(agent_id)


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


@app.task
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
    """Runs one attempt to its end, then asks for the next."""
    worker = f"{socket.gethostname()} process {os.getpid()} {threading.current_thread().name}"
    if attempts.run(attempt_id, worker):
        dispatch()


@app.task
def reap() -> None:
    """Requeues what vanished workers ran, and reverts what they left changed on agents that nothing uses."""
    now = timezone.now()
    dispatching.reap(now)
    for agent_id in hostfactors.forgotten(now):
        _send(settle, agent_id)


@app.task
def settle(agent_id: int) -> None:
    """Reverts what is changed on an agent that nothing uses; what keeps it from that is in the worker's log."""
    try:
        with leasing.contact(agent_id, timezone.now):
            contacts.settle(models.Agent.objects.select_related("jump").get(pk=agent_id))
    except TeitenError as error:
        log.warning("agent %s: %s", agent_id, error)
    ring()


@app.task
def contact(agent_id: int) -> None:
    try:
        contact_now(agent_id)
    except TeitenError as error:
        log.warning("agent %s: %s", agent_id, error)
    ring()


@app.task
def contact_all() -> None:
    """Every agent that is not ready, and those not looked at for a while; see `contact`."""
    stale = timezone.now() - timedelta(seconds=FACTS_AGE_S)
    looked_at = models.Agent.objects.filter(state=AgentState.READY, facts_at__gte=stale)
    for agent in models.Agent.objects.filter(enabled=True).exclude(pk__in=looked_at):
        _send(contact, agent.pk)


@app.task
def start_plan(plan_id: int) -> None:
    """A cron schedule's run of a plan. What keeps it from running is in the audit log and the worker's log."""
    stored = models.Plan.objects.get(pk=plan_id)
    kinds = registry.kinds()
    user: User | None = stored.created_by
    try:
        runs.create_run(runs.load_plan(stored, kinds), kinds, stored=stored, user=user, actor="schedule")
    except PlanError as error:
        log.error("plan %s: %s", plan_id, error)
        runs.audit("schedule", "could not run plan", f"plan {plan_id}", error=error.as_dict())
    ring()


@app.task
def alert() -> None:
    """Judges the runs that have ended since, and tells whom it concerns: what is due is sent even if judging fails."""
    try:
        alerts.decide(timezone.now())
    finally:
        alerting.send_due(timezone.now())


def _send(task: Any, *args: Any) -> bool:
    try:
        task.delay(*args)
    except OperationalError as error:
        log.error("the broker cannot be reached (%s): %s waits for beat", error, task.name)
        return False
    return True
