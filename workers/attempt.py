"""Run one attempt: execute the trial, archive its bundle, parse and store that, update the trial."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connection
from django.db.models import Q
from django.utils import timezone

from results import bundle_files, hostfactors, ingest, logs, warehouse
from results.bundle_storage import storage
from results.domain.errors import AwayError, TeitenError, full_error, is_full
from results.domain.kinds.host_factors import Change
from results.domain.measurement.activity import ActivitySample
from results.domain.measurement.parsed_trial import ParsedTrial
from results.domain.messages import gettext_lazy as _
from results.domain.states import AttemptState, TrialState
from results.models import Attempt, Trial
from workers import checkpoint, dispatch, executor, lease
from workers.access import Access, shared
from workers.bundle import reader
from workers.bundle.writer import Archived, archive_path, archived_before, checksum
from workers.execution import Hold, Reporter
from workers.lease import LeaseState
from workers.orders import Order, agents_idle, order_of

log = logging.getLogger(__name__)
T = TypeVar("T")
U = TypeVar("U")


def run(attempt_id: int, worker: str) -> bool:
    """Run an attempt, or go on with one whose worker is gone. Return False when another worker has it or it has ended.

    worker: a name that no other process or thread has, and that this one has for this attempt alone
    """
    if not connection.in_atomic_block:
        connection.close()  # this thread only waits, and what it asks goes through the shared ones
    with shared() as access:
        return _run(attempt_id, worker, access)


def _run(attempt_id: int, worker: str, access: Access) -> bool:
    if not access.retry(_begin, attempt_id, worker):
        return False
    try:
        order = access.retry(order_of, attempt_id)
        with logs.about(**order.log_fields):
            error = _execute(attempt_id, worker, order, access)
            access.retry(dispatch.finish, attempt_id, error, timezone.now(), worker)
            _forget(order, worker)
    except executor.TakenError:
        log.warning("attempt %s: it is another worker's now, or waits for one", attempt_id)
    except AwayError as away:
        log.error("attempt %s: it waits for a worker until what is away is back: %s", attempt_id, away)
    return True


def _begin(attempt_id: int, worker: str) -> bool:
    """Give the attempt to this worker; return whether it is this worker's.

    A worker is a thread and runs one attempt at a time: it may have begun this one itself before a retry.
    """
    attempt = Attempt.objects.filter(Q(worker="") | Q(worker=worker), pk=attempt_id, state=AttemptState.RUNNING)
    return bool(attempt.update(worker=worker))


def _forget(order: Order, worker: str) -> None:
    """Remove the checkpoint of an attempt that has ended, unless another worker has it."""
    path = checkpoint.path_of(settings.TEITEN_BUNDLE_DIR, order.trial_key, order.attempt)
    if checkpoint.is_of(path, worker):
        path.unlink()


def _execute(attempt_id: int, worker: str, order: Order, access: Access) -> dict[str, Any] | None:
    """Execute an attempt and store its measurements; return the error that ended it, None for none.

    Raises TakenError, and AwayError where what was measured could not be stored."""
    try:
        picked_up = access.retry(Attempt.objects.values_list("picked_up", flat=True).get, pk=attempt_id)
        reporter = _Reporter(attempt_id, worker, access)
        return asyncio.run(_with_heartbeat(reporter, order, picked_up=picked_up))
    except (executor.TakenError, AwayError):
        raise
    except TeitenError as failure:
        return failure.as_dict()
    except Exception as failure:
        if is_full(failure):
            log.warning("attempt %s: %s", attempt_id, failure)
            return full_error(failure).as_dict()
        log.exception("attempt %s", attempt_id)
        unexpected = TeitenError(
            _("Teiten itself failed: {error}.", error=type(failure).__name__),
            where="worker",
            why=str(failure),
            todo=_("Look at the worker's log."),
        )
        return unexpected.as_dict()


class _Reporter(Reporter):
    """An attempt's access to the warehouse while it runs, in other threads, so that the trial never waits for long.

    cleaning: whether the phase `clean` has begun
    unreported_phase: the phase, since when, and its expected seconds, until the warehouse has stored it
    """

    def __init__(self, attempt_id: int, worker: str, access: Access) -> None:
        super().__init__(worker=worker)
        self.attempt_id, self.access = attempt_id, access
        self.cleaning = False
        self.unreported_phase: tuple[str, datetime, float | None] | None = None

    async def _try_once(self, answer: Future[T], otherwise: Callable[[DatabaseError], U]) -> T | U:
        """Await an answer of the warehouse, or what replaces it where there is none."""
        try:
            return await asyncio.wrap_future(answer)
        except DatabaseError as error:
            log.warning("attempt %s: %s", self.attempt_id, error)
            return otherwise(error)

    async def progress(self, phase: str, expected_s: float | None) -> None:
        self.cleaning = self.cleaning or phase == "clean"
        self.unreported_phase = (phase, timezone.now(), expected_s)
        await self.report_phase()

    async def report_phase(self) -> None:
        phase = self.unreported_phase
        if phase is None:
            return
        report = self.access.report(partial(_store_phase, self.attempt_id, *phase))
        stored: bool = await self._try_once(report, lambda _: False)  # the display is late, but not the trial
        if stored and self.unreported_phase is phase:
            self.unreported_phase = None

    async def heartbeat(self) -> LeaseState | None:
        state = await self.state()
        await self.report_phase()
        return state

    async def state(self) -> LeaseState | None:
        """Prolong the attempt's leases; None when the warehouse did not answer, which a lease tolerates for a while."""
        return await self._try_once(self.access.heartbeat(self.attempt_id, self.worker), _state_without_answer)

    async def hold(self) -> Hold:
        state = await self.state()
        return Hold.OWN if state is None else _HOLDS.get(state, Hold.OWN)

    async def certain_hold(self) -> Hold:
        """Return whose the agents are, once the warehouse has said so, or is known not to run.

        Where it cannot be reached for as long as things are retried, somebody else may.
        """
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        while loop.time() - began_s < warehouse.PATIENCE_S:
            state = await self.state()
            if state is not None:
                return _HOLDS.get(state, Hold.OWN)
            await asyncio.sleep(lease.HEARTBEAT_S)
        return Hold.TAKEN

    async def idle_agents(self) -> frozenset[str]:
        """Return the agents that no other trial waits for, none where the leases are lost or the warehouse is away."""
        try:
            return await asyncio.to_thread(self.access.retry, _idle_agents, self.attempt_id, self.worker)
        except AwayError as error:
            log.warning("attempt %s: %s", self.attempt_id, error)
            return frozenset()

    async def store_changes(self, agent: str, changes: Sequence[Change]) -> None:
        """Store the changed host factors that the agent's page shows; files on the agent hold them in any case."""
        note = partial(hostfactors.note_changes, agent, changes, timezone.now())
        await self._try_once(self.access.report(note), lambda _: None)

    async def store_sample(self, look: ActivitySample | None) -> None:
        await self._try_once(self.access.report(partial(_store_sample, self.attempt_id, look)), lambda _: None)


