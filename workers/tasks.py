"""Celery tasks, and what pages and commands have workers do.

A task takes ids and makes one call: it is a doorbell; the database is the queue."""

from __future__ import annotations

import logging
import math
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
from typing import Any, TypeVar

from amqp.exceptions import AMQPError
from celery.signals import worker_shutting_down
from celery.worker.control import inspect_command
from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connection, transaction
from django.utils import timezone
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from results import alerts, hostfactors, models, ranges, runs, scheduled_runs, warehouse
from results.domain.errors import AgentError, PlanError, StateError, TeitenError
from results.domain.matrix.program_needs import MissingProgramsError, ProgramNeed
from results.domain.messages import gettext_lazy as _
from results.models.agents import AgentState
from results.queries.agents.clusters import Pruned
from workers import alerting, pruning, registry
from workers import attempt as attempts
from workers import contact as contacts
from workers import dispatch as dispatching
from workers import lease as leasing
from workers.access import Access, shared
from workers.app import AGENTS, CONTROL, TRIALS, app
from workers.bundle.writer import discard_unfinished
from workers.importing import import_run, import_upload
from workers.offline import orders_of_run, run_orders
from workers.reingest import RereadAttempt
from workers.reingest import reread as read_again
from workers.uploads import MOST_BYTES as MOST_BUNDLE_BYTES
from workers.uploads import receive_bundle

# as they are, for pages, API and commands
__all__ = ["MOST_BUNDLE_BYTES", "import_run", "import_upload", "orders_of_run", "receive_bundle", "run_orders"]
log = logging.getLogger(__name__)
_BROKER_ERRORS = (OperationalError, AMQPError, RedisError)  # AMQPError: it refuses, which kombu leaves as it is
T = TypeVar("T")
FACTS_AGE_S = 600.0
QUEUES = (CONTROL, AGENTS, TRIALS)
_prunings = threading.BoundedSemaphore(4)
_ending = threading.Event()  # this worker was asked to end


def wake_dispatcher() -> None:
    """Have the dispatcher look for trials after the current transaction; beat does so every 2 s in any case."""
    transaction.on_commit(lambda: _send(dispatch))


def contact_now(agent_id: int, patience_s: float = 0.0) -> None:
    """Contact an agent in this process; no trial starts there meanwhile.

    Raises AgentError or HostKeyError, which are stored with the agent too, and StateError while a trial or another
    contact uses the agent: discovery starts servers and would disturb a measurement.

    patience_s: seconds to wait for an agent in use
    """
    with leasing.contact_lease(agent_id, timezone.now, patience_s):
        contacts.contact(agent_id)


def retry_after_discovery(operation: Callable[[], T]) -> T:
    """Call an operation; where agents lack programs, look for these there and call it again.

    What an agent lacks may have been installed since its last contact. Raises what the operation raises.
    """
    try:
        return operation()
    except MissingProgramsError as missing:
        failures = {agent: _find_programs(agent, missing.needs) for agent in {need.agent for need in missing.needs}}
    try:
        return operation()
    except MissingProgramsError as missing:
        raise MissingProgramsError(missing.needs, failures) from None


def _find_programs(agent: str, needs: Sequence[ProgramNeed]) -> str:
    """Look for programs on an agent and store which are there; return why that was not possible, '' where it was."""
    row = models.Agent.objects.get(name=agent)
    if row.state != AgentState.READY:
        return _("its state is {state}.", state=row.get_state_display())
    try:
        contacts.find_programs(row.pk, {need.program for need in needs if need.agent == agent})
    except AgentError as error:
        return str(error)
    return ""


def requeue() -> list[int]:
    """Requeue the trials that dead workers left running, without waiting for their leases, and free all agents.

    For a start of everything. Returns the trials. Raises StateError while a worker answers.
    """
    if not leasing.any_held():
        return []
    if names := answering_workers():
        raise StateError(
            _("Workers are alive: {workers}.", workers=", ".join(names)),
            why=_("What they run goes on; what a dead one ran is queued again when its lease expires."),
            todo=_("Wait {seconds:g} s, or stop them first.", seconds=leasing.TTL_S),
        )
    discard_unfinished(settings.TEITEN_BUNDLE_DIR)
    return dispatching.requeue(timezone.now())


def remove_clusters(agent_id: int, directories: Collection[str], actor: str) -> Pruned:
    """Remove clusters of an agent in this process.

    Raises AgentError, and StateError while something uses the machine or where one of them may not be removed.
    """
    with pruning.machine_lease(agent_id) as lost:
        return pruning.prune(agent_id, lost, directories, actor)


def reread(run_id: int | None, *, replace: bool, with_gaps: bool = False) -> Iterator[RereadAttempt]:
    """See `workers.reingest.reread`."""
    return read_again(run_id, replace=replace, with_gaps=with_gaps)


