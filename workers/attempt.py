"""One attempt, from its lease to its numbers: executes, reads the bundle, ingests, settles."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection
from django.utils import timezone

from results import ingest
from results.errors import TeitenError
from results.models import Attempt, Trial
from results.states import AttemptState, TrialState
from workers import dispatch, executor, lease
from workers.bundle import reader
from workers.bundle.writer import Archived
from workers.orders import Order, order_of

log = logging.getLogger(__name__)


def run(attempt_id: int, worker: str) -> bool:
    """Runs the attempt. False when another worker has it already, or it is over: a message delivered twice."""
    fresh = Attempt.objects.filter(pk=attempt_id, state=AttemptState.RUNNING, worker="")
    if not fresh.update(worker=worker):
        return False
    error = _executed(attempt_id, order_of(attempt_id))
    dispatch.finish(attempt_id, error, timezone.now())
    return True


def _executed(attempt_id: int, order: Order) -> dict[str, Any] | None:
    """The error that ended the attempt, None when its numbers are stored."""
    bundles: Path = settings.TEITEN_BUNDLE_DIR
    try:
        archived, error = asyncio.run(_with_heartbeat(attempt_id, order, bundles))
        return _ingested(attempt_id, bundles, archived) or error
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


def _ingested(attempt_id: int, bundles: Path, archived: Archived) -> dict[str, Any] | None:
    parsed = reader.read(bundles / archived.path)
    ingest.store(parsed, attempt_id, ingest.Archive(archived.path, archived.sha256, archived.size_bytes))
    return dict(parsed.error) if parsed.error else None


async def _with_heartbeat(attempt_id: int, order: Order, bundles: Path) -> tuple[Archived, dict[str, Any] | None]:
    """Runs the executor beside a heartbeat; a lost lease or a cancelled trial stops it."""
    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(1, thread_name_prefix=f"attempt-{attempt_id}") as database:

        async def progress(phase: str, expected_s: float | None) -> None:
            await loop.run_in_executor(database, _note_phase, attempt_id, phase, expected_s)

        work = asyncio.ensure_future(executor.run(order, bundles, progress))
        try:
            while not work.done():
                await asyncio.wait([work], timeout=lease.HEARTBEAT_S)
                if not work.done() and not await loop.run_in_executor(database, _beat, attempt_id):
                    work.cancel()
                    await asyncio.wait([work])
        finally:
            await loop.run_in_executor(database, _hang_up)
        return work.result()


def _note_phase(attempt_id: int, phase: str, expected_s: float | None) -> None:
    Trial.objects.filter(attempts=attempt_id, state=TrialState.RUNNING).update(
        phase=phase, phase_at=timezone.now(), expected_s=expected_s
    )


def _beat(attempt_id: int) -> bool:
    return lease.heartbeat(attempt_id, timezone.now())


def _hang_up() -> None:
    connection.close()  # the connection of the thread that this runs in