_HOLDS = {LeaseState.LOST: Hold.LOST, LeaseState.TAKEN: Hold.TAKEN}


async def _with_heartbeat(reporter: _Reporter, order: Order, *, picked_up: bool) -> dict[str, Any] | None:
    """Execute an attempt and store its result, with heartbeats; return the error that ended it.

    A lost lease or a cancelled trial stops the execution, but neither its clean-up nor the storing of its result.
    Raises TakenError.
    """
    bundles: Path = settings.TEITEN_BUNDLE_DIR
    archived = _archived_before(bundles, order) if picked_up else None
    if archived is None:
        work = (executor.pick_up if picked_up else executor.run)(order, bundles, reporter)
        execution = asyncio.ensure_future(work)
        await _wait_for_execution(execution, reporter, checkpoint.path_of(bundles, order.trial_key, order.attempt))
        archived, _ = execution.result()
    storing = asyncio.ensure_future(
        asyncio.to_thread(_store_result, reporter.access, reporter.attempt_id, bundles, archived)
    )
    while not storing.done():
        await asyncio.wait([storing], timeout=lease.HEARTBEAT_S)
        await reporter.state()
    failure = storing.exception()
    if archived.error and failure and not isinstance(failure, AwayError):
        return dict(archived.error)
    return storing.result()


