"""One attempt, from its lease to its numbers: executes, archives, reads the bundle, ingests, settles."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connection
from django.utils import timezone

from results import hostfactors, ingest
from results.errors import TeitenError
from results.host import Change
from results.models import Attempt, Trial
from results.states import AttemptState, TrialState
from workers import dispatch, executor, lease
from workers.bundle import reader
from workers.bundle.writer import Archived
from workers.lease import Beat
from workers.orders import Order, agents_idle, order_of

log = logging.getLogger(__name__)
T = TypeVar("T")


def run(attempt_id: int, worker: str) -> bool:
    """Runs the attempt. False when another worker has it already, or it is over: a message delivered twice."""
    fresh = Attempt.objects.filter(pk=attempt_id, state=AttemptState.RUNNING, worker="")
    if not fresh.update(worker=worker):
        return False
    error = _executed(attempt_id)
    dispatch.finish(attempt_id, error, timezone.now())
    return True


def _executed(attempt_id: int) -> dict[str, Any] | None:
    """The error that ended the attempt, None when its numbers are stored."""
    try:
        return asyncio.run(_with_heartbeat(attempt_id, order_of(attempt_id)))
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


async def _with_heartbeat(attempt_id: int, order: Order) -> dict[str, Any] | None:
    """Executes and stores beside a heartbeat. A lost lease or a cancelled trial stops the execution, but never its
    cleaning up nor what is stored of it."""
    loop = asyncio.get_running_loop()
    bundles: Path = settings.TEITEN_BUNDLE_DIR
    cleaning = False
    with ThreadPoolExecutor(1, thread_name_prefix=f"attempt-{attempt_id}") as database:

        async def asked(verb: Callable[..., T], *words: Any) -> T:
            return await loop.run_in_executor(database, verb, attempt_id, *words)

        async def progress(phase: str, expected_s: float | None) -> None:
            nonlocal cleaning
            cleaning = cleaning or phase == "clean"
            await asked(_note_phase, phase, expected_s)

        async def idle() -> frozenset[str]:
            return await asked(_idle)

        async def noted(agent: str, changes: Sequence[Change]) -> None:
            await asked(_note_changes, agent, changes)

        execution = asyncio.ensure_future(executor.run(order, bundles, progress, idle, noted))
        last_s = loop.time()
        while not execution.done():
            await asyncio.wait([execution], timeout=lease.HEARTBEAT_S)
            beat = await asked(_beat)
            last_s = loop.time() if beat is not None else last_s
            if beat is None and loop.time() - last_s > lease.TTL_S:
                beat = Beat.LOST
            if beat in (Beat.LOST, Beat.CANCELLED) and not cleaning and not execution.done():
                execution.cancel(executor.LOST if beat is Beat.LOST else "cancelled")
        archived, error = execution.result()
        storing = loop.run_in_executor(None, _stored, attempt_id, bundles, archived)
        while not storing.done():
            await asyncio.wait([storing], timeout=lease.HEARTBEAT_S)
            await asked(_beat)
        await asked(_hang_up)
        return error or storing.result()


def _stored(attempt_id: int, bundles: Path, archived: Archived) -> dict[str, Any] | None:
    """Files the archive, then its numbers; the error that the files themselves tell."""
    try:
        archive = ingest.Archive(archived.path, archived.sha256, archived.size_bytes)
        ingest.file_archive(attempt_id, archive)
        parsed = reader.read(bundles / archived.path)
        ingest.store(parsed, attempt_id, archive)
        return dict(parsed.error) if parsed.error else None
    finally:
        connection.close()


def _note_phase(attempt_id: int, phase: str, expected_s: float | None) -> None:
    """What the pages show. A warehouse that is away for a moment costs the display, not the trial."""
    try:
        Trial.objects.filter(attempts=attempt_id, state=TrialState.RUNNING).update(
            phase=phase, phase_at=timezone.now(), expected_s=expected_s
        )
    except DatabaseError as error:
        log.warning("attempt %s, phase %s: %s", attempt_id, phase, error)
        connection.close()


def _note_changes(attempt_id: int, agent: str, changes: Sequence[Change]) -> None:
    """What the agents' pages show. The agent's own files hold it too: a warehouse that is away costs the display."""
    try:
        hostfactors.note_changes(agent, changes, timezone.now())
    except DatabaseError as error:
        log.warning("attempt %s, agent %s: %s", attempt_id, agent, error)
        connection.close()


def _beat(attempt_id: int) -> Beat | None:
    """None when the warehouse did not answer: the lease allows for some silence."""
    try:
        return lease.heartbeat(attempt_id, timezone.now())
    except DatabaseError as error:
        log.warning("attempt %s, heartbeat: %s", attempt_id, error)
        connection.close()
        return None


def _idle(attempt_id: int) -> frozenset[str]:
    """The agents that are the attempt's own to leave idle."""
    try:
        lost = lease.heartbeat(attempt_id, timezone.now()) is Beat.LOST
        return frozenset() if lost else agents_idle(attempt_id)
    except DatabaseError as error:
        log.warning("attempt %s: %s", attempt_id, error)
        connection.close()
        return frozenset()


def _hang_up(attempt_id: int) -> None:
    connection.close()  # the connection of the thread that this runs in