def answering_workers(timeout_s: float = 2.0) -> list[str]:
    """Return the names of the Celery workers that answer now. Raises TeitenError when the broker cannot be reached."""
    with _broker_errors():
        return sorted(name for answer in app.control.ping(timeout=timeout_s) or () for name in answer)


def served_queues(timeout_s: float = 2.0) -> dict[str, list[str]]:
    """Return the queues of each worker that answers now. Raises TeitenError when the broker cannot be reached."""
    with _broker_errors():
        answers = app.control.inspect(timeout=timeout_s).active_queues() or {}
    return {worker: [queue["name"] for queue in queues] for worker, queues in answers.items()}


def worker_clocks(count: int, timeout_s: float = 2.0) -> dict[str, float | None]:
    """Return the time of each worker, in seconds since 1970; None of one of another version, which does not tell it.

    Raises TeitenError when the broker cannot be reached.

    count: of workers that answer, so that none is waited for in vain"""
    with _broker_errors():
        answers = app.control.broadcast("wall_clock", reply=True, timeout=timeout_s, limit=count) or ()
    return {name: _seconds(told) for answer in answers for name, told in answer.items()}


def _seconds(told: Any) -> float | None:
    return told if isinstance(told, float) else None


@inspect_command()
def wall_clock(_: Any) -> float:
    """The worker's answer to `worker_clocks`."""
    return time.time()


def messages_waiting() -> dict[str, int]:
    """Return how many messages wait in each queue. Raises TeitenError when the broker cannot be reached."""
    with _broker_errors():
        return {name: _messages_in(name) for name in QUEUES}


def require_broker(patience_s: float) -> None:
    """Raise TeitenError where the broker does not answer within this time."""
    with app.connection_for_write(connect_timeout=patience_s) as broker:
        try:
            broker.ensure_connection(max_retries=1, interval_start=0, timeout=math.ceil(patience_s))
        except (*_BROKER_ERRORS, OSError) as error:
            raise _amqp_error(error) from error


@contextmanager
def _broker_errors() -> Iterator[None]:
    try:
        yield
    except _BROKER_ERRORS as error:
        if settings.CELERY_BROKER_URL.startswith("amqp"):
            raise _amqp_error(error) from error
        raise TeitenError(
            _("Redis cannot be reached."),
            where="TEITEN_REDIS_URL",
            why=str(error),
            todo=_("Start it, or set its URL."),
        ) from error


def _amqp_error(error: Exception) -> TeitenError:
    """Return what to raise where an AMQP server does not answer, or refuses."""
    return TeitenError(
        _("The broker does not answer, or refuses Teiten."),
        where="TEITEN_BROKER_URL",
        why=str(error),
        todo=_("Start it, or set TEITEN_BROKER_URL."),
    )


@contextmanager
def _skipped_while_away() -> Iterator[None]:
    """Give up silently while the warehouse is away; for tasks that beat sends again and again."""
    try:
        yield
    except DatabaseError as error:
        if not warehouse.is_away(error):
            raise
        warehouse.drop_connection()
        log.warning("the warehouse is away: %s", error)


@app.task
@_skipped_while_away()
def dispatch() -> None:
    """Start the runs whose time has come, and call workers for the trials that may run now.

    A trial that no worker has time for holds nothing: whoever comes takes it, with its agents.
    """
    now = timezone.now()
    runs.start_due(now)
    for run_id in runs.in_making():
        _send(make_trials, run_id)
    if wanted := dispatching.count_startable(now):
        calls = wanted - _messages_for_trials()
        while calls > 0 and _send(work):
            calls -= 1


@app.task
@_skipped_while_away()
def make_trials(run_id: int) -> None:
    """Make the rest of a run's trials, each batch in a transaction of its own; those that are made may begin."""
    while runs.make_trials(run_id):
        pass
    runs.analyze_trials()


@worker_shutting_down.connect
def _take_no_more(**_: object) -> None:
    _ending.set()


@app.task
def work() -> None:
    """Run trials one after the other, each to its end, while there are any; prune their agents where that is due.

    Where one trial follows another, there is no other moment to prune. A worker that is asked to end begins no more.
    """
    with shared() as access:
        while not _ending.is_set():
            # A name of its own for each attempt: another process of the same number is another worker.
            thread = f"{socket.gethostname()} process {os.getpid()} {threading.current_thread().name}"
            worker = f"{thread} {secrets.token_hex(4)}"
            if (attempt_id := _take(access, worker)) is None:
                return
            attempts.run(attempt_id, worker)
            with _skipped_while_away():
                for agent_id in access.call(pruning.agents_to_look_at, attempt_id, timezone.now()):
                    _prune_in_turn(agent_id)
            _send(dispatch)  # a trial of several agents leaves work for several workers


def _take(access: Access, worker: str) -> int | None:
    """Take the next trial that may run, with its agents; return the attempt, None where there is none."""
    attempt_id: int | None = None
    with _skipped_while_away():
        attempt_id = access.call(dispatching.next_attempt, timezone.now(), worker)
    return attempt_id


