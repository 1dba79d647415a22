"""Run one attempt: execute the trial, archive its bundle, parse and store that, update the trial."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connection
from django.db.models import Q
from django.utils import timezone

from results import hostfactors, ingest, warehouse
from results.domain.errors import AwayError, TeitenError
from results.domain.kinds.host_factors import Change
from results.domain.measurement.activity import ActivitySample
from results.domain.states import AttemptState, TrialState
from results.models import Attempt, Trial
from workers import dispatch, executor, lease
from workers.bundle import reader
from workers.bundle.writer import Archived
from workers.lease import LeaseState
from workers.orders import Order, agents_idle, order_of

log = logging.getLogger(__name__)
T = TypeVar("T")
_IDLE_PATIENCE_S = 60.0  # with a warehouse that is away, at a trial's end; then its servers stay running


def run(attempt_id: int, worker: str) -> bool:
    """Run an attempt. Return False when another worker has it or it has ended, as for a message delivered twice."""
    if not warehouse.retry(_begin, attempt_id, worker):
        return False
    error = _execute(attempt_id)
    warehouse.retry(dispatch.finish, attempt_id, error, timezone.now())
    return True


def _begin(attempt_id: int, worker: str) -> bool:
    """Give the attempt to this worker; return whether it is this worker's.

    A worker is a thread and runs one attempt at a time: it may have begun this one itself before a retry.
    """
    attempt = Attempt.objects.filter(Q(worker="") | Q(worker=worker), pk=attempt_id, state=AttemptState.RUNNING)
    return bool(attempt.update(worker=worker))


def _execute(attempt_id: int) -> dict[str, Any] | None:
    """Execute an attempt and store its measurements; return the error that ended it, None for none."""
    try:
        return asyncio.run(_with_heartbeat(attempt_id, warehouse.retry(order_of, attempt_id)))
    except TeitenError as failure:
        return failure.as_dict()
    except Exception as failure:
        log.exception("attempt %s", attempt_id)
        unexpected = TeitenError(
            f"Teiten itself failed: {type(failure).__name__}.",
            where="worker",
            why=str(failure),
            todo="Look at the worker's log.",
        )
        return unexpected.as_dict()


@dataclass
class _Reporter:
    """An attempt's access to the warehouse while it runs, in one thread of its own, so that the trial never waits.

    cleaning: whether the phase `clean` has begun
    unreported_phase: the phase, since when, and its expected seconds, until the warehouse has stored it
    """

    attempt_id: int
    thread: ThreadPoolExecutor
    cleaning: bool = False
    unreported_phase: tuple[str, datetime, float | None] | None = None

    async def call(self, operation: Callable[..., T], *args: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.thread, operation, self.attempt_id, *args)

    async def progress(self, phase: str, expected_s: float | None) -> None:
        self.cleaning = self.cleaning or phase == "clean"
        self.unreported_phase = (phase, timezone.now(), expected_s)
        await self.report_phase()

    async def report_phase(self) -> None:
        phase = self.unreported_phase
        if phase is None:
            return
        stored: bool = await self.call(_store_phase, *phase)
        if stored and self.unreported_phase is phase:
            self.unreported_phase = None

    async def heartbeat(self) -> LeaseState | None:
        state = await self.call(_heartbeat)
        await self.report_phase()
        return state

    async def has_leases(self) -> bool:
        return await self.call(_heartbeat) is not LeaseState.LOST

    async def idle_agents(self) -> frozenset[str]:
        return await self.call(_idle_agents)

    async def store_changes(self, agent: str, changes: Sequence[Change]) -> None:
        await self.call(_store_changes, agent, changes)

    async def store_sample(self, look: ActivitySample | None) -> None:
        await self.call(_store_sample, look)


async def _with_heartbeat(attempt_id: int, order: Order) -> dict[str, Any] | None:
    """Execute an attempt and store its result, with heartbeats; return the error that ended it.

    A lost lease or a cancelled trial stops the execution, but neither its clean-up nor the storing of its result.
    """
    bundles: Path = settings.TEITEN_BUNDLE_DIR
    with ThreadPoolExecutor(1, thread_name_prefix=f"attempt-{attempt_id}") as thread:
        reporter = _Reporter(attempt_id, thread)
        work = executor.run(
            order,
            bundles,
            reporter.progress,
            reporter.idle_agents,
            reporter.store_changes,
            reporter.store_sample,
            reporter.has_leases,
        )
        execution = asyncio.ensure_future(work)
        await _wait_for_execution(execution, reporter)
        archived, error = execution.result()
        storing = asyncio.get_running_loop().run_in_executor(None, _store_result, attempt_id, bundles, archived)
        while not storing.done():
            await asyncio.wait([storing], timeout=lease.HEARTBEAT_S)
            await reporter.call(_heartbeat)
        await reporter.call(_close_connection)
        if error and storing.exception():
            return error
        return storing.result()


async def _wait_for_execution(execution: asyncio.Future[Any], reporter: _Reporter) -> None:
    """Wait until the execution has ended, with heartbeats; cancel it when the lease is lost or the trial cancelled.

    A warehouse that does not answer for as long as a lease lasts means a lost lease, unless it is known not to run:
    then nobody else can take the agents.
    """
    loop = asyncio.get_running_loop()
    last_answer_s = loop.time()
    while not execution.done():
        await asyncio.wait([execution], timeout=lease.HEARTBEAT_S)
        state = await reporter.heartbeat()
        last_answer_s = loop.time() if state is not None else last_answer_s
        if state is None and loop.time() - last_answer_s > lease.TTL_S:
            state = LeaseState.LOST
        if state in (LeaseState.LOST, LeaseState.CANCELLED) and not reporter.cleaning and not execution.done():
            execution.cancel(executor.LOST if state is LeaseState.LOST else "cancelled")


def _store_result(attempt_id: int, bundles: Path, archived: Archived) -> dict[str, Any] | None:
    """Store the archive's path, then its measurements; return the error that its files contain, None for none."""
    try:
        archive = ingest.Archive(archived.path, archived.sha256, archived.size_bytes)
        warehouse.retry(ingest.file_archive, attempt_id, archive)
        parsed = reader.read(bundles / archived.path)
        warehouse.retry(ingest.store, parsed, attempt_id, archive)
        return dict(parsed.error) if parsed.error else None
    finally:
        connection.close()