async def _wait_for_execution(execution: asyncio.Future[Any], reporter: _Reporter, saved: Path) -> None:
    """Wait until the execution has ended, with heartbeats; cancel it when the lease is lost or the trial cancelled.

    A warehouse that does not answer for as long as a lease lasts means a lost lease, unless it is known not to run:
    then nobody else can take the agents. Nor does it where the measurement runs by itself: somebody else may go on with
    it, and nothing is done to it here before that is certain.

    saved: the attempt's checkpoint, which is there once another worker could go on
    """
    loop = asyncio.get_running_loop()
    last_answer_s = loop.time()
    while not execution.done():
        await asyncio.wait([execution], timeout=lease.HEARTBEAT_S)
        state = await reporter.heartbeat()
        last_answer_s = loop.time() if state is not None else last_answer_s
        if state is None and loop.time() - last_answer_s > lease.TTL_S and not saved.exists():
            state = LeaseState.LOST
        if execution.done() or reporter.cleaning:
            continue
        if state in _HOLDS:
            execution.cancel(_HOLDS[state])
        elif state is LeaseState.CANCELLED:
            execution.cancel("cancelled")


def _store_result(access: Access, attempt_id: int, bundles: Path, archived: Archived) -> dict[str, Any] | None:
    """Store the archive's path, then its measurements; return the error that its files contain, None for none."""
    archive = ingest.Archive(archived.path, archived.sha256, archived.size_bytes)
    if (path := bundles / archived.path).exists():
        bundle_files.keep_bundle(path, archived.path, archived.sha256)
    access.retry(ingest.file_archive, attempt_id, archive)
    parsed = _read(bundles / archived.path, archived.path)
    access.retry(ingest.store, parsed, attempt_id, archive)
    return dict(parsed.error) if parsed.error else None


def _read(path: Path, stored: str) -> ParsedTrial:
    """Read the bundle of an attempt, and remove the worker's own file of it where bundles are kept elsewhere."""
    if storage().in_folder:
        return reader.read(path)
    if not path.exists():
        with storage().file(stored) as fetched:
            return reader.read(fetched)
    try:
        return reader.read(path)
    finally:
        path.unlink()


def _archived_before(bundles: Path, order: Order) -> Archived | None:
    """Return the archive that another worker has made of an attempt, None where there is none. Raises AwayError."""
    here = archived_before(bundles, order.trial_key, order.attempt)
    if here or storage().in_folder:
        return here
    stored = str(archive_path(order.trial_key, order.attempt))
    try:
        with storage().file(stored) as path:
            return Archived(stored, checksum(path), path.stat().st_size, None)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise bundle_files.storage_away(error) from error


def _store_phase(attempt_id: int, phase: str, since: datetime, expected_s: float | None) -> bool:
    """Store the phase that pages show."""
    running = Trial.objects.filter(attempts=attempt_id, state=TrialState.RUNNING)
    running.update(phase=phase, phase_at=since, expected_s=expected_s)
    return True


def _store_sample(attempt_id: int, look: ActivitySample | None) -> None:
    """Store the sessions' activity that pages show while the attempt runs; at its end its bundle's notes replace it."""
    running = Attempt.objects.filter(pk=attempt_id, state=AttemptState.RUNNING)
    running.update(notes={"look": look.to_json()} if look else {})


def _state_without_answer(error: DatabaseError) -> LeaseState | None:
    return LeaseState.AWAY if warehouse.is_not_running(error) else None


def _idle_agents(attempt_id: int, worker: str) -> frozenset[str]:
    lost = lease.heartbeat(attempt_id, worker, timezone.now()) in _HOLDS
    return frozenset() if lost else agents_idle(attempt_id)