def _prune_in_turn(agent_id: int) -> None:
    """Prune an agent; a few at a time, for each takes two connections to the warehouse meanwhile."""
    with _prunings, closing(connection):
        _prune(agent_id)


@app.task
@_skipped_while_away()
def reap() -> None:
    """Requeue the trials of vanished workers, and revert what they left changed on agents that nothing uses.

    After the warehouse was away, live workers first have the time of a lease to send a heartbeat.
    """
    now = timezone.now()
    if warehouse.reachable_for_s() > leasing.TTL_S:
        dispatching.reap(now)
    dispatching.discard_ended(now)
    for agent_id in hostfactors.agents_to_revert(now):
        _send(settle, agent_id)


@app.task
@_skipped_while_away()
def settle(agent_id: int) -> None:
    """Revert what is changed on an agent that nothing uses; a failure is in the worker's log."""
    try:
        with leasing.contact_lease(agent_id, timezone.now):
            contacts.revert_changes(models.Agent.objects.select_related("jump").get(pk=agent_id))
    except TeitenError as error:
        log.warning("agent %s: %s", agent_id, error)
    wake_dispatcher()


@app.task
@_skipped_while_away()
def contact(agent_id: int) -> None:
    """Contact an agent; a failure is on the agent's page and in the worker's log."""
    try:
        contact_now(agent_id)
    except TeitenError as error:
        log.warning("agent %s: %s", agent_id, error)
    wake_dispatcher()


@app.task
@_skipped_while_away()
def contact_all() -> None:
    """Contact every agent that is not ready, or whose facts are old."""
    stale = timezone.now() - timedelta(seconds=FACTS_AGE_S)
    up_to_date = models.Agent.objects.filter(state=AgentState.READY, facts_at__gte=stale)
    for agent in models.Agent.objects.filter(enabled=True).exclude(pk__in=up_to_date):
        _send(contact, agent.pk)


@app.task
@_skipped_while_away()
def prune_all() -> None:
    """Prune every agent on which clusters are due to be removed and that nothing uses."""
    for agent_id in pruning.agents_due(timezone.now()):
        _send(prune, agent_id)


@app.task
@_skipped_while_away()
def prune(agent_id: int) -> None:
    """Remove the clusters that are due on an agent; a failure is on the agent's page, or in the worker's log."""
    _prune(agent_id)
    wake_dispatcher()


@app.task
def start_plan(plan_id: int) -> None:
    """Start the run that a plan's schedule has due now, if any. A failure is on the plan's page and in the audit log.

    Beat says so at each time of the schedule, and after a pause also for times long past."""
    warehouse.retry(_start_plan, plan_id, timezone.now())
    with _skipped_while_away():
        wake_dispatcher()


def _start_plan(plan_id: int, now: datetime) -> None:
    kinds = registry.kinds()
    try:
        retry_after_discovery(lambda: scheduled_runs.start_due(plan_id, kinds, now))
    except PlanError as error:
        log.error("plan %s: %s", plan_id, error)
        scheduled_runs.note_refused(plan_id, now, error)


@app.task
@_skipped_while_away()
def check_schedules() -> None:
    """Start what the schedules have due although beat did not say so, and note what was missed."""
    for plan_id in scheduled_runs.plans_due(timezone.now()):
        _send(start_plan, plan_id)


@app.task
@_skipped_while_away()
def make_ranges() -> None:
    """Have the partitions of the runs that come next."""
    ranges.make_ahead()


@app.task
@_skipped_while_away()
def alert() -> None:
    """Judge the runs that have ended, and send the alerts that are due, even if judging fails."""
    try:
        alerts.judge_runs(timezone.now())
    finally:
        alerting.send_due(timezone.now())


def _prune(agent_id: int) -> None:
    try:
        with pruning.machine_lease(agent_id) as lost:
            pruning.prune(agent_id, lost)
    except TeitenError as error:
        log.warning("agent %s: %s", agent_id, error)


def _messages_for_trials() -> int:
    """Return how many messages wait for trials; 0 where the broker cannot be reached, and then none can be sent."""
    try:
        return _messages_in(TRIALS)
    except _BROKER_ERRORS as error:
        log.error("the broker cannot be reached (%s): what waits in queue %s is not known", error, TRIALS)
        return 0


def _messages_in(queue: str) -> int:
    with app.connection_or_acquire() as broker:

        def declare() -> int:
            # As Celery declares it, which RabbitMQ insists on.
            declared = broker.default_channel.queue_declare(queue=queue, durable=True, auto_delete=False)
            return int(declared.message_count)

        once_more = int(app.conf.task_publish_retry)
        count: int = broker.ensure(broker, declare, max_retries=once_more, interval_start=0)()
        return count


def _send(task: Any, *args: Any) -> bool:
    try:
        task.delay(*args)
    except _BROKER_ERRORS as error:
        log.error("the broker cannot be reached (%s): %s waits for beat", error, task.name)
        return False
    return True