def _store_phase(attempt_id: int, phase: str, since: datetime, expected_s: float | None) -> bool:
    """Store the phase that pages show; return whether the warehouse could be reached.

    While it is away for a moment, the display is late, but not the trial.
    """

    def store() -> bool:
        running = Trial.objects.filter(attempts=attempt_id, state=TrialState.RUNNING)
        running.update(phase=phase, phase_at=since, expected_s=expected_s)
        return True

    return _try_once(attempt_id, store, lambda _: False)


def _store_sample(attempt_id: int, look: ActivitySample | None) -> None:
    """Store the sessions' activity that pages show while the attempt runs; at its end its bundle's notes replace it."""

    def store() -> None:
        running = Attempt.objects.filter(pk=attempt_id, state=AttemptState.RUNNING)
        running.update(notes={"look": look.to_json()} if look else {})

    _try_once(attempt_id, store, lambda _: None)


def _store_changes(attempt_id: int, agent: str, changes: Sequence[Change]) -> None:
    """Store the changed host factors that the agent's page shows; files on the agent hold them in any case."""
    _try_once(attempt_id, lambda: hostfactors.note_changes(agent, changes, timezone.now()), lambda _: None)


def _heartbeat(attempt_id: int) -> LeaseState | None:
    """Prolong the attempt's leases; None when the warehouse did not answer, which the lease tolerates for a while."""

    def state_without_answer(error: DatabaseError) -> LeaseState | None:
        return LeaseState.AWAY if warehouse.is_not_running(error) else None

    return _try_once(attempt_id, lambda: lease.heartbeat(attempt_id, timezone.now()), state_without_answer)


def _try_once(attempt_id: int, operation: Callable[[], T], otherwise: Callable[[DatabaseError], T]) -> T:
    """Call an operation that is not worth a retry: it is repeated anyway, or the trial does without it."""
    try:
        return operation()
    except DatabaseError as error:
        log.warning("attempt %s: %s", attempt_id, error)
        warehouse.drop_connection()
        return otherwise(error)


def _idle_agents(attempt_id: int) -> frozenset[str]:
    """Return the agents that no other trial waits for, none where the leases are lost or the warehouse is away."""

    def query() -> frozenset[str]:
        lost = lease.heartbeat(attempt_id, timezone.now()) is LeaseState.LOST
        return frozenset() if lost else agents_idle(attempt_id)

    try:
        return warehouse.retry_for(_IDLE_PATIENCE_S, query)
    except AwayError as error:
        log.warning("attempt %s: %s", attempt_id, error)
        return frozenset()


def _close_connection(attempt_id: int) -> None:
    connection.close()  # that of the thread which this runs in
